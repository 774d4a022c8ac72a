//! How to have the system find a drive anew: whatever still holds the one that it knew holds nothing then.
//!
//! Linux has no way to shut a writable descriptor that somebody has. But a drive that the kernel lets go
//! of and finds again is another device to it, and what is open of the first gets errors alone.

use std::fs;
use std::path::Path;

use crate::host::sysfs::Node;

/// The commands, for a shell of root's; `None` for what is no whole disk, or has no such way, or shares
/// its controller with other drives.
pub(crate) fn commands(disk: &Node) -> Option<String> {
    let device = fs::canonicalize(disk.directory.join("device")).ok()?;
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    if device.join("delete").exists() {
        let address = name(&device)?;
        let mut parts = address.split(':');
        let (host, channel, target, unit) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        return Some(format!(
            "echo 1 > /sys/block/{}/device/delete; echo '{channel} {target} {unit}' > \
             /sys/class/scsi_host/host{host}/scan",
            disk.name
        ));
    }
    // NVMe's controller stands between a namespace and what is plugged in.
    let plug = match disk.name.starts_with("nvme") {
        true if namespaces(&device) == 1 => fs::canonicalize(device.join("device")).ok()?,
        true => return None,
        false => device,
    };
    let driver = fs::canonicalize(plug.join("driver")).ok()?;
    let (plug, driver) = (name(&plug)?, driver.to_str()?.to_owned());
    driver
        .starts_with("/sys/bus")
        .then(|| format!("echo {plug} > {driver}/unbind; echo {plug} > {driver}/bind"))
}

/// How many namespaces a controller of NVMe has.
fn namespaces(controller: &Path) -> usize {
    let entries = fs::read_dir(controller).into_iter().flatten().flatten();
    let is_namespace = |name: &str| {
        name.strip_prefix("nvme").is_some_and(|rest| rest.contains('n') && !rest.contains('-'))
    };
    entries.filter(|entry| entry.file_name().to_str().is_some_and(is_namespace)).count()
}
