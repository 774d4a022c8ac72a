//! One test several times, and what is said of all of them together.
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use writecliff::suite::gate::Limits;
use writecliff::suite::{Repeated, Status};
use writecliff::{
    Again, Event, Overrides, Plan, RepeatRun, ReportOptions, ReviewEnd, RunOptions, RunRecord,
    UNWATCHED, gate, open, plan, report, run,
};

fn short(seed: u64) -> Plan {
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    plan("consistency").unwrap().quick().with(&overrides).unwrap()
}

fn repeats(count: u32, path: &Path) -> RepeatRun {
    let options = RunOptions::default();
    RepeatRun::begin(short(5), "sim:tiny".into(), count, options, path).unwrap()
}

#[test]
fn repeats_differ_by_their_seed_alone_and_their_figures_are_means() {
    let directory = tempfile::tempdir().unwrap();
    let (all, alone) = (directory.path().join("all"), directory.path().join("alone"));
    let ended = AtomicUsize::new(0);
    let count_ends = |event: Event<'_>| {
        let is_end = matches!(event, Event::Ended(_) | Event::EndedUnseen(_));
        ended.fetch_add(usize::from(is_end), Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    assert_eq!(repeats(3, &all).run(None, &count_ends).unwrap(), ReviewEnd::Complete);
    assert_eq!(ended.into_inner(), 3, "each is told, whichever is shown");
    let records = RepeatRun::records(&all).unwrap();
    let seeds: Vec<u64> = records.iter().map(|record| record.plan.seed()).collect();
    assert_eq!(seeds, [5, 6, 7]);
    run(&short(6), &"sim:tiny".into(), None, &alone, RunOptions::default(), UNWATCHED).unwrap();
    assert_eq!(open(&alone).unwrap().0.outcome, records[1].outcome);

    let all_of = |name: &str| -> Vec<f64> {
        let of = |run: &RunRecord| run.figures().iter().find(|f| f.name == name).unwrap().value;
        records.iter().map(of).collect()
    };
    let floors = all_of("steady floor");
    let mean = floors.iter().sum::<f64>() / 3.0;
    let repeated = Repeated::of(&records);
    let of = repeated.figures.iter().find(|of| of.figure.name == "steady floor").unwrap();
    assert!((of.figure.value - mean).abs() < 1e-9 && of.count == 3);
    assert!(of.deviation.unwrap() > 0.0, "seeds make a difference: {floors:?}");

    let worst = all_of("worst second");
    let lowest = worst.iter().copied().fold(f64::INFINITY, f64::min);
    let limits = Limits { min_worst_iops: Some(lowest - 1.0), ..Limits::default() };
    let gated = gate(&all, &limits, None, 0.0).unwrap();
    assert_eq!((gated.failed(), gated.checks[0].runs), (0, 3));
    // The mean would pass.
    let limits = Limits {
        min_worst_iops: Some(f64::midpoint(lowest, worst.iter().sum::<f64>() / 3.0)),
        ..limits
    };
    assert_eq!(gate(&all, &limits, None, 0.0).unwrap().failed(), 1);

    let page = report(&[&all], &directory.path().join("page"), &ReportOptions::default()).unwrap();
    assert!(page.summary.contains("3 runs of consistency"), "{}", page.summary);
    assert_eq!(page.records.len(), 3);
    let html = std::fs::read_to_string(page.page).unwrap();
    let floor = floors.iter().copied().fold(f64::INFINITY, f64::min).round() as u64;
    let tile = format!("<b>{},{:03} IOPS</b>", floor / 1000, floor % 1000);
    assert!(html.contains("are means of repeated runs") && html.contains(&tile), "no {tile}");
    let refused = Again::of(&all).unwrap_err().to_string();
    assert!(refused.contains("holds repeats") && refused.contains("all/seed-5"), "{refused}");
    let full = RepeatRun::begin(short(5), "sim:tiny".into(), 2, RunOptions::default(), &all);
    assert!(full.unwrap_err().to_string().contains("not empty"), "told before anything is asked");
    let picture = directory.path().join("page/pictures/repeats-iops.svg");
    assert!(std::fs::read_to_string(picture).unwrap().contains("IOPS ± "));
}

#[test]
fn repeats_that_are_broken_off_keep_the_runs_that_have_ended() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("repeats");
    let ended = AtomicUsize::new(0);
    let watch = |event: Event<'_>| {
        if matches!(event, Event::Ended(_)) {
            ended.fetch_add(1, Ordering::Relaxed);
        }
        match ended.load(Ordering::Relaxed) {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    };
    assert_eq!(repeats(40, &path).run(None, &watch).unwrap(), ReviewEnd::Interrupted);
    let kept = RepeatRun::records(&path).unwrap();
    assert!((1..40).contains(&kept.len()), "{}", kept.len());
    assert!(kept.iter().all(|record| record.status == Status::Complete));
    let page = report(&[&path], &directory.path().join("page"), &ReportOptions::default()).unwrap();
    let are = if kept.len() == 1 { "is" } else { "are" };
    let of_all = format!("{} of 40 repeats {are} complete", kept.len());
    let html = std::fs::read_to_string(page.page).unwrap();
    assert!(html.contains(&of_all), "{of_all}");
    let limits = Limits { min_mean_iops: Some(1.0), ..Limits::default() };
    let undecided = gate(&path, &limits, None, 0.0).unwrap_err().to_string();
    let of_all = format!("only {} of 40 repeats", kept.len());
    assert!(undecided.contains(&of_all), "{undecided}");
}

#[test]
fn a_label_stands_beside_the_name_of_the_drive() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let options =
        RunOptions { label: Some("firmware 2".parse().unwrap()), ..RunOptions::default() };
    run(&short(1), &"sim:tiny".into(), None, &path, options, UNWATCHED).unwrap();
    let summary = report(&[&path], &directory.path().join("page"), &ReportOptions::default())
        .unwrap()
        .summary;
    assert!(summary.contains("Tiny (firmware 2)"), "{summary}");
}
