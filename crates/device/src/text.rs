//! Text from elsewhere, fit for a terminal and for a file of text.
//!
//! Drives, traces, records that somebody else made and paths may hold anything. Control characters
//! could steer the terminal that shows them, and marks of writing direction could let a line say
//! what it does not hold; U+FFFD stands for each.

/// A name or another text of one line: no line ends inside it, either.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A text of several lines: line ends (also CR LF) and tabs stay.
pub fn printable_lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let stays = match c {
            '\n' | '\t' => true,
            '\r' => rest.peek() == Some(&'\n'),
            c => !steers(c),
        };
        lines.push(if stays { c } else { char::REPLACEMENT_CHARACTER });
    }
    lines
}

/// Control characters of both sets (C0 with ESC, DEL, C1 with CSI), and what turns the direction of
/// the characters around it or ends a line without being a control character.
fn steers(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_stays_in_a_name() {
        assert_eq!(printable("M\x1b]0;title\x07\x1b[2Jx"), "M\u{fffd}]0;title\u{fffd}\u{fffd}[2Jx");
        assert_eq!(
            printable("a\u{9b}31m\x7f\nb\tc\0"),
            "a\u{fffd}31m\u{fffd}\u{fffd}b\u{fffd}c\u{fffd}"
        );
        assert_eq!(printable("sd\u{202e}a\u{2066}\u{2028}"), "sd\u{fffd}a\u{fffd}\u{fffd}");
        assert_eq!(printable("Größe 8 Ω"), "Größe 8 Ω");
    }

    #[test]
    fn lines_keep_their_ends_and_tabs() {
        assert_eq!(printable_lines("a\r\n\tb\n"), "a\r\n\tb\n");
        assert_eq!(printable_lines("a\rb\x1b[Ac\r"), "a\u{fffd}b\u{fffd}[Ac\u{fffd}");
    }
}
