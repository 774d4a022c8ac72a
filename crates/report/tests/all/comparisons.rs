//! What may be held against each other, and what must not be concluded.
use crate::drives;

use std::fs;

use drives::{alone, consistency, of_view, page, pictures};
use writecliff_device::{Bytes, Nanos};
use writecliff_report::{Run, Source, Subject, different_plans, summary, verdict_text};
use writecliff_suite::consistency::UntilSteady;
use writecliff_suite::{
    DriveWarning, Efficiency, MethodWarning, Outcome, Plan, Status, Warning, heat, incompressible,
    read_write_mix, skew, spare_area, transfer_size, trim, whole_drive,
};

fn named(run: &Run, label: &str) -> Subject {
    let mut run = run.clone();
    run.record.options.label = Some(label.parse().unwrap());
    alone(run)
}

fn with(run: &Run, change: impl Fn(&mut writecliff_suite::consistency::Plan)) -> Run {
    let mut run = run.clone();
    let Plan::Consistency(plan) = &mut run.record.plan else { panic!("another plan") };
    change(plan);
    run
}

#[test]
fn plans_are_equal_only_if_the_load_is() {
    let dir = tempfile::tempdir().unwrap();
    let run = consistency(&dir.path().join("run"), 100, 0.0);
    let differs = |other: Run| different_plans(&[named(&run, "A"), named(&other, "B")]);

    assert!(differs(run.clone()).is_empty());
    assert!(differs(with(&run, |plan| plan.spare_percent = 25.0)).is_empty(), "one more setting");
    let longer = differs(with(&run, |plan| plan.duration = Nanos::from_secs(600)));
    let expected = "consistency: duration 100 s (Tiny (A)), 10 min (Tiny (B))";
    assert_eq!(longer, [expected]);
    let seed = differs(with(&run, |plan| plan.seed = 7));
    assert_eq!(seed, ["consistency: seed 1 (Tiny (A)), 7 (Tiny (B))"]);

    // In sequential tests the seed decides nothing but the bytes.
    let sequential = |plan: Plan| {
        let mut one = run.clone();
        (one.record.plan, one.record.outcome) = (plan, None);
        one
    };
    let transfers = |seed| transfer_size::Plan { seed, ..Default::default() };
    let data = |seed| incompressible::Plan { seed, ..Default::default() };
    let of =
        |one, two| different_plans(&[named(&sequential(one), "A"), named(&sequential(two), "B")]);
    assert!(of(Plan::TransferSize(transfers(1)), Plan::TransferSize(transfers(2))).is_empty());
    assert!(of(Plan::Incompressible(data(1)), Plan::Incompressible(data(2))).is_empty());
    let deeper = transfer_size::Plan { queue_depth: 8, ..transfers(1) };
    assert_eq!(of(Plan::TransferSize(transfers(1)), Plan::TransferSize(deeper)).len(), 1);
}

/// The sentence, the tile and the table all know which spare area a doubt is about.
#[test]
fn a_doubt_about_one_spare_area_is_one_about_its_figures_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let duration = Nanos::from_secs(20);
    let plan = spare_area::Plan { settings: vec![10.0, 25.0], duration, ..Default::default() };
    let spare = drives::tiny(&Plan::SpareArea(plan), &dir.path().join("spare"));
    let main = consistency(&dir.path().join("main"), 20, 0.0);
    let mut pages = 0;
    let mut told = |of_main: &[Warning], of_spare: &[Warning]| {
        let mut runs = vec![main.clone(), spare.clone()];
        runs[0].record.warnings = of_main.to_vec();
        runs[1].record.warnings = of_spare.to_vec();
        pages += 1;
        let subject = Subject { runs, planned: None };
        let html = page(std::slice::from_ref(&subject), &dir.path().join(pages.to_string()));
        let text = verdict_text(&[subject]).split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence = text.split("Leaving 25 %").nth(1).unwrap();
        let sentence = sentence.split("second.").nth(1).unwrap().trim_start();
        let is_said = sentence.starts_with("This is in doubt.");
        let tile = html.contains("with 25 % unused, in doubt");
        let of_spare = html.split("<h3>Once full, by spare area</h3>").nth(1).unwrap();
        (is_said, tile, of_spare.matches(" ?</td>").count())
    };
    let slow = DriveWarning::SlowedDown {
        parts: 1,
        most: "torture".to_owned(),
        others: Vec::new(),
        percent: 40.0,
        last: None,
    };
    let slow = Warning::from(slow);
    let at =
        |percent| Warning::from(MethodWarning::AtSpare { percent, doubt: Box::new(slow.clone()) });
    assert_eq!(told(&[], &[]), (false, false, 0));
    assert_eq!(told(&[], &[at(25.0)]), (true, true, 2));
    assert_eq!(told(&[], &[at(10.0)]), (false, false, 2));
    // Of all settings, and of what they are compared with.
    assert_eq!(told(&[], std::slice::from_ref(&slow)), (true, true, 4));
    assert_eq!(told(std::slice::from_ref(&slow), &[]), (true, true, 2));
}

