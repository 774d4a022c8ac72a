//! Machines made of files, for tests: what no test machine has at hand.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::host::sysfs::Host;

/// A machine with the sysfs and proc files that the guard reads.
pub(crate) struct Machine {
    directory: TempDir,
    pub(crate) host: Host,
}

impl Machine {
    /// With disks and partitions by name and number (`sda1` is a part of `sda`), and with devices
    /// built on others (holder, held).
    pub(crate) fn new(nodes: &[(&str, &str)], stacked: &[(&str, &str)], mountinfo: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let base = directory.path();
        let host = Host { sys: base.join("sys"), proc: base.join("proc"), dev: base.join("dev") };
        for place in ["sys/dev/block", "sys/block", "sys/class/block", "proc/self", "dev"] {
            fs::create_dir_all(base.join(place)).unwrap();
        }
        let machine = Self { directory, host };
        nodes.iter().for_each(|(name, number)| machine.add(name, number));
        stacked.iter().for_each(|(holder, held)| machine.stack(holder, held));
        fs::write(machine.host.proc.join("self/mountinfo"), mountinfo).unwrap();
        fs::write(machine.host.proc.join("swaps"), "Filename Type\n").unwrap();
        machine
    }

    pub(crate) fn place(&self, name: &str) -> PathBuf {
        let devices = self.directory.path().join("sys/devices");
        match name.strip_prefix("sd").map(|rest| rest.len()) {
            Some(2..) => devices.join(&name[..3]).join(name),
            _ => devices.join(name),
        }
    }

    fn add(&self, name: &str, number: &str) {
        let place = self.place(name);
        fs::create_dir_all(place.join("holders")).unwrap();
        fs::write(place.join("dev"), format!("{number}\n")).unwrap();
        fs::write(place.join("size"), "204800\n").unwrap();
        fs::write(place.join("ro"), "0\n").unwrap();
        symlink(&place, self.host.sys.join("dev/block").join(number)).unwrap();
        symlink(&place, self.host.sys.join("class/block").join(name)).unwrap();
        if place.parent().is_some_and(|above| above.ends_with("devices")) {
            fs::create_dir_all(place.join("slaves")).unwrap();
            symlink(&place, self.host.sys.join("block").join(name)).unwrap();
            fs::create_dir_all(place.join("device")).unwrap();
            fs::write(place.join("device/wwid"), format!("naa.{number}\n")).unwrap();
        } else {
            fs::write(place.join("partition"), "1\n").unwrap();
            fs::write(place.join("start"), "0\n").unwrap();
        }
    }

    fn stack(&self, holder: &str, held: &str) {
        symlink(self.place(holder), self.place(held).join("holders").join(holder)).unwrap();
        symlink(self.place(held), self.place(holder).join("slaves").join(held)).unwrap();
    }

    pub(crate) fn put(&self, name: &str, attribute: &str, value: &str) {
        let file = self.place(name).join(attribute);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, value).unwrap();
    }
}

pub(crate) const NODES: &[(&str, &str)] = &[
    ("sda", "8:0"),
    ("sda1", "8:1"),
    ("sda2", "8:2"),
    ("sda3", "8:3"),
    ("sdb", "8:16"),
    ("sdc", "8:32"),
    ("sdd", "8:48"),
    ("dm-0", "253:0"),
    ("dm-1", "253:1"),
    ("md0", "9:0"),
];

/// Root on a volume on sda2, an array of sdb and sdc, and a volume on the array.
pub(crate) const STACKED: &[(&str, &str)] =
    &[("dm-0", "sda2"), ("md0", "sdb"), ("md0", "sdc"), ("dm-1", "md0")];
