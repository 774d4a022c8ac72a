//! Records laid out as kernels of different ages describe them.

use super::*;
use writecliff_device::Operation;

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
    let texts = [(What::Issued, issue.to_owned()), (What::Completed, complete.to_owned())];
    Decoder::new(&texts).unwrap()
}

fn told(decoder: &Decoder, data: &[u8]) -> Option<Told> {
    decoder.told(&Record { time: 5, data })
}

/// 2,560 sectors from one above 2^32 on.
fn event(what: What, operation: Operation, is_failed: bool, process: &Process) -> Option<Told> {
    let (sector, sectors) = (0x1_0000_0008, 2560);
    let event = Event { what, operation, sector, sectors, is_failed, ..Event::gap(5) };
    Some(Told::Event { event, process: *process })
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
        let fio = b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0";
        let written = event(What::Issued, Operation::Write, false, fio);
        assert_eq!(told(&decoder, &record(&issue)), written);

        let complete = [&place[..], &[(0, &complete), (flags_at_completion, b"RA\0")]].concat();
        let completed = |failed| event(What::Completed, Operation::Read, failed, &[0; 16]);
        assert_eq!(told(&decoder, &record(&complete)), completed(false));
        let failed = [&complete[..], &[(28, &failure)]].concat();
        assert_eq!(told(&decoder, &record(&failed)), completed(true));
    }
}

/// What is left of a write when its path has failed; elsewhere the end of one whose data went
/// before.
#[test]
fn a_completion_of_nothing_is_told_as_taken_back() {
    let decoder = decoder(ISSUE_NEW, COMPLETE_NEW);
    let (number, sector) = (2107_u16.to_ne_bytes(), 64_u64.to_ne_bytes());
    let record = record(&[(0, &number), (16, &sector), (34, b"WS\0")]);
    let (what, operation) = (What::TakenBack, Operation::Write);
    let event = Event { what, operation, sector: 64, ..Event::gap(5) };
    assert_eq!(told(&decoder, &record), Some(Told::Event { event, process: [0; 16] }));
}

#[test]
fn an_issue_of_what_is_none_of_ours_is_told_as_such() {
    let decoder = decoder(ISSUE_NEW, COMPLETE_NEW);
    let of = |number: u16, sectors: u32, letters: &[u8]| {
        let data = [(0, &number.to_ne_bytes()[..]), (24, &sectors.to_ne_bytes()), (34, letters)];
        told(&decoder, &record(&data))
    };
    assert_eq!(of(2104, 2048, b"NS\0"), Some(Told::Other { time_ns: 5 }));
    assert_eq!(of(2107, 2048, b"NS\0"), None);
    assert_eq!(of(2104, u32::MAX, b"R\0"), Some(Told::Other { time_ns: 5 }), "no read is so long");
}

#[test]
fn records_of_other_events_and_short_ones_are_none() {
    let decoder = decoder(ISSUE_NEW, COMPLETE_NEW);
    let of = |number: u16| record(&[(0, &number.to_ne_bytes()), (34, b"W")]);
    assert!(told(&decoder, &of(2104)).is_some());
    assert_eq!(told(&decoder, &of(2105)), None);
    assert_eq!(told(&decoder, &of(2104)[..43]), None);
    assert_eq!(told(&decoder, &[]), None);
}

#[test]
fn a_description_without_a_field_is_named() {
    for (field, index) in [("rwbs", 0), ("comm", 0), ("error", 1), ("nr_sector", 0)] {
        let without = |text: &str| text.replace(field, "other");
        let texts = [(What::Issued, without(ISSUE_NEW)), (What::Completed, without(COMPLETE_NEW))];
        assert_eq!(Decoder::new(&texts).err(), Some(index), "{field}");
    }
}