/// A rate that was two, or is held against two, is two shares of the clean rate.
#[test]
fn thirds_are_held_against_thirds() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = drives::tiny(&Plan::Trim(trim::Plan::default()).quick(), &dir.path().join("run"));
    let Some(Outcome::Trim(outcome)) = &mut run.record.outcome else { panic!("no outcome") };
    (outcome.clean, outcome.after_trim, outcome.fast_part) = (400.0, Some(200.0), None);
    let changed =
        |figure: &str, first, last| trim::ChangedRate { figure: figure.to_owned(), first, last };
    let rates = [changed("clean", 500.0, 250.0), changed("after TRIM", 250.0, 150.0)];
    let mut told = |changed: &[trim::ChangedRate], page: &str| {
        let Some(Outcome::Trim(outcome)) = &mut run.record.outcome else { panic!("no outcome") };
        outcome.changed = changed.to_vec();
        let html = drives::page(&[alone(run.clone())], &dir.path().join(page));
        let table = html.split("<h3>As a share of the clean rate</h3>").nth(1).unwrap().to_owned();
        let row = table.split("After TRIM").nth(1).unwrap().split("</tr>").next().unwrap();
        let cell = row.split("<td").nth(1).unwrap();
        cell.split_once('>').unwrap().1.split("</td>").next().unwrap().to_owned()
    };
    assert!(told(&[], "even").starts_with("50 %"));
    let words = |first, last| format!("{first} % in the first third, {last} % in the last");
    assert!(
        told(&rates[..1], "clean").starts_with("40 % of its first third, 80 % of its last"),
        "a mean held against thirds"
    );
    assert!(told(&rates[1..], "after").starts_with(&words(63, 38)));
    assert!(told(&rates, "both").starts_with(&words(50, 60)));
    // Beside one that was two nobody is known to be the best, nor the most efficient.
    let starred = |changed: &[trim::ChangedRate], doubts: &[Warning], name: &str| {
        let of =
            |after_trim: f64, changed: &[trim::ChangedRate], doubts: &[Warning], label: &str| {
                let mut run = run.clone();
                let Some(Outcome::Trim(outcome)) = &mut run.record.outcome else { panic!("none") };
                (outcome.after_trim, outcome.changed) = (Some(after_trim), changed.to_vec());
                run.record.warnings = doubts.to_vec();
                run.record.efficiency = vec![Efficiency {
                    phase: trim::AFTER_TRIM.to_owned(),
                    watts: 2.0,
                    watt_hours: 1.0,
                    megabytes_per_second_per_watt: after_trim / 2.0,
                    iops_per_watt: after_trim,
                }];
                named(&run, label)
            };
        let subjects = [of(200.0, &[], &[], "A"), of(300.0, changed, doubts, "B")];
        let html = drives::page(&subjects, &dir.path().join(name));
        let table = html.split("<h3>As a share of the clean rate</h3>").nth(1).unwrap().to_owned();
        let row = table.split("After TRIM").nth(1).unwrap().split("</tr>").next().unwrap();
        let efficiency = html.split("<h3>trim: MB/s per watt</h3>").nth(1).unwrap();
        let stars = [row, efficiency.split("</table>").next().unwrap()].map(|t| t.contains('★'));
        // What has no doubt told beside it is led to from the page's top.
        let top = html.split("<nav").next().unwrap();
        (stars, top.contains("figures with ? also in") && top.contains("<a href=\"#efficiency\">"))
    };
    assert_eq!(starred(&[], &[], "sure"), ([true, true], false));
    assert_eq!(starred(&rates[1..], &[], "two"), ([false, false], false));
    let doubt = [DriveWarning::FileNotDrive.into()];
    assert_eq!(starred(&[], &doubt, "doubted"), ([false, false], true));
}

