//! What the guest boots: a kernel, an initrd and a root file system of Debian packages.
//!
//! Made once and kept under cargo's target directory, in a folder named after everything that it is
//! made from. Packages are only unpacked: no maintainer script runs, nothing here needs root.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run;

const PACKAGES: &str = include_str!("../../guest/packages");
const MAKING: &str = include_str!("../../guest/make-image");
const INITRD_INIT: &str = include_str!("../../guest/initrd-init");

/// Which kernel a machine boots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kernel {
    /// Debian 12's
    #[default]
    Stable,
    /// The newest that apt has for Debian 12
    Newer,
}

impl Kernel {
    fn package(self) -> &'static str {
        match self {
            Self::Stable => "linux-image-amd64",
            Self::Newer => "linux-image-6.12-amd64",
        }
    }
}

/// The files that a machine boots from.
pub(super) struct Image {
    folder: PathBuf,
}

impl Image {
    /// The image that is kept in `cache`, made first where there is none of these packages.
    pub(super) fn prepare(cache: &Path, kernel: Kernel) -> Result<Self, String> {
        let kind = format!("image-{kernel:?}-").to_lowercase();
        let folder = cache.join(format!("{kind}{:016x}", key()));
        if !folder.exists() {
            println!("xtask: making the guest (once; it is kept in {})", cache.display());
            forget_older(cache, &kind);
            make(&folder, kernel)?;
        }
        Ok(Self { folder })
    }

    pub(super) fn kernel(&self) -> PathBuf {
        self.folder.join("vmlinuz")
    }

    pub(super) fn initrd(&self) -> PathBuf {
        self.folder.join("initrd")
    }

    /// An ext4 file system; machines must leave it as it is.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("root.img")
    }
}

fn key() -> u64 {
    let mut hasher = DefaultHasher::new();
    (PACKAGES, MAKING, INITRD_INIT).hash(&mut hasher);
    hasher.finish()
}

/// Makes it under another name, so that an interrupted start leaves nothing that looks complete.
fn make(folder: &Path, kernel: Kernel) -> Result<(), String> {
    let unfinished = folder.with_extension("unfinished");
    let in_it = |name: &str| unfinished.join(name);
    let told = |error: std::io::Error| format!("{}: {error}", unfinished.display());
    fs::create_dir_all(&unfinished).map_err(told)?;
    fs::write(in_it("make-image"), MAKING).map_err(told)?;
    fs::write(in_it("initrd-init"), INITRD_INIT).map_err(told)?;
    let mut making = Command::new("bash");
    making.arg("make-image").arg(kernel.package()).args(packages());
    run(making.current_dir(&unfinished))?;
    fs::rename(&unfinished, folder).map_err(told)
}

fn packages() -> impl Iterator<Item = &'static str> {
    PACKAGES.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// Some hundred megabytes each; what cannot be removed only takes room.
fn forget_older(cache: &Path, kind: &str) {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten();
    let is_image = |name: &OsStr| name.to_string_lossy().starts_with(kind);
    for entry in entries.filter(|entry| is_image(&entry.file_name())) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_boots_is_among_the_packages() {
        let packages: Vec<&str> = packages().collect();
        assert!(packages.contains(&"kmod") && packages.contains(&"udev"));
        assert!(packages.iter().all(|package| !package.contains('#')), "{packages:?}");
    }
}
