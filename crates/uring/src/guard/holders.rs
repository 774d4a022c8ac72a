//! Which processes have a drive or a file open, or mapped into their memory.
//!
//! `O_EXCL` keeps away only those who ask for it as well: mounts, arrays, other runs. A database on
//! a raw partition, a virtual machine, an exporting server does not. They are found by looking
//! through every process of `/proc`, by the identity of what they hold, whatever name they opened it
//! by. What one may not look into is counted.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, StatxFlags, statx};

use crate::host::sysfs::{DeviceNumber, Host, readable_text};

/// A regular file's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) filesystem: DeviceNumber,
    pub(crate) inode: u64,
}

impl FileId {
    /// The identity that `stat` gives.
    pub(crate) fn of(facts: &fs::Metadata) -> Self {
        Self { filesystem: DeviceNumber::from_raw(facts.dev()), inode: facts.ino() }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sought {
    /// Block devices that nobody else may have open at all.
    pub(crate) devices: Vec<DeviceNumber>,
    /// Block devices that nobody else may have open for writing.
    pub(crate) unwritten_devices: Vec<DeviceNumber>,
    /// Character devices by which the same drives can be written.
    pub(crate) characters: Vec<DeviceNumber>,
    /// Regular files that nobody else may have open at all.
    pub(crate) files: Vec<FileId>,
    /// The same where only the inode is known, and not its filesystem.
    pub(crate) inodes: Vec<u64>,
}

/// A process that has something open or mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// What it has, as it calls it.
    pub device: PathBuf,
    /// Its number.
    pub process: u32,
    /// Its program.
    pub program: String,
    /// How it has it.
    pub holding: Holding,
    /// Whether it is one of udev's, or a program that udev runs.
    pub is_udevs: bool,
}

impl User {
    /// Whether udev looks at the device, as it does for a moment at every new and changed one. Others
    /// may call themselves so: it is only waited for.
    pub(crate) fn is_a_look_of_udevs(&self) -> bool {
        self.holding == Holding::Reading && self.is_udevs
    }
}

/// How a process has something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding {
    /// Open for reading.
    Reading,
    /// Open for writing.
    Writing,
    /// Mapped into its memory.
    Mapped,
}

impl fmt::Display for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reading => "open for reading",
            Self::Writing => "open for writing",
            Self::Mapped => "mapped into its memory",
        })
    }
}

/// Everybody who was found.
#[derive(Debug, Default)]
pub(crate) struct Users {
    pub(crate) found: Vec<User>,
    /// Processes that could not be looked into.
    pub(crate) unseen: usize,
}

impl Sought {
    /// All processes but this one that have any of it.
    ///
    /// # Errors
    /// If there is no list of processes at all.
    pub(crate) fn users(&self, host: &Host) -> io::Result<Users> {
        let mut search = Search { sought: self, mapped: HashMap::new(), users: Users::default() };
        for entry in fs::read_dir(&host.proc)? {
            let entry = entry?;
            let process = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
            if let Some(process) = process.filter(|&process| process != std::process::id())
                && let Err(error) = search.look_into(process, &entry.path())
                && !has_ended(&error)
            {
                search.users.unseen += 1;
            }
        }
        Ok(search.users)
    }

    /// Whether a thing is sought, by what `stat` tells of it.
    pub(crate) fn has(&self, facts: &fs::Metadata) -> bool {
        let kind = facts.file_type();
        let number = DeviceNumber::from_raw(facts.rdev());
        (kind.is_file() && self.has_file(FileId::of(facts)))
            || (kind.is_block_device()
                && (self.devices.contains(&number) || self.unwritten_devices.contains(&number)))
    }

    pub(crate) fn has_file(&self, file: FileId) -> bool {
        self.files.contains(&file) || self.inodes.contains(&file.inode)
    }

    fn matches(&self, held: &Held, holding: Holding) -> bool {
        match *held {
            Held::Block(number) => {
                self.devices.contains(&number)
                    || (holding != Holding::Reading && self.unwritten_devices.contains(&number))
            }
            Held::Character(number) => {
                holding != Holding::Reading && self.characters.contains(&number)
            }
            Held::File(file) => self.has_file(file),
            Held::Other => false,
        }
    }
}

/// A process may end while it is looked at.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
        || rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::SRCH)
}

/// What a descriptor or a mapping leads to.
#[derive(Debug, Clone, Copy)]
enum Held {
    Block(DeviceNumber),
    Character(DeviceNumber),
    File(FileId),
    Other,
}

