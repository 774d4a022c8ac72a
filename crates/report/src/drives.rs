//! The page over any number of drives: its words, and its sections of tests.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use writecliff_device::DeviceKind;
use writecliff_suite::consistency::UntilSteady;
use writecliff_suite::{Plan, TESTS};

use crate::differences::in_common;
use crate::finish::{complete, doubtful, explain, outrank, place_doubts};
use crate::page::about::{About, RunPart, SubjectPart, Words};
use crate::page::error::ReportError;
use crate::page::{Format, Written, write};
use crate::run::Run;
use crate::section::Section;
use crate::sections::{sections, specification};
use crate::subject::Subject;
use crate::subjects::Subjects;
use crate::top;
use crate::torture::tortures;
use crate::verdict::sentences;

/// Writes `out/index.html` and `out/pictures/`, each file atomically, and returns the page's path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
///
/// # Panics
/// If there are no subjects, or one without runs.
pub fn write_page(subjects: &[Subject], out: &Path) -> Result<PathBuf, ReportError> {
    Ok(write_report(subjects, out, Format::Html)?.page)
}

/// Writes `out/index.html` or `out/report.md`, and `out/pictures/`, each file atomically.
///
/// # Errors
/// [`ReportError`]; an older report is kept then.
///
/// # Panics
/// If there are no subjects, or one without runs.
pub fn write_report(
    subjects: &[Subject],
    out: &Path,
    format: Format,
) -> Result<Written, ReportError> {
    write_report_for(subjects, out, format, None)
}

/// [`write_report`] of a page that has its place in Bench: `bench` is the address of its drive there,
/// as seen from the page.
///
/// # Errors
/// As [`write_report`].
///
/// # Panics
/// As [`write_report`].
pub fn write_report_for(
    subjects: &[Subject],
    out: &Path,
    format: Format,
    bench: Option<&str>,
) -> Result<Written, ReportError> {
    let subjects = Subjects::new(subjects);
    let all = subjects.all;
    let mut sections = sections(&subjects);
    explain(&subjects, &mut sections);
    let warnings = place_doubts(&subjects, &mut sections);
    for section in &mut sections {
        let doubtful = doubtful(&subjects, section);
        outrank(&subjects, section);
        complete(&subjects, &doubtful, section);
    }
    let anchors = anchors(&sections);
    let first = top::first(&mut sections);
    let headline = top::headline(&subjects);
    let about = About {
        words: WORDS,
        bench: bench.map(str::to_owned),
        kind: kind(all),
        title: title(&subjects),
        lead: lead(&subjects),
        headline: headline.clone(),
        tiles: top::tiles(&subjects),
        ranking: top::ranking(&subjects),
        first,
        of_all: Vec::new(),
        subjects: warnings
            .into_iter()
            .enumerate()
            .map(|(index, warnings)| {
                let mut part = subject_part(&subjects, index, warnings, &headline);
                // Of what there is nothing to be seen nobody is shown the way.
                let see = part.findings.iter_mut().map(|sentence| &mut sentence.see);
                see.for_each(|see| see.retain(|(anchor, _)| anchors.contains(*anchor)));
                part
            })
            .collect(),
        specification: specification::table(&subjects),
    };
    write(&about, &sections, out, format)
}

/// What links on the page may lead to.
fn anchors(sections: &[Section]) -> HashSet<String> {
    let of = |section: &Section| {
        let views = section.views.iter().map(|view| view.id.clone());
        views.chain([section.id.to_owned()]).collect::<Vec<_>>()
    };
    sections.iter().flat_map(of).collect()
}

/// What the runs of a test do not have in common, for each test whose runs did not all do the same:
/// `consistency: duration 15 s (A), 33 min 20 s (B)`. Their page says it wherever it matters, and
/// ranks nothing across it.
pub fn different_plans(subjects: &[Subject]) -> Vec<String> {
    match subjects {
        [] => Vec::new(),
        all => Subjects::new(all).differences().iter().map(|one| one.text.clone()).collect(),
    }
}

const WORDS: Words = Words {
    subjects: "Drives",
    findings: "Verdict",
    runs: "What was run",
    mark: "simulated",
    marked: "are models: their figures are predictions, not measurements of a drive.",
    in_bench: true,
};

