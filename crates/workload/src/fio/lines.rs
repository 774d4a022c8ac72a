//! The lines of a job file: sections of options, each with the line that it stands in.
//!
//! fio's dialect is not INI: an option may stand without a value, comments begin with `;` or `#`
//! anywhere in a line, and `[global]` may come again and again.

use super::{Judged, wrong};

/// A section and its options as written.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) entries: Vec<Entry>,
}

/// One option as written.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) option: String,
    /// None without a `=`.
    pub(super) value: Option<String>,
}

pub(super) fn sections(text: &str) -> Judged<Vec<Section>> {
    let mut sections = Vec::<Section>::new();
    for (index, written) in text.lines().enumerate() {
        let line = index + 1;
        let content = written.split([';', '#']).next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        if let Some(rest) = content.strip_prefix('[') {
            let Some(name) = rest.strip_suffix(']').map(str::trim).filter(|n| !n.is_empty()) else {
                return wrong(line, format!("'{content}' is no section; write it like [job1]"));
            };
            sections.push(Section { name: name.to_owned(), line, entries: Vec::new() });
        } else if content.split_whitespace().next() == Some("include") {
            return wrong(line, "'include' is not followed; put that file's lines here");
        } else if let Some(section) = sections.last_mut() {
            section.entries.push(entry(line, content)?);
        } else {
            let message = format!("'{content}' is in no section; begin with [global] or [job1]");
            return wrong(line, message);
        }
    }
    Ok(sections)
}

fn entry(line: usize, content: &str) -> Judged<Entry> {
    let (option, value) = match content.split_once('=') {
        Some((option, value)) => (option, Some(value.trim().to_owned())),
        None => (content, None),
    };
    let option = option.trim().to_owned();
    if option.is_empty() || option.contains(char::is_whitespace) {
        return wrong(line, format!("'{content}' is no option; write it like bs=4k"));
    }
    Ok(Entry { line, option, value })
}
