//! blktrace's binary files, made byte by byte.
use crate::outcome;
use crate::records;

use std::path::PathBuf;

use outcome::{Outcome, io, read};
use records::{COMPLETED, ISSUED, READ, Record, file, record, write_sda};
use writecliff_device::Operation;
use writecliff_trace::{Place, ReadError, Source, SourceOptions};

/// A whole recording, however its files are named.
fn outcome(paths: &[PathBuf]) -> Result<Outcome, ReadError> {
    let mut source = Source::open_files(paths, &SourceOptions::default())?;
    let ios = source.by_ref().collect::<Result<_, _>>()?;
    Ok(Outcome { ios, header: source.header().clone(), problems: source.problems().clone() })
}

#[test]
fn processors_are_merged_and_both_byte_orders_read() {
    for is_big_endian in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let files = write_sda(directory.path(), is_big_endian);
        let names = ["sda.blktrace.0", "sda.blktrace.1", "sda.blktrace", "sda"];
        let mut ways: Vec<Vec<PathBuf>> =
            names.map(|name| vec![directory.path().join(name)]).into();
        ways.push(files.to_vec());
        ways.push(vec![files[1].clone(), files[0].clone()]);
        for paths in ways {
            let got = outcome(&paths).unwrap();
            assert_eq!(
                got.ios,
                [
                    io(0, Some(500), Operation::Write, 2048 * 512, 4096, Some(1), 0),
                    io(200, Some(700), Operation::Read, 1 << 42, 65_536, Some(2), 1),
                    io(800, Some(1_000), Operation::Flush, 0, 0, Some(1), 0),
                    io(900, None, Operation::Trim, 4096 * 512, 1 << 30, Some(2), 0),
                ],
                "{paths:?}"
            );
            assert_eq!(got.header.streams, ["postgres", "8"], "the other has no name");
            // The clock showed 5 ns past the second at 950; the first issue was 50 ns later.
            assert_eq!(got.header.began_unix_ns, Some(1_700_000_000_000_000_055));
            assert_eq!((got.problems.broken, got.problems.lines), (0, 12));
            assert_eq!((got.problems.never_completed, got.problems.passed_over), (1, 4));
        }
    }
}

#[test]
fn other_files_are_not_read_together() {
    let directory = tempfile::tempdir().unwrap();
    let [sda, _] = write_sda(directory.path(), false);
    let other = directory.path().join("sdb.blktrace.0");
    std::fs::copy(&sda, &other).unwrap();
    let error = outcome(&[sda, other]).unwrap_err();
    assert!(matches!(error, ReadError::SeveralInputs { .. }), "{error}");
}

#[test]
fn a_failed_operation_has_no_completion() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("d.blktrace.0");
    let failed = Record { error: 5, ..record(200, COMPLETED, READ, 8, 512) };
    for is_big_endian in [false, true] {
        std::fs::write(&path, file(&[record(100, ISSUED, READ, 8, 512), failed], is_big_endian))
            .unwrap();
        let got = outcome(std::slice::from_ref(&path)).unwrap();
        assert_eq!(got.ios, [io(0, None, Operation::Read, 4096, 512, None, 0)]);
        assert_eq!((got.problems.failed, got.problems.never_completed), (1, 0));
    }
}

#[test]
fn a_packed_copy_of_a_file_does_not_count() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let files = write_sda(directory.path(), false);
    let expected = outcome(&files).unwrap();
    // The copies are shorter, so that it shows which is read.
    for name in ["sda.blktrace.0", "sda.blktrace.1"] {
        let whole = std::fs::read(at(name)).unwrap();
        let packed = zstd::encode_all(&whole[..whole.len() - 48], 1).unwrap();
        std::fs::write(at(&format!("{name}.zst")), packed).unwrap();
    }
    for name in ["sda.blktrace.0", "sda.blktrace.1", "sda.blktrace", "sda"] {
        assert_eq!(outcome(&[at(name)]).unwrap().ios, expected.ios, "{name}");
    }
    // What is named is read.
    let packed = outcome(&[at("sda.blktrace.0.zst")]).unwrap();
    assert_eq!((packed.ios.len(), packed.problems.lines), (3, 10));
    std::fs::remove_file(at("sda.blktrace.1")).unwrap();
    assert_eq!(outcome(&[at("sda.blktrace.0")]).unwrap().problems.lines, 11);

    let error = outcome(&[at("sda.blktrace.0"), at("sda.blktrace.0.zst")]).unwrap_err();
    assert!(matches!(error, ReadError::SeveralInputs { .. }), "{error}");
    std::fs::create_dir(at("other")).unwrap();
    std::fs::rename(at("sda.blktrace.1.zst"), at("other/sda.blktrace.1.zst")).unwrap();
    let error = outcome(&[at("sda.blktrace.0"), at("other/sda.blktrace.1.zst")]).unwrap_err();
    assert!(matches!(error, ReadError::SeveralInputs { .. }), "{error}");
}

#[test]
fn a_broken_record_is_told_and_the_next_one_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("d.blktrace.0");
    let records: Vec<_> = (0..200)
        .flat_map(|n| {
            [record(n * 100, ISSUED, READ, n, 512), record(n * 100 + 50, COMPLETED, READ, n, 512)]
        })
        .collect();
    let whole = file(&records, false);
    let mut broken = whole.clone();
    broken[48 * 7] ^= 0xff;
    std::fs::write(&path, &broken).unwrap();
    let got = outcome(std::slice::from_ref(&path)).unwrap();
    assert_eq!((got.ios.len(), got.problems.broken, got.header.lost), (200, 1, 1));
    assert_eq!(got.problems.first_broken[0].place, Place::Byte(48 * 7));
    assert_eq!((got.ios[3].completed, got.problems.never_completed), (None, 1));

    std::fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    let got = outcome(std::slice::from_ref(&path)).unwrap();
    assert_eq!((got.ios.len(), got.problems.broken), (200, 1));
    assert_eq!(got.problems.first_broken[0].place, Place::Byte(48 * 399));

    let mut version = whole;
    version[0] = 8;
    std::fs::write(&path, &version[..48]).unwrap();
    let error = read(&path, &SourceOptions::default()).unwrap_err();
    assert!(matches!(error, ReadError::BadLines { broken: 1, lines: 1, .. }), "{error}");
}
