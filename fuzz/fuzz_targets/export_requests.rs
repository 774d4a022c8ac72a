//! Any bytes as what a client of an exported drive says: never a panic, and no command that reaches
//! behind the drive's end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use writecliff_export::wire::request::{Agreed, Command, Head};
use writecliff_export::wire::option;

fuzz_target!(|bytes: &[u8]| {
    if let Some(head) = bytes.first_chunk() {
        let _ = option::head(head);
    }
    if let Some((number, data)) = bytes.split_first_chunk() {
        let _ = option::parse(u32::from_be_bytes(*number), data);
    }
    let Some(Ok(head)) = bytes.first_chunk().map(Head::parse) else { return };
    let agreed = Agreed {
        capacity: 1 << 40,
        block_min: 512,
        trims: true,
        structured: true,
        block_status: true,
    };
    if let Ok(command) = head.command(&agreed) {
        let end = head.offset.saturating_add(u64::from(head.length));
        assert!(command == Command::Disconnect || end <= agreed.capacity);
    }
});
