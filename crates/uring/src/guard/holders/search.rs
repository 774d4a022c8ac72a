//! Looks through every process of `/proc` for what is sought: its threads' descriptors, its mappings,
//! the files of its rings, and what is on its way in its sockets.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, fcntl_getfl};

use super::held::{Held, Thing};
use super::rings::{self, Registered};
use super::{Holding, RingOwner, Sought, User, Users, sockets, tables};
use crate::host::sysfs::{Host, readable_text};

/// A socket may be on its way in a socket, and so on.
const NESTED: usize = 4;
/// How often, and after what time, a process is looked into again where descriptors were on their way. Between
/// their count and the look at them somebody may have received some, as browsers do all the time.
const TRIES: usize = 20;
const STEP: Duration = Duration::from_millis(5);

/// The search through one machine's processes.
pub(super) struct Search<'a> {
    sought: &'a Sought,
    host: &'a Host,
    /// Whether `/proc` calls processes as system calls do.
    is_own_proc: bool,
    /// What each mapped file is, by the text that the kernel has for it: most are libraries, which
    /// all processes share.
    mapped: HashMap<Vec<u8>, Thing>,
    /// Sockets that were looked into, by inode, and the process of which they were: processes share them.
    sockets: HashMap<u64, u32>,
    users: Users,
}

/// Whose a thing is.
#[derive(Clone, Copy)]
struct Owner<'a> {
    process: u32,
    /// In `/proc`.
    directory: &'a Path,
}

impl<'a> Search<'a> {
    pub(super) fn new(sought: &'a Sought, host: &'a Host) -> Self {
        let is_own_proc = host.has_own_proc();
        let (mapped, sockets) = (HashMap::new(), HashMap::new());
        Self { sought, host, is_own_proc, mapped, sockets, users: Users::default() }
    }

    /// All processes but this one that have any of it.
    pub(super) fn run(mut self) -> io::Result<Users> {
        let own = self.host.own_number();
        for entry in fs::read_dir(&self.host.proc)? {
            let entry = entry?;
            let process = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
            if let Some(process) = process.filter(|&process| process != own)
                && let Err(error) = self.look_into(process, &entry.path())
                && !has_ended(&error)
            {
                self.users.unseen.processes += 1;
            }
        }
        Ok(self.users)
    }

    /// Looks until it is clear what is on its way to the process, or stays unclear. What it has received
    /// meanwhile is then among its descriptors.
    fn look_into(&mut self, process: u32, directory: &Path) -> io::Result<()> {
        let owner = Owner { process, directory };
        let before = self.users.found.len();
        for _ in 0..TRIES {
            self.look_once(owner)?;
            let found = &self.users.found[before..];
            if !found.iter().any(|user| matches!(user.holding, Holding::Unknown { .. })) {
                return Ok(());
            }
            self.users.found.truncate(before);
            self.sockets.retain(|_, first| *first != process);
            thread::sleep(STEP);
        }
        self.look_once(owner)
    }

    fn look_once(&mut self, owner: Owner<'_>) -> io::Result<()> {
        let Owner { process, directory } = owner;
        let threads = tables::threads(directory)?;
        let mut rings = 0;
        for table in tables::distinct(process, directory, &threads, self.is_own_proc) {
            rings += self.table(owner, &table)?;
        }
        self.mappings(owner, &threads, rings)
    }

