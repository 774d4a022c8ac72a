//! Sequences of events and the operations that they are.

use super::*;
use crate::kernel::WAITING_MAX;
use Operation::{Flush, Read, Trim, Write};

const FIO: &Process = b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0";
const WORKER: &Process = b"kworker/0:1H\0\0\0\0";

/// Without a time.
fn told(what: What, operation: Operation, sector: u64, sectors: u32) -> Told {
    let event = Event { what, operation, sector, sectors, ..Event::gap(0) };
    Told::Event { event, process: *FIO }
}

fn issued(operation: Operation, sector: u64, sectors: u32) -> Told {
    told(What::Issued, operation, sector, sectors)
}

fn completed(operation: Operation, sector: u64, sectors: u32) -> Told {
    told(What::Completed, operation, sector, sectors)
}

fn at(time_ns: u64, told: &Told) -> Told {
    match *told {
        Told::Event { event, process } => {
            Told::Event { event: Event { time_ns, ..event }, process }
        }
        Told::Other { .. } => Told::Other { time_ns },
    }
}

/// A sink that keeps what it is given.
fn into(ios: &mut Vec<TraceIo>) -> impl FnMut(&TraceIo) -> Result<(), WriteError> {
    |io| {
        ios.push(*io);
        Ok(())
    }
}

/// What came out, and the operations as they are then; `None` as completion means none was seen.
fn pair(events: &[(u64, Told)]) -> (Vec<TraceIo>, Operations) {
    let mut operations = Operations::new(0, false);
    let mut ios = Vec::new();
    for (time, told) in events {
        operations.take(&at(*time, told), &mut into(&mut ios)).unwrap();
    }
    (ios, operations)
}

/// The same, with what the end lets out.
fn pair_all(events: &[(u64, Told)]) -> (Vec<TraceIo>, Operations) {
    let (mut ios, mut operations) = pair(events);
    operations.end(&mut into(&mut ios)).unwrap();
    (ios, operations)
}

fn times(ios: &[TraceIo]) -> Vec<(u64, Option<u64>)> {
    ios.iter().map(|io| (io.issued.0, io.completed.map(|time| time.0))).collect()
}

#[test]
fn operations_come_in_order_of_issue_with_their_queue_depth() {
    let (ios, operations) = pair(&[
        (1000, issued(Write, 8, 8)),
        (1010, issued(Read, 2048, 256)),
        (1020, issued(Trim, 16, 1024)),
        (1030, completed(Trim, 16, 1024)),
        (1040, completed(Read, 2048, 256)),
        (1050, completed(Write, 8, 8)),
    ]);
    let io = |issued, completed, operation, sector: u64, sectors: u64, depth| TraceIo {
        completed: Some(Nanos(completed)),
        queue_depth: Some(depth),
        ..TraceIo::new(Nanos(issued), operation, Bytes(sector * 512), Bytes(sectors * 512))
    };
    assert_eq!(
        ios,
        [io(0, 50, Write, 8, 8, 1), io(10, 40, Read, 2048, 256, 2), io(20, 30, Trim, 16, 1024, 3)]
    );
    assert_eq!((operations.began(), operations.queue_depth()), (Some(1000), Some(0)));
    assert_eq!((operations.issued.ios(), operations.tally()), (3, Tally::default()));
}

#[test]
fn the_same_place_twice_in_flight_is_two_operations() {
    let (ios, _) = pair(&[
        (0, issued(Read, 0, 8)),
        (1, issued(Read, 0, 8)),
        (2, issued(Read, 0, 16)),
        (3, completed(Read, 0, 16)),
        (4, completed(Read, 0, 8)),
        (5, completed(Read, 0, 8)),
    ]);
    assert_eq!(times(&ios), [(0, Some(4)), (1, Some(5)), (2, Some(3))]);
}

#[test]
fn a_flush_has_no_place() {
    let (ios, operations) = pair(&[(0, issued(Flush, 0, 0)), (7, completed(Flush, 0, 0))]);
    assert_eq!(times(&ios), [(0, Some(7))]);
    assert_eq!((ios[0].operation, ios[0].offset, ios[0].length), (Flush, Bytes(0), Bytes(0)));
    assert_eq!(operations.issued.flushes, 1);
}

