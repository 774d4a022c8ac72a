//! What a page is about, and what it says of each of its subjects: its words, the sections apart.

use crate::section::{Ranking, Sentence, Table, Tile, View};

/// What a page is about: its words, the sections apart.
pub(crate) struct About {
    pub(crate) words: Words,
    /// Where its drive is in Bench, if the page is shown there.
    pub(crate) bench: Option<String>,
    /// What kind of page it is.
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) lead: String,
    /// What it comes to, in one sentence; empty where that cannot be said.
    pub(crate) headline: String,
    /// The figures of the one subject that matter most.
    pub(crate) tiles: Vec<Tile>,
    /// The figures that decide between several subjects.
    pub(crate) ranking: Option<Ranking>,
    /// The pictures of the first screen.
    pub(crate) first: Option<View>,
    /// Doubts about all of several subjects.
    pub(crate) of_all: Vec<String>,
    /// What columns, buttons and [`Place`]s count.
    pub(crate) subjects: Vec<SubjectPart>,
    pub(crate) specification: Option<Table>,
}

impl About {
    /// Whether anything is to be said of a subject before its sections.
    pub(crate) fn has_findings(&self) -> bool {
        let has_some = |one: &SubjectPart| !one.findings.is_empty() || !one.warnings.is_empty();
        !self.of_all.is_empty() || self.subjects.iter().any(has_some)
    }
}

/// What the parts of a page are called.
pub(crate) struct Words {
    /// The subjects, several of them.
    pub(crate) subjects: &'static str,
    /// What is said of each before anything else.
    pub(crate) findings: &'static str,
    /// The details at the end.
    pub(crate) runs: &'static str,
    /// What stands beside the names of some subjects.
    pub(crate) mark: &'static str,
    /// What that means, as the rest of a sentence about subjects so marked.
    pub(crate) marked: &'static str,
    /// Whether Bench has results of this kind.
    pub(crate) in_bench: bool,
}

/// What the page says of one subject.
pub(crate) struct SubjectPart {
    pub(crate) name: String,
    pub(crate) marked: bool,
    /// Doubts about all of it; those about one test are in its section.
    pub(crate) warnings: Vec<String>,
    pub(crate) findings: Vec<Sentence>,
    pub(crate) runs: Vec<RunPart>,
}

/// What was done, for somebody who wants to do it again.
pub(crate) struct RunPart {
    pub(crate) title: String,
    pub(crate) details: Vec<(String, String)>,
}
