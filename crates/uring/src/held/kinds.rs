//! How applications' files begin, from their formats' own documentation. A kind is told by at least
//! four bytes, or by fields that fit together: what our own tests write must not look like one.

/// What a file is, by bytes at an offset.
struct Kind {
    what: &'static str,
    offset: usize,
    magic: &'static [u8],
}

const fn kind(what: &'static str, offset: usize, magic: &'static [u8]) -> Kind {
    Kind { what, offset, magic }
}

/// Kinds that take more than one look, and what they can be told to be.
type Recognise = (fn(&[u8]) -> Option<&'static str>, &'static [&'static str]);

const BY_STRUCTURE: &[Recognise] = &[
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

const TEXT: &str = "text";

/// What a file is by its first 64 KiB and its last bytes, if an application's or text.
pub(super) fn kind_of(start: &[u8], end: &[u8]) -> Option<&'static str> {
    let has = |bytes: &[u8], kind: &Kind| {
        bytes.get(kind.offset..).is_some_and(|rest| rest.starts_with(kind.magic))
    };
    let from_end = |kind: &Kind| {
        let tail = end.len().checked_sub(kind.offset);
        tail.is_some_and(|at| end[at..].starts_with(kind.magic))
    };
    let by_start = KINDS.iter().find(|kind| has(start, kind)).map(|kind| kind.what);
    by_start
        .or_else(|| BY_STRUCTURE.iter().find_map(|(recognise, _)| recognise(start)))
        .or_else(|| KINDS_BY_END.iter().find(|kind| from_end(kind)).map(|kind| kind.what))
        .or_else(|| is_text(start).then_some(TEXT))
}

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    // Databases.
    kind("SQLite database", 0, b"SQLite format 3\0"),
    kind("SQLite log", 0, &[0x37, 0x7F, 0x06, 0x82]),
    kind("SQLite log", 0, &[0x37, 0x7F, 0x06, 0x83]),
    kind("LMDB database", 16, &[0xDE, 0xC0, 0xEF, 0xBE]),
    kind("bbolt database", 16, &[0xED, 0xDA, 0x0C, 0xED]),
    kind("WiredTiger database", 0, &[0x41, 0xD8, 0x01, 0x00, 0x01, 0x00]),
    kind("DuckDB database", 8, b"DUCK"),
    kind("Redis database", 0, b"REDIS0"),
    kind("MyISAM index", 0, &[0xFE, 0xFE, 0x07, 0x01]),
    kind("GDBM database", 0, &[0xCE, 0x9A, 0x57, 0x13]),
    kind("GDBM database", 0, &[0xCF, 0x9A, 0x57, 0x13]),
    kind("TDB database", 0, b"TDB file\n"),
    kind("Tokyo Cabinet database", 0, b"ToKyO CaBiNeT\n"),
    kind("Access database", 4, b"Standard Jet DB"),
    kind("Access database", 4, b"Standard ACE DB"),
    kind("ESE database", 4, &[0xEF, 0xCD, 0xAB, 0x89]),
    kind("Lucene index", 0, &[0x3F, 0xD7, 0x6C, 0x17]),
    kind("InfluxDB data", 0, &[0x16, 0xD1, 0x16, 0xD1]),
    kind("Prometheus data", 0, &[0x85, 0xBD, 0x40, 0xDD]),
    kind("Prometheus index", 0, &[0xBA, 0xAA, 0xD7, 0x00]),
    kind("RRD database", 0, b"RRD\0"),
    kind("system journal", 0, b"LPKSHHRH"),
    // Data of science and analysis.
    kind("Parquet file", 0, b"PAR1"),
    kind("Arrow file", 0, b"ARROW1"),
    kind("Avro file", 0, b"Obj\x01"),
    kind("HDF5 file", 0, b"\x89HDF\r\n\x1A\n"),
    kind("HDF5 file", 512, b"\x89HDF\r\n\x1A\n"),
    kind("HDF5 file", 1024, b"\x89HDF\r\n\x1A\n"),
    kind("HDF5 file", 2048, b"\x89HDF\r\n\x1A\n"),
    kind("NetCDF file", 0, b"CDF\x01"),
    kind("NetCDF file", 0, b"CDF\x02"),
    kind("NetCDF file", 0, b"CDF\x05"),
    kind("NumPy array", 0, b"\x93NUMPY"),
    kind("GGUF model", 0, b"GGUF"),
    kind("GRIB data", 0, b"GRIB"),
    kind("ROOT file", 0, b"root"),
    kind("MATLAB file", 0, b"MATLAB 5.0"),
    kind("FITS file", 0, b"SIMPLE  ="),
    kind("DICOM image", 128, b"DICM"),
    kind("packet capture", 0, &[0xD4, 0xC3, 0xB2, 0xA1]),
    kind("packet capture", 0, &[0xA1, 0xB2, 0xC3, 0xD4]),
    kind("packet capture", 0, &[0x4D, 0x3C, 0xB2, 0xA1]),
    kind("packet capture", 0, &[0xA1, 0xB2, 0x3C, 0x4D]),
    kind("packet capture", 0, b"\n\r\r\n"),
    // Archives, packages, backups.
    kind("tar archive", 257, b"ustar"),
    kind("cpio archive", 0, b"070701"),
    kind("cpio archive", 0, b"070702"),
    kind("cpio archive", 0, b"070707"),
    kind("ar archive or Debian package", 0, b"!<arch>\n"),
    kind("RPM package", 0, &[0xED, 0xAB, 0xEE, 0xDB]),
    kind("ZIP archive, office document or JAR", 0, b"PK\x03\x04"),
    kind("ZIP archive, office document or JAR", 0, b"PK\x05\x06"),
    kind("ZIP archive, office document or JAR", 0, b"PK\x07\x08"),
    kind("xz archive", 0, b"\xFD7zXZ\0"),
    kind("zstd archive", 0, &[0x28, 0xB5, 0x2F, 0xFD]),
    kind("lz4 archive", 0, &[0x04, 0x22, 0x4D, 0x18]),
    kind("lzip archive", 0, b"LZIP"),
    kind("7z archive", 0, b"7z\xBC\xAF\x27\x1C"),
    kind("RAR archive", 0, b"Rar!\x1A\x07"),
    kind("cabinet archive", 0, b"MSCF"),
    kind("xar archive", 0, b"xar!"),
    kind("Borg backup", 0, b"BORG_SEG"),
    kind("Android backup", 0, b"ANDROID BACKUP"),
    kind("Windows image", 0, b"MSWIM\0\0\0"),
    kind("disk image of partclone", 0, b"partclone-image"),
    kind("forensic disk image", 0, b"EVF\x09\r\n\xFF\0"),
    kind("Android disk image", 0, &[0x3A, 0xFF, 0x26, 0xED]),
    kind("QED virtual disk", 0, b"QED\0"),
    kind("Parallels virtual disk", 0, b"WithoutFreeSpace"),
    kind("Parallels virtual disk", 0, b"WithouFreSpacExt"),
    kind("state of a virtual machine", 0, b"QEVM"),
    kind("state of a virtual machine", 0, b"\x7FVirtualBox SavedState"),
    kind("git index", 0, b"DIRC\0\0\0"),
    kind("git pack index", 0, &[0xFF, 0x74, 0x4F, 0x63]),
    // Documents and mail.
    kind("PDF document", 0, b"%PDF-"),
    kind("PostScript document", 0, b"%!PS"),
    kind("older office document", 0, &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]),
    kind("Outlook mailbox", 0, b"!BDN"),
    kind("DjVu document", 0, b"AT&TFORM"),
    kind("AutoCAD drawing", 0, b"AC10"),
    kind("Blender scene", 0, b"BLENDER"),
    // Pictures, sound, film.
    kind("PNG picture", 0, b"\x89PNG\r\n\x1A\n"),
    kind("GIF picture", 0, b"GIF87a"),
    kind("GIF picture", 0, b"GIF89a"),
    kind("TIFF or raw picture", 0, b"II*\0"),
    kind("TIFF or raw picture", 0, b"MM\0*"),
    kind("TIFF or raw picture", 0, b"II+\0"),
    kind("TIFF or raw picture", 0, b"MM\0+"),
    kind("Photoshop picture", 0, b"8BPS"),
    kind("GIMP picture", 0, b"gimp xcf"),
    kind("OpenEXR picture", 0, &[0x76, 0x2F, 0x31, 0x01]),
    kind("JPEG 2000 picture", 0, b"\0\0\0\x0CjP  "),
    kind("JPEG XL picture", 0, b"\0\0\0\x0CJXL "),
    kind("Matroska or WebM film", 0, &[0x1A, 0x45, 0xDF, 0xA3]),
    kind("Ogg sound or film", 0, b"OggS"),
    kind("FLAC sound", 0, b"fLaC"),
    kind("MIDI music", 0, b"MThd"),
    kind("AIFF sound", 8, b"AIFF"),
    kind("Windows Media film or sound", 0, &[0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]),
    kind("MPEG film", 0, &[0, 0, 1, 0xBA]),
    kind("Flash film", 0, b"FLV\x01"),
    // Programs and what they leave.
    kind("macOS program", 0, &[0xFE, 0xED, 0xFA, 0xCE]),
    kind("macOS program", 0, &[0xFE, 0xED, 0xFA, 0xCF]),
    kind("macOS program", 0, &[0xCE, 0xFA, 0xED, 0xFE]),
    kind("macOS program", 0, &[0xCF, 0xFA, 0xED, 0xFE]),
    kind("WebAssembly program", 0, b"\0asm"),
    kind("Android program", 0, b"dex\n03"),
    kind("LLVM bitcode", 0, &[0x42, 0x43, 0xC0, 0xDE]),
    kind("memory dump", 0, b"MDMP"),
    kind("memory dump", 0, b"PAGEDU"),
    kind("memory dump", 0, b"KDUMP   "),
    kind("memory dump", 0, b"EMiL"),
    kind("Windows registry", 0, b"regf"),
    kind("Windows event log", 0, b"ElfFile\0"),
    kind("macOS property list", 0, b"bplist0"),
    // Keys and secrets.
    kind("key, certificate or signed message", 0, b"-----BEGIN "),
    kind("age-encrypted file", 0, b"age-encryption.org/v1"),
    kind("password safe", 0, &[0x03, 0xD9, 0xA2, 0x9A]),
    kind("GnuPG keybox", 8, b"KBXf"),
    kind("Java keystore", 0, &[0xFE, 0xED, 0xFE, 0xED]),
];