/// The test, or what several of them make up.
fn kind(subjects: &[Subject]) -> String {
    let runs = || subjects.iter().flat_map(|subject| &subject.runs);
    let is_run = |name: &&str| runs().any(|run| run.record.plan.name() == *name);
    let tests: Vec<&str> = TESTS.iter().map(|test| test.name).filter(is_run).collect();
    match (&tests[..], subjects) {
        ([test], _) => (*test).to_owned(),
        (_, [_]) => "review".to_owned(),
        _ => "comparison".to_owned(),
    }
}

fn title(subjects: &Subjects<'_>) -> String {
    match subjects.all {
        [_] => subjects.name(0).to_owned(),
        all if all.iter().all(|one| one.drive().model == all[0].drive().model) => {
            format!("{}: {} runs compared", all[0].drive().model, all.len())
        }
        all => format!("{} drives compared", all.len()),
    }
}

fn lead(subjects: &Subjects<'_>) -> String {
    let is_repeated = |run: &Run| run.is_repeated() && !tortures(run).is_empty();
    let means = match subjects.runs().any(|(_, run)| is_repeated(run)) {
        true => {
            " Sentences and figures up here are means of repeated runs, but for the worst and the best seconds, which are those of all of them."
        }
        false => "",
    };
    load(subjects) + means
}

/// What a service time of a model leaves out.
fn host_of_model(subject: &Subject) -> &'static str {
    let profile = subject.drive().profile.as_ref();
    let memory =
        profile.and_then(|profile| profile.values.get("host_cache")?.get("size")?.as_str());
    let encrypts = subject.runs.iter().any(|run| matches!(run.record.plan, Plan::Encryption(_)));
    match memory {
        Some(size) if size != "0B" => {
            " Of a host, the memory that answers for the drive is simulated: what it takes is in the service times."
        }
        _ if encrypts => {
            " Of a host, one processor that encrypts is simulated: what it takes is in the encrypted loads' times."
        }
        _ => " No host is simulated: an I/O costs it no time.",
    }
}

/// Of one drive what it is, of several whether they did the same.
fn load(subjects: &Subjects<'_>) -> String {
    let [subject] = subjects.all else { return same_load(subjects) };
    let drive = subject.drive();
    let host = if subject.is_simulated() { host_of_model(subject) } else { "" };
    let what = match drive.kind {
        DeviceKind::Directory => drive.kind.to_string(),
        // Of what another program measured nobody need know it.
        kind if drive.capacity.0 == 0 => kind.to_string(),
        kind => format!("{}, {kind}", drive.capacity),
    };
    let tested = format!("{what}, tested on {}.{host}", subject.day());
    // Runs of one drive that are told apart by their spare area may differ as well.
    match subjects.differences() {
        [] => tested,
        _ => format!("{tested} {}", same_load(subjects)),
    }
}

/// Said only if it is true: else what differs.
fn same_load(subjects: &Subjects<'_>) -> String {
    match subjects.differences() {
        [] => load_in_common(subjects),
        differences => {
            let all: Vec<&str> = differences.iter().map(|one| one.text.as_str()).collect();
            format!(
                "NOT the same load: what follows is ranked only where all were given the same. {}.",
                all.join(". ")
            )
        }
    }
}

