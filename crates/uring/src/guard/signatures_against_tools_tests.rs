//! Held against `blkid` and `wipefs`: whatever they recognise, the table does as well, at the same
//! place.
//!
//! Their samples are made by hand, so that no formatter must be installed: the mark, and of the
//! rest what the tool insists on. A name that `blkid` knows and that has no sample here fails.

use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::guard::external_detectors::{Answer, ask};

/// The smallest that ZFS takes, and no multiple of anything but a sector.
const CAPACITY: u64 = (80 << 20) + 512;
const LAST_SECTOR: u64 = CAPACITY - 512;

/// Bytes at an offset.
type Part<'a> = (u64, &'a [u8]);

/// What `blkid` calls it, and the bytes that make it do so.
struct Sample {
    name: &'static str,
    parts: &'static [Part<'static>],
}

const fn sample(name: &'static str, parts: &'static [Part<'static>]) -> Sample {
    Sample { name, parts }
}

/// What a FAT must have.
const BIOS_PARAMETERS: Part<'static> = (11, &[0, 2, 8, 1, 0, 2, 0, 2, 0, 80, 0xF8, 80, 0]);
const BOOT_MARK: Part<'static> = (510, &[0x55, 0xAA]);
/// A BeOS superblock of 1 KiB blocks whose root directory is at block 2, and its inode.
const BEOS: &[Part<'static>] = &[
    (512 + 32, b"1SFB"),
    (512 + 36, b"EGIB"),
    (512 + 40, &[0, 4, 0, 0, 10, 0, 0, 0]),
    (512 + 68, &[0x31, 0x10, 0x12, 0xDD]),
    (512 + 72, &[1, 0, 0, 0, 13, 0, 0, 0]),
    (512 + 112, &[0x0E, 0x83, 0xB6, 0x15]),
    (512 + 116, &[0, 0, 0, 0, 2, 0, 1, 0]),
    (2048, &[0xD9, 0x0A, 0xBE, 0x3B]),
];
const UBERBLOCK: &[u8] = &[0x0C, 0xB1, 0xBA, 0, 0, 0, 0, 0];

#[rustfmt::skip]
const SAMPLES: &[Sample] = &[
    sample("linux_raid_member", &[(4096, &[0xFC, 0x4E, 0x2B, 0xA9, 1]), (4096 + 144, &[8])]),
    sample("linux_raid_member", &[(0, &[0xFC, 0x4E, 0x2B, 0xA9, 1])]),
    sample("linux_raid_member", &[((CAPACITY >> 16 << 16) - (64 << 10), &[0xFC, 0x4E, 0x2B, 0xA9, 0, 0, 0, 0, 90])]),
    sample("ddf_raid_member", &[(LAST_SECTOR, &[0xDE, 0x11, 0xDE, 0x11, 0, 0, 0, 0, b'g'])]),
    sample("ddf_raid_member", &[(CAPACITY - 257 * 512, &[0x11, 0xDE, 0x11, 0xDE, 0, 0, 0, 0, b'g'])]),
    sample("isw_raid_member", &[(CAPACITY - 1024, b"Intel Raid ISM Cfg Sig. 1.0.00")]),
    sample("lsi_mega_raid_member", &[(LAST_SECTOR, b"$XIDE$")]),
    sample("via_raid_member", &[(LAST_SECTOR, &[0x55, 0xAA, 1]), (LAST_SECTOR + 50, &[0])]),
    sample("silicon_medley_raid_member", &[(LAST_SECTOR + 0x60, &[0, 0, 0, 0x2F]), (LAST_SECTOR + 0x13E, &[0, 0xD1])]),
    sample("nvidia_raid_member", &[(CAPACITY - 1024, b"NVIDIA")]),
    sample("promise_fasttrack_raid_member", &[(CAPACITY - 63 * 512, b"Promise Technology, Inc.")]),
    sample("hpt45x_raid_member", &[(CAPACITY - 11 * 512, &[0xF3, 0x16, 0x78, 0x5A])]),
    sample("hpt37x_raid_member", &[(4640, &[0xF0, 0x16, 0x78, 0x5A])]),
    sample("hpt37x_raid_member", &[(4640, &[0xFD, 0x16, 0x78, 0x5A])]),
    sample("adaptec_raid_member", &[(LAST_SECTOR, &[0x37, 0xFC, 0x4D, 0x1E]), (LAST_SECTOR + 256, b"DPTM")]),
    sample("jmicron_raid_member", &[(LAST_SECTOR, b"JM\x00\x01")]),
    sample("bcache", &[(4096 + 8, &[8]), (4096 + 24, &[0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA, 0x82, 0x65, 0xF5, 0x7F, 0x48, 0xBA, 0x6D, 0x81])]),
    sample("ceph_bluestore", &[(0, b"bluestore block device")]),
    sample("drbd", &[(CAPACITY - 4096 + 60, &[0x83, 0x74, 0x02, 0x6B])]),
    sample("drbdmanage_control_volume", &[(0, b"$DRBDmgr=q\x0A0123456789abcdef0123456789abcdef\n")]),
    sample("drbdproxy_datalog", &[(0, b"DRBDdlh*")]),
    sample("LVM2_member", &[(512, b"LABELONE"), (520, &[1]), (532, &[32]), (536, b"LVM2 001")]),
    sample("LVM1_member", &[(0, b"HM\x01\0")]),
    sample("DM_snapshot_cow", &[(0, b"SnAp")]),
    sample("DM_verity_hash", &[(0, b"verity\0\0\x01")]),
    sample("DM_integrity", &[(0, b"integrt\0\x01")]),
    sample("crypto_LUKS", &[(0, b"LUKS\xBA\xBE\0\x01")]),
    sample("crypto_LUKS", &[(0x4000, b"SKUL\xBA\xBE\0\x02"), (0x4000 + 256, &[0, 0, 0, 0, 0, 0, 0x40, 0])]),
    sample("VMFS_volume_member", &[(0x10_0000, &[0x0D, 0xD0, 0x01, 0xC0])]),
    sample("ubi", &[(0, b"UBI#\x01")]),
    sample("vdo", &[(0, b"dmvdo001")]),
    sample("stratis", &[(512, &[0x67, 0x21, 0x6E, 0xCF]), (516, b"!Stra0tis\x86\xFF\x02^Arh")]),
    sample("BitLocker", &[(0, b"\xEB\x52\x90-FVE-FS-")]),
    sample("vfat", &[(0, &[0xEB, 0x3C, 0x90]), BIOS_PARAMETERS, (54, b"FAT16   "), BOOT_MARK]),
    sample("vfat", &[(0, &[0xEB, 0x3C, 0x90]), BIOS_PARAMETERS, (82, b"MSWIN"), BOOT_MARK]),
    sample("vfat", &[(0, &[0xEB, 0x3C, 0x90]), BIOS_PARAMETERS, (54, b"MSDOS"), BOOT_MARK]),
    sample("vfat", &[(0, &[0xEB, 0x3C, 0x90]), BIOS_PARAMETERS, (446, &[7]), BOOT_MARK]),
    sample("swsuspend", &[(0, &[0xED, 0xC3, 0x02, 0xE9, 0x98, 0x56, 0xE5, 0x0C])]),
    sample("swsuspend", &[(4086, b"S1SUSPEND")]),
    sample("swsuspend", &[(65526, b"LINHIB0001")]),
    sample("swap", &[(1024, &[1, 0, 0, 0, 255]), (4086, b"SWAPSPACE2")]),
    sample("xfs", &[(0, b"XFSB\0\0\x10\0"), (8, &[0, 0, 0, 0, 0, 0, 0x50, 0]), (80, &[0, 0, 0, 1, 0, 0, 0x14, 0, 0, 0, 0, 4]), (100, &[0x30, 0xA4, 2, 0, 2, 0, 0, 8]), (120, &[12, 9, 9, 3, 13, 0, 0, 25])]),
    sample("xfs_external_log", &[(512, &[0xFE, 0xED, 0xBA, 0xBE]), (512 + 8, &[0, 0, 0, 2]), (512 + 12, &[0, 0, 2, 0]), (512 + 300, &[0, 0, 0, 1])]),
    sample("exfs", &[(0, b"EXFS\0\0\x10\0"), (8, &[0, 0, 0, 0, 0, 0, 0x50, 0]), (80, &[0, 0, 0, 1, 0, 0, 0x14, 0, 0, 0, 0, 4]), (100, &[0x30, 0xA4, 2, 0, 2, 0, 0, 8]), (120, &[12, 9, 9, 3, 13, 0, 0, 25])]),
    sample("ext2", &[(1024, &[16]), (1028, &[64]), (1080, &[0x53, 0xEF]), (1100, &[1])]),
    sample("ext3", &[(1080, &[0x53, 0xEF]), (1100, &[1]), (1116, &[4])]),
    sample("ext4", &[(1080, &[0x53, 0xEF]), (1100, &[1]), (1120, &[0x40])]),
    sample("ext4dev", &[(1080, &[0x53, 0xEF]), (1100, &[1]), (1120, &[0x40]), (1024 + 0x160, &[4])]),
    sample("jbd", &[(1080, &[0x53, 0xEF]), (1100, &[1]), (1120, &[8])]),
    sample("reiserfs", &[(65536 + 52, b"ReIsEr2Fs"), (65536 + 12, &[18]), (65536 + 44, &[0, 0x10])]),
    sample("reiserfs", &[(8192 + 20, b"ReIsErFs"), (8192 + 12, &[18]), (8192 + 44, &[0, 0x10])]),
    sample("reiser4", &[(65536, b"ReIsEr4")]),
    sample("jfs", &[(32768, b"JFS1"), (32768 + 16, &[0, 0x10, 0, 0, 12, 0, 3, 0, 0, 2, 0, 0, 9])]),
    sample("udf", &[(32769, b"BEA01\x01"), (34817, b"NSR02\x01"), (36865, b"TEA01\x01"), (256 * 2048, &[2]), (256 * 2048 + 13, &[1])]),
    sample("iso9660", &[(32768, b"\x01CD001\x01"), (34816, b"\xFFCD001\x01")]),
    sample("iso9660", &[(32768 + 8, b"\x01CDROM\x01")]),
    sample("zfs_member", &[(128 << 10, UBERBLOCK), (129 << 10, UBERBLOCK), (384 << 10, UBERBLOCK), (385 << 10, UBERBLOCK)]),
    sample("hfsplus", &[(1024, b"H+\0\x04"), (1024 + 40, &[0, 0, 0x10, 0])]),
    sample("hfsplus", &[(1024, b"HX\0\x05"), (1024 + 40, &[0, 0, 0x10, 0])]),
    sample("hfs", &[(1024, b"BD"), (1044, &[0, 0, 2, 0])]),
    sample("ufs", &[(1372, &[0x54, 0x19, 0x01, 0])]),
    sample("ufs", &[((8 << 10) + 1372, &[0, 0x19, 0x56, 0x12])]),
    sample("ufs", &[((64 << 10) + 1372, &[0x14, 0x50, 0x09, 0])]),
    sample("ufs", &[((256 << 10) + 1372, &[0x19, 0x54, 0x01, 0x19])]),
    sample("hpfs", &[(8192, &[0x49, 0xE8, 0x95, 0xF9]), (8704, &[0x49, 0x18, 0x91, 0xF9])]),
    sample("sysv", &[(1016, &[0x20, 0x7E, 0x18, 0xFD])]),
    sample("sysv", &[((18 << 10) + 1016, &[0xFD, 0x18, 0x7E, 0x20])]),
    sample("xenix", &[(2048, &[0x2B, 0x55, 0x44])]),
    sample("ntfs", &[(3, b"NTFS    "), (11, &[0, 2, 8]), (40, &[0, 0x80, 2]), (48, &[4]), (56, &[2]), (64, &[0xF6]), (4 * 4096, b"FILE"), (4 * 4096 + 3072, b"FILE"), BOOT_MARK]),
    sample("ReFS", &[(0, b"\0\0\0ReFS\0")]),
    sample("cramfs", &[(0, &[0x45, 0x3D, 0xCD, 0x28])]),
    sample("cramfs", &[(0, &[0x28, 0xCD, 0x3D, 0x45])]),
    sample("romfs", &[(0, b"-rom1fs-")]),
    sample("minix", &[(1024, &[64, 0, 0, 1, 1, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 1, 0x7F, 0x13, 1])]),
    sample("minix", &[(1024, &[0, 64, 1, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 0, 1, 0, 0x13, 0x8F, 0, 1])]),
    sample("minix", &[(1024, &[64, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 1, 0x78, 0x24, 1, 0, 0, 1])]),
    sample("minix", &[(1024, &[64, 0, 0, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0x5A, 0x4D, 0, 0, 0, 4])]),
    sample("gfs", &[(65536, &[0x01, 0x16, 0x19, 0x70]), (65536 + 16, &[0, 0, 0, 0]), (65536 + 24, &[0, 0, 5, 0x1D, 0, 0, 5, 0x79])]),
    sample("gfs2", &[(65536, &[0x01, 0x16, 0x19, 0x70]), (65536 + 24, &[0, 0, 7, 9, 0, 0, 7, 0x6C])]),
    sample("ocfs", &[(8192, b"OracleCFS")]),
    sample("ocfs2", &[(4096, b"OCFSV2"), (4096 + 192, &[0, 0, 0, 0])]),
    sample("oracleasm", &[(32, b"ORCLDISK")]),
    sample("vxfs", &[(1024, &[0xF5, 0xFC, 0x01, 0xA5, 4])]),
    sample("vxfs", &[(8192, &[0xA5, 0x01, 0xFC, 0xF5, 0, 0, 0, 4])]),
    sample("squashfs", &[(0, b"hsqs"), (28, &[4])]),
    sample("squashfs3", &[(0, b"hsqs"), (28, &[3])]),
    sample("nss", &[(4096, b"SPB5")]),
    sample("btrfs", &[(65536 + 64, b"_BHRfS_M")]),
    sample("ubifs", &[(0, &[0x31, 0x18, 0x10, 0x06])]),
    sample("bfs", &[(0, &[0xCE, 0xFA, 0xAD, 0x1B])]),
    sample("VMFS", &[(0x20_0000, &[0x5E, 0xF1, 0xAB, 0x2F])]),
    sample("befs", BEOS),
    sample("nilfs2", &[(1024, &[2, 0, 0, 0, 0, 0, 0x34, 0x34, 0x18, 1])]),
    sample("nilfs2", &[(CAPACITY - 4096, &[2, 0, 0, 0, 0, 0, 0x34, 0x34, 0x18, 1])]),
    sample("exfat", &[(3, b"EXFAT   "), (96, &[2]), (108, &[9, 3]), BOOT_MARK]),
    sample("f2fs", &[(1024, &[0x10, 0x20, 0xF5, 0xF2, 1, 0, 15])]),
    sample("mpool", &[(0, b"mpoolDev")]),
    sample("apfs", &[(24, &[1]), (32, b"NXSB\0\x10")]),
    sample("zonefs", &[(0, b"SFOZ")]),
    sample("erofs", &[(1024, &[0xE2, 0xE1, 0xF5, 0xE0])]),
    // Partition tables, which `blkid -k` does not list; GPT needs checksums, and is made by `sfdisk`
    // in another test. Those of BSD, Solaris and UnixWare the tools only see within an MBR's.
    sample("atari", &[(0x1C2, &[0, 1, 0, 0]), (0x1C6, &[1, b'G', b'E', b'M', 0, 0, 0, 2, 0, 0, 1, 0])]),
    sample("dos", &[BOOT_MARK, (446 + 4, &[0x83]), (446 + 8, &[8, 0, 0, 0, 8])]),
    sample("PMBR", &[BOOT_MARK, (446 + 4, &[0xEE]), (446 + 8, &[1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF])]),
    sample("mac", &[(0, b"ER\x02\0"), (512, b"PM\0\0\0\0\0\x01")]),
    sample("sun", &[(0, &[0xDA, 0xBE]), (508, &[0xDA, 0xBE])]),
    sample("sgi", &[(0, &[0x0B, 0xE5, 0xA9, 0x41]), (504, &[0xF4, 0x1A, 0x56, 0xBF])]),
    sample("aix", &[(0, &[0xC9, 0xC2, 0xD4, 0xC1])]),
    sample("ultrix", &[(16384 - 72, &[0x57, 0x29, 3, 0, 1])]),
];

/// The two programs, unless this machine lacks one, which is said on the real standard error.
fn tools_are_here() -> bool {
    let missing = ["wipefs", "blkid"].into_iter().find(|tool| {
        !["/usr/sbin", "/sbin"].iter().any(|place| Path::new(place).join(tool).exists())
    });
    if let Some(tool) = missing {
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        let _ = writeln!(io::stderr(), "SKIPPED {name}: it needs the program {tool}");
    }
    missing.is_none()
}

fn made(parts: &[Part<'_>]) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(CAPACITY).unwrap();
    parts.iter().for_each(|(offset, bytes)| file.write_all_at(bytes, *offset).unwrap());
    file
}

fn names(answers: &[Answer]) -> Vec<String> {
    let name = |answer: &Answer| match answer {
        Answer::Recognised(recognised) => recognised.what.clone(),
        Answer::Failed { tool, problem } => format!("{tool} failed: {problem}"),
    };
    answers.iter().map(name).collect()
}

#[test]
fn whatever_the_other_tools_recognise_is_in_the_table() {
    if !tools_are_here() {
        return;
    }
    let mut wrong = Vec::new();
    for sample in SAMPLES {
        let file = made(sample.parts);
        let recognised = names(&ask(&file, &[]));
        if !recognised.iter().any(|name| name == sample.name) {
            wrong.push(format!("{}: the sample is taken for {recognised:?}", sample.name));
        }
        let found = find(&file, CAPACITY).unwrap().found;
        let news = names(&ask(&file, &found));
        if !news.is_empty() {
            wrong
                .push(format!("{}: only the tools see {news:?}, the table {found:?}", sample.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_name_that_blkid_knows_has_a_sample() {
    if !tools_are_here() {
        return;
    }
    let output = Command::new("blkid").arg("-k").output().unwrap();
    let known = String::from_utf8(output.stdout).unwrap();
    let lacking: Vec<&str> =
        known.lines().filter(|name| !SAMPLES.iter().any(|sample| sample.name == *name)).collect();
    assert!(known.lines().count() > 50, "{known}");
    assert_eq!(lacking, [""; 0], "the table and these samples lack what this blkid knows");
}