/// Tables of the one drive that answered a test are no comparison: its name is over them, and its doubts are in them.
#[test]
fn the_only_answer_among_several_drives_has_its_name_and_its_marks() {
    let dir = tempfile::tempdir().unwrap();
    let main = consistency(&dir.path().join("main"), 20, 0.0);
    let skewed = drives::tiny(&Plan::Skew(skew::Plan::default()).quick(), &dir.path().join("skew"));
    assert!(skewed.record.outcome.is_some());
    let told = |doubts: &[Warning], name: &str| {
        let mut skewed = skewed.clone();
        skewed.record.warnings = doubts.to_vec();
        let named = |mut run: Run, label: &str| {
            run.record.options.label = Some(label.parse().unwrap());
            run
        };
        let both = Subject {
            runs: vec![named(main.clone(), "both"), named(skewed, "both")],
            planned: None,
        };
        let html = page(&[both, alone(named(main.clone(), "one"))], &dir.path().join(name));
        let of_skew = html.split_once("id=\"skew\"").unwrap().1;
        of_skew.split("<h2").nth(1).unwrap().to_owned()
    };
    let sure = told(&[], "sure");
    assert!(sure.contains(": Tiny (both) (simulated)</h3>"), "{sure}");
    assert!(!sure.contains("A figure with"), "{sure}");
    let doubted = told(&[DriveWarning::FileNotDrive.into()], "doubted");
    assert!(doubted.contains("A figure with") && doubted.contains(" ?"), "{doubted}");
}

/// A test that was not run has no section, and what is told of it no picture of another in doubt.
#[test]
fn what_was_not_run_doubts_no_picture() {
    let dir = tempfile::tempdir().unwrap();
    let main = consistency(&dir.path().join("main"), 20, 0.0);
    let heat = drives::tiny(&Plan::Heat(heat::Plan::default()).quick(), &dir.path().join("heat"));
    assert!(heat.record.outcome.is_none(), "tiny does not get warm");
    let told = |doubts: &[Warning], name: &str| {
        let (mut main, mut heat) = (main.clone(), heat.clone());
        main.record.warnings = doubts.to_vec();
        // Told above all sections, since this test has none.
        heat.record.warnings.extend_from_slice(doubts);
        let subject = Subject { runs: vec![main, heat.clone(), heat], planned: None };
        let out = dir.path().join(name);
        page(&[subject], &out);
        let csv = fs::read_to_string(out.join("pictures/consistency-whole.csv")).unwrap();
        csv.contains("with doubts that its page tells")
    };
    assert!(!told(&[], "sure"));
    assert!(!told(&[MethodWarning::NoTrim.into()], "gap"), "it is about no figure");
    assert!(told(&[DriveWarning::FileNotDrive.into()], "doubted"));
    // Of two of three.
    let other = Warning::from(DriveWarning::NoDrive);
    let (mut main, mut heat_too) = (main.clone(), heat.clone());
    main.record.warnings = vec![other.clone()];
    heat_too.record.warnings.push(other);
    let subject = Subject { runs: vec![main, heat_too, heat.clone()], planned: None };
    let out = dir.path().join("two");
    page(&[subject], &out);
    let csv = fs::read_to_string(out.join("pictures/consistency-whole.csv")).unwrap();
    assert!(csv.contains("with doubts that its page tells"));
}

