//! How far one sees from here: all of the machine's processes, or those of a container.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::host::sysfs::Host;

/// The kernel's own namespaces have these inodes on every machine (linux/proc_ns.h).
const FIRST_PID: u64 = 0xEFFF_FFFC;
const FIRST_USER: u64 = 0xEFFF_FFFD;

/// What `/proc` shows of a machine's processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Horizon {
    /// All of them.
    #[default]
    Machine,
    /// Those of a PID namespace: of a container, say.
    PidNamespace,
    /// All, but root is root of a user namespace only.
    UserNamespace,
    /// Only this user's (`hidepid`).
    Hidden,
}

impl Horizon {
    /// How far `/proc` shows, to this process.
    pub(crate) fn of(host: &Host) -> Self {
        let inode = |link: &str| fs::metadata(host.proc.join(link)).map(|facts| facts.ino()).ok();
        // Another user's first process does not tell; then this one's namespace is as far as it goes.
        let is_first = match inode("1/ns/pid") {
            Some(namespace) => namespace == FIRST_PID,
            None => inode("self/ns/pid").is_none_or(|own| own == FIRST_PID) && host.has_own_proc(),
        };
        match inode("self/ns/user") {
            _ if !is_first => Self::PidNamespace,
            Some(user) if user != FIRST_USER => Self::UserNamespace,
            _ if host.hides_processes() && !rustix::process::geteuid().is_root() => Self::Hidden,
            _ => Self::Machine,
        }
    }
}

impl fmt::Display for Horizon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Machine => "nothing",
            Self::PidNamespace => "/proc shows a PID namespace of its own, as in a container",
            Self::UserNamespace => "root is root of a user namespace only, as in a container",
            Self::Hidden => "/proc hides other users' processes (hidepid)",
        })
    }
}

impl Host {
    /// Whether `/proc` calls processes as system calls do: it is of this process's own PID namespace.
    pub(crate) fn has_own_proc(&self) -> bool {
        let status = fs::read_to_string(self.proc.join("self/status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        numbers.is_some_and(|numbers| numbers.trim() == std::process::id().to_string())
    }

    /// What `/proc` calls this process.
    pub(crate) fn own_number(&self) -> u32 {
        let called = fs::read_link(self.proc.join("self")).ok();
        let number = called.and_then(|name| name.to_str()?.parse().ok());
        number.unwrap_or_else(std::process::id)
    }

    /// Whether `/proc` is mounted so that it shows its readers only what they own.
    fn hides_processes(&self) -> bool {
        let mounts = fs::read_to_string(self.proc.join("self/mountinfo")).unwrap_or_default();
        let of_proc = |line: &&str| line.split(' ').nth(4) == self.proc.to_str();
        mounts.lines().filter(of_proc).any(|line| {
            let options = line.rsplit(' ').next().unwrap_or_default().split(',');
            options
                .filter_map(|option| option.strip_prefix("hidepid="))
                .any(|how| how != "0" && how != "off")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_sees_its_own_processes() {
        assert!(Host::this_machine().has_own_proc());
    }

    #[test]
    fn processes_that_are_hidden_are_told_by_how_proc_is_mounted() {
        let directory = tempfile::TempDir::new().unwrap();
        let proc = directory.path().join("proc");
        fs::create_dir_all(proc.join("self")).unwrap();
        let host = Host { proc: proc.clone(), ..Host::this_machine() };
        for (options, hides) in [
            ("rw", false),
            ("rw,hidepid=0", false),
            ("rw,hidepid=2", true),
            ("rw,hidepid=invisible,gid=3", true),
        ] {
            let line = format!("22 1 0:5 / {} rw,nosuid - proc proc {options}\n", proc.display());
            fs::write(proc.join("self/mountinfo"), line).unwrap();
            assert_eq!(host.hides_processes(), hides, "{options}");
        }
    }
}