    /// One table of descriptors; gives how many rings are among them.
    fn table(&mut self, owner: Owner<'_>, table: &Path) -> io::Result<usize> {
        let mut rings = 0;
        for entry in fs::read_dir(table.join("fd"))? {
            let number = entry?.file_name();
            match self.descriptor(owner, table, &number) {
                Ok(Thing::Ring) => rings += 1,
                Err(error) if !has_ended(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(rings)
    }

    fn descriptor(&mut self, owner: Owner<'_>, table: &Path, number: &OsStr) -> io::Result<Thing> {
        let link = table.join("fd").join(number);
        let thing = Thing::by(&link)?;
        match thing {
            Thing::Held(held) => {
                // The link's own mode tells what the descriptor is open for.
                let mode = Mode::from_raw_mode(fs::symlink_metadata(&link)?.mode());
                let holding = match mode.contains(Mode::WUSR) {
                    true => Holding::Writing,
                    false => Holding::Reading,
                };
                self.note(owner, held, holding, || fs::read_link(&link).ok());
            }
            Thing::Ring => self.ring(owner, &table.join("fdinfo").join(number))?,
            Thing::Socket(inode) if !self.sockets.contains_key(&inode) => {
                self.sockets.insert(inode, owner.process);
                let waiting = sockets::waiting(&table.join("fdinfo").join(number))?;
                if waiting > 0 {
                    let socket = self.copied(owner, number, inode);
                    self.on_their_way(owner, socket, waiting, NESTED);
                }
            }
            Thing::Socket(_) | Thing::Other => {}
        }
        Ok(thing)
    }

    // --- rings of io_uring -----------------------------------------------------------------------

    /// The files that a ring has registered, by the names that the kernel has for them.
    fn ring(&mut self, owner: Owner<'_>, fdinfo: &Path) -> io::Result<()> {
        let mut is_unclear = false;
        match rings::registered(fdinfo)? {
            Registered::Unknown => is_unclear = true,
            Registered::Files(names) => {
                for name in names {
                    is_unclear |= !self.registered(owner, &name);
                }
            }
        }
        if is_unclear {
            self.unclear_ring(owner);
        }
        Ok(())
    }

    /// Looks at one registered file; says whether it is clear which it is.
    fn registered(&mut self, owner: Owner<'_>, name: &[u8]) -> bool {
        let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
        let path = || Some(PathBuf::from(String::from_utf8_lossy(name).into_owned()));
        match rings::leads_to(name, owner.directory) {
            Some(Thing::Held(held)) => {
                self.note(owner, held, Holding::Registered, path);
                true
            }
            Some(Thing::Other) => true,
            // By what it is called alone: it may be what is sought.
            _ if self.sought.names.iter().any(|name| name.as_encoded_bytes() == last) => {
                self.add(owner, Holding::Registered, path);
                true
            }
            _ => rings::is_no_drive(name, self.host),
        }
    }

    fn unclear_ring(&mut self, Owner { process, directory }: Owner<'_>) {
        let rings = &mut self.users.unseen.rings;
        if !rings.iter().any(|ring| ring.process == process) {
            rings.push(RingOwner { process, program: program(directory).unwrap_or_default() });
        }
    }

    // --- descriptors on their way through sockets --------------------------------------------------

    /// A descriptor of our own for another's socket; `None` where the kernel gives none.
    fn copied(&self, owner: Owner<'_>, number: &OsStr, inode: u64) -> Option<OwnedFd> {
        let number = number.to_str()?.parse().ok()?;
        if !self.is_own_proc {
            return None;
        }
        sockets::copied(owner.process, number, inode)
    }

    /// Looks at the descriptors that wait in a socket, as far as that changes nothing for those who
    /// wait for them.
    fn on_their_way(
        &mut self,
        owner: Owner<'_>,
        socket: Option<OwnedFd>,
        waiting: usize,
        nested: usize,
    ) {
        let copies = socket.map_or_else(Vec::new, |socket| sockets::peek(&socket));
        let mut unclear = waiting.saturating_sub(copies.len());
        for copy in copies {
            unclear += usize::from(!self.on_its_way(owner, copy, nested));
        }
        if unclear > 0 {
            self.add(owner, Holding::Unknown { descriptors: unclear }, || None);
        }
    }

    /// Whether it is clear what this is.
    fn on_its_way(&mut self, owner: Owner<'_>, copy: OwnedFd, nested: usize) -> bool {
        let own = self.host.proc.join("self");
        let number = OsString::from(copy.as_raw_fd().to_string());
        let fdinfo = own.join("fdinfo").join(&number);
        match Thing::of(&copy) {
            Ok(Thing::Held(held)) => {
                let is_reading = fcntl_getfl(&copy)
                    .is_ok_and(|flags| !flags.intersects(rustix::fs::OFlags::RWMODE));
                let path = || fs::read_link(own.join("fd").join(&number)).ok();
                self.note(owner, held, Holding::OnItsWay { is_reading }, path);
                true
            }
            Ok(Thing::Ring) => self.ring(owner, &fdinfo).is_ok(),
            Ok(Thing::Socket(_)) => match sockets::waiting(&fdinfo) {
                Ok(0) => true,
                Ok(waiting) if nested > 0 => {
                    self.on_their_way(owner, Some(copy), waiting, nested - 1);
                    true
                }
                _ => false,
            },
            Ok(Thing::Other) => true,
            Err(_) => false,
        }
    }

    // --- mappings ----------------------------------------------------------------------------------

    /// What is mapped by a process that has so many rings among its descriptors. A process whose main
    /// thread has ended shows its memory by the others.
    fn mappings(&mut self, owner: Owner<'_>, threads: &[u32], rings: usize) -> io::Result<()> {
        let mut place = owner.directory.to_owned();
        let mut maps = fs::read(place.join("maps"))?;
        for thread in threads.iter().filter(|&&thread| thread != owner.process) {
            if !maps.is_empty() {
                break;
            }
            place = self.host.proc.join(thread.to_string());
            match fs::read(place.join("maps")) {
                Ok(read) => maps = read,
                Err(error) if has_ended(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let mut seen: Vec<&[u8]> = Vec::new();
        let mut mapped_rings = 0;
        // Each line is `FROM-TO MODES OFFSET MAJOR:MINOR INODE PATH`.
        for line in maps.split(|&byte| byte == b'\n') {
            let mut words = line.splitn(4, |&byte| byte == b' ');
            let (Some(range), Some(_modes), Some(offset), Some(file)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            if rings::is_ring(file) {
                mapped_rings += usize::from(rings::is_queue(offset));
            } else if !file.starts_with(b"00:00 0 ") && !seen.contains(&file) {
                seen.push(file);
                self.mapping(owner, &place, range, file)?;
            }
        }
        // A ring whose descriptor is closed lives on by its memory, and nothing tells what it has.
        if mapped_rings > rings {
            self.unclear_ring(owner);
        }
        Ok(())
    }

    fn mapping(
        &mut self,
        owner: Owner<'_>,
        place: &Path,
        range: &[u8],
        file: &[u8],
    ) -> io::Result<()> {
        let link = place.join("map_files").join(address(range));
        let thing = match self.mapped.get(file) {
            Some(known) => *known,
            None => match Thing::by(&link) {
                Ok(thing) => thing,
                Err(error) if has_ended(&error) => return Ok(()),
                Err(error) => return Err(error),
            },
        };
        self.mapped.insert(file.to_vec(), thing);
        if let Thing::Held(held) = thing {
            self.note(owner, held, Holding::Mapped, || fs::read_link(&link).ok());
        }
        Ok(())
    }

    // --- what was found ----------------------------------------------------------------------------

    fn note(
        &mut self,
        owner: Owner<'_>,
        held: Held,
        holding: Holding,
        path: impl Fn() -> Option<PathBuf>,
    ) {
        if self.sought.matches(&held, holding) {
            self.add(owner, holding, path);
        }
    }

    fn add(&mut self, owner: Owner<'_>, holding: Holding, path: impl Fn() -> Option<PathBuf>) {
        let Owner { process, directory } = owner;
        let is_known = |user: &User| (user.process, user.holding) == (process, holding);
        if self.users.found.iter().any(is_known) || self.is_child_before_its_program(directory) {
            return;
        }
        // One that has ended has nothing any more.
        let Some(program) = program(directory) else { return };
        let device = path().map(PathBuf::into_os_string).unwrap_or_default();
        let device = readable_text(device.as_encoded_bytes()).unwrap_or_default().into();
        let is_passing = is_passing(directory);
        self.users.found.push(User { device, process, program, holding, is_passing });
    }

    /// Whether this is a child of this process that has not begun its own program yet: until then it has
    /// a copy of every descriptor of ours.
    fn is_child_before_its_program(&self, directory: &Path) -> bool {
        let ours = fs::read_link("/proc/self/exe").ok();
        let is_ours = |exe| ours.is_some_and(|ours| ours == exe);
        parent_of(directory) == Some(self.host.own_number())
            && fs::read_link(directory.join("exe")).is_ok_and(is_ours)
    }
}

/// A process may end while it is looked at.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
        || rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::SRCH)
}

/// What a process calls itself; `None` if it has ended.
fn program(directory: &Path) -> Option<String> {
    match fs::read(directory.join("comm")) {
        Err(error) if has_ended(&error) => None,
        read => {
            let name = read.ok().and_then(|name| readable_text(&name));
            Some(name.unwrap_or_else(|| "a process".to_owned()))
        }
    }
}

/// Whether a process is one of udev's, or was started by one (its rules run programs of their own), or
/// is another of this program's.
fn is_passing(directory: &Path) -> bool {
    const GENERATIONS: usize = 4;
    let program = |process: &Path| fs::read(process.join("comm")).unwrap_or_default();
    if program(directory).trim_ascii() == PROGRAM {
        return true;
    }
    let above = |child: &PathBuf| Some(child.parent()?.join(parent_of(child)?.to_string()));
    let mut family = std::iter::successors(Some(directory.to_owned()), above).take(GENERATIONS);
    family.any(|process| {
        [&b"(udev-worker)"[..], b"systemd-udevd", b"udevd"]
            .contains(&program(&process).trim_ascii())
    })
}

/// What the kernel calls a process of this program's.
const PROGRAM: &[u8] = b"writecliff";

/// The number of the process that started this one.
fn parent_of(directory: &Path) -> Option<u32> {
    let stat = fs::read(directory.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // `NUMBER (PROGRAM) STATE PARENT ...`, and a program's name may hold blanks and brackets.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(1)?.parse().ok()
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
    use super::*;

    #[test]
    fn a_mapping_is_named_without_leading_zeros() {
        assert_eq!(address(b"00400000-0040b000"), "400000-40b000");
        assert_eq!(address(b"7f12-7f13"), "7f12-7f13");
        assert_eq!(address(b"00000000-00001000"), "0-1000");
    }
}