/// A doubt about a phase that a headline is not of, or a fill that it is not of, is none about it.
#[test]
fn a_headline_is_in_doubt_by_what_it_is_of() {
    let dir = tempfile::tempdir().unwrap();
    let slow = |most: &str| {
        let (most, others) = (most.to_owned(), Vec::new());
        Warning::from(DriveWarning::SlowedDown {
            parts: 1,
            most,
            others,
            percent: 40.0,
            last: None,
        })
    };
    let told = |plan: Plan, doubt: Option<Warning>, name: &str| {
        let mut run = drives::tiny(&plan, &dir.path().join(name));
        run.record.warnings = doubt.into_iter().collect();
        let text = verdict_text(&[alone(run.clone())]);
        let html = page(&[alone(run)], &dir.path().join(format!("{name}-page")));
        let told = ["Some of this is in doubt.", "This is in doubt."];
        (told.map(|words| text.contains(words)), html.matches(" ?</td>").count())
    };
    let fill = || Plan::WholeDrive(whole_drive::Plan::default());
    assert_eq!(told(fill(), None, "sure"), ([false; 2], 0));
    assert_eq!(told(fill(), Some(slow("first-half")), "between"), ([false; 2], 0));
    let (is_told, of_one) = told(fill(), Some(slow("erased")), "erased");
    assert_eq!(is_told, [true, false]);
    let (is_told, of_both) = told(fill(), Some(DriveWarning::FileNotDrive.into()), "all");
    assert_eq!(is_told, [false, true]);
    assert!(0 < of_one && of_one < of_both);
    let trims = || Plan::Trim(trim::Plan::default()).quick();
    let (is_told, of_idle) = told(trims(), Some(slow("after-idle")), "idle");
    assert_eq!(is_told, [false; 2], "the verdict says nothing of it");
    let (is_told, of_clean) = told(trims(), Some(slow("clean")), "clean");
    assert_eq!(is_told, [true, false]);
    assert!(0 < of_idle && of_idle < of_clean, "{of_idle} {of_clean}: clean is in all shares");
    // What was over before a die was lost is of the whole drive.
    let lost = |phase: &str| {
        let (phase, after) = (phase.to_owned(), Some(Nanos::from_secs(2)));
        Some(Warning::from(DriveWarning::DieLost { phase, after, of_all_stages: false }))
    };
    let [(_, early), (_, late)] =
        ["clean", "after-idle"].map(|phase| told(trims(), lost(phase), &format!("lost-{phase}")));
    assert_eq!(late, of_idle);
    // Where the verdict tells what idle time left, a doubt about that is one about it.
    let mut idle = drives::tiny(&trims(), &dir.path().join("told-idle"));
    idle.record.warnings = vec![slow("after-idle")];
    let Some(Outcome::Trim(outcome)) = &mut idle.record.outcome else { panic!("no outcome") };
    outcome.after_idle = Some(0.01);
    assert!(verdict_text(&[alone(idle)]).contains("Some of this is in doubt."));
    assert!(early > of_clean);
    let mixes = || Plan::ReadWriteMix(read_write_mix::Plan::default()).quick();
    let behind = |drive_writes_per_day| {
        let doubt = MethodWarning::WritesFellBehind { drive_writes_per_day, asked: 9.0, done: 2.0 };
        Some(Warning::from(doubt))
    };
    assert_eq!(told(mixes(), behind(77.0), "another"), ([false; 2], 0));
    let (is_told, marked) = told(mixes(), behind(0.0), "alone");
    assert!(is_told.contains(&true) && marked > 0);
}

/// What is compared with one another is of one drive, or has no answer.
#[test]
fn a_die_lost_within_a_test_leaves_its_question_open() {
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan::Incompressible(incompressible::Plan::default()).quick();
    let mut run = drives::tiny(&plan, &dir.path().join("run"));
    let first = run.record.phases[0].name.clone();
    let mut told = |phase: &str| {
        let (phase, after) = (phase.to_owned(), Some(Nanos::from_secs(2)));
        let doubt = DriveWarning::DieLost { phase, after, of_all_stages: false };
        run.record.warnings = vec![doubt.into()];
        verdict_text(&[alone(run.clone())]).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let open = "In the test incompressible a die stopped working";
    assert!(told(&first).contains(open), "some of it is of the whole drive");
    assert!(told("fill").contains(open));
    run.record.phases[0].name = "fill".to_owned();
    let mut told = |phase: &str| {
        let (phase, after) = (phase.to_owned(), Some(Nanos::from_secs(2)));
        let doubt = DriveWarning::DieLost { phase, after, of_all_stages: true };
        run.record.warnings = vec![doubt.into()];
        verdict_text(&[alone(run.clone())]).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!told("fill").contains(open), "all of it is of what was left");
}

/// Also of the random writes that the page begins with.
#[test]
fn what_failed_in_random_writes_is_told_beside_what_they_came_to() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = consistency(&dir.path().join("run"), 200, 0.0);
    let (phase, after) = ("torture".to_owned(), Nanos::from_secs(80));
    let later = Vec::new();
    let faults = [
        DriveWarning::DieLost { phase: phase.clone(), after: Some(after), of_all_stages: false },
        DriveWarning::PowerLost {
            times: 1,
            phase,
            after,
            later,
            back_at_once: false,
            only_later: true,
        },
    ];
    let said = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    run.record.warnings = faults.map(Into::into).into();
    let html = page(&[alone(run.clone())], &dir.path().join("page"));
    let (headline, rest) = html.split_once("<ul class=\"verdict\">").unwrap();
    assert!(headline.contains(&format!(". {said}")), "behind what it came to");
    assert!(rest.split("</ul>").next().unwrap().contains(&said), "in the verdict");
    // A picture names the first that is in it, whatever there was before.
    let in_window = Nanos::from_secs(170);
    let later = vec![("torture".to_owned(), after), ("torture".to_owned(), in_window)];
    let phase = "fill".to_owned();
    let cuts = DriveWarning::PowerLost {
        times: 3,
        phase,
        after,
        later,
        back_at_once: true,
        only_later: false,
    };
    run.record.warnings = vec![cuts.into()];
    let html = page(&[alone(run)], &dir.path().join("cuts"));
    let pictures = pictures(&html);
    let marks = &of_view(&pictures, "consistency-whole")[0].markup;
    assert!(marks.contains("power lost") && marks.contains("again"));
    let marks = &of_view(&pictures, "consistency-steady-linear")[0].markup;
    assert!(marks.contains("power lost") && !marks.contains("again"), "the first is outside");
    // Seconds without power are not the drive's habit.
    let words = "not judged, it lost its power in some of them";
    assert!(html.contains(words), "{words}");
}

