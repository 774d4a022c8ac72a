//! Whether the sector around a short mark looks right as well. Each is given that whole sector.

/// A boot record's four entries each start with a status of 0x00 or 0x80; boot code has other bytes
/// there, and random data has them once in 2^44. An empty table counts: something made it.
pub(super) fn is_boot_record(sector: &[u8]) -> bool {
    let mut entries = sector[446..510].chunks(16);
    entries.all(|entry| matches!(entry[0], 0x00 | 0x80))
}

/// The parameters that every FAT has, also one of DOS that does not say its name.
pub(super) fn is_fat(sector: &[u8]) -> bool {
    let sector_size = word(&sector[11..], Order::Little);
    matches!(sector_size, 512 | 1024 | 2048 | 4096)
        && sector[13].is_power_of_two()
        && word(&sector[14..], Order::Little) != 0
        && sector[16] != 0
        && (sector[21] == 0xF0 || sector[21] >= 0xF8)
}

/// The block size that Apple's driver descriptor tells.
pub(super) fn is_driver_descriptor(sector: &[u8]) -> bool {
    matches!(word(&sector[2..], Order::Big), 512 | 1024 | 2048 | 4096)
}

/// The exclusive-or of a Sun label's words is zero.
pub(super) fn is_sun_label(sector: &[u8]) -> bool {
    let words = sector.chunks(2);
    words.fold([0, 0], |sum, word| [sum[0] ^ word[0], sum[1] ^ word[1]]) == [0, 0]
}

/// The word after an Ultrix label's mark says that it is valid.
pub(super) fn is_ultrix_label(sector: &[u8]) -> bool {
    long(&sector[444..], Order::Little) == 1
}

/// An active partition of an Atari disk lies within the size that the root sector tells.
pub(super) fn is_atari_label(sector: &[u8]) -> bool {
    let size = long(&sector[0x1C2..], Order::Big);
    let mut partitions = sector[0x1C6..0x1F6].chunks(12);
    partitions.any(|partition| {
        let start = long(&partition[4..], Order::Big);
        let length = long(&partition[8..], Order::Big);
        let active = partition[0] & 1 == 1;
        active && start > 0 && length > 0 && u64::from(start) + u64::from(length) <= size.into()
    })
}

/// The logarithm of an ext block size is at most 6 (64 KiB) and its revision 0 or 1.
pub(super) fn is_ext(superblock: &[u8]) -> bool {
    long(&superblock[24..], Order::Little) <= 6 && long(&superblock[76..], Order::Little) <= 1
}

/// NILFS2 starts with its revision, which has always been 2.
pub(super) fn is_nilfs(superblock: &[u8]) -> bool {
    long(superblock, Order::Little) == 2
}

/// An HFS allocation block is a non-zero multiple of 512 bytes.
pub(super) fn is_hfs(block: &[u8]) -> bool {
    let size = long(&block[20..], Order::Big);
    size != 0 && size.is_multiple_of(512)
}

/// HFS+ has version 4 and HFSX version 5; where that is damaged, the block size is a power of two.
pub(super) fn is_hfs_plus(header: &[u8]) -> bool {
    let block_size = long(&header[40..], Order::Big);
    matches!(word(&header[2..], Order::Big), 4 | 5)
        || (block_size >= 512 && block_size.is_power_of_two())
}

/// Versions 1 and 2, in the order of bytes that the mark shows: inodes, maps of these and of the
/// zones, zones of one block, and a state of at most two flags.
pub(super) fn is_minix(superblock: &[u8]) -> bool {
    let order = match superblock[16] {
        0x13 | 0x24 => Order::Big,
        _ => Order::Little,
    };
    let field = |offset: usize| word(&superblock[offset..], order);
    field(0) != 0 && field(4) != 0 && field(6) != 0 && field(10) == 0 && field(18) <= 3
}

/// The same of version 3, which has no state.
pub(super) fn is_minix3(superblock: &[u8]) -> bool {
    let order = match superblock[24] {
        0x4D => Order::Big,
        _ => Order::Little,
    };
    let field = |offset: usize| word(&superblock[offset..], order);
    long(superblock, order) != 0 && field(6) != 0 && field(8) != 0 && field(12) == 0
}

/// An array of Silicon Image has at most 8 disks.
pub(super) fn is_silicon_image(sector: &[u8]) -> bool {
    sector[0x116] < 8
}

/// The versions of VIA's metadata.
pub(super) fn is_via(sector: &[u8]) -> bool {
    sector[2] <= 2
}

/// JMicron's metadata has had no major version but 0 and 1.
pub(super) fn is_jmicron(sector: &[u8]) -> bool {
    sector[3] <= 1
}

#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

fn word(bytes: &[u8], order: Order) -> u16 {
    let bytes = bytes.first_chunk().copied().unwrap_or_default();
    match order {
        Order::Little => u16::from_le_bytes(bytes),
        Order::Big => u16::from_be_bytes(bytes),
    }
}

fn long(bytes: &[u8], order: Order) -> u32 {
    let bytes = bytes.first_chunk().copied().unwrap_or_default();
    match order {
        Order::Little => u32::from_le_bytes(bytes),
        Order::Big => u32::from_be_bytes(bytes),
    }
}
