//! Text from traces, fit for a terminal.

/// Control characters could steer the terminal that shows them; U+FFFD stands for each.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
