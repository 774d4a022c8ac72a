//! What a browser is given: one page, its script and style, and the results as files that are scripts
//! themselves, since a page from a disk may read no others.
//!
//! The index (drives, metrics, conditions) is loaded first; a file for each metric and one for each
//! drive when a reader asks for them, and the course of a run when its picture is drawn. All but the
//! page itself have a name that changes with their content (a run that is complete has one course and
//! no other), so that they may be kept for ever, and an export writes only what is new.
//!
//! What is private (serial numbers, the machine, directories) is in none of them.

mod assets;
mod columns;
mod reports;
mod shards;

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::model::{Bench, Pictures};

pub(crate) use assets::POLICY;
pub(crate) use reports::Report;
pub use reports::ReportsError;
pub(crate) use reports::{FOLDER, allowed, of as reports_of};

/// Who is to look at the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Whoever is at this machine, while they are served: they learn what could not be read, and what
    /// is new without loading them again.
    Here,
    /// Whoever reaches this machine over a network: they learn what is new, and nothing of the machine.
    Network,
    /// Anybody: the files are taken to another place.
    Everybody,
}

impl Audience {
    /// Whether the results can become more while they are looked at.
    fn is_live(self) -> bool {
        self != Self::Everybody
    }

    /// Whether they may know this machine's directories.
    fn is_here(self) -> bool {
        self == Self::Here
    }
}

/// The page's file.
pub(crate) const PAGE: &str = "index.html";
/// Where the results are, beside it.
pub(crate) const DATA: &str = "data";
/// Digits of a content's hash in a file's name.
const HASH_DIGITS: usize = 12;
/// So much of an id is in a file's name at most.
const ID_LENGTH_MAX: usize = 80;

/// All pages about a [`Bench`]. The courses of runs and their reports are made when they are asked
/// for.
#[derive(Debug)]
pub struct Site {
    /// By path below the site's root.
    pub(crate) files: BTreeMap<String, Arc<[u8]>>,
    /// The name of the index, which changes whenever anything does.
    pub(crate) index: String,
    /// Ids of the runs that have a course.
    pub(crate) pictured: Vec<String>,
    /// Reports of the runs.
    pub(crate) reports: Vec<Report>,
}

impl Site {
    /// The pages about these results, with the reports of all runs that have one.
    pub fn new(bench: &Bench, audience: Audience) -> Self {
        Self::with(bench, audience, reports::of(bench))
    }

    /// The same with these reports.
    pub(crate) fn with(bench: &Bench, audience: Audience, reports: Vec<Report>) -> Self {
        let shards = shards::all(bench, &reports, audience);
        let mut files = BTreeMap::new();
        for (name, content) in shards.files {
            files.insert(data_path(&name), content.into_bytes().into());
        }
        let page = assets::page(&mut files, &shards.index, audience);
        files.insert(PAGE.to_owned(), page.into_bytes().into());
        Self { files, index: shards.index, pictured: shards.pictured, reports }
    }

    /// The file with the course of a run; `None` if the run has none.
    pub(crate) fn course(&self, path: &str, pictures: &dyn Pictures) -> Option<String> {
        let name = path.strip_prefix("data/")?.strip_suffix(".js")?;
        let id = name.strip_prefix(shards::COURSE)?;
        let is_there = self.pictured.iter().any(|one| one == id);
        is_there.then(|| shards::course(id, &pictures.pictures(id)))
    }

    /// The paths of all courses.
    pub(crate) fn courses(&self) -> impl Iterator<Item = String> {
        self.pictured.iter().map(|id| data_path(&format!("{}{id}", shards::COURSE)))
    }
}

/// Where the file with the results of this name is.
fn data_path(name: &str) -> String {
    format!("{DATA}/{name}.js")
}

/// What the content adds to a file's name.
fn hash(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    let hex = digest.iter().map(|byte| format!("{byte:02x}"));
    hex.collect::<String>()[..HASH_DIGITS].to_owned()
}

/// As much of an id as fits into a file's name; ids are letters, digits and hyphens.
fn short(id: &str) -> &str {
    &id[..id.len().min(ID_LENGTH_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Problem;

    #[test]
    fn the_page_says_who_made_it() {
        let site = Site::new(&Bench::default(), Audience::Everybody);
        let page = String::from_utf8_lossy(&site.files[PAGE]);
        assert!(
            page.contains(concat!("Made by Writecliff ", env!("CARGO_PKG_VERSION"), ".")),
            "{page}"
        );
    }

    #[test]
    fn what_cannot_be_read_is_told_at_this_machine_alone() {
        let problem =
            Problem { path: "/secret/directory".into(), message: "it is damaged".to_owned() };
        let bench = Bench { problems: vec![problem], ..Bench::default() };
        let told = |audience| {
            let site = Site::new(&bench, audience);
            let text = site.files.values().flat_map(|content| content.iter().copied());
            String::from_utf8_lossy(&Vec::from_iter(text)).contains("/secret/directory")
        };
        let all = [Audience::Here, Audience::Network, Audience::Everybody];
        assert_eq!(all.map(told), [true, false, false]);
    }
}