impl Held {
    /// Follows a link of `/proc`, which leads to the thing itself. Asks no remote server and no FUSE
    /// daemon, either of which might never answer.
    fn by(link: &Path) -> io::Result<Self> {
        let flags = AtFlags::STATX_DONT_SYNC;
        let facts = statx(CWD, link, flags, StatxFlags::TYPE | StatxFlags::INO)?;
        let number = |major, minor| DeviceNumber { major, minor };
        Ok(match FileType::from_raw_mode(u32::from(facts.stx_mode)) {
            FileType::BlockDevice => {
                Self::Block(number(facts.stx_rdev_major, facts.stx_rdev_minor))
            }
            FileType::CharacterDevice => {
                Self::Character(number(facts.stx_rdev_major, facts.stx_rdev_minor))
            }
            FileType::RegularFile => Self::File(FileId {
                filesystem: number(facts.stx_dev_major, facts.stx_dev_minor),
                inode: facts.stx_ino,
            }),
            _ => Self::Other,
        })
    }
}

struct Search<'a> {
    sought: &'a Sought,
    /// What each mapped file is, by the text that the kernel has for it: most are libraries, which
    /// all processes share.
    mapped: HashMap<Vec<u8>, Held>,
    users: Users,
}

impl Search<'_> {
    fn look_into(&mut self, process: u32, directory: &Path) -> io::Result<()> {
        for entry in fs::read_dir(directory.join("fd"))? {
            let link = entry?.path();
            match self.descriptor(process, directory, &link) {
                Err(error) if !has_ended(&error) => return Err(error),
                _ => {}
            }
        }
        self.mappings(process, directory)
    }

    fn descriptor(&mut self, process: u32, directory: &Path, link: &Path) -> io::Result<()> {
        let held = Held::by(link)?;
        // The link's own mode tells what the descriptor is open for.
        let mode = Mode::from_raw_mode(fs::symlink_metadata(link)?.mode());
        let holding = match mode.contains(Mode::WUSR) {
            true => Holding::Writing,
            false => Holding::Reading,
        };
        self.note(process, directory, link, held, holding);
        Ok(())
    }

    /// Each line of `maps` is `FROM-TO MODES OFFSET MAJOR:MINOR INODE PATH`.
    fn mappings(&mut self, process: u32, directory: &Path) -> io::Result<()> {
        let maps = fs::read(directory.join("maps"))?;
        let mut seen: Vec<&[u8]> = Vec::new();
        for line in maps.split(|&byte| byte == b'\n') {
            let mut words = line.splitn(4, |&byte| byte == b' ');
            let (Some(range), Some(modes), Some(_), Some(file)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            // What is executed is a program, and what has no inode is no file.
            let is_file = !file.starts_with(b"00:00 0 ") && modes.get(2) != Some(&b'x');
            if !is_file || seen.contains(&file) {
                continue;
            }
            seen.push(file);
            let link = directory.join("map_files").join(address(range));
            let held = match self.mapped.get(file) {
                Some(known) => *known,
                None => match Held::by(&link) {
                    Ok(held) => held,
                    Err(error) if has_ended(&error) => continue,
                    Err(error) => return Err(error),
                },
            };
            self.mapped.insert(file.to_vec(), held);
            self.note(process, directory, &link, held, Holding::Mapped);
        }
        Ok(())
    }

    fn note(&mut self, process: u32, directory: &Path, link: &Path, held: Held, holding: Holding) {
        let is_known = |user: &User| (user.process, user.holding) == (process, holding);
        if !self.sought.matches(&held, holding)
            || self.users.found.iter().any(is_known)
            || is_child_before_its_program(directory)
        {
            return;
        }
        let program = match fs::read(directory.join("comm")) {
            // It has nothing any more.
            Err(error) if has_ended(&error) => return,
            program => program.ok().and_then(|name| readable_text(&name)),
        };
        let device = fs::read_link(link).map(PathBuf::into_os_string).unwrap_or_default();
        let device = readable_text(device.as_encoded_bytes()).unwrap_or_default().into();
        let program = program.unwrap_or_else(|| "a process".to_owned());
        let is_udevs = is_udevs(directory);
        self.users.found.push(User { device, process, program, holding, is_udevs });
    }
}

/// Whether a process is one of udev's, or was started by one: its rules run programs of their own.
fn is_udevs(directory: &Path) -> bool {
    const GENERATIONS: usize = 4;
    let above = |child: &PathBuf| Some(child.parent()?.join(parent_of(child)?.to_string()));
    let mut family = std::iter::successors(Some(directory.to_owned()), above).take(GENERATIONS);
    family.any(|process| {
        let name = fs::read(process.join("comm")).unwrap_or_default();
        [&b"(udev-worker)"[..], b"systemd-udevd", b"udevd"].contains(&name.trim_ascii())
    })
}

