//! What pages of other crates share with the reports, so that they look and speak alike.

/// The style sheet of a report.
pub const STYLE: &str = include_str!("../templates/page.css");
/// Numbers and times as people write them, as functions of a script.
pub const NUMBERS: &str = include_str!("../templates/numbers.js");
