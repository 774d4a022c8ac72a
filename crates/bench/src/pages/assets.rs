//! The page itself, its script and its style sheet: the reports' look, and what Bench adds to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use writecliff_report::look;

use super::{Audience, hash};

/// The script's parts, in the order in which they need each other.
const PARTS: &[&str] = &[
    look::NUMBERS,
    include_str!("../../pages/elements.js"),
    include_str!("../../pages/data.js"),
    include_str!("../../pages/address.js"),
    include_str!("../../pages/filters.js"),
    include_str!("../../pages/choices.js"),
    include_str!("../../pages/output.js"),
    include_str!("../../pages/told_apart.js"),
    include_str!("../../pages/ranking.js"),
    include_str!("../../pages/chart.js"),
    include_str!("../../pages/course.js"),
    include_str!("../../pages/side_by_side.js"),
    include_str!("../../pages/compare.js"),
    include_str!("../../pages/runs.js"),
    include_str!("../../pages/drive.js"),
    include_str!("../../pages/drives.js"),
    include_str!("../../pages/scatter.js"),
    include_str!("../../pages/table.js"),
    include_str!("../../pages/main.js"),
];

/// What the page may do: show itself, load its own files, and ask its own server what is new.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

/// The page; adds what it needs to `files`.
pub(super) fn page(
    files: &mut BTreeMap<String, Arc<[u8]>>,
    index: &str,
    audience: Audience,
) -> String {
    let script = format!("(() => {{\n{}}})();\n", PARTS.concat());
    let style = [look::STYLE, include_str!("../../pages/bench.css")].concat();
    let mut add = |kind: &str, text: String| {
        let name = format!("bench-{}.{kind}", hash(text.as_bytes()));
        files.insert(name.clone(), text.into_bytes().into());
        name
    };
    let live = if audience.is_live() { " data-live" } else { "" };
    include_str!("../../pages/page.html")
        .replace("{{ index }}", index)
        .replace("{{ live }}", live)
        .replace("{{ policy }}", POLICY)
        .replace("{{ style }}", &add("css", style))
        .replace("{{ script }}", &add("js", script))
        .replace("{{ version }}", env!("CARGO_PKG_VERSION"))
}
