//! The drives of a page side by side: their names, their styles, and whether they did the same.

use writecliff_device::printable;
use writecliff_suite::{consistency, spare_area};

use crate::differences::{Difference, differences};
use crate::picture::{Style, nth_style};
use crate::run::Run;
use crate::subject::Subject;

/// The drives of a page, each with the name that it has there.
pub(crate) struct Subjects<'a> {
    pub(crate) all: &'a [Subject],
    names: Vec<String>,
    differences: Vec<Difference>,
}

impl<'a> Subjects<'a> {
    /// # Panics
    /// If there are none.
    pub(crate) fn new(all: &'a [Subject]) -> Self {
        assert!(!all.is_empty(), "a report is about at least one drive");
        let names = names(all);
        let differences = differences(all, &names);
        Self { all, names, differences }
    }

    /// What a drive is called; where its model does not tell it apart, with what does.
    pub(crate) fn name(&self, index: usize) -> &str {
        &self.names[index]
    }

    /// Its name where no mark can stand beside it.
    pub(crate) fn full_name(&self, index: usize) -> String {
        let simulated = if self.all[index].is_simulated() { " (simulated)" } else { "" };
        format!("{}{simulated}", self.names[index])
    }

    pub(crate) fn is_comparison(&self) -> bool {
        self.all.len() > 1
    }

    /// Every run with its drive's index.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, &'a Run)> {
        let indexed = self.all.iter().enumerate();
        indexed.flat_map(|(index, subject)| subject.runs.iter().map(move |run| (index, run)))
    }

    /// What the runs do not have in common, by test.
    pub(crate) fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// Whether every run of a test did the same, so that its figures can be held against each
    /// other.
    pub(crate) fn is_equal_load(&self, test: &str) -> bool {
        // Settings of the spare area are runs of the consistency test.
        let test = if test == spare_area::Plan::NAME { consistency::Plan::NAME } else { test };
        self.differences.iter().all(|difference| difference.test != test)
    }

    /// Whether anything may be concluded: no drive of the page had a run that is none.
    pub(crate) fn is_result(&self) -> bool {
        self.all.iter().all(|subject| subject.no_result().is_none())
    }

    /// The style of what is a drive's own: always the same among several, `alone` for one.
    pub(crate) fn style(&self, index: usize, alone: Style) -> Style {
        if self.is_comparison() { nth_style(index) } else { alone }
    }
}

/// Drives of one model are told apart by what their user calls them, and where that is not enough by
/// the first of these that does: firmware, day of the test, directory; by their number, if nothing
/// does.
fn names(all: &[Subject]) -> Vec<String> {
    let model = |subject: &Subject| subject.drive().model.clone();
    let name = |(index, subject): (usize, &Subject)| {
        let of_model: Vec<usize> =
            (0..all.len()).filter(|other| model(&all[*other]) == model(subject)).collect();
        let mut group = of_model.clone();
        group.retain(|other| all[*other].label() == subject.label());
        let apart = match (subject.label(), &of_model[..], &group[..]) {
            (None, [_], _) => return model(subject),
            (None, ..) => told_apart(all, &group, index),
            (Some(label), _, [_]) => label.to_string(),
            (Some(label), ..) => format!("{label}, {}", told_apart(all, &group, index)),
        };
        format!("{} ({apart})", model(subject))
    };
    all.iter().enumerate().map(name).collect()
}

/// What only this one of a group is.
fn told_apart(all: &[Subject], group: &[usize], index: usize) -> String {
    let ways: [fn(&Subject) -> Option<String>; 2] =
        [|subject| subject.drive().firmware.clone(), |subject| Some(subject.day().to_owned())];
    let tells = |values: &[Option<String>]| {
        let is_own = |at: usize| values[at].is_some() && !values[..at].contains(&values[at]);
        (0..values.len()).all(is_own)
    };
    for way in ways {
        let values: Vec<Option<String>> = group.iter().map(|at| way(&all[*at])).collect();
        if tells(&values)
            && let Some(value) = way(&all[index])
        {
            return value;
        }
    }
    // As much of the path as it takes, and never all of it: pages are published.
    let parts = |at: usize| all[at].directory();
    let longest = group.iter().map(|at| parts(*at).len()).max().unwrap_or(0);
    let tail = |at: usize, length: usize| {
        let parts = parts(at);
        parts[parts.len().saturating_sub(length)..].join("/")
    };
    for length in 1..=longest {
        let values: Vec<_> = group.iter().map(|at| Some(tail(*at, length))).collect();
        if tells(&values) {
            return printable(&tail(index, length));
        }
    }
    format!("{}", index + 1)
}
