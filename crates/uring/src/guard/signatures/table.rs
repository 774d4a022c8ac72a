//! Which marks are known, and where each of them is found.

use super::Layout::{Content, Table};
use super::Place::{End, EndRounded, EndSeries, Start, StartSeries};
use super::plausible::{
    is_atari_label, is_boot_record, is_driver_descriptor, is_ext, is_fat, is_hfs, is_hfs_plus,
    is_jmicron, is_minix, is_minix3, is_nilfs, is_silicon_image, is_sun_label, is_ultrix_label,
    is_via,
};
use super::{Layout, Place, Signature};

const fn mark(
    what: &'static str,
    layout: Layout,
    places: &'static [Place],
    magic: &'static [u8],
) -> Signature {
    Signature { what, layout, places, magic, plausible: None }
}

const fn short_mark(
    what: &'static str,
    layout: Layout,
    places: &'static [Place],
    magic: &'static [u8],
    plausible: fn(&[u8]) -> bool,
) -> Signature {
    Signature { what, layout, places, magic, plausible: Some(plausible) }
}

/// The last 10 bytes of a first page, for every page size that Linux has.
const SWAP: &[Place] = &[Start(4086), Start(8182), Start(16374), Start(32758), Start(65526)];
/// The uberblocks of the two labels at the start and the two at the end.
const ZFS: &[Place] = &[
    StartSeries { first: 128 << 10, step: 1024, count: 128 },
    StartSeries { first: 384 << 10, step: 1024, count: 128 },
    EndSeries { unit: 256 << 10, back: 384 << 10, step: 1024, count: 128 },
    EndSeries { unit: 256 << 10, back: 128 << 10, step: 1024, count: 128 },
];
const LVM: &[Place] = &[Start(0), Start(512), Start(1024), Start(1536)];
const OCFS: &[Place] = &[Start(1024), Start(2048), Start(4096), Start(8192)];
const VOLUME_RECOGNITION: &[Place] = &[StartSeries { first: 32769, step: 2048, count: 16 }];
const HIGH_SIERRA: &[Place] = &[StartSeries { first: 32777, step: 2048, count: 16 }];
const LUKS_SECOND: &[Place] = &[
    Start(0x4000),
    Start(0x8000),
    Start(0x1_0000),
    Start(0x2_0000),
    Start(0x4_0000),
    Start(0x8_0000),
    Start(0x10_0000),
    Start(0x20_0000),
    Start(0x40_0000),
];
const GPT: &[Place] = &[Start(512), Start(4096), End(512), End(4096)];
const LAST_SECTOR: &[Place] = &[End(512), End(4096)];
const LAST_BUT_ONE: &[Place] = &[End(1024), End(8192)];
/// What follows a superblock's first 1372 bytes, at the four places where a UFS may start.
const UFS: &[Place] =
    &[Start(1372), Start((8 << 10) + 1372), Start((64 << 10) + 1372), Start((256 << 10) + 1372)];
/// The first superblock, and the first copy for blocks of 1, 2 and 4 KiB.
const EXT: &[Place] =
    &[Start(1080), Start(8193 * 1024 + 56), Start(16384 * 2048 + 56), Start(32768 * 4096 + 56)];
const NILFS_SECOND: &[Place] =
    &[EndRounded { unit: 512, back: 4096 - 6 }, EndRounded { unit: 4096, back: 4096 - 6 }];
/// A half KiB into block 0, 9, 15 or 18 of 1 KiB, and there the last but 8 bytes of a sector.
const SYSV: &[Place] =
    &[Start(1016), Start((9 << 10) + 1016), Start((15 << 10) + 1016), Start((18 << 10) + 1016)];
/// Where Xenix has it, and where libblkid looks for it.
const XENIX: &[Place] = &[Start(2040), Start(2048)];
const LOG_SECTORS: &[Place] = &[StartSeries { first: 0, step: 512, count: 512 }];
/// The kind of each of the four partitions, after its flags.
const ATARI: &[Place] = &[StartSeries { first: 0x1C7, step: 12, count: 4 }];

