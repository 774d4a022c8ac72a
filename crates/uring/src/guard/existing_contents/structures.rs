//! Kinds of files that no few bytes tell: by fields that fit together.

/// Kinds that take more than one look, and what they can be told to be.
pub(super) type Recognise = (fn(&[u8]) -> Option<&'static str>, &'static [&'static str]);

pub(super) const BY_STRUCTURE: &[Recognise] = &[
    (elf_or_core, &["core dump", "program or library"]),
    (windows_program, &["Windows program or library"]),
    (old_tar, &["tar archive"]),
    (gzip, &["gzip archive"]),
    (bzip2, &["bzip2 archive"]),
    (jpeg, &["JPEG picture"]),
    (riff, &["WebP picture", "WAV sound", "AVI film", "RIFF file"]),
    (iso_media, &["MP4 or MOV film, or HEIF picture"]),
    (transport_stream, &["MPEG film"]),
    (mp3, &["MP3 sound"]),
    (class_or_fat_program, &["Java class", "macOS program"]),
    (git_pack, &["git pack"]),
    (postgresql_page, &["PostgreSQL table or index"]),
    (postgresql_log, &["PostgreSQL log"]),
    (innodb_tablespace, &["InnoDB tablespace"]),
    (berkeley_db, &["Berkeley DB database"]),
];

fn elf_or_core(start: &[u8]) -> Option<&'static str> {
    let header = start.strip_prefix(b"\x7FELF")?;
    let is_big = header.get(1)? == &2;
    let kind = number(start, 16, 2, is_big)?;
    Some(if kind == 4 { "core dump" } else { "program or library" })
}

/// The DOS header tells where the new one is.
fn windows_program(start: &[u8]) -> Option<&'static str> {
    start.strip_prefix(b"MZ")?;
    let header = number(start, 0x3C, 4, false)? as usize;
    start.get(header..)?.starts_with(b"PE\0\0").then_some("Windows program or library")
}

/// Before POSIX a header had no mark; its checksum, with spaces in its own place, still fits.
fn old_tar(start: &[u8]) -> Option<&'static str> {
    let header = start.get(..512)?;
    let octal = str::from_utf8(&header[148..156]).ok()?.trim_matches(['\0', ' ']);
    let expected = u32::from_str_radix(octal, 8).ok()?;
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let spaces = 8 * u32::from(b' ');
    let is_one = sum(&header[..148]) + spaces + sum(&header[156..]) == expected && header[0] != 0;
    is_one.then_some("tar archive")
}

/// The only method ever used, and no reserved flag.
fn gzip(start: &[u8]) -> Option<&'static str> {
    let flags = start.strip_prefix(&[0x1F, 0x8B, 8])?.first()?;
    (flags & 0xE0 == 0).then_some("gzip archive")
}

fn bzip2(start: &[u8]) -> Option<&'static str> {
    let rest = start.strip_prefix(b"BZh")?.get(1..)?;
    rest.starts_with(&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59]).then_some("bzip2 archive")
}

/// The first segment is application data, a comment or a table.
fn jpeg(start: &[u8]) -> Option<&'static str> {
    let segment = start.strip_prefix(&[0xFF, 0xD8, 0xFF])?.first()?;
    matches!(segment, 0xE0..=0xEF | 0xFE | 0xDB | 0xC0 | 0xC4).then_some("JPEG picture")
}

fn riff(start: &[u8]) -> Option<&'static str> {
    if !start.starts_with(b"RIFF") && !start.starts_with(b"RF64") {
        return None;
    }
    Some(match start.get(8..12)? {
        b"WEBP" => "WebP picture",
        b"WAVE" => "WAV sound",
        b"AVI " => "AVI film",
        _ => "RIFF file",
    })
}

