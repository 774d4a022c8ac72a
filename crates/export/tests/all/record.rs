//! What clients did, as a run that is read back like any other.

use std::time::{Duration, Instant};

use writecliff_export::{Order, Prepared, Speed, ask};
use writecliff_measure::Totals;
use writecliff_suite::mixed::LATENESS;
use writecliff_suite::{MethodWarning, Outcome, Status, Warning, open, open_anew};

use crate::served::{Raw, Served};

const READ: u16 = 0;
const WRITE: u16 = 1;
const FLUSH: u16 = 3;

#[test]
fn all_that_clients_did_is_in_its_seconds() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("run");
    let mut served = Served::with(|settings| {
        settings.prepared = Prepared::Steady;
        settings.out = Some(out.clone());
        settings.load = Some("single pages".to_owned());
    });
    let mut client = Raw::go(&served.socket);
    let until = Instant::now() + Duration::from_secs(20);
    let mut written = 0;
    // The drive's time passes while it works, and not by the clock on the wall.
    let seconds = |socket| ask(socket, Order::Status, None).unwrap()[0].drive_time.as_secs_f64();
    let begun = seconds(&served.socket);
    while seconds(&served.socket) < begun + 2.5 && Instant::now() < until {
        for _ in 0..500 {
            let page = written * 7919 % 50_000;
            assert_eq!(client.ask(WRITE, 0, page * 4096, 4096, &[7; 4096]), 0);
            written += 1;
        }
        assert_eq!(client.ask(FLUSH, 0, 0, 0, b""), 0);
    }
    assert_eq!(client.read(4096, 8192).unwrap().len(), 8192);
    let ended = served.end();
    let (record, recording) = open(&out).unwrap();
    assert_eq!((&ended.records[0].0, &ended.records[0].1), (&out, &record));
    assert_eq!(record.status, Status::Complete);
    assert_eq!(record.warnings, [Warning::Method(MethodWarning::FlushOfDataOnly)]);
    let title = record.plan.asked()["title"].as_str().unwrap().to_owned();
    assert!(title.starts_with("single pages; drive filled, and written over"), "{title}");
    let Some(Outcome::Mixed(outcome)) = &record.outcome else { panic!("{record:?}") };
    let (job, how) = (&outcome.jobs[0], outcome.served.as_ref().unwrap());
    assert_eq!((how.load.as_deref(), how.speed, how.lateness), (Some("single pages"), None, None));
    assert_eq!(job.writes.unwrap().ios, written);
    assert_eq!((job.reads.unwrap().ios, job.reads.unwrap().bytes.0), (1, 8192));
    let counted = Totals::of(recording.series("clients writes"));
    let (before, after) = (record.phases[0].before, record.phases[0].after);
    let nand = recording.samples.iter().filter_map(|sample| sample.nand_written_bytes).sum::<u64>();
    assert_eq!(Some(nand), after.nand_written_since(&before).map(|bytes| bytes.0));
    assert!(counted.write_amplification().unwrap() > 1.5, "{counted:?}");
    assert!(recording.series("clients writes").count() >= 3);
    // Whoever gets it concludes the same from its seconds.
    assert_eq!(open_anew(&out).unwrap().0, record);
    assert!(record.repeatable().unwrap_err().to_string().contains("--trace"));
}

#[test]
fn in_real_time_it_says_how_late_answers_were_and_of_an_idle_second_next_to_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("run");
    let mut served = Served::with(|settings| {
        settings.speed = Speed::Times(100.0);
        settings.out = Some(out.clone());
    });
    let drive_time = || ask(&served.socket, Order::Status, None).unwrap()[0].drive_time.0;
    let mut client = Raw::go(&served.socket);
    assert_eq!(client.ask(READ, 0, 0, 4096, b""), 0);
    let first = drive_time();
    while drive_time() < first + 20_000_000_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(client.ask(READ, 0, 0, 4096, b""), 0);
    served.end();
    let (record, recording) = open(&out).unwrap();
    let late = recording.latencies(LATENESS, 0..u32::MAX);
    assert_eq!(late.count(), 2);
    let Some(Outcome::Mixed(outcome)) = &record.outcome else { panic!("{record:?}") };
    assert_eq!(outcome.jobs[0].reads.unwrap().ios, 2);
    assert!(outcome.served.as_ref().unwrap().lateness.is_some());
    let last = recording.samples.last().unwrap().second;
    assert!(last >= 20 && recording.samples.len() < last as usize + 8, "{:?}", recording.samples);
}

#[test]
fn a_run_is_there_while_it_goes_on_and_takes_no_place_that_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("run");
    let served = Served::with(|settings| settings.out = Some(out.clone()));
    assert_eq!(open(&out).unwrap().0.status, Status::Running);
    let mut second = crate::served::settings(directory.path());
    second.out = Some(out);
    let go_on = &mut |_| std::ops::ControlFlow::Continue(());
    let refused = writecliff_export::Server::open(&second, go_on).unwrap_err();
    assert!(refused.to_string().contains("not empty"), "{refused}");
    drop(served);
}
