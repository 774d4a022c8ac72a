//! Debian packages that tests and benchmarks use beside Rust.

use std::path::PathBuf;
use std::process::Command;

use crate::run;

/// A program and the package that brings it.
pub(crate) struct Package {
    program: &'static str,
    package: &'static str,
    purpose: &'static str,
}

const fn package(program: &'static str, package: &'static str, purpose: &'static str) -> Package {
    Package { program, package, purpose }
}

/// Without them the tests that need them are skipped.
pub(crate) const FOR_TESTS: &[Package] = &[
    package("chromium", "chromium", "opens the report, and Bench"),
    package("npm", "npm", "installs the rules of accessibility that Bench is held to"),
    package("fio", "fio", "does the jobs that ours are compared with"),
    package("nbdinfo", "libnbd-bin", "is a client of exported drives"),
    package("nbdfuse", "nbdfuse", "makes files of exported drives"),
    package("nbdkit", "nbdkit", "puts TLS before exported drives"),
    package("nbdsh", "python3-libnbd", "asks exported drives for what it must not"),
    package("qemu-io", "qemu-utils", "is a client of exported drives"),
    package("losetup", "mount", "makes block devices of files"),
    package("sfdisk", "fdisk", "makes partition tables for the guard to find"),
    package("mkfs.ext4", "e2fsprogs", "makes file systems for the guard to find"),
    package("mkswap", "util-linux", "makes swap areas for the guard to find"),
    package(
        "wipefs",
        "util-linux",
        "is asked by the guard, and the guard's marks are held against it",
    ),
    package("mkfs.vfat", "dosfstools", "makes file systems for the guard to find"),
    package("mkfs.exfat", "exfatprogs", "makes file systems for the guard to find"),
    package("mkfs.ntfs", "ntfs-3g", "makes file systems for the guard to find"),
    package("mkfs.btrfs", "btrfs-progs", "makes file systems for the guard to find"),
    package("mkfs.f2fs", "f2fs-tools", "makes file systems for the guard to find"),
    package("mkudffs", "udftools", "makes file systems for the guard to find"),
    package("genisoimage", "genisoimage", "makes file systems for the guard to find"),
    package("parted", "parted", "makes partition tables for the guard to find"),
];

/// The peer that the engine is measured beside.
pub(crate) const FOR_BENCHMARKS: &[Package] = &[
    package("fio", "fio", "the peer of the benchmarks"),
    package("chromium", "chromium", "opens the page"),
    package("losetup", "mount", "makes block devices of files"),
];

/// What packages are made with, and tried with.
pub(crate) const FOR_DIST: &[Package] = &[
    package("dpkg-deb", "dpkg", "makes the Debian package"),
    package("tar", "tar", "makes the archive"),
    package("unshare", "util-linux", "tries both where nothing else is installed"),
];

/// What the virtual machine is made with, and runs on.
pub(crate) const FOR_GUEST: &[Package] = &[
    package("qemu-system-x86_64", "qemu-system-x86", "emulates a machine with many drives"),
    package("apt-get", "apt", "downloads what the guest is made of"),
    package("dpkg-deb", "dpkg", "unpacks what the guest is made of"),
    package("depmod", "kmod", "finds the kernel modules that the guest needs"),
    package("mke2fs", "e2fsprogs", "makes the guest's root file system"),
    package("cpio", "cpio", "makes the guest's initrd"),
    package("setpriv", "util-linux", "ends the guest with its parent"),
    package("strip", "binutils", "makes the program small enough to be copied"),
];

/// The programs that are still missing.
pub(crate) fn missing(packages: &[Package]) -> Vec<&'static str> {
    packages.iter().map(|package| package.program).filter(|p| !is_installed(p)).collect()
}

/// Installs what is missing with apt, when root; otherwise says what is missing.
pub(crate) fn install(packages: &[Package]) -> Result<(), String> {
    let missing: Vec<&Package> = packages.iter().filter(|p| !is_installed(p.program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() || !is_installed("apt-get") {
        for package in missing {
            println!(
                "xtask: MISSING {} ({}): what needs it is skipped; install it with \
                 `apt-get install {}`",
                package.program, package.purpose, package.package
            );
        }
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|package| package.package).collect();
    println!("xtask: installing {}", names.join(", "));
    run(apt().args(["update", "-qq"]))?;
    run(apt().args(["install", "-qq", "--no-install-recommends", "--yes"]).args(names))
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Looks in PATH and where system programs live, which is not in every user's PATH.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).any(|folder| folder.join(program).is_file())
}
