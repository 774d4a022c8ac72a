//! Self-encrypting drives: what Level 0 Discovery says of each kind, and the revert by PSID on a drive
//! that reads packets and tokens by itself.
use std::io;

use writecliff_admin::{
    AdminPort, AtaCommand, AtaResult, Data, Facts, NvmeCommand, Protocol, Psid, RevertError,
    Subsystem, ask, psid_revert,
};

const LABEL: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// An NVMe drive with a trusted peripheral.
struct Trusted {
    features: Vec<(u16, Vec<u8>)>,
    protocols: Vec<u8>,
    holds_data: bool,
    wrong: u32,
    /// Questions that find no answer yet.
    is_busy: u32,
    answer: Vec<u8>,
    session: Option<(u32, u32)>,
}

impl Trusted {
    fn with(features: &[(u16, &[u8])]) -> Self {
        let features = features.iter().map(|(code, data)| (*code, data.to_vec())).collect();
        Self {
            features,
            protocols: vec![0, 1, 2, 0xEE],
            holds_data: true,
            wrong: 0,
            is_busy: 0,
            answer: Vec::new(),
            session: None,
        }
    }

    fn opal_2(locking: u8) -> Self {
        Self::with(&[
            (0x0001, &[0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (0x0002, &[locking, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (0x0201, &[0, 0, 0, 9, 7, 0, 0, 0]),
            (0x0203, &[0x10, 0x04, 0, 1, 0, 0, 4, 0, 9, 0, 0, 0]),
            (0x0402, &[0b01, 0]),
        ])
    }

    fn discovery(&self) -> Vec<u8> {
        let mut page = vec![0; 48];
        for (code, data) in &self.features {
            page.extend(code.to_be_bytes());
            page.extend([0x10, data.len() as u8]);
            page.extend(data);
        }
        let length = page.len() as u32 - 4;
        page[..4].copy_from_slice(&length.to_be_bytes());
        page
    }

    /// Takes a packet to pieces, and does what it says.
    fn receive_packet(&mut self, packet: &[u8]) {
        let number =
            |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(packet[4..6], [0x10, 0x04], "the ComID that the drive told");
        let tokens = &packet[56..56 + number(52)];
        assert_eq!(number(16), 24 + 12 + tokens.len().next_multiple_of(4));
        assert_eq!(number(40), 12 + tokens.len().next_multiple_of(4));
        let session = (number(20) as u32, number(24) as u32);
        assert_eq!(tokens[0], 0xF8);
        let (object, method) = (&tokens[2..10], &tokens[11..19]);
        let tokens = match (object, method) {
            ([0, 0, 0, 0, 0, 0, 0, 0xFF], [0, 0, 0, 0, 0, 0, 0xFF, 2]) => {
                assert_eq!(session, (0, 0));
                self.start(&tokens[19..])
            }
            ([0, 0, 2, 5, 0, 0, 0, 1], [0, 0, 0, 6, 0, 0, 2, 2]) => {
                let is_open = self.session.take() == Some(session);
                self.holds_data &= !is_open;
                vec![0xF0, 0xF1, 0xF9, 0xF0, u8::from(!is_open), 0, 0, 0xF1]
            }
            other => panic!("{other:02x?}"),
        };
        let mut answer = vec![0; 56];
        answer.extend(&tokens);
        answer[16..20].copy_from_slice(&(36 + tokens.len() as u32).to_be_bytes());
        answer[52..56].copy_from_slice(&(tokens.len() as u32).to_be_bytes());
        self.answer = answer;
    }

    fn start(&mut self, arguments: &[u8]) -> Vec<u8> {
        let mut expected = vec![0xF0, 1, 0xA8, 0, 0, 2, 5, 0, 0, 0, 1, 1, 0xF2, 0, 0xD0, 32];
        let (head, rest) = arguments.split_at(expected.len());
        assert_eq!(head, expected);
        expected = vec![0xF3, 0xF2, 3, 0xA8, 0, 0, 0, 9, 0, 1, 0xFF, 1, 0xF3, 0xF1, 0xF9];
        assert_eq!(rest[32..32 + expected.len()], expected);
        let is_right = &rest[..32] == LABEL.as_bytes();
        self.wrong += u32::from(!is_right);
        let status = match (is_right, self.wrong) {
            (_, 5..) => 0x12,
            (true, _) => 0,
            (false, _) => 1,
        };
        let mut answer = vec![0xF8, 0xA8, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xA8];
        answer.extend([0, 0, 0, 0, 0, 0, 0xFF, 3]);
        match status {
            0 => {
                self.session = Some((0x1001, 1));
                answer.extend([0xF0, 1, 0x82, 0x10, 0x01, 0xF1]);
            }
            _ => answer.extend([0xF0, 0xF1]),
        }
        answer.extend([0xF9, 0xF0, status, 0, 0, 0xF1]);
        answer
    }
}

impl AdminPort for Trusted {
    fn protocol(&self) -> Protocol {
        Protocol::Nvme { namespace: 1 }
    }

    fn nvme(&mut self, command: NvmeCommand, data: Data<'_>) -> io::Result<u32> {
        let answer = match (command.opcode, command.dword_10, data) {
            (0x06, structure, Data::FromDrive(page)) => {
                page.fill(0);
                page[256] = u8::from(structure == 1);
                return Ok(0);
            }
            (0x82, protocol, Data::FromDrive(page)) => {
                assert_eq!(command.dword_11 as usize, page.len());
                let answer = match protocol {
                    0 => {
                        let mut list = vec![0; 8];
                        list[7] = self.protocols.len() as u8;
                        list.extend(&self.protocols);
                        list
                    }
                    0x0100_0100 => self.discovery(),
                    0x0110_0400 if self.is_busy > 0 => {
                        self.is_busy -= 1;
                        vec![0; 56]
                    }
                    0x0110_0400 => self.answer.clone(),
                    _ => return Err(io::Error::other("refused")),
                };
                page.fill(0);
                page[..answer.len()].copy_from_slice(&answer);
                return Ok(0);
            }
            (0x81, 0x0110_0400, Data::ToDrive(packet)) => packet.to_vec(),
            _ => return Err(io::Error::other("refused")),
        };
        self.receive_packet(&answer);
        Ok(0)
    }

    fn ata(&mut self, _: AtaCommand, _: Data<'_>) -> io::Result<AtaResult> {
        Err(io::Error::other("refused"))
    }
}

fn words(drive: &mut Trusted) -> String {
    let lines = ask(drive).unwrap().lines();
    lines.into_iter().find(|(name, _)| *name == "encryption").map(|(_, words)| words).unwrap()
}

#[test]
fn discovery_tells_each_kind_from_the_others() {
    use Subsystem::{Enterprise, KeyPerIo, Opal1, Opal2, Opalite, Pyrite1, Pyrite2, Ruby};
    for (code, subsystem) in [
        (0x0100, Enterprise),
        (0x0200, Opal1),
        (0x0203, Opal2),
        (0x0301, Opalite),
        (0x0302, Pyrite1),
        (0x0303, Pyrite2),
        (0x0304, Ruby),
        (0x0305, KeyPerIo),
    ] {
        let mut drive = Trusted::with(&[(code, &[0x10, 0x04, 0, 1]), (0x0002, &[0b1001, 0, 0, 0])]);
        let facts: Facts = ask(&mut drive).unwrap();
        let own = facts.encryption.unwrap();
        assert_eq!(own.subsystems, [subsystem]);
        let locking = own.locking.unwrap();
        assert!(locking.encrypts && !locking.enabled && !locking.locked);
        assert_eq!((own.is_owned, own.has_ieee_1667), (None, true));
    }
    let told = words(&mut Trusted::with(&[]));
    assert_eq!(told, "no TCG subsystem; IEEE 1667 (eDrive)");
}

#[test]
fn locks_shadow_mbr_and_owner_are_told_in_words() {
    let told = words(&mut Trusted::opal_2(0b1001));
    let expected = "TCG Opal 2; encrypts all that it stores; locking is off; has an owner; single \
                    user mode; IEEE 1667 (eDrive)";
    assert_eq!(told, expected);
    assert!(words(&mut Trusted::opal_2(0b1011)).contains("locking is on, and nothing is locked"));
    let locked = words(&mut Trusted::opal_2(0b01_1111));
    assert!(locked.contains("LOCKED") && locked.contains("shows a shadow MBR"), "{locked}");
    assert!(!words(&mut Trusted::opal_2(0b11_1011)).contains("shows a shadow MBR"));
}

#[test]
fn the_psid_of_the_label_reverts_the_drive() {
    let mut drive = Trusted::opal_2(0b1111);
    drive.is_busy = 3;
    let (psid, mut waits) = ("abcdefgh-jklmnpqr-stuvwxyz 23456789".parse().unwrap(), 0);
    psid_revert(&mut drive, &psid, &mut |_| waits += 1).unwrap();
    assert!(!drive.holds_data && waits == 3);
    assert!(!format!("{psid:?}").contains("ABC"), "it is nobody's to read");
}

#[test]
fn a_wrong_psid_changes_nothing_and_too_many_lock_out() {
    let mut drive = Trusted::opal_2(0b1111);
    let (right, wrong): (Psid, Psid) =
        (LABEL.parse().unwrap(), LABEL.replace('A', "B").parse().unwrap());
    let refused = psid_revert(&mut drive, &wrong, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, RevertError::WrongPsid) && drive.holds_data, "{refused:?}");
    drive.wrong = 5;
    let refused = psid_revert(&mut drive, &right, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, RevertError::LockedOut) && drive.holds_data, "{refused:?}");
    let refused = psid_revert(&mut Trusted::with(&[]), &right, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, RevertError::Unsupported), "{refused:?}");
}

#[test]
fn what_is_no_psid_is_told_without_asking_the_drive() {
    for wrong in ["", "short", "ABCDEFGHJKLMNPQRSTUVWXYZ2345678!", &LABEL[1..]] {
        let told = wrong.parse::<Psid>().unwrap_err();
        assert!(told.contains("32 letters and digits"), "{told}");
    }
}

/// Any bytes as the answers of a drive: never a panic, and never a revert.
#[test]
fn damaged_packets_are_no_answers() {
    let mut state = 11_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..5_000 {
        let mut good = Trusted::opal_2(random() as u8).discovery();
        for _ in 0..1 + random() % 40 {
            let at = random() as usize % good.len();
            good[at] = random() as u8;
        }
        let noise = (0..512).map(|_| random() as u8).collect();
        let mut damaged = Damaged { discovery: good, noise };
        let _ = ask(&mut damaged).map(|facts| facts.lines());
        let _ = psid_revert(&mut damaged, &LABEL.parse().unwrap(), &mut |_| {});
    }
}

struct Damaged {
    discovery: Vec<u8>,
    noise: Vec<u8>,
}

impl AdminPort for Damaged {
    fn protocol(&self) -> Protocol {
        Protocol::Nvme { namespace: 1 }
    }

    fn nvme(&mut self, command: NvmeCommand, data: Data<'_>) -> io::Result<u32> {
        let Data::FromDrive(page) = data else { return Ok(0) };
        page.fill(0);
        let answer = match (command.opcode, command.dword_10) {
            (0x06, _) => {
                page[256] = 1;
                return Ok(0);
            }
            (0x82, 0) => &[0, 0, 0, 0, 0, 0, 0, 1, 1][..],
            (0x82, 0x0100_0100) => &self.discovery[..],
            _ => &self.noise[..],
        };
        let length = answer.len().min(page.len());
        page[..length].copy_from_slice(&answer[..length]);
        Ok(0)
    }

    fn ata(&mut self, _: AtaCommand, _: Data<'_>) -> io::Result<AtaResult> {
        Err(io::Error::other("refused"))
    }
}