/// By bytes so far before the end.
const KINDS_BY_END: &[Kind] = &[
    kind("RocksDB table", 8, &[0xF7, 0xCF, 0xF4, 0x85, 0xB7, 0x41, 0xE2, 0x88]),
    kind("LevelDB table", 8, &[0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB]),
    kind("macOS disk image", 512, b"koly"),
    kind("Parquet file", 4, b"PAR1"),
];

#[cfg(test)]
pub(super) fn every_kind() -> impl Iterator<Item = &'static str> {
    let by_bytes = KINDS.iter().chain(KINDS_BY_END).map(|kind| kind.what);
    let by_structure = BY_STRUCTURE.iter().flat_map(|(_, kinds)| kinds.iter().copied());
    by_bytes.chain(by_structure).chain([TEXT])
}

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

/// Characters only, of UTF-8 (which ASCII is) or of UTF-16 with its mark, before any zeros that
/// fill the rest.
fn is_text(start: &[u8]) -> bool {
    let start = &start[..start.len().min(4096)];
    if let [0xFF, 0xFE, rest @ ..] | [0xFE, 0xFF, rest @ ..] = start {
        let zeros = rest.iter().filter(|&&byte| byte == 0).count();
        return rest.len() >= 8 && zeros * 3 >= rest.len() && zeros * 3 <= rest.len() * 2;
    }
    let length = start.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let text = match str::from_utf8(&start[..length]) {
        Ok(text) => text,
        // Cut within a character.
        Err(error) if error.error_len().is_none() => {
            str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_printed = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\x0C' | '\x1B');
    text.len() >= 4 && text.chars().all(is_printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_told_by_its_mark_and_by_no_less() {
        for kind in KINDS {
            let mut start = vec![0; 4096];
            start[kind.offset..][..kind.magic.len()].copy_from_slice(kind.magic);
            assert_eq!(kind_of(&start, &[]), Some(kind.what));
            assert!(kind.magic.len() >= 4, "{}", kind.what);
        }
        for kind in KINDS_BY_END {
            let mut end = vec![0; 512];
            end[512 - kind.offset..][..kind.magic.len()].copy_from_slice(kind.magic);
            assert_eq!(kind_of(&[0; 4096], &end), Some(kind.what));
        }
    }

    /// Bytes at an offset.
    type Part<'a> = (usize, &'a [u8]);

    /// Some bytes at their offsets, zeros between.
    fn with(parts: &[Part<'_>]) -> Vec<u8> {
        let mut start = vec![0; 64 << 10];
        for (offset, bytes) in parts {
            start[*offset..][..bytes.len()].copy_from_slice(bytes);
        }
        start
    }

    #[test]
    fn kinds_that_take_more_than_one_look() {
        let page: &[u8] = &[24, 0, 0, 0x20, 0, 0x20, 4, 0x20];
        let cases: &[(&str, &[Part<'_>])] = &[
            ("core dump", &[(0, b"\x7FELF\x02\x01"), (16, &[4])]),
            ("program or library", &[(0, b"\x7FELF\x02\x01"), (16, &[3])]),
            ("Windows program or library", &[(0, b"MZ"), (0x3C, &[0x80]), (0x80, b"PE\0\0")]),
            ("tar archive", &[(0, b"name"), (148, b"001241\0 ")]),
            ("gzip archive", &[(0, &[0x1F, 0x8B, 8, 8])]),
            ("bzip2 archive", &[(0, b"BZh91AY&SY")]),
            ("JPEG picture", &[(0, &[0xFF, 0xD8, 0xFF, 0xE1])]),
            ("WAV sound", &[(0, b"RIFF\0\0\0\0WAVE")]),
            ("MP4 or MOV film, or HEIF picture", &[(0, b"\0\0\0\x20ftypisom")]),
            ("MP3 sound", &[(0, b"ID3\x04\0\0\0\0\x10\0")]),
            ("Java class", &[(0, &[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61])]),
            ("macOS program", &[(0, &[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2])]),
            ("git pack", &[(0, b"PACK\0\0\0\x02")]),
            ("PostgreSQL table or index", &[(12, page), (8192 + 12, page)]),
            ("PostgreSQL log", &[(0, &[0x0D, 0xD1, 2]), (35, &[1]), (36, &[0, 0x20])]),
            ("InnoDB tablespace", &[(25, &[8]), (34, &[0, 0, 0, 7, 0, 0, 0, 7])]),
            ("Berkeley DB database", &[(12, &[0x62, 0x31, 5, 0])]),
            ("Berkeley DB database", &[(12, &[0, 6, 0x15, 0x61])]),
            ("text", &[(0, "Grüße\n".as_bytes())]),
        ];
        for (what, parts) in cases {
            assert_eq!(kind_of(&with(parts), &[]), Some(*what));
            assert!(every_kind().any(|kind| kind == *what), "{what} is not listed");
        }
        let packets: Vec<Part<'_>> =
            (0..16).map(|packet| (188 * packet, b"\x47".as_slice())).collect();
        assert_eq!(kind_of(&with(&packets), &[]), Some("MPEG film"));
    }

    #[test]
    fn zeros_and_what_our_own_tests_write_are_of_no_kind() {
        assert_eq!(kind_of(&[], &[]), None);
        assert_eq!(kind_of(&[0; 64 << 10], &[0; 512]), None);
        let mut start = vec![0; 64 << 10];
        for seed in 0..2000 {
            let io = writecliff_device::Io::write(
                writecliff_device::Bytes(0),
                writecliff_device::Bytes(start.len() as u64),
            );
            crate::ContentStream::new(seed).fill(&io, &mut start);
            assert_eq!(kind_of(&start, &start), None, "seed {seed}");
        }
    }

    #[test]
    fn text_may_be_cut_within_a_character_and_has_no_control_characters() {
        let long = "ü".repeat(3000);
        assert!(is_text(&long.as_bytes()[..4096]));
        assert!(is_text(&[b"a".as_slice(), &long.as_bytes()[..4095]].concat()));
        assert!(is_text(b"\xFF\xFEa\0b\0c\0d\0e\0f\0"));
        assert!(!is_text(b"abc\x01def"));
        assert!(!is_text(b"abcd\0efgh"));
        assert!(!is_text(b"ab"));
    }
}
