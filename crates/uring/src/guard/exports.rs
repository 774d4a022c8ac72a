//! What the kernel gives to other machines: NVMe over fabrics, iSCSI and its kin, RNBD, USB gadgets.
//!
//! Such an export holds its device without any process and, most kinds, without a claim. Each is a
//! directory of configfs or sysfs with an attribute that names a device or a file: as it was called when
//! the export began, which may lead elsewhere by now, or nowhere.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use writecliff_device::Bytes;

use crate::guard::holders::Sought;
use crate::guard::refusal::Refusal;
use crate::host::sysfs::{Host, Unreadable};

/// An export and what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    /// Where it is configured.
    pub(crate) place: PathBuf,
    pub(crate) device: PathBuf,
    /// How large that is, if the export tells.
    size: Option<Bytes>,
    /// Whether the kernel has a claim on it, which nobody else gets.
    claims: bool,
}

const EXPORTS: &str = "what is exported to other machines";

/// A kind of export.
struct Kind {
    /// The kernel's module.
    module: &'static str,
    /// Where sysfs or configfs, which is mounted in it, has its exports: a `*` stands for any name.
    pattern: &'static str,
    /// The attribute that names the device.
    attribute: Attribute,
    /// The attribute that is 1 while the export holds the device.
    enabled: Option<&'static str>,
    claims: bool,
}

