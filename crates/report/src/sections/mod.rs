//! The tests' parts of the page, a file each, in the order of the page.

pub(crate) mod consistency;
pub(crate) mod specification;

use crate::section::Section;
use crate::subject::Subjects;

/// The parts that any of the drives has something for.
pub(crate) fn sections(subjects: &Subjects<'_>) -> Vec<Section> {
    [consistency::section].iter().filter_map(|section| section(subjects)).collect()
}