/// A request is done from its beginning on, the parts of a bio that was split in any order.
#[test]
fn an_operation_that_completes_in_parts_is_done_with_the_last() {
    let (ios, _) = pair(&[
        (0, issued(Write, 100, 24)),
        (5, completed(Write, 100, 8)),
        (9, completed(Write, 108, 16)),
    ]);
    assert_eq!(times(&ios), [(0, Some(9))]);
    let part = |sector, sectors| told(What::BioCompleted, Write, sector, sectors);
    let (ios, _) = pair(&[
        (0, told(What::BioQueued, Write, 100, 24)),
        (5, part(108, 8)),
        (7, part(116, 8)),
        (9, part(100, 8)),
    ]);
    assert_eq!(times(&ios), [(0, Some(9))]);
}

#[test]
fn an_operation_that_is_put_back_counts_from_when_it_is_issued_again() {
    let (ios, operations) = pair(&[
        (0, issued(Read, 0, 8)),
        (1, issued(Write, 100, 24)),
        (2, told(What::Requeued, Write, 100, 24)),
        (3, issued(Write, 100, 24)),
        (4, completed(Write, 100, 24)),
        (5, completed(Read, 0, 8)),
    ]);
    assert_eq!(times(&ios), [(0, Some(5)), (3, Some(4))]);
    assert_eq!((ios[1].queue_depth, operations.queue_depth()), (Some(2), Some(0)));
    assert_eq!(operations.tally(), Tally::default());
}

#[test]
fn a_completion_that_is_read_before_its_issue_finds_it() {
    let (ios, operations) = pair(&[
        (100, issued(Read, 0, 8)),
        (130, completed(Write, 8, 8)),
        (120, issued(Write, 8, 8)),
        // Long done when this one was issued.
        (140, completed(Read, 0, 8)),
        (150, completed(Read, 64, 8)),
        (160, issued(Read, 64, 8)),
        (170, completed(Read, 64, 8)),
    ]);
    assert_eq!(times(&ios), [(0, Some(40)), (20, Some(30)), (60, Some(70))]);
    assert_eq!(operations.queue_depth(), Some(0));
    assert_eq!(operations.tally(), Tally { without_issue: 1, ..Tally::default() });
}

#[test]
fn what_began_before_the_recording_is_passed_over_and_what_did_not_end_is_kept() {
    let (ios, operations) = pair_all(&[
        (0, completed(Read, 0, 8)),
        (1, completed(Flush, 0, 0)),
        (2, issued(Read, 8, 8)),
        (3, issued(Read, 16, 8)),
        (4, completed(Read, 16, 8)),
    ]);
    assert_eq!(times(&ios), [(0, None), (1, Some(2))]);
    let expected = Tally { without_issue: 2, without_completion: 1, ..Tally::default() };
    assert_eq!(operations.tally(), expected);
}

#[test]
fn a_gap_ends_all_that_is_in_flight() {
    let (ios, operations) = pair(&[
        (0, issued(Read, 8, 8)),
        (1, issued(Read, 16, 8)),
        (2, Told::gap(0)),
        (3, issued(Read, 24, 8)),
        (4, completed(Read, 16, 8)),
        (5, completed(Read, 24, 8)),
    ]);
    assert_eq!(times(&ios), [(0, None), (1, None), (3, Some(5))]);
    // Behind a gap the depth counts what was issued behind it, as at the beginning.
    assert_eq!(ios[2].queue_depth, Some(1));
    let expected = Tally { without_issue: 1, without_completion: 2, ..Tally::default() };
    assert_eq!(operations.tally(), expected);
}

#[test]
fn a_failed_operation_has_no_completion() {
    let Told::Event { event, process } = completed(Write, 8, 8) else { unreachable!() };
    let failed = Told::Event { event: Event { is_failed: true, ..event }, process };
    let (ios, operations) = pair(&[(0, issued(Write, 8, 8)), (1, failed)]);
    assert_eq!(times(&ios), [(0, None)]);
    assert_eq!(operations.tally(), Tally { failed: 1, ..Tally::default() });
}

#[test]
fn commands_of_other_kinds_are_counted() {
    let (ios, operations) = pair(&[(0, Told::Other { time_ns: 0 })]);
    assert!(ios.is_empty());
    assert_eq!(operations.tally(), Tally { others: 1, ..Tally::default() });
}

