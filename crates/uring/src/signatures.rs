//! The marks that filesystems, partition tables, arrays and the like leave on a drive.
//!
//! One table of data, from the formats' own documentation and header files. A mark is enough: what
//! is damaged may still be somebody's only copy. Only where a mark is so short that random data
//! bears it now and then must the sector around it look right as well.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io;

use rustix::io::Errno;

/// Drives are looked at in direct reads of this size.
const CHUNK: usize = 64 << 10;
const SECTOR: u64 = 512;

/// A mark and the places where it is found.
#[derive(Debug)]
struct Signature {
    what: &'static str,
    layout: Layout,
    places: &'static [Place],
    magic: &'static [u8],
    plausible: Option<fn(&[u8]) -> bool>,
}

/// Whether a mark tells how a disk is divided, which its partitions do not mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Table,
    Content,
}

/// Byte offsets where a mark may be: from the start, or back from the end rounded down.
#[derive(Debug, Clone, Copy)]
enum Place {
    Start(u64),
    StartSeries { first: u64, step: u64, count: u64 },
    End(u64),
    EndRounded { unit: u64, back: u64 },
    EndSeries { unit: u64, back: u64, step: u64, count: u64 },
}

use Layout::{Content, Table};
use Place::{End, EndRounded, EndSeries, Start, StartSeries};

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

