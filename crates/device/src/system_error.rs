//! What Linux's block layer means by an error number, and what then helps.

/// A failed I/O's error in words: what failed, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemError {
    /// What failed.
    pub what: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

const LOOK_IN_THE_LOG: &str = "the kernel's log (`dmesg`) has the drive's own words for it";

/// By number: the block layer's (block/blk-core.c, `blk_errors`), and those that opening adds, or a
/// filesystem below a test file. `None` for one that neither gives.
pub fn system_error(errno: i32) -> Option<SystemError> {
    let (what, advice) = match errno {
        1 => ("the device takes no writes", "take it off write protection (`blockdev --setrw`)"),
        2 => (
            "there is nothing by this name",
            "check the path; `writecliff drives` lists what is here",
        ),
        5 => (
            "the drive or the way to it failed it (EIO)",
            "check a real drive's cabling and health: the kernel's log (`dmesg`) has its own words for it; a simulated \
             one fails so when its power goes, and an array when too many of its members are missing",
        ),
        6 | 19 | 108 => ("the device is offline", LOOK_IN_THE_LOG),
        11 | 12 | 16 => (
            "the system or the drive had no room for it just then",
            "try again while less else is going on",
        ),
        13 => ("the system does not permit it", "run as root, or change who may"),
        22 => ("the drive does not take such an I/O", LOOK_IN_THE_LOG),
        24 => ("this process has too many files open", "raise the limit (`ulimit -n`)"),
        28 => (
            "no space is left below it (ENOSPC)",
            "make room on the file system that the file is on, or in the pool that the device takes its \
             space from",
        ),
        30 => (
            "it takes no more writes (EROFS)",
            "a file system makes itself read-only when it finds itself damaged, and the kernel's log (`dmesg`) says \
             why; a simulated drive that is worn out, or lost a die that it cannot do without, ends so",
        ),
        52 => (
            "another machine holds a reservation on it",
            "see `sg_persist --read-reservation` or `nvme resv-report`, and release it there",
        ),
        61 => (
            "the drive cannot read or write these blocks (medium error)",
            "look at a real drive's health (`writecliff drives`, `smartctl`): it may be failing; a simulated one has lost \
             them by the faults of its profile",
        ),
        67 => {
            ("the way to the drive failed (transport)", "check its cabling, its slot and its link")
        }
        84 => (
            "the drive's or the link's own checksum was wrong",
            "check its cabling and its health; what it returned cannot be trusted",
        ),
        95 => ("the drive has no such command", LOOK_IN_THE_LOG),
        110 => (
            "it was not answered in time",
            "check its cabling and health; the kernel's log (`dmesg`) tells of resets",
        ),
        121 => ("the drive refused it (target error)", LOOK_IN_THE_LOG),
        122 => ("the quota of the file system below is used up", "raise it, or use another place"),
        _ => return None,
    };
    Some(SystemError { what, advice })
}

/// A failed I/O's error in words, with its number.
pub fn error_text(errno: i32) -> String {
    match system_error(errno) {
        Some(SystemError { what, .. }) => format!("{what} (system error {errno})"),
        None => std::io::Error::from_raw_os_error(errno).to_string(),
    }
}

/// What to do about a failed I/O.
pub fn error_advice(errno: i32) -> &'static str {
    system_error(errno).map_or("check the drive's cabling and health", |error| error.advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_the_block_layer_has_its_words() {
        let block_layer = [95, 110, 28, 67, 121, 52, 61, 84, 12, 16, 11, 19, 5, 22];
        assert!(block_layer.iter().all(|&errno| system_error(errno).is_some()));
        assert_eq!(system_error(0), None);
        assert!(error_text(61).contains("medium error") && error_text(61).contains("61"));
        assert!(error_text(9999).contains("9999"));
    }

    #[test]
    fn cabling_is_blamed_only_for_what_cabling_does() {
        for errno in [1, 28, 30, 52, 61, 95, 121, 122] {
            assert!(!error_advice(errno).contains("cabling"), "{errno}");
        }
    }
}
