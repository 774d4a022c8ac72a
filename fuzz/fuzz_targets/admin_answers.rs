//! Any bytes as the answers of a drive to everything that it is asked: never a panic, and words that
//! no terminal takes for orders.
#![no_main]

use std::io;

use libfuzzer_sys::fuzz_target;
use writecliff_admin::{
    AdminPort, AtaCommand, AtaResult, Data, NvmeCommand, Protocol, ScsiCommand, ask,
};

// Pages are long and mostly zeros, so that the bytes say what in them is not: for each answer how many
// bytes differ from zero, and each of these as an offset and a value.
fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let protocol = match first % 3 {
        0 => Protocol::Nvme { namespace: 1 },
        1 => Protocol::Ata,
        _ => Protocol::Scsi,
    };
    let Ok(facts) = ask(&mut Answers { protocol, rest }) else { return };
    for (_, words) in facts.lines() {
        assert!(!words.chars().any(char::is_control), "{words:?}");
    }
});

/// A drive whose answers lie in `rest`, one after the other.
struct Answers<'a> {
    protocol: Protocol,
    rest: &'a [u8],
}

impl Answers<'_> {
    /// The next bytes; zeros when there are no more.
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let length = N.min(self.rest.len());
        let (now, later) = self.rest.split_at(length);
        taken[..length].copy_from_slice(now);
        self.rest = later;
        taken
    }

    /// The next answer; a count of all ones is a refusal.
    fn answer(&mut self, data: Data<'_>) -> io::Result<()> {
        let [count] = self.take();
        if count == u8::MAX {
            return Err(io::Error::other("refused"));
        }
        let Data::FromDrive(page) = data else { return Ok(()) };
        page.fill(0);
        for _ in 0..count {
            let [low, high, value] = self.take();
            let at = usize::from(u16::from_le_bytes([low, high])) % page.len();
            page[at] = value;
        }
        Ok(())
    }
}

impl AdminPort for Answers<'_> {
    fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn nvme(&mut self, _: NvmeCommand, data: Data<'_>) -> io::Result<u32> {
        self.answer(data)?;
        Ok(u32::from_le_bytes(self.take()))
    }

    /// A page of SMART data is believed only if its bytes add up to zero, so that they are made to.
    fn ata(&mut self, command: AtaCommand, mut data: Data<'_>) -> io::Result<AtaResult> {
        match &mut data {
            Data::FromDrive(page) => {
                self.answer(Data::FromDrive(page))?;
                if command == AtaCommand::smart(0xD0) {
                    let sum = page.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
                    page[511] = page[511].wrapping_sub(sum);
                }
            }
            _ => self.answer(Data::None)?,
        }
        Ok(AtaResult { count: u16::from_le_bytes(self.take()), ..AtaResult::default() })
    }

    fn scsi(&mut self, _: ScsiCommand, data: Data<'_>) -> io::Result<()> {
        self.answer(data)
    }
}