#[test]
fn who_asked_is_who_queued_it() {
    let by_worker = |sector| match issued(Trim, sector, 8) {
        Told::Event { event, .. } => Told::Event { event, process: *WORKER },
        other => other,
    };
    let (ios, operations) =
        pair_all(&[(0, told(What::Inserted, Trim, 8, 8)), (1, by_worker(8)), (2, by_worker(8))]);
    let names = operations.streams.names();
    let whose: Vec<&str> = ios.iter().map(|io| &*names[usize::from(io.stream)]).collect();
    assert_eq!(whose, ["fio", "kworker/0:1H"]);
}

#[test]
fn offsets_of_a_partition_begin_at_its_first_sector() {
    let mut operations = Operations::new(2048, false);
    let mut ios = Vec::new();
    operations.take(&issued(Write, 2056, 8), &mut into(&mut ios)).unwrap();
    operations.end(&mut into(&mut ios)).unwrap();
    assert_eq!((ios.len(), ios[0].offset, ios[0].length), (1, Bytes(4096), Bytes(4096)));
}

#[test]
fn an_event_that_comes_late_does_not_break_the_order() {
    let (ios, _) = pair(&[
        (100, issued(Read, 0, 8)),
        (120, issued(Read, 8, 8)),
        (110, issued(Read, 16, 8)),
        (115, completed(Read, 16, 8)),
        (130, completed(Read, 8, 8)),
        (90, completed(Read, 0, 8)),
    ]);
    assert_eq!(times(&ios), [(0, Some(0)), (20, Some(30)), (20, Some(20))]);
}

#[test]
fn an_operation_that_never_completes_holds_up_a_bounded_number() {
    let mut operations = Operations::new(0, false);
    let mut ios = Vec::new();
    let mut take = |time, told| {
        operations.take(&at(time, &told), &mut into(&mut ios)).unwrap();
    };
    take(0, issued(Write, 0, 8));
    for time in 1..=WAITING_MAX as u64 + 10 {
        take(time, issued(Read, 8, 8));
        take(time, completed(Read, 8, 8));
    }
    assert_eq!((ios.len(), ios[0].completed), (WAITING_MAX + 11, None));
    // What never completes counts only for itself.
    assert_eq!(ios[1].queue_depth, Some(1));
    assert_eq!(ios[WAITING_MAX + 10].queue_depth, Some(1));
    assert_eq!(operations.tally().without_completion, 1);
}

#[test]
fn what_waits_in_the_block_layer_is_bounded() {
    let events: Vec<_> = (0..3 * INSERTED_MAX as u64)
        .map(|sector| (sector, told(What::Inserted, Write, sector, 1)))
        .collect();
    let (_, operations) = pair(&events);
    assert!(operations.inserted.len() <= INSERTED_MAX);
}

#[test]
fn an_operation_whose_path_failed_counts_from_its_issue_on_the_other() {
    let taken = |sector| told(What::TakenBack, Write, sector, 0);
    let events = [
        (0, issued(Write, 0, 8)),
        (1, issued(Write, 8, 8)),
        (2, taken(8)),
        (9, issued(Write, 8, 8)),
        (10, completed(Write, 0, 8)),
        (11, completed(Write, 8, 8)),
    ];
    let mut operations = Operations::new(0, true);
    let mut ios = Vec::new();
    for (time, told) in &events {
        operations.take(&at(*time, told), &mut into(&mut ios)).unwrap();
    }
    assert_eq!(times(&ios), [(0, Some(10)), (9, Some(11))]);
    assert_eq!((operations.issued.ios(), operations.tally()), (3, Tally::default()));
    // On one path it is the end of a write whose data were completed before.
    let (ios, _) = pair_all(&events[..3]);
    assert_eq!(times(&ios), [(0, None), (1, None)]);
}

#[test]
fn without_any_completion_no_queue_depth_is_known() {
    let events: Vec<_> = (0..9).map(|index| (index, issued(Write, index * 8, 8))).collect();
    let (ios, operations) = pair_all(&events);
    assert_eq!((ios.len(), operations.queue_depth()), (9, None));
    assert!(ios.iter().all(|io| io.queue_depth.is_none() && io.completed.is_none()));
    assert_eq!(operations.tally().without_completion, 9);
}
