//! The error information log page: Base Specification 2.1, figure 205. Status codes: 4.2.3; those of
//! I/O commands: NVM Command Set Specification 1.1, 3.1.

use crate::bytes::Fields;
use crate::port::{AdminPort, Data, NvmeCommand};
use crate::state::LoggedError;

const ERRORS: u8 = 0x01;
const ENTRY: usize = 64;
/// As many entries as 4 KiB hold, which every drive transfers at once.
const MOST: usize = 64;

/// Statuses: type and code, what it says, and whether the drive was wrong rather than the command.
const STATUSES: [(u16, &str, bool); 34] = [
    (0x001, "a command that it does not know", false),
    (0x002, "a field of the command that it does not take", false),
    (0x004, "data did not come across", true),
    (0x005, "power was going away", true),
    (0x006, "an error inside the drive", true),
    (0x007, "given up, as the host asked", false),
    (0x008, "its queue was deleted", false),
    (0x00B, "a namespace that it does not have", false),
    (0x00C, "a command out of order", false),
    (0x015, "the operation was denied", false),
    (0x01C, "the last sanitize had failed", true),
    (0x01D, "a sanitize was under way", false),
    (0x020, "the namespace is protected from writing", false),
    (0x080, "an LBA beyond the end", false),
    (0x081, "more than the namespace may hold", false),
    (0x082, "the namespace was not ready", true),
    (0x083, "reserved by another host", false),
    (0x084, "a format was under way", false),
    (0x101, "a queue that it cannot have", false),
    (0x106, "firmware in a slot that it does not have", false),
    (0x107, "firmware that it does not take", false),
    (0x109, "a log page that it does not have", false),
    (0x10A, "a format that it does not have", false),
    (0x10D, "a setting that it cannot save", false),
    (0x10E, "a setting that it cannot change", false),
    (0x180, "attributes that contradict each other", false),
    (0x182, "a write to what can only be read", false),
    (0x280, "data that it could not write", true),
    (0x281, "data that it could not read", true),
    (0x282, "data that do not match their checksum", true),
    (0x283, "data with another application's tag", true),
    (0x284, "data of another LBA", true),
    (0x285, "data that were compared and differ", false),
    (0x286, "access denied: the drive is locked", false),
];

/// The errors that a drive remembers, the newest first. `places` is how many it can.
pub(super) fn ask(port: &mut dyn AdminPort, places: usize) -> Vec<LoggedError> {
    let mut page = vec![0; ENTRY * places.clamp(1, MOST)];
    let command = NvmeCommand::log_page(ERRORS, NvmeCommand::ALL_NAMESPACES, page.len());
    if port.nvme(command, Data::FromDrive(&mut page)).is_err() {
        return Vec::new();
    }
    let mut errors: Vec<LoggedError> =
        page.chunks(ENTRY).filter_map(|entry| parse(Fields(entry))).collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    errors
}

/// An entry of 64 bytes; one whose count is zero was never used.
fn parse(entry: Fields<'_>) -> Option<LoggedError> {
    let count = entry.u64(0);
    let is_of_the_controller = entry.u16(8) == 0;
    let status = entry.u16(12) >> 1 & 0x7FF;
    let (words, is_real) = meaning(status);
    let lba = entry.u64(16);
    let namespace = entry.u32(24);
    (count > 0).then(|| LoggedError {
        count,
        status,
        words,
        is_real,
        lba: (!is_of_the_controller && lba != u64::MAX).then_some(lba),
        namespace: (1..u32::MAX).contains(&namespace).then_some(namespace),
    })
}

fn meaning(status: u16) -> (&'static str, bool) {
    let known = STATUSES.iter().find(|(known, ..)| *known == status);
    match (known, status >> 8) {
        (Some((_, words, is_real)), _) => (words, *is_real),
        (None, 0) => ("a command that it did not carry out", false),
        (None, 1) => ("a command whose particulars it does not take", false),
        (None, 2) => ("an error of its data", true),
        (None, 3) => ("an error on the way to it", true),
        (None, _) => ("an error that only its maker knows", false),
    }
}