#[rustfmt::skip]
const SIGNATURES: &[Signature] = &[
    // Partition tables.
    mark("a GPT partition table", Table, GPT, b"EFI PART"),
    short_mark("an MBR partition table or boot record", Table, &[Start(510)], &[0x55, 0xAA], is_boot_record),
    mark("an Apple partition map", Table, &[Start(512), Start(2048), Start(4096)], b"PM\0\0"),
    mark("a BSD disklabel", Table, &[Start(0), Start(64), Start(512), Start(576)], &[0x57, 0x45, 0x56, 0x82]),
    short_mark("a Sun disklabel", Table, &[Start(508)], &[0xDA, 0xBE], is_sun_label),
    mark("an SGI disklabel", Table, &[Start(0)], &[0x0B, 0xE5, 0xA9, 0x41]),
    mark("an AIX disklabel", Table, &[Start(0)], &[0xC9, 0xC2, 0xD4, 0xC1]),
    mark("an Amiga partition table", Table, &[StartSeries { first: 0, step: 512, count: 16 }], b"RDSK"),
    mark("a Windows dynamic disk (LDM)", Content, &[Start(3072), End(512)], b"PRIVHEAD"),
    mark("a GNU parted loop label", Table, &[Start(0)], b"GNU Parted Loopback"),
    // Filesystems.
    short_mark("an ext2/3/4 filesystem", Content, &[Start(1080)], &[0x53, 0xEF], is_ext),
    mark("an XFS filesystem", Content, &[Start(0)], b"XFSB"),
    mark("an XFS external log", Content, &[Start(0)], &[0xFE, 0xED, 0xBA, 0xBE]),
    mark("a btrfs filesystem", Content, &[Start(0x1_0040), Start((64 << 20) + 64), Start((256 << 30) + 64)], b"_BHRfS_M"),
    mark("an F2FS filesystem", Content, &[Start(1024), Start(4096 + 1024)], &[0x10, 0x20, 0xF5, 0xF2]),
    mark("a bcachefs filesystem", Content, &[Start(4096 + 24), End(512 << 10)], &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9, 0xD9, 0x6A, 0x60, 0xCF, 0x80, 0x3D, 0xF7, 0xEF]),
    mark("an NTFS filesystem", Content, &[Start(3), End(509)], b"NTFS    "),
    mark("an exFAT filesystem", Content, &[Start(3)], b"EXFAT   "),
    mark("a FAT filesystem", Content, &[Start(54)], b"FAT12   "),
    mark("a FAT filesystem", Content, &[Start(54)], b"FAT16   "),
    mark("a FAT filesystem", Content, &[Start(54)], b"FAT     "),
    mark("a FAT filesystem", Content, &[Start(82)], b"FAT32   "),
    mark("a FAT filesystem", Content, &[Start(3)], b"MSDOS5.0"),
    mark("a FAT filesystem", Content, &[Start(3)], b"MSWIN4."),
    mark("a FAT filesystem", Content, &[Start(3)], b"mkfs.fat"),
    mark("a FAT filesystem", Content, &[Start(3)], b"mkdosfs\0"),
    mark("a ReFS filesystem", Content, &[Start(3)], b"ReFS\0"),
    mark("an APFS container", Content, &[Start(32)], b"NXSB"),
    mark("an HFS+ filesystem", Content, &[Start(1024), End(1024)], b"H+\0\x04"),
    mark("an HFSX filesystem", Content, &[Start(1024), End(1024)], b"HX\0\x05"),
    short_mark("an HFS filesystem", Content, &[Start(1024)], b"BD", is_hfs),
    mark("an ISO 9660 image", Content, VOLUME_RECOGNITION, b"CD001"),
    mark("a UDF filesystem", Content, VOLUME_RECOGNITION, b"BEA01"),
    mark("a UDF filesystem", Content, VOLUME_RECOGNITION, b"NSR0"),
    mark("a JFS filesystem", Content, &[Start(32768)], b"JFS1"),
    mark("a ReiserFS filesystem", Content, &[Start(65588), Start(8244)], b"ReIsEr"),
    mark("a Reiser4 filesystem", Content, &[Start(65536)], b"ReIsEr4"),
    short_mark("a NILFS2 filesystem", Content, &[Start(1030)], &[0x34, 0x34], is_nilfs),
    mark("a GFS2 filesystem", Content, &[Start(65536)], &[0x01, 0x16, 0x19, 0x70]),
    mark("an OCFS2 filesystem", Content, OCFS, b"OCFSV2"),
    mark("a UFS filesystem", Content, &[Start(8192 + 1372), Start(65536 + 1372)], &[0x54, 0x19, 0x01, 0x00]),
    mark("a UFS2 filesystem", Content, &[Start(8192 + 1372), Start(65536 + 1372)], &[0x19, 0x01, 0x54, 0x19]),
    mark("a VxFS filesystem", Content, &[Start(1024)], &[0xF5, 0xFC, 0x01, 0xA5]),
    mark("a squashfs image", Content, &[Start(0)], b"hsqs"),
    mark("a squashfs image", Content, &[Start(0)], b"sqsh"),
    mark("an EROFS image", Content, &[Start(1024)], &[0xE2, 0xE1, 0xF5, 0xE0]),
    mark("a cramfs image", Content, &[Start(0)], &[0x45, 0x3D, 0xCD, 0x28]),
    mark("a romfs image", Content, &[Start(0)], b"-rom1fs-"),
    mark("a zonefs filesystem", Content, &[Start(0)], b"SFOZ"),
    mark("a VMFS volume", Content, &[Start(0x10_0000)], &[0x0D, 0xD0, 0x01, 0xC0]),
    mark("a VMFS filesystem", Content, &[Start(0x20_0000)], &[0x5E, 0xF1, 0xAB, 0x2F]),
    mark("a Ceph BlueStore device", Content, &[Start(0)], b"bluestore block device"),
    mark("an Oracle ASM disk", Content, &[Start(32)], b"ORCLDISK"),
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
    // Arrays.
    mark("a Linux RAID member (1.1, 1.2)", Content, &[Start(0), Start(4096)], &[0xFC, 0x4E, 0x2B, 0xA9]),
    mark("a Linux RAID member (1.0)", Content, &[EndRounded { unit: 4096, back: 8192 }], &[0xFC, 0x4E, 0x2B, 0xA9]),
    mark("a Linux RAID member (0.90)", Content, &[EndRounded { unit: 64 << 10, back: 64 << 10 }], &[0xFC, 0x4E, 0x2B, 0xA9]),
    mark("a Linux RAID member (0.90)", Content, &[EndRounded { unit: 64 << 10, back: 64 << 10 }], &[0xA9, 0x2B, 0x4E, 0xFC]),
    mark("an Intel firmware RAID member", Content, LAST_BUT_ONE, b"Intel Raid ISM Cfg Sig. "),
    mark("a DDF firmware RAID member", Content, &[End(512), End(4096), End(257 * 512)], &[0xDE, 0x11, 0xDE, 0x11]),
    mark("an NVIDIA firmware RAID member", Content, LAST_BUT_ONE, b"NVIDIA  "),
    mark("an LSI firmware RAID member", Content, LAST_SECTOR, b"$XIDE$"),
    mark("a Promise firmware RAID member", Content, &[End(63 * 512), End(255 * 512), End(256 * 512), End(16 * 512), End(399 * 512), End(591 * 512), End(675 * 512), End(735 * 512), End(911 * 512), End(974 * 512), End(991 * 512), End(951 * 512), End(3087 * 512)], b"Promise Technology, Inc."),
    mark("a HighPoint firmware RAID member", Content, &[Start(9 * 512 + 32)], &[0xF0, 0x16, 0x7A, 0x5A]),
    mark("a HighPoint firmware RAID member", Content, &[Start(9 * 512 + 32)], &[0xFD, 0x16, 0x7A, 0x5A]),
    mark("a HighPoint firmware RAID member", Content, &[End(11 * 512)], &[0xF3, 0x16, 0x78, 0x5A]),
    mark("a HighPoint firmware RAID member", Content, &[End(11 * 512)], &[0xFD, 0x16, 0x78, 0x5A]),
    // Swap and suspended systems.
    mark("swap space", Content, SWAP, b"SWAP-SPACE"),
    mark("swap space", Content, SWAP, b"SWAPSPACE2"),
    mark("a suspended system", Content, SWAP, b"S1SUSPEND"),
    mark("a suspended system", Content, SWAP, b"S2SUSPEND"),
    mark("a suspended system", Content, SWAP, b"ULSUSPEND"),
    mark("a suspended system", Content, SWAP, b"LINHIB0001"),
    // Images of virtual disks, as files.
    mark("a QCOW virtual disk", Content, &[Start(0)], b"QFI\xFB"),
    mark("a VMDK virtual disk", Content, &[Start(0)], b"KDMV"),
    mark("a VMDK virtual disk", Content, &[Start(0)], b"# Disk DescriptorFile"),
    mark("a VDI virtual disk", Content, &[Start(64)], &[0x7F, 0x10, 0xDA, 0xBE]),
    mark("a VHD virtual disk", Content, &[Start(0), End(512)], b"conectix"),
    mark("a VHDX virtual disk", Content, &[Start(0)], b"vhdxfile"),
];

