//! The drives that the guest has, and what they are plugged into.
//!
//! Every drive has a size of its own, by which cases find it under whatever name the guest's kernel
//! gave it; two paths to one drive have the same. None holds more than a few hundred megabytes, and
//! nothing until it is written.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A drive: its name in the cases, its size, and how QEMU is told of it.
struct Drive {
    name: &'static str,
    mebibytes: u64,
    /// A device of QEMU, without its `drive=`.
    device: &'static str,
    /// More about the file behind it.
    backend: &'static str,
}

const fn drive(name: &'static str, mebibytes: u64, device: &'static str) -> Drive {
    Drive { name, mebibytes, device, backend: "discard=unmap" }
}

const fn odd(
    name: &'static str,
    mebibytes: u64,
    device: &'static str,
    backend: &'static str,
) -> Drive {
    Drive { name, mebibytes, device, backend }
}

/// Buses and controllers, in the order in which QEMU wants them. The last are slots for
/// the drives that cases plug in.
const CONTROLLERS: &[&str] = &[
    "nvme,id=namespaces,serial=NVME-NS,max_ioqpairs=4",
    "nvme-subsys,id=pair,nqn=pair",
    "nvme,id=first,serial=NVME-PAIR,subsys=pair",
    "nvme,id=second,serial=NVME-PAIR,subsys=pair",
    "nvme,id=special,serial=NVME-ODD",
    "nvme,id=members,serial=NVME-MEMBERS",
    "virtio-scsi-pci,id=scsi",
    "qemu-xhci,id=usb",
    "usb-uas,id=uas,bus=usb.0",
    "sdhci-pci,id=sdhci",
    "pcie-root-port,id=spare0,chassis=1,slot=1",
    "pcie-root-port,id=spare1,chassis=2,slot=2",
    "pcie-root-port,id=spare2,chassis=3,slot=3",
    "pcie-root-port,id=spare3,chassis=4,slot=4",
];

const DRIVES: &[Drive] = &[
    drive("nvme", 96, "nvme-ns,bus=namespaces,nsid=1"),
    drive(
        "nvme-4k",
        97,
        "nvme-ns,bus=namespaces,nsid=2,logical_block_size=4096,physical_block_size=4096",
    ),
    drive("nvme-pair", 98, "nvme-ns,bus=first,nsid=1,shared=on"),
    drive("nvme-zoned", 256, "nvme-ns,bus=special,nsid=1,zoned=true,zoned.zone_size=16M"),
    odd("nvme-read-only", 99, "nvme-ns,bus=special,nsid=2", "readonly=on"),
    odd("nvme-no-discard", 100, "nvme-ns,bus=special,nsid=3", "discard=ignore"),
    drive("nvme-metadata", 101, "nvme-ns,bus=special,nsid=4,ms=8"),
    drive("nvme-protected", 102, "nvme-ns,bus=special,nsid=5,ms=8,pi=1"),
    odd("nvme-slow", 103, "nvme-ns,bus=special,nsid=6", "discard=unmap,throttling.iops-total=50"),
    drive("nvme-huge", 8 << 20, "nvme-ns,bus=special,nsid=7"),
    drive("member1", 104, "nvme-ns,bus=members,nsid=1"),
    drive("member2", 105, "nvme-ns,bus=members,nsid=2"),
    drive("member3", 106, "nvme-ns,bus=members,nsid=3"),
    drive("roomy", 640, "nvme-ns,bus=members,nsid=4"),
    drive("sata", 107, "ide-hd,bus=ide.0,rotation_rate=1,serial=SATA-SSD,wwn=0x5000c500a0000001"),
    drive("hdd", 108, "ide-hd,bus=ide.1,rotation_rate=7200,serial=SATA-HDD"),
    drive("escapes", 109, "ide-hd,bus=ide.2,serial=E\x1b[31mRED,model=M\x1b]0;title\x07\x1b[2Jx"),
    drive("markup", 110, "ide-hd,bus=ide.3,serial=><b>s</b>,model=<script>alert(1)</script>"),
    drive("scsi", 111, "scsi-hd,bus=scsi.0,serial=SCSI-SSD,rotation_rate=1,wwn=0x5000c500a0000002"),
    drive(
        "scsi-4k",
        112,
        "scsi-hd,bus=scsi.0,serial=SCSI-4K,logical_block_size=4096,physical_block_size=4096",
    ),
    drive("apostrophe", 113, "scsi-hd,bus=scsi.0,serial=it's a b"),
    drive("tiny", 1, "scsi-hd,bus=scsi.0,serial=TINY"),
    drive("twin1", 114, "scsi-hd,bus=scsi.0,serial=0123456789ABCDEF"),
    drive("twin2", 115, "scsi-hd,bus=scsi.0,serial=0123456789ABCDEF"),
    odd("two-paths", 116, "scsi-hd,bus=scsi.0,scsi-id=30,share-rw=on,PATH", "file.locking=off"),
    odd("two-paths", 116, "scsi-hd,bus=scsi.0,scsi-id=31,share-rw=on,PATH", "file.locking=off"),
    drive("usb", 117, "usb-storage,bus=usb.0,serial=USB-STICK,removable=on"),
    drive("usb-nameless", 118, "usb-storage,bus=usb.0"),
    drive("uas", 119, "scsi-hd,bus=uas.0,serial=UAS-DISK"),
    drive("virtio", 120, "virtio-blk-pci,serial=VIRTIO"),
    drive("virtio-nameless", 121, "virtio-blk-pci"),
    drive("sd-card", 128, "sd-card"),
];

/// Not there until a case plugs it in, by its number.
const SPARES: u64 = 4;
const SMALLEST_SPARE: u64 = 122;

/// What both paths to one LUN say of it.
const PATH: &str = "serial=TWO-PATHS,wwn=0x5000c500a0000003";

/// Adds every drive to QEMU's command line, with an empty file in `folder` behind each.
pub(super) fn plug_in(qemu: &mut Command, folder: &Path) -> std::io::Result<()> {
    for controller in CONTROLLERS {
        qemu.args(["-device", controller]);
    }
    for number in 0..SPARES {
        let file = fs::File::create(folder.join(format!("spare{number}")))?;
        file.set_len((SMALLEST_SPARE + number) << 20)?;
    }
    for (index, drive) in DRIVES.iter().enumerate() {
        let file = folder.join(drive.name);
        fs::File::create(&file)?.set_len(drive.mebibytes << 20)?;
        let (name, backend) = (drive.name, drive.backend);
        qemu.arg("-drive").arg(format!(
            "file=drives/{name},format=raw,if=none,id=drive{index},cache=unsafe,{backend}"
        ));
        let device = drive.device.replace("PATH", PATH);
        qemu.arg("-device").arg(format!("{device},drive=drive{index}"));
    }
    Ok(())
}

/// For the cases: a line of name and size in sectors for every drive.
pub(super) fn list() -> String {
    let line = |drive: &Drive| {
        let metadata = if drive.device.contains("ms=8") { 8 } else { 0 };
        format!("{} {}\n", drive.name, (drive.mebibytes << 20) / (512 + metadata))
    };
    let spare = |number: u64| format!("spare{number} {}\n", (SMALLEST_SPARE + number) << 11);
    DRIVES.iter().map(line).chain((0..SPARES).map(spare)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_belongs_to_one_drive() {
        for one in DRIVES {
            let same = |other: &&Drive| other.mebibytes == one.mebibytes;
            assert!(DRIVES.iter().filter(same).all(|other| other.name == one.name), "{}", one.name);
        }
    }
}