/// How an attribute names a device.
enum Attribute {
    /// By its path.
    Path(&'static str),
    /// Within `... File: PATH  Size: BYTES  Mode: ...`.
    File(&'static str),
    /// By a link to its directory in sysfs.
    Link(&'static str),
}

const fn kind(module: &'static str, pattern: &'static str, attribute: Attribute) -> Kind {
    Kind { module, pattern, attribute, enabled: None, claims: false }
}

const KINDS: &[Kind] = &[
    Kind {
        enabled: Some("enable"),
        ..kind(
            "nvmet",
            "kernel/config/nvmet/subsystems/*/namespaces/*",
            Attribute::Path("device_path"),
        )
    },
    Kind {
        enabled: Some("enable"),
        ..kind("nvmet", "kernel/config/nvmet/subsystems/*/passthru", Attribute::Path("device_path"))
    },
    Kind {
        enabled: Some("enable"),
        claims: true,
        ..kind("target_core_mod", "kernel/config/target/core/*/*", Attribute::Path("udev_path"))
    },
    Kind {
        enabled: Some("enable"),
        ..kind("target_core_mod", "kernel/config/target/core/*/*", Attribute::File("info"))
    },
    kind("usb_f_mass_storage", "kernel/config/usb_gadget/*/functions/*/*", Attribute::Path("file")),
    kind("usb_f_mass_storage", "class/udc/*/device/*/*", Attribute::Path("file")),
    kind("rnbd_server", "devices/virtual/rnbd-server/ctl/devices/*", Attribute::Link("block_dev")),
];

/// The exports of what is sought, and those that may be of it: what they name leads
/// nowhere, and nothing keeps them from being of this.
///
/// # Errors
/// If an exporting module is there and its configuration cannot be read.
pub(crate) fn exports_of(host: &Host, sought: &Sought) -> Result<Vec<Refusal>, Unreadable> {
    let mut found = Vec::new();
    for Export { place, device, size, claims } in exports(host)? {
        let is_sought = match fs::metadata(&device) {
            Ok(facts) => Some(sought.has(&facts)),
            // Its node has gone, or is another container's: by its name, then.
            Err(_) => host.node_by_name(&device).map(|node| sought.has_device(node.number)),
        };
        // A claim would have kept this program's away, and another size is another device's.
        let may_be = !claims && size.is_none_or(|size| sought.sizes.contains(&size));
        match is_sought {
            Some(true) => found.push(Refusal::Exported { device, place }),
            None if may_be => found.push(Refusal::ExportOfUnknown { device, place }),
            _ => {}
        }
    }
    Ok(found)
}

/// Everything that is exported just now.
fn exports(host: &Host) -> Result<Vec<Export>, Unreadable> {
    let config = host.sys.join("kernel/config");
    let mut found = Vec::new();
    for kind in KINDS {
        let is_loaded = host.sys.join("module").join(kind.module).exists();
        let top =
            kind.pattern.strip_prefix("kernel/config/").and_then(|rest| rest.split('/').next());
        if let Some(top) = top.filter(|top| !config.join(top).exists()) {
            // Without configfs nobody can have configured an export by it, unless it was unmounted.
            match is_loaded && config.exists() {
                true => {
                    let missing = Unreadable::new(config.join(top), ErrorKind::NotFound);
                    return Err(missing.at_stake(EXPORTS));
                }
                false => continue,
            }
        }
        for place in matching(&host.sys, kind.pattern)? {
            found.extend(kind.export(host, place)?);
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
        Err(error) => return Err(Unreadable::new(place, error).at_stake(EXPORTS)),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.is_dir()).collect())
}

impl Kind {
    fn export(&self, host: &Host, place: PathBuf) -> Result<Option<Export>, Unreadable> {
        if let Some(enabled) = self.enabled
            && attribute(&place.join(enabled))?.is_none_or(|value| value.trim_ascii() != b"1")
        {
            return Ok(None);
        }
        let (name, size) = match self.attribute {
            Attribute::Path(name) => (attribute(&place.join(name))?, None),
            Attribute::File(name) => match attribute(&place.join(name))? {
                Some(text) => file_of(&text),
                None => (None, None),
            },
            Attribute::Link(name) => {
                let linked = fs::read_link(place.join(name)).ok();
                let node = linked.as_deref().and_then(Path::file_name);
                let path = node.map(|node| host.dev.join(node).as_os_str().as_bytes().to_vec());
                (path, None)
            }
        };
        let name = name.map(|name| name.trim_ascii().to_vec());
        let name = name.filter(|name| !name.is_empty() && name != b"(null)");
        let device = name.map(|name| PathBuf::from(std::ffi::OsStr::from_bytes(&name)));
        let claims = self.claims;
        Ok(device.map(|device| Export { place, device, size, claims }))
    }
}

fn attribute(path: &Path) -> Result<Option<Vec<u8>>, Unreadable> {
    match fs::read(path) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreadable::new(path, error).at_stake(EXPORTS)),
    }
}

/// The path and the size in `... File: PATH  Size: BYTES  Mode: ...`; a path may hold blanks.
fn file_of(text: &[u8]) -> (Option<Vec<u8>>, Option<Bytes>) {
    let text = String::from_utf8_lossy(text);
    let Some((_, file)) = text.split_once("File: ") else { return (None, None) };
    let Some((path, rest)) = file.rsplit_once("  Size: ") else {
        return (Some(file.as_bytes().to_vec()), None);
    };
    let size = rest.split_ascii_whitespace().next().and_then(|size| size.parse().ok());
    (Some(path.as_bytes().to_vec()), size.map(Bytes))
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

    const NAMESPACE: &str = "kernel/config/nvmet/subsystems/nqn/namespaces/1/";
    const STORE: &str = "kernel/config/target/core/fileio_0/disk/";

    fn store(file: &str) -> String {
        format!(
            "Status: ACTIVATED  Max Queue Depth: 0\n  TCM FILEIO ID: 0  File: {file}  Size: \
             1073741824  Mode: O_DSYNC Async: 0\n"
        )
    }

    #[test]
    fn exports_are_found_while_they_are_enabled() {
        let path = format!("{NAMESPACE}device_path");
        let enable = format!("{NAMESPACE}enable");
        assert_eq!(devices(&[(&path, "/dev/sdb\n"), (&enable, "1\n")]), ["/dev/sdb"]);
        assert_eq!(devices(&[(&path, "/dev/sdb\n"), (&enable, "0\n")]), [""; 0]);
        let passthru = "kernel/config/nvmet/subsystems/nqn/passthru/";
        let (path, enable) = (format!("{passthru}device_path"), format!("{passthru}enable"));
        assert_eq!(devices(&[(&path, "/dev/nvme0\n"), (&enable, "1\n")]), ["/dev/nvme0"]);
        for file in ["/srv/x.img", "/srv/a disk.img", "/srv/File: 3  Size: big"] {
            let (udev, info) = (format!("{STORE}udev_path"), format!("{STORE}info"));
            let (store, enable) = (store(file), format!("{STORE}enable"));
            assert_eq!(devices(&[(&udev, ""), (&info, &store), (&enable, "1\n")]), [file]);
        }
        let gadget = "kernel/config/usb_gadget/g1/functions/mass_storage.0/lun.0/file";
        assert_eq!(devices(&[(gadget, "/dev/mmcblk0\n")]), ["/dev/mmcblk0"]);
        let legacy = "class/udc/dummy_udc.0/device/gadget/lun0/file";
        assert_eq!(devices(&[(legacy, "/dev/mmcblk0\n")]), ["/dev/mmcblk0"]);
        assert_eq!(devices(&[]), [""; 0]);
    }

    #[test]
    fn a_remote_block_device_is_named_by_its_link() {
        let (directory, host) = host(&[("devices/pci/sdb/size", "8\n")]);
        let place = host.sys.join("devices/virtual/rnbd-server/ctl/devices/sdb");
        fs::create_dir_all(&place).unwrap();
        std::os::unix::fs::symlink(host.sys.join("devices/pci/sdb"), place.join("block_dev"))
            .unwrap();
        let found = exports(&host).unwrap();
        assert_eq!(found[0].device, directory.path().join("dev/sdb"));
    }

    #[test]
    fn what_leads_nowhere_may_be_what_is_sought() {
        let doubts = |files: &[(&str, &str)], capacity: u64| {
            let (_directory, host) = host(files);
            {
                let sizes = vec![Bytes(capacity)];
                exports_of(&host, &Sought { sizes, ..Sought::default() }).unwrap().len()
            }
        };
        let (path, enable) = (format!("{NAMESPACE}device_path"), format!("{NAMESPACE}enable"));
        let unknown = [(&*path, "/dev/gone\n"), (&*enable, "1\n")];
        assert_eq!(doubts(&unknown, 1 << 30), 1);
        let other = [(&*path, "/dev/null\n"), (&*enable, "1\n")];
        assert_eq!(doubts(&other, 1 << 30), 0);
        // One that tells its size, and one that would have a claim.
        let (info, enable) = (format!("{STORE}info"), format!("{STORE}enable"));
        let text = store("/dev/gone");
        let sized = [(&*info, &*text), (&*enable, "1\n")];
        assert_eq!((doubts(&sized, 1 << 30), doubts(&sized, 2 << 30)), (1, 0));
        let udev = format!("{STORE}udev_path");
        assert_eq!(doubts(&[(&udev, "/dev/gone\n"), (&enable, "1\n")], 1 << 30), 0);
    }

    #[test]
    fn an_exporter_that_cannot_be_asked_is_a_doubt() {
        let (_directory, host) = host(&[("module/nvmet/refcnt", "1\n"), ("kernel/config/x", "")]);
        let doubt = exports(&host).unwrap_err();
        assert!(doubt.path.ends_with("kernel/config/nvmet"), "{}", doubt.path.display());
    }
}
