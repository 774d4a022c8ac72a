//! Making and removing mappings: the kernel's device mapper, asked by its control device.
//!
//! Only mappings of this program's own are made and removed. They are told by their name and UUID,
//! which begin with [`OWN`], and go by themselves when whoever made them is gone.
#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::host::sysfs::{DeviceNumber, Host, Node};

/// What names of our mappings begin with, in capitals in their UUIDs.
const OWN: &str = "writecliff-";
/// `struct dm_ioctl` and `struct dm_target_spec` of linux/dm-ioctl.h.
const HEADER: usize = 312;
const SPECIFICATION: usize = 40;
/// Longer than any of our tables.
const SIZE: usize = 4096;
/// `DM_SECURE_DATA_FLAG`: the table holds a key. `DM_DEFERRED_REMOVE`: when the last one closes it.
const SECURE: u32 = 1 << 15;
const DEFERRED: u32 = 1 << 17;
/// udev looks at a new device for a moment, and a closed one is free a moment later.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

/// A command of linux/dm-ioctl.h, by its number there.
#[derive(Clone, Copy)]
enum Command {
    Create = 3,
    Remove = 4,
    /// With no flag, it resumes: the loaded table becomes the live one.
    Suspend = 6,
    LoadTable = 9,
    TargetVersion = 17,
}

/// A mapping of our own; removed when it is dropped, or by the kernel if that does not come to pass.
#[derive(Debug)]
pub(crate) struct Mapping {
    control: File,
    name: String,
    pub(crate) number: DeviceNumber,
}

/// The one line that a mapping of ours has.
pub(crate) struct Line<'a> {
    pub(crate) sectors: u64,
    pub(crate) kind: &'a str,
    pub(crate) parameters: &'a str,
}

impl Mapping {
    /// A mapping over a device, of which there can be one. The device must be free for it, or become
    /// so within seconds.
    ///
    /// # Errors
    /// What the kernel says; there is no mapping then.
    pub(crate) fn over(host: &Host, below: DeviceNumber, line: &Line<'_>) -> io::Result<Self> {
        let control = open_control(host)?;
        let name = format!("{OWN}{}-{}", below.major, below.minor);
        let mut request = Request::of(&name);
        request.put(176, name.to_uppercase().as_bytes());
        let number = request.send(&control, Command::Create)?;
        let mapping = Self { control, name, number };
        patiently(|| {
            Request::of(&mapping.name).with(line).send(&mapping.control, Command::LoadTable)
        })?;
        Request::of(&mapping.name).send(&mapping.control, Command::Suspend)?;
        Ok(mapping)
    }

    /// From here on the kernel removes it when nobody has it open any more: also if this process is
    /// killed.
    pub(crate) fn leave_to_the_kernel(&self) -> io::Result<()> {
        Request::of(&self.name).flag(DEFERRED).send(&self.control, Command::Remove).map(drop)
    }

    /// Removes it, and waits until it is gone. Whoever has it open is waited for, for seconds.
    fn remove(&self) -> io::Result<()> {
        patiently(|| {
            match Request::of(&self.name).send(&self.control, Command::Remove) {
                // The kernel was faster.
                Err(error) if is_none(&error) => Ok(()),
                Err(error) => Err(error),
                Ok(_) => Ok(()),
            }
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // What is left then is removed by the kernel, or by the next run.
        let _ = self.remove();
    }
}

/// Why the kernel cannot make mappings with targets of this kind here; `None` if it can.
pub(crate) fn missing(host: &Host, kind: &str) -> Option<String> {
    let control = match open_control(host) {
        Ok(control) => control,
        Err(error) => return Some(format!("the kernel has no device mapper here ({error})")),
    };
    match Request::of(kind).send(&control, Command::TargetVersion) {
        // Before 4.20 nobody can ask; it shows when the table is loaded.
        Ok(_) => None,
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NOTTY) => None,
        Err(error) => {
            Some(format!("the kernel has no dm-{kind} ({error}); is its module installed?"))
        }
    }
}

/// Removes what a run that was killed has left on a device, unless somebody has it open.
pub(crate) fn remove_leftovers(host: &Host, node: &Node) {
    let holders = node.holders().unwrap_or_default();
    let is_own = |holder: &Node| {
        let uuid = holder.attribute("dm/uuid").ok().flatten();
        uuid.is_some_and(|uuid| uuid.starts_with(&OWN.to_uppercase()))
    };
    let names = holders.iter().filter(|holder| is_own(holder));
    for name in names.filter_map(|holder| holder.attribute("dm/name").ok().flatten()) {
        if let Ok(control) = open_control(host) {
            let _ = Request::of(&name).send(&control, Command::Remove);
        }
    }
}

fn open_control(host: &Host) -> io::Result<File> {
    File::options().read(true).write(true).open(host.dev.join("mapper/control"))
}

fn is_none(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NXIO)
}