/// What cannot be purged is written full once.
#[test]
fn a_half_full_drive_is_told_of_where_there_was_one() {
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan::WholeDrive(whole_drive::Plan::default()).quick();
    let mut run = drives::tiny(&plan, &dir.path().join("run"));
    let told = |run: &Run, name: &str| {
        let html = page(&[alone(run.clone())], &dir.path().join(name));
        html.contains("whose first half is full and has rested")
    };
    assert!(told(&run, "both"));
    let Some(Outcome::WholeDrive(outcome)) = &mut run.record.outcome else { panic!("no outcome") };
    outcome.fills.truncate(1);
    assert!(!told(&run, "once"));
}

/// By job and key; a job that only one has once, and what has the same parts in another order is another load.
#[test]
fn plans_of_jobs_differ_by_what_differs() {
    let dir = tempfile::tempdir().unwrap();
    let of = |jobs: &[(&str, u64)], name: &str| {
        let job = |(name, depth): &(&str, u64)| {
            serde_json::json!({"name": name, "mix": {"write": 100}, "block": "4KiB",
                "io_size": "1MiB", "queue_depth": depth})
        };
        let jobs: Vec<_> = jobs.iter().map(job).collect();
        let plan = serde_json::from_value(serde_json::json!({"job": jobs})).unwrap();
        named(&drives::tiny(&Plan::Mixed(plan), &dir.path().join(name)), name)
    };
    let (a, b) = (("a", 1), ("b", 1));
    let one = of(&[a, b], "one");
    let differs = |jobs: &[(&str, u64)], name: &str| {
        different_plans(&[one.clone(), of(jobs, name)]).join("; ")
    };
    let asked = differs(&[a, ("b", 7)], "deep");
    assert!(
        asked.starts_with("mixed: job 'b' queue depth 1 (") && asked.contains("7 ("),
        "{asked}"
    );
    let more = differs(&[a, b, ("c", 1)], "more");
    assert!(more.starts_with("mixed: job 'c' only in ") && !more.contains(';'), "{more}");
    assert_eq!(differs(&[b, a], "turned"), "mixed: its parts are not in the same order");
}

#[test]
fn a_doubt_about_one_corner_marks_that_corner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan::Corners(writecliff_suite::corners::Plan::default()).quick();
    let sure = drives::tiny(&plan, &dir.path().join("run"));
    let mut doubted = sure.clone();
    let Some(Outcome::Corners(outcome)) = &sure.record.outcome else { panic!("another") };
    let part = Some(outcome.corners[0].corner.phase());
    let (written, buffer) = (Bytes(1), Bytes(2));
    let doubt = MethodWarning::WithinBuffer { part, written, again: false, buffer, or_heat: false };
    doubted.record.warnings.push(doubt.into());
    let marked = |run: &Run| {
        let text = summary(&[named(&sure, "A"), named(run, "B")]);
        let rows = text.lines().filter(|line| line.ends_with(" ?"));
        rows.map(str::to_owned).collect()
    };
    let none: Vec<String> = marked(&sure);
    assert!(none.is_empty(), "{none:?}");
    // Its rate and three service times.
    let some: Vec<String> = marked(&doubted);
    assert_eq!(some.len(), 4, "{some:?}");
    assert!(some.iter().all(|row| row.contains("write")), "{some:?}");
}

