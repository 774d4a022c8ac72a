//! Records laid out as kernels of different ages describe them.

use super::*;

/// Linux 6.18.
const ISSUE_NEW: &str = "\
name: block_rq_issue
ID: 2104
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;
\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;
";

/// Linux 4: no priority, a shorter `rwbs`.
const ISSUE_OLD: &str = "\
name: block_rq_issue
ID: 700
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;
\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;
\tfield:char comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:56;\tsize:4;\tsigned:0;
";

/// Linux 6.18.
const COMPLETE_NEW: &str = "\
name: block_rq_complete
ID: 2107
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;
\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:44;\tsize:4;\tsigned:0;
";

/// Linux 4.9: the error has another name.
const COMPLETE_OLD: &str = "\
name: block_rq_complete
ID: 701
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:int errors;\toffset:28;\tsize:4;\tsigned:1;
\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:40;\tsize:4;\tsigned:0;
";

/// A record of 64 bytes with these fields, each at its offset.
fn record(fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut record = vec![0; 64];
    for (offset, bytes) in fields {
        record[*offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    record
}

fn decoder(issue: &str, complete: &str) -> Decoder {
    let texts = [(Meaning::Issued, issue.to_owned()), (Meaning::Completed, complete.to_owned())];
    Decoder::new(&texts).unwrap()
}

fn what(decoder: &Decoder, data: &[u8]) -> Option<What> {
    let event = decoder.event(&Record { time: 5, data })?;
    assert_eq!(event.time, 5);
    Some(event.what)
}

fn request(operation: Option<Operation>, sector: u64, sectors: u64, process: &[u8; 16]) -> Request {
    Request { operation, sector, sectors, process: *process }
}

#[test]
fn fields_are_found_where_each_kernel_has_them() {
    let (sector, sectors) = (0x1_0000_0008_u64.to_ne_bytes(), 2560_u32.to_ne_bytes());
    let place: [(usize, &[u8]); 2] = [(16, &sector), (24, &sectors)];
    let failure = (-5_i32).to_ne_bytes();
    let kernels = [
        (ISSUE_NEW, COMPLETE_NEW, [2104_u16, 2107], [34, 44, 34]),
        (ISSUE_OLD, COMPLETE_OLD, [700, 701], [32, 40, 32]),
    ];
    for (issue, complete, numbers, [flags, process, flags_at_completion]) in kernels {
        let decoder = decoder(issue, complete);
        let [issue, complete] = numbers.map(u16::to_ne_bytes);
        let issue =
            [&place[..], &[(0, &issue), (flags, b"WSM\0"), (process, b"fio\0rest")]].concat();
        let expected =
            request(Some(Operation::Write), 0x1_0000_0008, 2560, b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(what(&decoder, &record(&issue)), Some(What::Issued(expected)));

        let complete = [&place[..], &[(0, &complete), (flags_at_completion, b"RA\0")]].concat();
        let request = request(Some(Operation::Read), 0x1_0000_0008, 2560, &[0; 16]);
        let completed = |failed| Some(What::Completed { request, failed });
        assert_eq!(what(&decoder, &record(&complete)), completed(false));
        let failed = [&complete[..], &[(28, &failure)]].concat();
        assert_eq!(what(&decoder, &record(&failed)), completed(true));
    }
}

#[test]
fn records_of_other_events_and_short_ones_are_none() {
    let decoder = decoder(ISSUE_NEW, COMPLETE_NEW);
    let of = |number: u16| record(&[(0, &number.to_ne_bytes()), (34, b"W")]);
    assert!(what(&decoder, &of(2104)).is_some());
    assert_eq!(what(&decoder, &of(2105)), None);
    assert_eq!(what(&decoder, &of(2104)[..43]), None);
    assert_eq!(what(&decoder, &[]), None);
}

#[test]
fn a_description_without_a_field_is_named() {
    for (field, index) in [("rwbs", 0), ("comm", 0), ("error", 1), ("nr_sector", 0)] {
        let without = |text: &str| text.replace(field, "other");
        let texts =
            [(Meaning::Issued, without(ISSUE_NEW)), (Meaning::Completed, without(COMPLETE_NEW))];
        assert_eq!(Decoder::new(&texts).err(), Some(index), "{field}");
    }
}

#[test]
fn letters_become_operations() {
    use Operation::{Flush, Read, Trim, Write};
    let cases: [(&[u8], u64, Option<Operation>); 16] = [
        (b"R", 8, Some(Read)),
        (b"RAM", 8, Some(Read)),
        (b"WS", 8, Some(Write)),
        (b"WFS", 8, Some(Write)),  // forced through the drive's cache
        (b"FWFS", 8, Some(Write)), // and behind a flush
        (b"FWS", 0, Some(Flush)),  // a flush without data
        (b"FF", 0, Some(Flush)),   // as the drive gets it
        (b"F", 0, Some(Flush)),
        (b"D", 128, Some(Trim)),
        (b"DE", 128, Some(Trim)),
        (b"WS", 0, None), // what remains of a flush that the block layer took apart
        (b"N", 0, None),  // a command passed through
        (b"NS", 2048, None),
        (b"R", 0, None),
        (b"\0\0", 8, None),
        (b"", 8, None),
    ];
    for (flags, sectors, expected) in cases {
        assert_eq!(operation(flags, sectors), expected, "{}", String::from_utf8_lossy(flags));
    }
}
