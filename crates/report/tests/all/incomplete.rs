//! Runs that did not end as planned, and runs that look alike: page and summary say what is what.
use crate::drives;

use std::fs;
use std::path::Path;

use drives::{alone, broken_off, consistency, of_view, page, pictures};
use serde_json::json;
use writecliff_device::Bytes;
use writecliff_report::{Run, Subject, summary, verdict_text};
use writecliff_suite::consistency::{FILL, UntilSteady};
use writecliff_suite::{JobWarning, MethodWarning, Outcome, Plan, Status, TESTS, Warning};

fn tiny(path: &Path) -> Run {
    consistency(path, 100, 0.0)
}

/// What a kill after so many seconds of random writes leaves of a run: its journal, the last line
/// torn, and a record that still says `running`.
fn killed(whole: &Run, path: &Path, seconds: u32) -> Run {
    fs::create_dir(path).unwrap();
    let mut record = whole.record.clone();
    (record.status, record.outcome) = (Status::Running, None);
    record.warnings.clear();
    fs::write(path.join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    let mut journal = String::new();
    let recorded =
        |sample: &&writecliff_measure::Sample| sample.series == FILL || sample.second < seconds;
    for sample in whole.recording.samples.iter().filter(recorded) {
        let second = sample.second..sample.second + 1;
        let latencies = whole.recording.latencies(&sample.series, second);
        let latencies: Vec<_> = latencies.counts().collect();
        journal += &format!("{}\n", json!({ "sample": sample, "latencies": latencies }));
    }
    fs::write(path.join("journal.jsonl"), journal + "{\"sample\":{\"pha").unwrap();
    Run::open(path).unwrap()
}

#[test]
fn a_run_that_was_killed_shows_what_it_recorded_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let whole = tiny(&dir.path().join("whole"));
    let runs = [alone(killed(&whole, &dir.path().join("killed"), 40))];
    let html = page(&runs, &dir.path().join("page"));
    assert!(html.contains("cut off before its end"), "the status is missing");
    assert!(
        html.contains("run.json, series.parquet and histograms.parquet in "),
        "where the data are"
    );
    let pictures = pictures(&html);
    assert_eq!(of_view(&pictures, "consistency-whole")[0].dots(), 40);
    let text = summary(&runs);
    assert!(text.contains("cut off before its end") && text.contains("! The run ended"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// The window is that of the seconds that there are, whatever was planned, and is called steady where it is.
#[test]
fn a_run_that_was_broken_off_tells_which_seconds_its_figures_are_of() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = consistency(&dir.path().join("whole"), 400, 0.0);
    let Plan::Consistency(plan) = &mut whole.record.plan else { panic!("another plan") };
    plan.until_steady = UntilSteady::Yes;
    // Rounds of 24 s: five of them, or what follows 70 % of what there is.
    for (seconds, window) in [(200, "80 s to 200 s"), (110, "77 s to 110 s")] {
        let mut run = killed(&whole, &dir.path().join(window), seconds);
        let told = |run: &Run| summary(&[alone(run.clone())]);
        run.record.warnings.clear();
        let text = told(&run);
        assert!(text.contains("\n  Steady window ") && text.contains(window), "{text}");
        assert!(text.contains("\n  Steady mean "), "{text}");
        let unsettled = [
            MethodWarning::TooFewWrites { drive_writes: 0.3, went_on: false },
            MethodWarning::NotSteady { percent: 20.0 },
            MethodWarning::TooShort { seconds: 50, window: 15 },
        ];
        for doubt in unsettled {
            run.record.warnings = vec![doubt.into()];
            let text = told(&run);
            assert!(text.contains("\n  Last part ") && text.contains(window), "{text}");
            assert!(text.contains("\n  Mean ") && text.contains("\n  Median "), "{text}");
            assert!(!text.contains("\n  Steady"), "{text}");
        }
        if seconds == 110 {
            let html = page(&[alone(run)], &dir.path().join("page"));
            assert!(html.contains("and came to as many; else what follows 70 % of the planned"));
            assert!(html.contains(window) && !html.contains(">Steady m"));
        }
    }
}

/// Whatever was reached by then: there is a page, no test says what it would have come to, and doubts name
/// the part in which it ended.
#[test]
fn a_test_that_is_broken_off_anywhere_makes_a_page_and_concludes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let whole = tiny(&dir.path().join("whole"));
    for (test, told) in TESTS.iter().flat_map(|test| [2, 9, 40].map(|told| (test, told))) {
        let name = format!("{}-{told}", test.name);
        let run = broken_off(&(test.plan)().quick(), &dir.path().join(&name), told);
        if run.record.status == Status::Complete {
            continue;
        }
        let done = run.record.phases.iter().filter(|phase| !phase.unfinished);
        let done: Vec<&str> = done.map(|phase| phase.name.as_str()).collect();
        let last = run.record.phases.last().filter(|phase| phase.unfinished);
        let last = last
            .filter(|of| run.recording.samples.iter().any(|sample| sample.start_ns >= of.start.0));
        let mut named = Vec::new();
        for doubt in &run.record.warnings {
            match doubt {
                Warning::Method(MethodWarning::Ended { phase, .. }) => {
                    assert!(!done.contains(&phase.as_str()), "{name}: {doubt}");
                    named.push(phase);
                }
                Warning::Method(MethodWarning::BrokenOff { phase, .. }) => named.push(phase),
                _ => {}
            }
        }
        let is_named = last.is_none_or(|last| named.contains(&&last.name));
        assert!(named.is_empty() || is_named, "{name}: {named:?} and not {last:?}");
        let beside = Subject { runs: vec![whole.clone(), run.clone()], planned: None };
        let (subjects, out) = ([alone(run)], dir.path().join("page"));
        let beside = [beside];
        for subjects in [&subjects, &beside] {
            let html = page(subjects, &out);
            for part in html.split("<a href=\"#").skip(1) {
                let anchor = part.split('"').next().unwrap();
                let leads = html.contains(&format!("id=\"{anchor}\""));
                assert!(leads, "{name}: #{anchor} leads nowhere");
            }
        }
        summary(&subjects);
        let [text, beside] = [verdict_text(&subjects), verdict_text(&beside)];
        // Behind the doubts.
        let said = text.split_once("\n\n").map_or("", |(_, said)| said).replace("\n  ", " ");
        let says_what_was_done = ["consistency", "spare-area", "trim", "integrity", "mixed"];
        if !says_what_was_done.contains(&test.name) {
            assert!(
                said.contains("what it asks has no answer in what was measured")
                    || said.contains("and no answer to all that it asks"),
                "{name}: {said}"
            );
            // Also beside random writes, which the verdict is made of.
            let said = beside.replace("\n  ", " ");
            assert!(said.contains(&format!("The test {} is not complete", test.name)), "{said}");
        }
    }
}

/// What is in doubt by none of the run's doubts is what it would have been.
#[test]
fn a_test_that_is_broken_off_doubts_every_figure_that_is_another_than_in_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut kept = 0;
    for test in TESTS {
        let plan = (test.plan)().quick();
        let whole = broken_off(&plan, &dir.path().join(test.name), usize::MAX);
        let whole = whole.record.figures();
        for told in [3, 6, 12, 25, 50] {
            let name = format!("{}-{told}", test.name);
            let run = broken_off(&plan, &dir.path().join(&name), told).record;
            for figure in run.figures().iter().filter(|_| run.status != Status::Complete) {
                let part = figure.of.as_deref();
                if run.is_in_doubt(figure.stage, part) {
                    continue;
                }
                kept += 1;
                let of_whole = whole.iter().find(|other| other.name == figure.name);
                assert_eq!(
                    of_whole.map(|other| other.value),
                    Some(figure.value),
                    "{name}: {figure:?}"
                );
            }
        }
    }
    assert!(kept > 100, "{kept}: what came to its end is in no doubt");
}