#[rustfmt::skip]
pub(super) const SIGNATURES: &[Signature] = &[
    // Partition tables.
    mark("a GPT partition table", Table, GPT, b"EFI PART"),
    short_mark("an MBR partition table or boot record", Table, &[Start(510)], &[0x55, 0xAA], is_boot_record),
    mark("an Apple partition map", Table, &[Start(512), Start(2048), Start(4096)], b"PM\0\0"),
    short_mark("an Apple partition map", Table, &[Start(0)], b"ER", is_driver_descriptor),
    mark("a BSD disklabel", Table, &[Start(0), Start(64), Start(128), Start(512), Start(576)], &[0x57, 0x45, 0x56, 0x82]),
    short_mark("a Sun disklabel", Table, &[Start(508)], &[0xDA, 0xBE], is_sun_label),
    mark("an SGI disklabel", Table, &[Start(0)], &[0x0B, 0xE5, 0xA9, 0x41]),
    mark("an AIX disklabel", Table, &[Start(0)], &[0xC9, 0xC2, 0xD4, 0xC1]),
    short_mark("an Ultrix disklabel", Table, &[Start(16384 - 72)], &[0x57, 0x29, 0x03, 0x00], is_ultrix_label),
    mark("a Solaris x86 disklabel", Table, &[Start(512 + 12)], &[0xEE, 0xDE, 0x0D, 0x60]),
    mark("a UnixWare disklabel", Table, &[Start(29 * 512 + 4)], &[0x0D, 0x60, 0xE5, 0xCA]),
    short_mark("an Atari partition table", Table, ATARI, b"GEM", is_atari_label),
    short_mark("an Atari partition table", Table, ATARI, b"BGM", is_atari_label),
    short_mark("an Atari partition table", Table, ATARI, b"XGM", is_atari_label),
    short_mark("an Atari partition table", Table, ATARI, b"LNX", is_atari_label),
    short_mark("an Atari partition table", Table, ATARI, b"SWP", is_atari_label),
    short_mark("an Atari partition table", Table, ATARI, b"RAW", is_atari_label),
    mark("an Amiga partition table", Table, &[StartSeries { first: 0, step: 512, count: 16 }], b"RDSK"),
    mark("a Windows dynamic disk (LDM)", Content, &[Start(3072), End(512)], b"PRIVHEAD"),
    mark("a GNU parted loop label", Table, &[Start(0)], b"GNU Parted Loopback"),
    // Filesystems.
    short_mark("an ext2/3/4 filesystem", Content, EXT, &[0x53, 0xEF], is_ext),
    mark("an XFS filesystem", Content, &[Start(0)], b"XFSB"),
    mark("an XFS external log", Content, LOG_SECTORS, &[0xFE, 0xED, 0xBA, 0xBE]),
    mark("a btrfs filesystem", Content, &[Start(0x1_0040), Start((64 << 20) + 64), Start((256 << 30) + 64)], b"_BHRfS_M"),
    mark("an F2FS filesystem", Content, &[Start(1024), Start(4096 + 1024)], &[0x10, 0x20, 0xF5, 0xF2]),
    mark("a bcachefs filesystem", Content, &[Start(4096 + 24), End(512 << 10)], &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9, 0xD9, 0x6A, 0x60, 0xCF, 0x80, 0x3D, 0xF7, 0xEF]),
    mark("an NTFS filesystem", Content, &[Start(3), End(509)], b"NTFS    "),
    mark("an exFAT filesystem", Content, &[Start(3), Start(12 * 512 + 3)], b"EXFAT   "),
    mark("a FAT filesystem", Content, &[Start(54)], b"FAT12   "),
    mark("a FAT filesystem", Content, &[Start(54)], b"FAT16   "),
    mark("a FAT filesystem", Content, &[Start(54)], b"FAT     "),
    mark("a FAT filesystem", Content, &[Start(82), Start(6 * 512 + 82)], b"FAT32   "),
    mark("a FAT filesystem", Content, &[Start(82)], b"MSWIN"),
    mark("a FAT filesystem", Content, &[Start(54)], b"MSDOS"),
    short_mark("a FAT filesystem", Content, &[Start(510)], &[0x55, 0xAA], is_fat),
    mark("a FAT filesystem", Content, &[Start(3)], b"MSDOS5.0"),
    mark("a FAT filesystem", Content, &[Start(3)], b"MSWIN4."),
    mark("a FAT filesystem", Content, &[Start(3)], b"mkfs.fat"),
    mark("a FAT filesystem", Content, &[Start(3)], b"mkdosfs\0"),
    mark("a ReFS filesystem", Content, &[Start(3)], b"ReFS\0"),
    mark("an APFS container", Content, &[Start(32)], b"NXSB"),
    short_mark("an HFS+ filesystem", Content, &[Start(1024), End(1024)], b"H+", is_hfs_plus),
    short_mark("an HFSX filesystem", Content, &[Start(1024), End(1024)], b"HX", is_hfs_plus),
    short_mark("an HFS filesystem", Content, &[Start(1024)], b"BD", is_hfs),
    mark("an ISO 9660 image", Content, VOLUME_RECOGNITION, b"CD001"),
    mark("a High Sierra image", Content, HIGH_SIERRA, b"CDROM"),
    mark("a UDF filesystem", Content, VOLUME_RECOGNITION, b"BEA01"),
    mark("a UDF filesystem", Content, VOLUME_RECOGNITION, b"BOOT2"),
    mark("a UDF filesystem", Content, VOLUME_RECOGNITION, b"CDW02"),
    mark("a UDF filesystem", Content, VOLUME_RECOGNITION, b"TEA01"),
    mark("a UDF filesystem", Content, VOLUME_RECOGNITION, b"NSR0"),
    mark("a JFS filesystem", Content, &[Start(32768), Start(15 * 4096)], b"JFS1"),
    mark("a ReiserFS filesystem", Content, &[Start(65588), Start(8244), Start(8212)], b"ReIsEr"),
    mark("a Reiser4 filesystem", Content, &[Start(65536)], b"ReIsEr4"),
    short_mark("a NILFS2 filesystem", Content, &[Start(1030)], &[0x34, 0x34], is_nilfs),
    short_mark("a NILFS2 filesystem", Content, NILFS_SECOND, &[0x34, 0x34], is_nilfs),
    mark("a GFS or GFS2 filesystem", Content, &[Start(65536)], &[0x01, 0x16, 0x19, 0x70]),
    mark("an OCFS2 filesystem", Content, OCFS, b"OCFSV2"),
    mark("an OCFS filesystem", Content, &[Start(8192)], b"OracleCFS"),
    mark("a UFS filesystem", Content, UFS, &[0x54, 0x19, 0x01, 0x00]),
    mark("a UFS filesystem", Content, UFS, &[0x00, 0x01, 0x19, 0x54]),
    mark("a UFS filesystem", Content, UFS, &[0x12, 0x56, 0x19, 0x00]),
    mark("a UFS filesystem", Content, UFS, &[0x00, 0x19, 0x56, 0x12]),
    mark("a UFS filesystem", Content, UFS, &[0x14, 0x50, 0x09, 0x00]),
    mark("a UFS filesystem", Content, UFS, &[0x00, 0x09, 0x50, 0x14]),
    mark("a UFS filesystem", Content, UFS, &[0x95, 0x21, 0x61, 0x00]),
    mark("a UFS filesystem", Content, UFS, &[0x00, 0x61, 0x21, 0x95]),
    mark("a UFS filesystem", Content, UFS, &[0x94, 0x19, 0x23, 0x05]),
    mark("a UFS filesystem", Content, UFS, &[0x05, 0x23, 0x19, 0x94]),
    mark("a UFS2 filesystem", Content, UFS, &[0x19, 0x01, 0x54, 0x19]),
    mark("a UFS2 filesystem", Content, UFS, &[0x19, 0x54, 0x01, 0x19]),
    mark("a VxFS filesystem", Content, &[Start(1024)], &[0xF5, 0xFC, 0x01, 0xA5]),
    mark("a VxFS filesystem", Content, &[Start(8192)], &[0xA5, 0x01, 0xFC, 0xF5]),
    short_mark("a Minix filesystem", Content, &[Start(1040)], &[0x7F, 0x13], is_minix),
    short_mark("a Minix filesystem", Content, &[Start(1040)], &[0x8F, 0x13], is_minix),
    short_mark("a Minix filesystem", Content, &[Start(1040)], &[0x68, 0x24], is_minix),
    short_mark("a Minix filesystem", Content, &[Start(1040)], &[0x78, 0x24], is_minix),
    short_mark("a Minix filesystem", Content, &[Start(1040)], &[0x13, 0x7F], is_minix),
    short_mark("a Minix filesystem", Content, &[Start(1040)], &[0x13, 0x8F], is_minix),
    short_mark("a Minix filesystem", Content, &[Start(1040)], &[0x24, 0x68], is_minix),
    short_mark("a Minix filesystem", Content, &[Start(1040)], &[0x24, 0x78], is_minix),
    short_mark("a Minix filesystem", Content, &[Start(1048)], &[0x5A, 0x4D], is_minix3),
    short_mark("a Minix filesystem", Content, &[Start(1048)], &[0x4D, 0x5A], is_minix3),
    mark("a System V filesystem", Content, SYSV, &[0x20, 0x7E, 0x18, 0xFD]),
    mark("a System V filesystem", Content, SYSV, &[0xFD, 0x18, 0x7E, 0x20]),
    mark("a Xenix filesystem", Content, XENIX, &[0x44, 0x55, 0x2B]),
    mark("a Xenix filesystem", Content, XENIX, &[0x2B, 0x55, 0x44]),
    mark("an SCO BFS filesystem", Content, &[Start(0)], &[0xCE, 0xFA, 0xAD, 0x1B]),
    mark("a BeOS or Haiku filesystem", Content, &[Start(32), Start(512 + 32)], b"BFS1"),
    mark("a BeOS or Haiku filesystem", Content, &[Start(32), Start(512 + 32)], b"1SFB"),
    mark("an OS/2 HPFS filesystem", Content, &[Start(8192)], &[0x49, 0xE8, 0x95, 0xF9]),
    mark("an OS/2 HPFS filesystem", Content, &[Start(8704)], &[0x49, 0x18, 0x91, 0xF9]),
    mark("a NetWare storage pool (NSS)", Content, &[Start(4096)], b"SPB5"),
    mark("an EXFS filesystem", Content, &[Start(0)], b"EXFS"),
    mark("a UBI volume", Content, &[Start(0)], b"UBI#"),
    mark("a UBIFS filesystem", Content, &[Start(0)], &[0x31, 0x18, 0x10, 0x06]),
    mark("a squashfs image", Content, &[Start(0)], b"hsqs"),
    mark("a squashfs image", Content, &[Start(0)], b"sqsh"),
    mark("an EROFS image", Content, &[Start(1024)], &[0xE2, 0xE1, 0xF5, 0xE0]),
    mark("a cramfs image", Content, &[Start(0)], &[0x45, 0x3D, 0xCD, 0x28]),
    mark("a cramfs image", Content, &[Start(0)], &[0x28, 0xCD, 0x3D, 0x45]),
    mark("a romfs image", Content, &[Start(0)], b"-rom1fs-"),
    mark("a zonefs filesystem", Content, &[Start(0)], b"SFOZ"),
    mark("a VMFS volume", Content, &[Start(0x10_0000)], &[0x0D, 0xD0, 0x01, 0xC0]),
    mark("a VMFS filesystem", Content, &[Start(0x20_0000)], &[0x5E, 0xF1, 0xAB, 0x2F]),
    mark("a Ceph BlueStore device", Content, &[Start(0)], b"bluestore block device"),
    mark("an Oracle ASM disk", Content, &[Start(32)], b"ORCLDISK"),
    mark("an mpool device", Content, &[Start(0)], b"mpoolDev"),
    // Pools, volume managers, caches, encryption.
    mark("a ZFS pool member", Content, ZFS, &[0x0C, 0xB1, 0xBA, 0, 0, 0, 0, 0]),
    mark("a ZFS pool member", Content, ZFS, &[0, 0, 0, 0, 0, 0xBA, 0xB1, 0x0C]),
    mark("an LVM physical volume", Content, LVM, b"LABELONE"),
    mark("an LVM1 physical volume", Content, &[Start(0)], b"HM\x01\0"),
    mark("an LVM1 physical volume", Content, &[Start(0)], b"HM\x02\0"),
    mark("a bcache device", Content, &[Start(4096 + 24)], &[0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA, 0x82, 0x65, 0xF5, 0x7F, 0x48, 0xBA, 0x6D, 0x81]),
    mark("a Stratis pool member", Content, &[Start(516), Start(4612)], b"!Stra0tis\x86\xFF\x02^"),
    mark("a VDO volume", Content, &[Start(0)], b"dmvdo001"),
    mark("a device-mapper snapshot", Content, &[Start(0)], b"SnAp"),
    mark("a dm-integrity device", Content, &[Start(0)], b"integrt\0"),
    mark("a dm-verity hash tree", Content, &[Start(0)], b"verity\0\0"),
    mark("LUKS encryption", Content, &[Start(0)], b"LUKS\xBA\xBE"),
    mark("LUKS encryption (second header)", Content, LUKS_SECOND, b"SKUL\xBA\xBE"),
    mark("BitLocker encryption", Content, &[Start(3)], b"-FVE-FS-"),
    mark("DRBD metadata", Content, &[End(4096 - 60)], &[0x83, 0x74, 0x02, 0x6B]),
    mark("DRBD metadata", Content, &[End(4096 - 60)], &[0x83, 0x74, 0x02, 0x6C]),
    mark("DRBD metadata", Content, &[End(4096 - 60)], &[0x83, 0x74, 0x02, 0x6D]),
    mark("a DRBD proxy log", Content, &[Start(0)], b"DRBDdlh*"),
    mark("a DRBD management volume", Content, &[Start(0)], b"$DRBDmgr=q"),
    // Arrays.
    mark("a Linux RAID member (1.1, 1.2)", Content, &[Start(0), Start(4096)], &[0xFC, 0x4E, 0x2B, 0xA9]),
    mark("a Linux RAID member (1.0)", Content, &[EndRounded { unit: 4096, back: 8192 }], &[0xFC, 0x4E, 0x2B, 0xA9]),
    mark("a Linux RAID member (0.90)", Content, &[EndRounded { unit: 64 << 10, back: 64 << 10 }], &[0xFC, 0x4E, 0x2B, 0xA9]),
    mark("a Linux RAID member (0.90)", Content, &[EndRounded { unit: 64 << 10, back: 64 << 10 }], &[0xA9, 0x2B, 0x4E, 0xFC]),
    mark("an Intel firmware RAID member", Content, LAST_BUT_ONE, b"Intel Raid ISM Cfg Sig. "),
    mark("a DDF firmware RAID member", Content, &[End(512), End(4096), End(257 * 512)], &[0xDE, 0x11, 0xDE, 0x11]),
    mark("a DDF firmware RAID member", Content, &[End(512), End(4096), End(257 * 512)], &[0x11, 0xDE, 0x11, 0xDE]),
    mark("an Adaptec firmware RAID member", Content, LAST_SECTOR, &[0x37, 0xFC, 0x4D, 0x1E]),
    short_mark("a Silicon Image firmware RAID member", Content, &[End(512 - 0x60)], &[0, 0, 0, 0x2F], is_silicon_image),
    short_mark("a VIA firmware RAID member", Content, &[End(512)], &[0x55, 0xAA], is_via),
    short_mark("a JMicron firmware RAID member", Content, &[End(512)], b"JM", is_jmicron),
    mark("an NVIDIA firmware RAID member", Content, LAST_BUT_ONE, b"NVIDIA"),
    mark("an LSI firmware RAID member", Content, LAST_SECTOR, b"$XIDE$"),
    mark("a Promise firmware RAID member", Content, &[End(63 * 512), End(255 * 512), End(256 * 512), End(16 * 512), End(399 * 512), End(591 * 512), End(675 * 512), End(735 * 512), End(911 * 512), End(974 * 512), End(991 * 512), End(951 * 512), End(3087 * 512)], b"Promise Technology, Inc."),
    mark("a HighPoint firmware RAID member", Content, &[Start(9 * 512 + 32)], &[0xF0, 0x16, 0x78, 0x5A]),
    mark("a HighPoint firmware RAID member", Content, &[Start(9 * 512 + 32)], &[0xFD, 0x16, 0x78, 0x5A]),
    mark("a HighPoint firmware RAID member", Content, &[End(11 * 512)], &[0xF3, 0x16, 0x78, 0x5A]),
    mark("a HighPoint firmware RAID member", Content, &[End(11 * 512)], &[0xFD, 0x16, 0x78, 0x5A]),
    // Swap and suspended systems.
    mark("swap space", Content, SWAP, b"SWAP-SPACE"),
    mark("swap space", Content, SWAP, b"SWAPSPACE2"),
    mark("a suspended system", Content, SWAP, b"S1SUSPEND"),
    mark("a suspended system", Content, SWAP, b"S2SUSPEND"),
    mark("a suspended system", Content, SWAP, b"ULSUSPEND"),
    mark("a suspended system", Content, SWAP, b"LINHIB0001"),
    mark("a suspended system", Content, &[Start(0)], &[0xED, 0xC3, 0x02, 0xE9, 0x98, 0x56, 0xE5, 0x0C]),
    // Images of virtual disks, as files.
    mark("a QCOW virtual disk", Content, &[Start(0)], b"QFI\xFB"),
    mark("a VMDK virtual disk", Content, &[Start(0)], b"KDMV"),
    mark("a VMDK virtual disk", Content, &[Start(0)], b"# Disk DescriptorFile"),
    mark("a VDI virtual disk", Content, &[Start(64)], &[0x7F, 0x10, 0xDA, 0xBE]),
    mark("a VHD virtual disk", Content, &[Start(0), End(512)], b"conectix"),
    mark("a VHDX virtual disk", Content, &[Start(0)], b"vhdxfile"),
];