/// Tries again, for some seconds, while something is busy: a claim that was given back is free for the
/// next one a moment later.
pub(crate) fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(error)
                if Errno::from_io_error(&error) == Some(Errno::BUSY)
                    && begun.elapsed() < PATIENCE =>
            {
                thread::sleep(STEP);
            }
            ended => return ended,
        }
    }
}

/// A `dm_ioctl` about a mapping.
struct Request(Vec<u8>);

impl Request {
    fn of(name: &str) -> Self {
        let mut request = Self(vec![0; SIZE]);
        request.put(0, &4u32.to_ne_bytes());
        request.put(12, &(SIZE as u32).to_ne_bytes());
        request.put(16, &(HEADER as u32).to_ne_bytes());
        request.put(48, name.as_bytes());
        request.flag(SECURE)
    }

    fn flag(mut self, flag: u32) -> Self {
        let flags = u32::from_ne_bytes(self.0[28..32].try_into().unwrap_or_default());
        self.put(28, &(flags | flag).to_ne_bytes());
        self
    }

    /// With a table of one line.
    fn with(mut self, line: &Line<'_>) -> Self {
        self.put(20, &1u32.to_ne_bytes());
        self.put(HEADER + 8, &line.sectors.to_ne_bytes());
        let length = (SPECIFICATION + line.parameters.len() + 1).next_multiple_of(8);
        self.put(HEADER + 20, &(length as u32).to_ne_bytes());
        self.put(HEADER + 24, line.kind.as_bytes());
        self.put(HEADER + SPECIFICATION, line.parameters.as_bytes());
        self
    }

    fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Sends it; gives the number of the device that it was about.
    fn send(mut self, control: &File, command: Command) -> io::Result<DeviceNumber> {
        // `_IOWR(0xfd, command, struct dm_ioctl)`.
        let number = 0xC138_FD00 | command as u64;
        // SAFETY: the command reads a dm_ioctl and its data from the buffer and writes at most
        // `data_size` bytes to it, which is the buffer's length.
        let sent = unsafe { libc::ioctl(control.as_raw_fd(), number as _, self.0.as_mut_ptr()) };
        if sent != 0 {
            return Err(io::Error::last_os_error());
        }
        let device = u64::from_ne_bytes(self.0[40..48].try_into().unwrap_or_default());
        Ok(DeviceNumber::from_raw(device))
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // It may hold a key.
        self.0.fill(0);
    }
}

/// The node of a new device, once it is there.
pub(crate) fn await_node(host: &Host, number: DeviceNumber) -> io::Result<std::path::PathBuf> {
    patiently(|| {
        let not_yet = || io::Error::from(Errno::BUSY);
        let node = host.node(number).map_err(|_| not_yet())?;
        let path = host.path_of(&node);
        if leads_to(&path, number) { Ok(path) } else { Err(not_yet()) }
    })
}

fn leads_to(path: &Path, number: DeviceNumber) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|facts| DeviceNumber::from_raw(facts.rdev()) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_laid_out_as_the_kernel_reads_it() {
        let line = Line { sectors: 2048, kind: "crypt", parameters: "aes-xts-plain64 00 0 8:16 0" };
        let request = Request::of("writecliff-8-16").with(&line);
        let word = |at: usize| u32::from_ne_bytes(request.0[at..at + 4].try_into().unwrap());
        assert_eq!((word(0), word(12), word(16), word(20)), (4, 4096, 312, 1));
        assert_eq!(word(28), SECURE);
        assert!(request.0[48..].starts_with(b"writecliff-8-16\0"));
        assert_eq!(request.0[HEADER + 8..HEADER + 16], 2048u64.to_ne_bytes());
        // 40 bytes, 27 and a NUL, in whole eights.
        assert_eq!(word(HEADER + 20), 72);
        assert!(request.0[HEADER + 24..].starts_with(b"crypt\0"));
        assert!(request.0[HEADER + 40..].starts_with(b"aes-xts-plain64 00 0 8:16 0\0"));
    }

    #[test]
    fn a_machine_without_a_device_mapper_says_so() {
        let directory = tempfile::TempDir::new().unwrap();
        let host = Host { dev: directory.path().into(), ..Host::this_machine() };
        let missing = missing(&host, "crypt").unwrap();
        assert!(missing.contains("no device mapper here"), "{missing}");
    }
}
