//! The tables of descriptors that a process has: threads may have their own, and outlive the first.
#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The threads of a process.
pub(super) fn threads(process: &Path) -> io::Result<Vec<u32>> {
    let entries = fs::read_dir(process.join("task"))?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Directories of `/proc`, each with a table of descriptors that is not another's. Nearly all threads
/// share their process's: the kernel is asked which, since looking through a table costs much more.
pub(super) fn distinct(
    process: u32,
    directory: &Path,
    threads: &[u32],
    is_own_proc: bool,
) -> Vec<PathBuf> {
    let mut tables = vec![process];
    for &thread in threads.iter().filter(|&&thread| thread != process) {
        if !is_own_proc || !tables.iter().any(|&table| share_a_table(table, thread)) {
            tables.push(thread);
        }
    }
    let place = |table: u32| match table == process {
        true => directory.to_owned(),
        false => directory.join("task").join(table.to_string()),
    };
    tables.into_iter().map(place).collect()
}

/// Whether two threads have one table; no where the kernel does not tell.
fn share_a_table(one: u32, other: u32) -> bool {
    /// `KCMP_FILES` of linux/kcmp.h.
    const FILES: libc::c_int = 2;
    // SAFETY: kcmp takes numbers alone, and changes nothing.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, one, other, FILES, 0_u64, 0_u64) };
    order == 0
}
