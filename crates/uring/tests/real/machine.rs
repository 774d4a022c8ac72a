//! Loop devices, mounts and swaps that clean up after themselves, also when a test panics.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use writecliff_device::{Bytes, ErrorKind};
use writecliff_loop_device::LoopDevice;
use writecliff_uring::{
    Access, ConsentKind, DestroyData, OpenError, Options, Refusal, UringDevice, open,
};

/// Ends the test with a line that is seen without asking, unless the tools are there.
macro_rules! needs {
    ($($tool:expr),* $(,)?) => {
        if !$crate::machine::has(&[$($tool),*]) {
            return;
        }
    };
}
pub(crate) use needs;

/// Whether this is root on a machine with loop devices and these programs.
pub(crate) fn has(tools: &[&str]) -> bool {
    let lacks = if !rustix::process::getuid().is_root() {
        Some("root".to_owned())
    } else if !Path::new("/dev/loop-control").exists() {
        Some("loop devices".to_owned())
    } else {
        let mut missing = tools.iter().chain(&["losetup"]).filter(|t| !installed(t));
        missing.next().map(|tool| format!("the program {tool}"))
    };
    lacks.as_deref().is_none_or(skip)
}

/// Says on the real standard error, which the test harness does not capture, what was skipped.
pub(crate) fn skip(lacks: &str) -> bool {
    let name = thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(io::stderr(), "SKIPPED {name}: it needs {lacks}");
    false
}

/// Whether a program is where programs are.
pub(crate) fn installed(tool: &str) -> bool {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/bin"]
        .iter()
        .any(|directory| Path::new(directory).join(tool).exists())
}

/// Runs a program that must succeed; gives what it printed.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    try_run(program, arguments).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn try_run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.success() {
        true => Ok(printed),
        false => {
            Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
        }
    }
}

/// Tries for some seconds: a device that was in use a moment ago, a node that is about to appear.
pub(crate) fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    for _ in 0..500 {
        if let Some(value) = attempt() {
            return value;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{what} did not happen within 10 s");
}

/// A directory in memory, or wherever temporary files go.
pub(crate) fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => TempDir::new_in(memory).unwrap(),
        false => TempDir::new().unwrap(),
    }
}

/// A file of zeros (a hole) of some MiB.
pub(crate) fn sparse_file(path: &Path, mib: u64) -> PathBuf {
    File::create(path).unwrap().set_len(mib << 20).unwrap();
    path.to_owned()
}

/// A loop device with its backing file in a directory of its own.
pub(crate) struct Loop {
    pub(crate) path: PathBuf,
    pub(crate) backing: PathBuf,
    _attached: LoopDevice,
    pub(crate) directory: Option<TempDir>,
}

impl Loop {
    pub(crate) fn new(mib: u64) -> Self {
        Self::with(mib, &[])
    }

    /// With more arguments for losetup.
    pub(crate) fn with(mib: u64, arguments: &[&str]) -> Self {
        let directory = scratch();
        let backing = sparse_file(&directory.path().join("backing"), mib);
        let mut device = Self::on(&backing, arguments);
        device.directory = Some(directory);
        device
    }

    /// On a file or device that is there already.
    pub(crate) fn on(backing: &Path, arguments: &[&str]) -> Self {
        let mut direct = vec!["--direct-io=on"];
        direct.extend(arguments);
        Self::cached(backing, &direct)
    }

    /// The same through the page cache, for filesystems without direct I/O.
    pub(crate) fn cached(backing: &Path, arguments: &[&str]) -> Self {
        let attach = || LoopDevice::over(backing, arguments).ok();
        let attached = eventually("a free loop device", attach);
        let (path, backing) = (attached.path().into(), backing.to_owned());
        let device = Self { path, backing, _attached: attached, directory: None };
        device.forget_partitions();
        device
    }