/// As the page says of its stars.
#[test]
fn a_corner_whose_rate_was_two_ranks_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan::Corners(writecliff_suite::corners::Plan::default()).quick();
    let mut run = drives::tiny(&plan, &dir.path().join("run"));
    run.record.warnings.clear();
    let starred = |changed: Option<[f64; 2]>, name: &str| {
        let mut faster = run.clone();
        let Some(Outcome::Corners(outcome)) = &mut faster.record.outcome else { panic!("another") };
        outcome.corners[0].changed = changed;
        outcome.corners[0].rate.iops *= 2.0;
        outcome.corners[0].rate.megabytes_per_second *= 2.0;
        let html = page(&[named(&run, "A"), named(&faster, "B")], &dir.path().join(name));
        let table = html.split("<h3>Rates</h3>").nth(1).unwrap().split("</table>").next().unwrap();
        table.split("</tr>").find(|row| row.contains("write, QD3")).unwrap().contains('★')
    };
    assert!(starred(None, "one"));
    assert!(!starred(Some([9_000.0, 1_000.0]), "two"));
}

/// What was done before is as good as that of a run that came to its end.
#[test]
fn a_run_that_is_broken_off_marks_what_it_did_not_finish_alone() {
    let dir = tempfile::tempdir().unwrap();
    let duration = Nanos::from_secs(20);
    let plan = spare_area::Plan { settings: vec![10.0, 25.0], duration, ..Default::default() };
    let mut whole = drives::tiny(&Plan::SpareArea(plan), &dir.path().join("spare"));
    whole.record.warnings.clear();
    let marked = |run: &Run| {
        let html = page(&[named(&whole, "A"), named(run, "B")], &dir.path().join("page"));
        let rows = html.split("<h3>Average once full</h3>").nth(1).unwrap();
        let row = |at: &str| rows.split("<tr").find(|row| row.contains(at)).unwrap().to_owned();
        ["10 %", "25 %"].map(|at| row(at).contains(" ?</td>"))
    };
    let mut run = whole.clone();
    assert_eq!(marked(&run), [false, false]);
    run.record.status = Status::Interrupted;
    let (recorded, planned) = (Nanos::from_secs(9), duration);
    let cut =
        MethodWarning::Incomplete { recorded, planned, until_steady: false, met_cliff: false };
    let doubt = Box::new(cut.into());
    run.record.warnings = vec![MethodWarning::AtSpare { percent: 25.0, doubt }.into()];
    assert_eq!(marked(&run), [false, true]);
}

#[test]
fn drives_under_different_plans_are_not_said_to_have_had_one_load() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = consistency(&dir.path().join("run"), 100, 0.0);
    let short = page(&[named(&run, "A"), named(&run, "B")], &dir.path().join("short"));
    assert!(!short.contains("The highest worst second first"), "too few seconds for a rank");
    run.record.warnings.clear();
    let other = with(&run, |plan| plan.duration = Nanos::from_secs(600));
    let same = page(&[named(&run, "A"), named(&run, "B")], &dir.path().join("same"));
    assert!(
        same.contains("given the same load") && same.contains("The highest worst second first")
    );
    let html = page(&[named(&run, "A"), named(&other, "B")], &dir.path().join("other"));
    assert!(!html.contains("given the same load"));
    assert!(html.contains("NOT the same load") && html.contains("duration 100 s"), "what differs");
    assert!(!html.contains("The highest worst second first"), "nothing is ranked");
}

/// However fast: it comes last, and in every picture that is in an order.
#[test]
fn what_is_in_doubt_is_in_no_order_of_merit() {
    let dir = tempfile::tempdir().unwrap();
    let mut slow = consistency(&dir.path().join("run"), 100, 0.0);
    slow.record.warnings.clear();
    let mut fast = slow.clone();
    let Some(Outcome::Consistency(outcome)) = &mut fast.record.outcome else { panic!("another") };
    outcome.steady_iops.floor *= 1.5;
    let order = |fast: &Run, name: &str| {
        let out = dir.path().join(name);
        let html = page(&[named(&slow, "slow"), named(fast, "fast")], &out);
        let csv = fs::read_to_string(out.join("pictures/consistency-range.csv")).unwrap();
        let place = |drive: &str| csv.lines().position(|line| line.contains(drive)).unwrap();
        (place("fast") < place("slow"), html.contains("what is in doubt last"))
    };
    assert_eq!(order(&fast, "sure"), (true, false));
    fast.record.warnings.push(MethodWarning::NotSteady { percent: 9.0 }.into());
    assert_eq!(order(&fast, "doubtful"), (false, true));
}