/// A boot record's four entries each start with a status of 0x00 or 0x80; boot code has other bytes
/// there, and random data has them once in 2^44. An empty table counts: something made it.
fn is_boot_record(sector: &[u8]) -> bool {
    let mut entries = sector[446..510].chunks(16);
    entries.all(|entry| matches!(entry[0], 0x00 | 0x80))
}

/// The exclusive-or of a Sun label's words is zero.
fn is_sun_label(sector: &[u8]) -> bool {
    let words = sector.chunks(2);
    words.fold([0, 0], |sum, word| [sum[0] ^ word[0], sum[1] ^ word[1]]) == [0, 0]
}

/// The logarithm of an ext block size is at most 6 (64 KiB) and its revision 0 or 1.
fn is_ext(superblock: &[u8]) -> bool {
    little_endian(superblock, 24) <= 6 && little_endian(superblock, 76) <= 1
}

/// NILFS2 starts with its revision, which has always been 2.
fn is_nilfs(superblock: &[u8]) -> bool {
    little_endian(superblock, 0) == 2
}

/// An HFS allocation block is a non-zero multiple of 512 bytes.
fn is_hfs(block: &[u8]) -> bool {
    let size = little_endian(block, 20).swap_bytes();
    size != 0 && size.is_multiple_of(512)
}

fn little_endian(bytes: &[u8], offset: usize) -> u32 {
    let word = bytes[offset..].first_chunk().copied();
    u32::from_le_bytes(word.unwrap_or_default())
}

/// A mark that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) what: &'static str,
    pub(crate) offset: u64,
    table: bool,
}

impl Found {
    /// Whether it only tells how a disk is divided into partitions.
    pub(crate) fn is_partition_table(&self) -> bool {
        self.table
    }
}

/// Every kind of mark on a drive of `capacity` bytes, each at the first place that has it.
///
/// # Errors
/// If a place cannot be read: what is there is not known then.
pub(crate) fn find(drive: &File, capacity: u64) -> io::Result<Vec<Found>> {
    let mut reader = Reader::new(drive, capacity);
    let mut found: Vec<Found> = Vec::new();
    for signature in SIGNATURES {
        if found.iter().any(|earlier| earlier.what == signature.what) {
            continue;
        }
        if let Some(offset) = first_place(signature, &mut reader)? {
            found.push(Found { what: signature.what, offset, table: signature.layout == Table });
        }
    }
    Ok(found)
}

fn first_place(signature: &Signature, reader: &mut Reader<'_>) -> io::Result<Option<u64>> {
    let capacity = reader.capacity;
    for place in signature.places {
        for offset in place.offsets(capacity) {
            if reader.has(offset, signature)? {
                return Ok(Some(offset));
            }
        }
    }
    Ok(None)
}

impl Place {
    /// The offsets on a drive of this capacity; none where it is too small.
    fn offsets(self, capacity: u64) -> impl Iterator<Item = u64> {
        let (first, step, count) = match self {
            Start(offset) => (Some(offset), 0, 1),
            StartSeries { first, step, count } => (Some(first), step, count),
            End(back) => (capacity.checked_sub(back), 0, 1),
            EndRounded { unit, back } => ((capacity / unit * unit).checked_sub(back), 0, 1),
            EndSeries { unit, back, step, count } => {
                ((capacity / unit * unit).checked_sub(back), step, count)
            }
        };
        let offsets = (0..count).filter_map(move |index| Some(first? + index * step));
        offsets.filter(move |&offset| offset < capacity)
    }
}

#[repr(align(4096))]
struct Chunk([u8; CHUNK]);