#[test]
fn a_failed_run_names_its_error_and_a_suite_how_much_of_it_ran() {
    let dir = tempfile::tempdir().unwrap();
    let whole = tiny(&dir.path().join("run"));
    let mut failed = whole.clone();
    let error = "/dev/sdq: reading <completions> failed: Input/output error".to_owned();
    failed.record.status = Status::Failed { error };
    let html = page(&[alone(failed.clone())], &dir.path().join("page"));
    let expected = "failed (/dev/sdq: reading &#60;completions&#62; failed: Input/output error)";
    assert!(html.contains(expected), "the error is missing or not escaped");
    assert!(summary(&[alone(failed)]).contains("failed (/dev/sdq:"));
    let left_out = ["a", "b"].map(|step| {
        let needs = Bytes(500_000_000_000);
        Warning::Job(JobWarning::StepLeftOut { step: step.to_owned(), needs })
    });
    let mut in_part = whole;
    in_part.record.warnings.extend(left_out);
    assert!(summary(&[alone(in_part)]).contains("complete but for 2 steps"));
}

#[test]
fn a_short_run_does_not_move_the_steady_window_of_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let whole = tiny(&dir.path().join("whole"));
    let short = killed(&whole, &dir.path().join("killed"), 20);
    let html = page(&[alone(whole), alone(short)], &dir.path().join("page"));
    let pictures = pictures(&html);
    let steady = of_view(&pictures, "consistency-steady-log");
    assert_eq!(steady[0].x(), steady[1].x());
    assert!(steady[0].x().0 > 69.0, "{:?}", steady[0].x());
    assert_eq!(steady[1].marks(), ["this run ended after 20 s"]);
    let whole = of_view(&pictures, "consistency-whole");
    assert_eq!(whole[0].marks().len(), 2, "the cliff and the steady window are named");
    assert_eq!(whole[1].marks().len(), 1, "names that would overlap are left out");
}