#[test]
fn one_load_is_said_only_of_tests_that_all_have_run() {
    let dir = tempfile::tempdir().unwrap();
    let run = consistency(&dir.path().join("run"), 100, 0.0);
    let mut other = run.clone();
    (other.record.plan, other.record.outcome) =
        (Plan::TransferSize(transfer_size::Plan::default()), None);
    let of = |runs: &[&Run], name: &str| Subject {
        runs: runs.iter().map(|run| (*run).clone()).collect(),
        ..named(&run, name)
    };
    let apart = page(&[of(&[&run], "A"), of(&[&other], "B")], &dir.path().join("apart"));
    assert!(!apart.contains("given the same load"));
    assert!(apart.contains("No test was run on all of these drives"));
    let partly = page(&[of(&[&run, &other], "A"), of(&[&run], "B")], &dir.path().join("partly"));
    assert!(partly.contains(
        "the same load in consistency; only some of them, or none, came to figures in transfer-size."
    ));
    // What did not come to its end, and what went on beyond it, are no whole load, and another one.
    let mut cut = run.clone();
    cut.record.status = Status::Interrupted;
    let cut = page(&[of(&[&run], "A"), of(&[&cut], "B")], &dir.path().join("cut"));
    assert!(cut.contains(
        "the same load. Not all of it was done: consistency of Tiny (2) (simulated) did not come to an end."
    ));
    let mut none = run.clone();
    (none.record.status, none.record.outcome) = (Status::Interrupted, None);
    let none = page(&[of(&[&run], "A"), of(&[&none], "B")], &dir.path().join("none"));
    assert!(
        none.contains("No test came to figures on all of these drives. Not all of it was done:")
    );
    let further = with(&run, |plan| plan.until_steady = UntilSteady::Yes);
    let longer = with(&further, |plan| plan.duration = Nanos(2 * plan.duration.0));
    let [plain, longer] = [&run, &longer].map(|run| of(&[run], "A"));
    let differ = &different_plans(&[plain, longer])[0];
    assert!(differ.contains("until steady no (") && differ.contains(", yes ("), "{differ}");
    let further = page(&[of(&[&run], "A"), of(&[&further], "B")], &dir.path().join("further"));
    assert!(
        further.contains(
            "Only the random writes of Tiny (2) (simulated) went on beyond their duration"
        )
    );
}

#[test]
fn drives_of_one_model_are_named_by_what_tells_them_apart() {
    let dir = tempfile::tempdir().unwrap();
    let run = consistency(&dir.path().join("runs/first"), 20, 0.0);
    let titles = |change: &dyn Fn(&mut Run)| {
        let mut other = consistency_at(&run, &dir.path().join("runs/second"));
        change(&mut other);
        verdict_text(&[alone(run.clone()), alone(other)])
    };
    assert!(titles(&|_| {}).contains("Tiny (second)"), "by its directory");
    let dated = titles(&|other| other.record.started = "2031-05-06T07:08:09Z".to_owned());
    assert!(dated.contains("Tiny (2031-05-06)"), "{dated}");
    let labelled = titles(&|other| other.record.options.label = Some("patched".parse().unwrap()));
    assert!(labelled.contains("Tiny (patched)"), "{labelled}");
    let mut both = [run.clone(), consistency_at(&run, &dir.path().join("runs/second"))];
    both.iter_mut().for_each(|run| run.record.options.label = Some("mine".parse().unwrap()));
    let alike = verdict_text(&both.map(alone));
    assert!(alike.contains("(mine, first)") && alike.contains("(mine, second)"), "{alike}");

    let mut old = run.clone();
    old.record.drive.firmware = Some("EXT0BB6Q".to_owned());
    let mut new = old.clone();
    new.record.drive.firmware = Some("EXT0CB6Q".to_owned());
    let text = verdict_text(&[alone(old), alone(new)]);
    assert!(text.contains("Tiny (EXT0BB6Q)") && text.contains("Tiny (EXT0CB6Q)"), "{text}");
}

/// The same run, as if it lay elsewhere.
fn consistency_at(run: &Run, path: &std::path::Path) -> Run {
    Run { path: path.to_owned(), ..run.clone() }
}

#[test]
fn a_label_keeps_directories_of_one_drive_apart() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| dir.path().join(name));
    consistency(&paths[0], 20, 0.0);
    consistency(&paths[1], 20, 25.0);
    let source = |label: &str, at: usize| Source {
        label: Some(label.parse().unwrap()),
        path: paths[at].clone(),
    };
    let gathered = Subject::gather(&[source("old", 0), source("new", 1)]).unwrap();
    assert_eq!(gathered.len(), 2);
    assert!(verdict_text(&gathered).contains("Tiny (new)"));
}

