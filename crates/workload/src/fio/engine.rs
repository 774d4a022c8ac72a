//! fio's engines: what they are to a drive, and what comes nearest where they are none for drives.

use super::value::Value;
use super::{Judged, wrong};

/// Engines that have one I/O in flight whatever the depth.
const SYNCHRONOUS: &[&str] = &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];
/// Engines that have as many as asked for.
const ASYNCHRONOUS: &[&str] =
    &["libaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "solarisaio", "sg"];
/// Those of them that hand commands to the drive itself, past any cache.
const PAST_THE_CACHE: &[&str] = &["io_uring_cmd", "sg"];

/// Engines that ask no drive for anything, and what comes nearest to them here.
const OF_NO_DRIVE: &[(&[&str], &str)] = &[
    (&["net", "netsplice", "rdma"], "it moves data between hosts, and no drive takes part"),
    (&["cpuio", "exec"], "it does no I/O; run it beside with fio"),
    (&["null"], "it asks no drive; ioengine=io_uring, run on the drive null:, comes nearest"),
    (
        &["falloc", "ftruncate", "filecreate", "filestat", "filedelete", "fileoperations"],
        "it works on names and sizes of files, which no drive sees; leave the job out",
    ),
];

/// Engines for something else than a local drive, and what comes nearest to that here.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &["rbd", "rados"],
        "it talks to a Ceph cluster; `rbd map` makes an image a block device, which can be tested",
    ),
    (
        &["nbd", "libiscsi"],
        "it talks to a server; attach the export as a block device, which can be tested",
    ),
    (
        &[
            "libhdfs",
            "http",
            "nfs",
            "gfapi",
            "gfapi_async",
            "dfs",
            "ime_sync",
            "ime_psync",
            "ime_aio",
        ],
        "it talks to a storage service; a file where that is mounted can be tested",
    ),
    (
        &["libpmem", "dev-dax", "pmemblk", "mtd"],
        "it writes memory and no block device; make it a block device (fsdax, sector mode, mtdblock)",
    ),
    (
        &["spdk", "xnvme", "libblkio", "libzbc", "libcufile", "guasi"],
        "it goes past the kernel; ioengine=io_uring, run with --poll, comes nearest",
    ),
    (&["splice", "e4defrag"], "it moves data within the kernel; ioengine=psync comes nearest"),
];

/// Whether it has as many I/Os in flight as asked for.
pub(super) fn is_asynchronous(value: &Value) -> Judged<bool> {
    check(value.line, &value.text)?;
    Ok(ASYNCHRONOUS.contains(&value.text.as_str()))
}

/// Whether it reaches the drive past the page cache, whatever `direct` says.
pub(super) fn is_past_the_cache(engine: &str) -> bool {
    PAST_THE_CACHE.contains(&engine)
}

/// Whether what fio measured with this engine is of no drive at all.
pub fn asks_no_drive(engine: &str) -> bool {
    OF_NO_DRIVE.iter().any(|(engines, _)| engines.contains(&engine))
}

/// Refuses an engine that is not for drives. A variable is looked at when it has its value.
pub(super) fn check(line: usize, engine: &str) -> Judged<()> {
    let is_for_drives = SYNCHRONOUS.contains(&engine) || ASYNCHRONOUS.contains(&engine);
    if is_for_drives || engine.contains("${") {
        return Ok(());
    }
    let elsewhere =
        OF_NO_DRIVE.iter().chain(ELSEWHERE).find(|(engines, _)| engines.contains(&engine));
    let instead = elsewhere.map_or("use io_uring or libaio", |(_, instead)| instead);
    wrong(line, format!("ioengine={engine}: not an engine for drives: {instead}"))
}