#[test]
fn two_runs_of_one_drive_are_told_apart_by_their_directories() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["monday", "friday"].map(|day| dir.path().join(day));
    paths.iter().for_each(|path| drop(tiny(path)));
    let subjects = Subject::gather(&paths).unwrap();
    assert_eq!(subjects.len(), 2, "a test that was repeated is compared");
    let html = page(&subjects, &dir.path().join("page"));
    for day in ["monday", "friday"] {
        assert!(html.contains(&format!("({day})")), "{day} is not named");
    }
    let place = dir.path().display().to_string();
    let outside = |text: &str| text.replace(&format!("in {place}"), "").contains(&place);
    assert!(!outside(&html), "no name tells where the page was made");
    assert!(summary(&subjects).contains("monday"));
}

#[test]
fn runs_of_one_drive_that_differ_are_one_subject() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| dir.path().join("review").join(name));
    fs::create_dir(dir.path().join("review")).unwrap();
    consistency(&paths[0], 20, 0.0);
    consistency(&paths[1], 20, 25.0);
    let gathered = Subject::gather(&paths).unwrap();
    assert_eq!(gathered.iter().map(|subject| subject.runs.len()).collect::<Vec<_>>(), [2]);
    let refused = Subject::open(&dir.path().join("review")).unwrap_err().to_string();
    assert!(refused.contains("below it there ") && refused.contains("review/a"), "{refused}");
    assert!(Subject::open(&dir.path().join("nothing")).is_err());
}

#[test]
fn three_runs_fit_a_terminal_and_keep_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = tiny(&dir.path().join("run"));
    first.record.drive.model = "Samsung SSD 840 EVO 250GB".to_owned();
    let mut spared = first.clone();
    let Plan::Consistency(plan) = &mut spared.record.plan else { panic!("another plan") };
    plan.spare_percent = 25.0;
    let mut other = first.clone();
    other.record.drive.model = "Crucial M500 240GB".to_owned();
    let text = summary(&[Subject { runs: vec![first, spared], planned: None }, alone(other)]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (default, spared) = text.split_once("Figures: 25 % spare").unwrap();
    assert!(default.contains("[2] Crucial M500 240GB"), "{text}");
    assert!(!spared.contains("Crucial"), "{text}");
    assert!(
        text.contains("Samsung SSD 840 EVO 250GB (SIMULATED): consistency, 25 % spare"),
        "{text}"
    );
}

#[test]
fn everything_simulated_is_called_so_and_dead_seconds_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = tiny(&dir.path().join("run"));
    let alive = page(&[alone(run.clone())], &dir.path().join("alive"));
    assert!(alive.contains("<title>Tiny (simulated)") && alive.contains("<h1>Tiny <span"));
    assert!(!alive.contains("Orange strokes at the bottom"));
    run.recording.samples.last_mut().unwrap().writes = 0;
    let dead = page(&[alone(run)], &dir.path().join("dead"));
    assert_eq!(dead.matches("Orange strokes at the bottom").count(), 2);
}

/// A rate of the buffer's, or of two states, is not told as if it were the drive's.
#[test]
fn the_corners_sentence_says_whose_rates_its_figures_are() {
    let dir = tempfile::tempdir().unwrap();
    let second = writecliff_device::Nanos::from_secs(1);
    let plan = writecliff_suite::corners::Plan {
        random_duration: second,
        sequential_duration: second,
        ..Default::default()
    };
    let mut run = drives::tiny(&Plan::Corners(plan), &dir.path().join("corners"));
    let Some(Outcome::Corners(outcome)) = &mut run.record.outcome else { panic!("no outcome") };
    for corner in &mut outcome.corners {
        (corner.within_buffer, corner.changed) = (false, None);
    }
    outcome.corners[0].within_buffer = true;
    outcome.corners[1].changed = Some([50_000.0, 10_000.0]);
    let text = verdict_text(&[alone(run)]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        text.matches(" IOPS (perhaps in the buffer)").count()
            + text.matches(" (in the buffer)").count(),
        1,
        "{text}"
    );
    assert_eq!(
        text.matches("(50,000 IOPS in its first third, 10,000 IOPS in its last)").count(),
        1,
        "{text}"
    );
}

#[test]
fn a_review_s_verdict_says_everything_once() {
    let dir = tempfile::tempdir().unwrap();
    let corners = writecliff_suite::corners::Plan {
        random_duration: writecliff_device::Nanos::from_secs(1),
        sequential_duration: writecliff_device::Nanos::from_secs(1),
        ..Default::default()
    };
    let corners = drives::tiny(&Plan::Corners(corners), &dir.path().join("corners"));
    let both = vec![consistency(&dir.path().join("consistency"), 100, 0.0), corners.clone()];
    for (runs, sentences) in
        [(vec![corners], &["Corners: "][..]), (both, &["Corners: ", "cliff comes"])]
    {
        let planned = Some(vec!["corners", "consistency", "stutter"]);
        let text = verdict_text(&[Subject { runs, planned }]);
        for sentence in sentences {
            assert_eq!(text.matches(sentence).count(), 1, "{sentence}: {text}");
        }
        assert!(text.contains("of 3 tests complete"), "{text}");
        assert!(text.contains("stutter."), "what has not begun: {text}");
    }
}