#[test]
fn nothing_is_concluded_from_a_quick_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = consistency(&dir.path().join("run"), 100, 0.0);
    let whole = page(&[alone(run.clone())], &dir.path().join("whole"));
    assert!(whole.contains("random writes fall after"), "the headline of a whole run");
    run.record.warnings.push(Warning::Method(MethodWarning::Quick));
    let out = dir.path().join("quick");
    let html = page(&[alone(run.clone())], &out);
    assert!(!html.contains("<ul class=\"verdict\">"), "no verdict");
    assert!(!html.contains("random writes fall after"), "no headline");
    assert!(!verdict_text(&[alone(run.clone())]).contains("Once full"));
    // That it did not come to its end is no conclusion.
    run.record.status = Status::Interrupted;
    let said = page(&[alone(run)], &dir.path().join("ended"));
    assert!(said.contains("The test consistency is not complete"), "{said}");
    let map = fs::read_to_string(out.join("pictures/consistency-latency-map.svg")).unwrap();
    let (cells, watermark) = (map.rfind("<path").unwrap(), map.find("paint-order").unwrap());
    assert!(cells < watermark, "it is written over the cells, with an edge of its own");
}

/// A page of several runs says of each what it is.
#[test]
fn a_quick_run_says_nothing_of_the_others_of_its_page() {
    let dir = tempfile::tempdir().unwrap();
    let whole = consistency(&dir.path().join("whole"), 100, 0.0);
    let mut trim =
        drives::tiny(&Plan::Trim(trim::Plan::default()).quick(), &dir.path().join("trim"));
    trim.record.warnings.push(Warning::Method(MethodWarning::Quick));
    let subject = Subject { runs: vec![whole, trim], planned: None };
    let out = dir.path().join("page");
    let html = page(&[subject], &out);
    let is_marked = |picture: &str| {
        let svg = fs::read_to_string(out.join("pictures").join(picture)).unwrap();
        svg.contains("quick run: not a result")
    };
    assert!(!is_marked("consistency-whole.svg") && is_marked("trim-speed-over-lba.svg"));
    let tiles =
        html.split("<ul class=\"tiles\"").nth(1).and_then(|rest| rest.split("</ul>").next());
    assert!(tiles.is_none_or(|tiles| !tiles.contains("quick run")), "{tiles:?}");
    assert!(!html.contains("<ul class=\"verdict\">"), "and nothing is concluded of all");
}

#[test]
fn a_drive_that_has_not_settled_is_not_called_steady() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = consistency(&dir.path().join("run"), 200, 0.0);
    run.record.warnings = vec![Warning::Method(MethodWarning::NotSteady { percent: 27.0 })];
    let html = page(&[alone(run)], &dir.path().join("page"));
    assert!(html.contains("still settling, not judged"));
    let svg = fs::read_to_string(dir.path().join("page/pictures/consistency-whole.svg")).unwrap();
    assert!(!svg.contains("steady window") && svg.contains("last part"), "it is called what it is");
}

/// Where spare area alone was run, all is told beside its smallest setting, and that by name.
#[test]
fn spare_area_alone_is_told_beside_its_smallest_setting() {
    let dir = tempfile::tempdir().unwrap();
    let duration = Nanos::from_secs(200);
    let plan = spare_area::Plan { settings: vec![10.0, 25.0], duration, ..Default::default() };
    let mut spare = drives::tiny(&Plan::SpareArea(plan), &dir.path().join("spare"));
    spare.record.warnings.clear();
    let html = page(&[alone(spare.clone())], &dir.path().join("one"));
    for said in ["4 KiB random writes with 10 % unused fall after", "unused, over that with 10 %"] {
        assert!(html.contains(said), "{said}");
    }
    let text = verdict_text(&[alone(spare.clone())]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("over leaving 10 %"), "{text}");
    // Of drives as they are sold nothing is known.
    let two = ["a", "b"].map(|label| named(&spare, label));
    let html = page(&two, &dir.path().join("two"));
    assert!(!html.contains("Gain from spare area"));
    // Its doubts are those of what stands first, and its end as well.
    let slow = DriveWarning::SlowedDown {
        parts: 1,
        most: "torture".to_owned(),
        others: Vec::new(),
        percent: 40.0,
        last: None,
    };
    spare.record.warnings.push(slow.into());
    spare.record.status = writecliff_suite::Status::Interrupted;
    let html = page(&[alone(spare)], &dir.path().join("broken-off"));
    let hero = html.split("<h1").nth(1).unwrap().split("<section").next().unwrap();
    for said in ["The run is not complete", "These figures of random writes are in doubt"] {
        assert!(hero.contains(said), "{said}: {hero}");
    }
}
