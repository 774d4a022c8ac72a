//! What the kernel gives to other machines: NVMe over fabrics, iSCSI and its kin, USB gadgets.
//!
//! Such an export holds its device without any process and, most kinds, without a claim. Each is a
//! directory of configfs with an attribute that names a device or a file.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::host::sysfs::{Host, Unreadable};

/// An export and what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    /// Where it is configured.
    pub(crate) place: PathBuf,
    pub(crate) device: PathBuf,
}

/// A kind of export.
struct Kind {
    /// The kernel's module.
    module: &'static str,
    /// Where configfs has its exports: a `*` stands for any name.
    pattern: &'static str,
    /// The attribute that names the device.
    attribute: &'static str,
    /// The word in front of the name, if the attribute says more than that.
    after: Option<&'static str>,
    /// The attribute that is 1 while the export holds the device.
    enabled: Option<&'static str>,
}

const fn kind(module: &'static str, pattern: &'static str, attribute: &'static str) -> Kind {
    Kind { module, pattern, attribute, after: None, enabled: None }
}

const KINDS: &[Kind] = &[
    Kind {
        enabled: Some("enable"),
        ..kind("nvmet", "nvmet/subsystems/*/namespaces/*", "device_path")
    },
    Kind { enabled: Some("enable"), ..kind("target_core_mod", "target/core/*/*", "udev_path") },
    Kind {
        enabled: Some("enable"),
        after: Some("File:"),
        ..kind("target_core_mod", "target/core/*/*", "info")
    },
    kind("usb_f_mass_storage", "usb_gadget/*/functions/*/*", "file"),
];

/// Everything that is exported just now.
///
/// # Errors
/// If an exporting module is there and its configuration cannot be read.
pub(crate) fn exports(host: &Host) -> Result<Vec<Export>, Unreadable> {
    let config = host.sys.join("kernel/config");
    let mut found = Vec::new();
    for kind in KINDS {
        let top = kind.pattern.split('/').next().unwrap_or_default();
        let is_loaded = host.sys.join("module").join(kind.module).exists();
        if !config.join(top).exists() {
            // Without configfs nobody can have configured an export by it, unless it was unmounted.
            match is_loaded && config.exists() {
                true => return Err(Unreadable::new(config.join(top), ErrorKind::NotFound)),
                false => continue,
            }
        }
        for place in matching(&config, kind.pattern)? {
            found.extend(kind.export(place)?);
        }
    }
    Ok(found)
}

/// The directories that a pattern of names and stars leads to.
fn matching(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, Unreadable> {
    let mut places = vec![base.to_owned()];
    for name in pattern.split('/') {
        let mut next = Vec::new();
        for place in places {
            match name {
                "*" => next.extend(directories(&place)?),
                name => next.push(place.join(name)),
            }
        }
        places = next;
    }
    Ok(places)
}

fn directories(place: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let entries = match fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Unreadable::new(place, error)),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.is_dir()).collect())
}

impl Kind {
    fn export(&self, place: PathBuf) -> Result<Option<Export>, Unreadable> {
        if let Some(enabled) = self.enabled
            && attribute(&place.join(enabled))?.is_none_or(|value| value.trim_ascii() != b"1")
        {
            return Ok(None);
        }
        let Some(value) = attribute(&place.join(self.attribute))? else {
            return Ok(None);
        };
        let name = match self.after {
            None => Some(value.trim_ascii()),
            Some(word) => word_after(&value, word.as_bytes()),
        };
        let name = name.filter(|name| !name.is_empty() && *name != b"(null)");
        let device = name.map(|name| PathBuf::from(std::ffi::OsStr::from_bytes(name)));
        Ok(device.map(|device| Export { place, device }))
    }
}

fn attribute(path: &Path) -> Result<Option<Vec<u8>>, Unreadable> {
    match fs::read(path) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreadable::new(path, error)),
    }
}

/// The word after another.
fn word_after<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.find(|found| *found == word)?;
    words.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
        let directory = tempfile::TempDir::new().unwrap();
        for (name, value) in files {
            let path = directory.path().join("sys").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, value).unwrap();
        }
        let base = directory.path();
        let host = Host { sys: base.join("sys"), proc: base.join("proc"), dev: base.join("dev") };
        (directory, host)
    }

    fn devices(files: &[(&str, &str)]) -> Vec<String> {
        let (_directory, host) = host(files);
        let found = exports(&host).unwrap();
        found.into_iter().map(|export| export.device.display().to_string()).collect()
    }

    #[test]
    fn exports_are_found_while_they_are_enabled() {
        let namespace = "kernel/config/nvmet/subsystems/nqn/namespaces/1/";
        let path = format!("{namespace}device_path");
        let enable = format!("{namespace}enable");
        assert_eq!(devices(&[(&path, "/dev/sdb\n"), (&enable, "1\n")]), ["/dev/sdb"]);
        assert_eq!(devices(&[(&path, "/dev/sdb\n"), (&enable, "0\n")]), [""; 0]);
        let core = "kernel/config/target/core/fileio_0/disk/";
        let info = "Status: ACTIVATED  Max Queue Depth: 0\n  TCM FILEIO ID: 0  File: /srv/x.img  \
                    Size: 1073741824  Mode: O_DSYNC\n";
        let files = [
            (format!("{core}udev_path"), ""),
            (format!("{core}info"), info),
            (format!("{core}enable"), "1\n"),
        ];
        let files: Vec<_> = files.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(devices(&files), ["/srv/x.img"]);
        let gadget = "kernel/config/usb_gadget/g1/functions/mass_storage.0/lun.0/file";
        assert_eq!(devices(&[(gadget, "/dev/mmcblk0\n")]), ["/dev/mmcblk0"]);
        assert_eq!(devices(&[]), [""; 0]);
    }

    #[test]
    fn an_exporter_that_cannot_be_asked_is_a_doubt() {
        let (_directory, host) = host(&[("module/nvmet/refcnt", "1\n"), ("kernel/config/x", "")]);
        let doubt = exports(&host).unwrap_err();
        assert!(doubt.path.ends_with("kernel/config/nvmet"), "{}", doubt.path.display());
    }
}