/// The first box of an MP4, a MOV or a HEIF is small.
fn iso_media(start: &[u8]) -> Option<&'static str> {
    let is_one = number(start, 0, 4, true)? < 1 << 20 && start.get(4..8)? == b"ftyp";
    is_one.then_some("MP4 or MOV film, or HEIF picture")
}

/// Every packet of 188 bytes starts with the same one.
fn transport_stream(start: &[u8]) -> Option<&'static str> {
    let mut packets = start.get(..188 * 8)?.chunks(188);
    packets.all(|packet| packet[0] == 0x47).then_some("MPEG film")
}

/// An ID3 tag of a version that there is, with a size of four bytes that have no eighth bit.
fn mp3(start: &[u8]) -> Option<&'static str> {
    let tag = start.strip_prefix(b"ID3")?.get(..7)?;
    let is_tag = (2..=4).contains(&tag[0]) && tag[3..7].iter().all(|byte| byte & 0x80 == 0);
    is_tag.then_some("MP3 sound")
}

/// One mark for two things: Java's has a version of at least 45 where the other counts a few parts.
fn class_or_fat_program(start: &[u8]) -> Option<&'static str> {
    start.strip_prefix(&[0xCA, 0xFE, 0xBA, 0xBE])?;
    let version = number(start, 4, 4, true)? & 0xFFFF;
    Some(if version >= 45 { "Java class" } else { "macOS program" })
}

fn git_pack(start: &[u8]) -> Option<&'static str> {
    start.strip_prefix(b"PACK")?;
    matches!(number(start, 4, 4, true)?, 2 | 3).then_some("git pack")
}

/// Two pages, each with its size and layout version, and with its parts in order.
fn postgresql_page(start: &[u8]) -> Option<&'static str> {
    let is_page = |page: &[u8]| {
        let field = |offset| number(page, offset, 2, false);
        let (lower, upper, special) = (field(12)?, field(14)?, field(16)?);
        let in_order = 24 <= lower && lower <= upper && upper <= special && special <= 8192;
        Some(in_order && field(10)? < 8 && field(18)? == 8192 | 4)
    };
    let first = is_page(start.get(..8192)?)?;
    let second = start.get(8192..16384);
    let fits = second.is_none_or(|page| is_page(page).unwrap_or(false) || page == [0; 8192]);
    (first && fits).then_some("PostgreSQL table or index")
}

/// A long page header tells the segment's size and the page's.
fn postgresql_log(start: &[u8]) -> Option<&'static str> {
    let field = |offset, size| number(start, offset, size, false);
    let is_log = matches!(field(0, 2)?, 0xD05D..=0xD1FF)
        && field(2, 2)? & 0xFFF2 == 2
        && field(32, 4)?.is_power_of_two()
        && field(36, 4)? == 8192;
    is_log.then_some("PostgreSQL log")
}

/// Page 0 is of the kind that heads a tablespace, and has the space's number twice.
fn innodb_tablespace(start: &[u8]) -> Option<&'static str> {
    let field = |offset, size| number(start, offset, size, true);
    let is_head = field(4, 4)? == 0 && field(24, 2)? == 8 && field(34, 4)? == field(38, 4)?;
    is_head.then_some("InnoDB tablespace")
}

/// The kinds of access method, in the order of bytes of the machine that wrote them.
fn berkeley_db(start: &[u8]) -> Option<&'static str> {
    let is_one = [false, true].into_iter().any(|is_big| {
        let magic = number(start, 12, 4, is_big);
        matches!(magic, Some(0x0005_3162 | 0x0006_1561 | 0x0004_2253 | 0x0007_4582))
    });
    is_one.then_some("Berkeley DB database")
}

fn number(bytes: &[u8], offset: usize, size: usize, is_big: bool) -> Option<u64> {
    let field = bytes.get(offset..offset + size)?;
    let append = |number, &byte| number << 8 | u64::from(byte);
    Some(match is_big {
        true => field.iter().fold(0, append),
        false => field.iter().rev().fold(0, append),
    })
}