    pub(crate) fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Writes a partition table by sfdisk's script and waits until the partitions are there.
    pub(crate) fn partition(&self, script: &str, count: u32) -> Vec<PathBuf> {
        let mut sfdisk = Command::new("sfdisk")
            .args(["--quiet", "--no-reread", "--no-tell-kernel", self.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = sfdisk.stdin.take().unwrap();
        input.write_all(script.as_bytes()).unwrap();
        drop(input);
        assert!(sfdisk.wait().unwrap().success());
        let names: Vec<PathBuf> =
            (1..=count).map(|number| format!("{}p{number}", self.name()).into()).collect();
        eventually("the partitions", || {
            // Refused while somebody else looks at the device; their nodes come a moment later.
            let _ = try_run("partx", &["--update", self.name()]);
            names.iter().all(|name| File::open(name).is_ok()).then_some(())
        });
        names
    }
}

impl Loop {
    /// Partitions outlive the loop device that they were found on.
    fn forget_partitions(&self) {
        let name = self.path.file_name().unwrap().to_str().unwrap();
        let first = |number| format!("/sys/block/{name}/{name}p{number}");
        for _ in 0..250 {
            if !(1..=4).any(|number| Path::new(&first(number)).exists()) {
                return;
            }
            let _ = try_run("partx", &["--delete", self.name()]);
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.forget_partitions();
    }
}

/// A mounted filesystem.
pub(crate) struct Mounted {
    pub(crate) at: TempDir,
}

impl Mounted {
    pub(crate) fn new(device: &Path, options: &str) -> Self {
        let at = scratch();
        let (from, to) = (device.to_str().unwrap(), at.path().to_str().unwrap());
        run("mount", &["-o", options, from, to]);
        Self { at }
    }

    pub(crate) fn path(&self) -> &Path {
        self.at.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let place = self.at.path().to_str().unwrap();
        if try_run("umount", &[place]).is_err() {
            let _ = try_run("umount", &["--lazy", place]);
        }
    }
}

/// A device or file that is swapped on.
pub(crate) struct Swapped(pub(crate) String);

impl Swapped {
    pub(crate) fn on(path: &Path) -> Self {
        let name = path.to_str().unwrap().to_owned();
        run("mkswap", &[&name]);
        run("swapon", &[&name]);
        Self(name)
    }
}

impl Drop for Swapped {
    fn drop(&mut self) {
        let _ = try_run("swapoff", &[&self.0]);
    }
}

pub(crate) const OPTIONS: Options = Options {
    queue_depth: 32,
    io_size_max: Bytes::from_kib(128),
    seed: 42,
    purge: None,
    poll: false,
};

/// Opens to destroy with the resolved path as consent, right for anything without a serial; for a
/// file that holds data with the consent that names these.
pub(crate) fn open_to_destroy(path: &Path) -> Result<UringDevice, OpenError> {
    let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match open_by_name(path, resolved) {
        Err(OpenError::Consent { expected, .. }) if expected.kind == ConsentKind::Contents => {
            open_by_name(path, expected.name)
        }
        opened_or_refused => opened_or_refused,
    }
}

/// Opens to destroy with this name as consent.
pub(crate) fn open_by_name(
    path: &Path,
    name: impl Into<OsString>,
) -> Result<UringDevice, OpenError> {
    open(path, &Access::Destroy(Some(DestroyData::named(name))), &OPTIONS)
}

/// What speaks against destroying `path`; asserts that asking changed no byte of `watched`.
pub(crate) fn refusals(path: &Path, watched: &Path) -> Vec<Refusal> {
    run("sync", &[]);
    let before = fs::read(watched).unwrap();
    let refusals = refusals_unwatched(path);
    let after = fs::read(watched).unwrap();
    // In one piece: byte by byte this is most of what these tests take.
    if before != after {
        let change = before.iter().zip(&after).position(|(old, new)| old != new);
        panic!("a refusal changed the device, first at {change:?} of {}", before.len());
    }
    refusals
}

/// The same where the kernel itself may write: swap in use.
pub(crate) fn refusals_unwatched(path: &Path) -> Vec<Refusal> {
    let error = open_to_destroy(path).expect_err("must be refused");
    assert!(error.kind() == ErrorKind::Refused, "{error}");
    assert!(error.to_string().contains("nothing was written"), "{error}");
    match error {
        OpenError::Refused { refusals, .. } => refusals,
        other => panic!("not the guard's refusal: {other}"),
    }
}

/// Whether any refusal is of a kind.
macro_rules! assert_refused {
    ($refusals:expr, $($pattern:tt)+) => {
        let refusals = $refusals;
        assert!(
            refusals.iter().any(|refusal| matches!(refusal, $($pattern)+)),
            "no {}: {refusals:#?}", stringify!($($pattern)+)
        );
    };
}
pub(crate) use assert_refused;