/// Looks at a drive by direct reads, each chunk once: what is on the drive, not in a cache.
struct Reader<'a> {
    drive: &'a File,
    capacity: u64,
    chunks: BTreeMap<u64, (Box<Chunk>, usize)>,
}

impl<'a> Reader<'a> {
    fn new(drive: &'a File, capacity: u64) -> Self {
        Self { drive, capacity, chunks: BTreeMap::new() }
    }

    fn has(&mut self, offset: u64, signature: &Signature) -> io::Result<bool> {
        if self.bytes(offset, signature.magic.len())? != signature.magic {
            return Ok(false);
        }
        let Some(plausible) = signature.plausible else {
            return Ok(true);
        };
        let sector = self.bytes(offset / SECTOR * SECTOR, SECTOR as usize)?;
        Ok(sector.len() == SECTOR as usize && plausible(&sector))
    }

    /// The bytes at an offset, fewer at the drive's end.
    fn bytes(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length);
        let mut at = offset;
        while bytes.len() < length && at < self.capacity {
            let within = (at % CHUNK as u64) as usize;
            let chunk = self.chunk(at - within as u64)?;
            let Some(available) = chunk.get(within..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            let taken = available.len().min(length - bytes.len());
            bytes.extend_from_slice(&available[..taken]);
            at += taken as u64;
        }
        Ok(bytes)
    }

    fn chunk(&mut self, start: u64) -> io::Result<&[u8]> {
        let (chunk, length) = match self.chunks.entry(start) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(space) => {
                let mut chunk = Box::new(Chunk([0; CHUNK]));
                let length = read_at(self.drive, &mut chunk.0, start)?;
                let expected = (self.capacity - start).min(CHUNK as u64) as usize;
                if length < expected {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                space.insert((chunk, length))
            }
        };
        Ok(&chunk.0[..*length])
    }
}

/// Reads until the buffer is full or the drive ends; direct reads may come in parts.
fn read_at(drive: &File, buffer: &mut [u8], start: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match rustix::io::pread(drive, &mut buffer[length..], start + length as u64) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(Errno::INTR) => {}
            // The rest of a file that ends within a sector cannot be asked for directly.
            Err(Errno::INVAL) if length > 0 => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use writecliff_device::{Bytes, Io};

    use super::*;

    const CAPACITY: u64 = (80 << 20) + 512;

    fn drive() -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(CAPACITY).unwrap();
        file
    }

    /// What makes a sector around a short mark look right.
    fn make_plausible(file: &File, signature: &Signature, offset: u64) {
        match signature.what {
            "a NILFS2 filesystem" => file.write_all_at(&[2], 1024).unwrap(),
            "an HFS filesystem" => file.write_all_at(&[0, 0, 2, 0], 1044).unwrap(),
            "a Sun disklabel" => file.write_all_at(&[0xDA, 0xBE], 0).unwrap(),
            _ => assert!(offset < CAPACITY),
        }
    }

    #[test]
    fn every_mark_is_found_at_every_place_where_it_may_be() {
        for signature in SIGNATURES {
            for place in signature.places {
                for offset in place.offsets(CAPACITY) {
                    let file = drive();
                    file.write_all_at(signature.magic, offset).unwrap();
                    make_plausible(&file, signature, offset);
                    let found = find(&file, CAPACITY).unwrap();
                    assert!(
                        found.iter().any(|found| found.what == signature.what),
                        "{} at {offset}: {found:?}",
                        signature.what
                    );
                }
            }
        }
    }

    #[test]
    fn an_empty_drive_and_our_own_content_bear_no_mark() {
        let file = drive();
        assert_eq!(find(&file, CAPACITY).unwrap(), []);
        let mut content = crate::ContentStream::new(5);
        let mut buffer = vec![0; 1 << 20];
        for offset in (0..CAPACITY - 512).step_by(buffer.len()) {
            let io = Io::write(Bytes(offset), Bytes(buffer.len() as u64));
            content.fill(&io, &mut buffer);
            file.write_all_at(&buffer, offset).unwrap();
        }
        assert_eq!(find(&file, CAPACITY).unwrap(), []);
    }

    #[test]
    fn short_marks_in_other_data_are_no_mark() {
        let file = drive();
        file.write_all_at(&[0xFF; 4096], 0).unwrap();
        file.write_all_at(&[0x55, 0xAA], 510).unwrap();
        file.write_all_at(&[0x53, 0xEF], 1080).unwrap();
        assert_eq!(find(&file, CAPACITY).unwrap(), []);
    }

    #[test]
    fn a_drive_that_ends_early_is_not_an_empty_drive() {
        let file = drive();
        file.set_len(1 << 20).unwrap();
        assert!(find(&file, CAPACITY).is_err());
    }
}