/// The number of the process that started this one.
fn parent_of(directory: &Path) -> Option<u32> {
    let stat = fs::read(directory.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // `NUMBER (PROGRAM) STATE PARENT ...`, and a program's name may hold blanks and brackets.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Whether this is a child of this process that has not begun its own program yet: until then it has
/// a copy of every descriptor of ours.
fn is_child_before_its_program(directory: &Path) -> bool {
    let ours = fs::read_link("/proc/self/exe").ok();
    parent_of(directory) == Some(std::process::id())
        && ours
            .is_some_and(|ours| fs::read_link(directory.join("exe")).is_ok_and(|exe| exe == ours))
}

/// The name of a mapping in `map_files`, which has no leading zeros.
fn address(range: &[u8]) -> OsString {
    let text = String::from_utf8_lossy(range);
    let trimmed = |hex: &str| {
        let digits = hex.trim_start_matches('0');
        if digits.is_empty() { "0".to_owned() } else { digits.to_owned() }
    };
    let (from, to) = text.split_once('-').unwrap_or((&text, ""));
    format!("{}-{}", trimmed(from), trimmed(to)).into()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A process that holds a file until it is dropped.
    struct Other(Child);

    impl Other {
        fn with(file: File) -> Self {
            let mut command = Command::new("sleep");
            Self(command.arg("600").stdin(Stdio::from(file)).spawn().unwrap())
        }
    }

    impl Drop for Other {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// The process, if it has the file.
    fn held_by(path: &Path, process: &Other) -> Option<User> {
        let files = vec![FileId::of(&fs::metadata(path).unwrap())];
        let sought = Sought { files, ..Sought::default() };
        let found = sought.users(&Host::this_machine()).unwrap().found;
        assert!(found.iter().all(|user| user.process != std::process::id()));
        found.into_iter().find(|user| user.process == process.0.id())
    }

    #[test]
    fn another_process_is_found_by_what_it_holds_and_this_one_is_not() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("file");
        let ours = File::create(&path).unwrap();
        let elsewhere = File::create(directory.path().join("another")).unwrap();
        assert_eq!(held_by(&path, &Other::with(elsewhere)), None);
        let other = Other::with(File::open(&path).unwrap());
        let link = directory.path().join("other name");
        fs::hard_link(&path, &link).unwrap();
        let user = held_by(&link, &other).unwrap();
        assert_eq!(user.holding, Holding::Reading);
        assert_eq!((&*user.program, &*user.device), ("sleep", &*path));
        drop(other);
        let other = Other::with(ours);
        assert_eq!(held_by(&path, &other).unwrap().holding, Holding::Writing);
    }

    #[test]
    fn a_program_that_udev_runs_is_udevs() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "").unwrap();
        let worker = directory.path().join("(udev-worker)");
        std::os::unix::fs::symlink("/bin/sh", &worker).unwrap();
        let start = |shell: &Path| {
            let script = "sleep 600 & echo $!; read -r _; kill $!";
            let mut command = Command::new(shell);
            command.args(["-c", script]).stdout(Stdio::piped()).stdin(Stdio::piped());
            command.stderr(File::open(&path).unwrap()).spawn().unwrap()
        };
        for (shell, expected) in [(worker.as_path(), true), (Path::new("/bin/sh"), false)] {
            let mut shell = start(shell);
            let mut number = String::new();
            BufReader::new(shell.stdout.take().unwrap()).read_line(&mut number).unwrap();
            let number: u32 = number.trim().parse().unwrap();
            let files = vec![FileId::of(&fs::metadata(&path).unwrap())];
            let sought = Sought { files, ..Sought::default() };
            let found = sought.users(&Host::this_machine()).unwrap().found;
            drop(shell.stdin.take());
            shell.wait().unwrap();
            let user = found.iter().find(|user| user.process == number).unwrap();
            assert_eq!(user.is_a_look_of_udevs(), expected, "{user:?}");
        }
    }

    #[test]
    fn reading_below_is_no_use_and_writing_is() {
        let number: DeviceNumber = "8:0".parse().unwrap();
        let below = Sought { unwritten_devices: vec![number], ..Sought::default() };
        assert!(!below.matches(&Held::Block(number), Holding::Reading));
        assert!(below.matches(&Held::Block(number), Holding::Writing));
        assert!(below.matches(&Held::Block(number), Holding::Mapped));
        let itself = Sought { devices: vec![number], ..Sought::default() };
        assert!(itself.matches(&Held::Block(number), Holding::Reading));
        assert!(!itself.matches(&Held::Character(number), Holding::Writing));
    }

    #[test]
    fn a_mapping_is_named_without_leading_zeros() {
        assert_eq!(address(b"00400000-0040b000"), "400000-40b000");
        assert_eq!(address(b"7f12-7f13"), "7f12-7f13");
        assert_eq!(address(b"00000000-00001000"), "0-1000");
    }
}