/// Where nothing that several have run differs: what all of them have run.
fn load_in_common(subjects: &Subjects<'_>) -> String {
    const AXES: &str = "Pictures side by side have the same axes, but for the time, whose scale may change at the \
                        method's 2,000 s where writes went on beyond them, and where they say otherwise. A star \
                        marks the best and what single runs do not tell apart from it (5 %); \
                        there is none where the best is in doubt, or everything that it is told apart from, where all are alike, where one of the \
                        rates is the mean of two, where more of a figure is no merit of its own, and where another \
                        figure of the same table is ranked in its place.";
    let purge = match &without_purge(subjects)[..] {
        [] => String::new(),
        names => {
            format!(", but for the purge before it, which {} did not get", names.join(", "))
        }
    };
    let cut_off = match &cut_off(subjects)[..] {
        [] => String::new(),
        all => format!(" Not all of it was done: {}.", all.join("; ")),
    };
    let further = further(subjects);
    match in_common(subjects.all) {
        (common, _) if common.is_empty() && cut_off.is_empty() => {
            "No test was run on all of these drives, so that nothing here holds all of them against \
             each other."
                .to_owned()
        }
        (common, _) if common.is_empty() => {
            format!("No test came to figures on all of these drives.{cut_off}{further} {AXES}")
        }
        (_, alone) if alone.is_empty() => {
            format!("Every drive was given the same load{purge}.{cut_off}{further} {AXES}")
        }
        (common, alone) => format!(
            "Every drive was given the same load in {}{purge}; only some of them, or none, came to figures in \
             {}.{cut_off}{further} {AXES}",
            common.join(", "),
            alone.join(", ")
        ),
    }
}

/// Which tests of which drives did not come to their end: `trim of A, B did not come to an end`.
fn cut_off(subjects: &Subjects<'_>) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (index, subject) in subjects.all.iter().enumerate() {
        let runs = subject.runs.iter().flat_map(Run::and_repeats);
        let tests: BTreeSet<String> =
            runs.filter(|run| !run.is_complete()).map(Run::name).collect();
        let tests = tests.into_iter().collect::<Vec<_>>().join(", ");
        match all.iter_mut().find(|(of, _)| *of == tests) {
            _ if tests.is_empty() => {}
            Some((_, names)) => names.push(subjects.full_name(index)),
            None => all.push((tests, vec![subjects.full_name(index)])),
        }
    }
    let in_words = |(tests, names): (String, Vec<String>)| {
        format!("{tests} of {} did not come to an end", names.join(", "))
    };
    all.into_iter().map(in_words).collect()
}

/// Whose random writes went on until they were steady, if others' did not.
fn further(subjects: &Subjects<'_>) -> String {
    let until_steady = |run: &Run| match &run.record.plan {
        Plan::Consistency(plan) => Some(plan.until_steady),
        Plan::SpareArea(plan) => Some(plan.until_steady),
        _ => None,
    };
    let goes_on = |index: &usize| {
        subjects.all[*index]
            .runs
            .iter()
            .filter_map(until_steady)
            .any(|until| until == UntilSteady::Yes)
    };
    let has =
        |index: &usize| subjects.all[*index].runs.iter().any(|run| until_steady(run).is_some());
    let (further, others): (Vec<usize>, Vec<usize>) =
        (0..subjects.all.len()).filter(has).partition(goes_on);
    if further.is_empty() || others.is_empty() {
        return String::new();
    }
    let names: Vec<String> = further.iter().map(|index| subjects.full_name(*index)).collect();
    format!(
        " Only the random writes of {} went on beyond their duration, until they were steady.",
        names.join(", ")
    )
}

/// The drives that were not purged before tests that others were purged for.
fn without_purge(subjects: &Subjects<'_>) -> Vec<String> {
    let runs = || subjects.all.iter().flat_map(|subject| &subject.runs);
    let others_were = |run: &Run| {
        let same = |other: &Run| other.record.plan.name() == run.record.plan.name();
        runs().any(|other| same(other) && other.record.purge.is_some())
    };
    let lacks = |run: &Run| run.is_measured() && run.record.purge.is_none() && others_were(run);
    let without = (0..subjects.all.len()).filter(|at| subjects.all[*at].runs.iter().any(lacks));
    without.map(|at| subjects.full_name(at)).collect()
}

/// What is said of a drive and is not the page's headline already.
fn subject_part(
    subjects: &Subjects<'_>,
    index: usize,
    warnings: Vec<String>,
    headline: &str,
) -> SubjectPart {
    let subject = &subjects.all[index];
    let mut findings = sentences(subject);
    findings.retain(|sentence| sentence.text != headline);
    let run_part = |run: &Run| RunPart {
        title: format!("{}: {}", run.name(), run.status()),
        details: run.details(),
    };
    SubjectPart {
        name: subjects.name(index).to_owned(),
        marked: subject.is_simulated(),
        warnings,
        findings,
        runs: subject.runs.iter().map(run_part).collect(),
    }
}
