//! The table at the end: a line a part, then what took long, what was left out, and what failed.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use super::Outcome;

/// A test that takes longer is listed, and must be worth it.
const SLOW: Duration = Duration::from_secs(5);
/// So many tests that were left out for the same reason are listed by their number.
const MANY: usize = 3;

/// A part that ran.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
}

/// In one line.
impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Outcome { passed, before, failed, skipped, .. } = &self.outcome;
        let (failed, skipped) = (failed.len(), skipped.len());
        let took = self.took.as_secs_f64();
        let name = &self.name;
        let passed = passed + before;
        write!(
            f,
            "{name:16} {took:7.1} s {passed:7} passed {failed:5} failed {skipped:5} skipped"
        )?;
        if *before > 0 { f.write_str("  before, and unchanged") } else { Ok(()) }
    }
}

/// Everything that ran, some of it at the same time.
pub(crate) struct Table<'a> {
    pub(crate) parts: &'a [Part],
    pub(crate) took: Duration,
}

impl Display for Table<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        for part in self.parts {
            writeln!(f, "{part}")?;
        }
        let all = |of: fn(&Outcome) -> usize| self.parts.iter().map(|part| of(&part.outcome)).sum();
        let (passed, failed, skipped): (usize, usize, usize) =
            (all(|o| o.passed + o.before), all(|o| o.failed.len()), all(|o| o.skipped.len()));
        self.slow(f)?;
        for Part { name, outcome, .. } in self.parts {
            let mut left_out: Vec<_> = outcome.skipped.iter().collect();
            left_out.sort_by_key(|one| &one.why);
            for alike in left_out.chunk_by(|one, other| one.why == other.why) {
                match alike {
                    [first, ..] if alike.len() >= MANY => {
                        writeln!(f, "left out  {name}: {} tests: {}", alike.len(), first.why)?;
                    }
                    _ => {
                        for one in alike {
                            writeln!(f, "left out  {name}: {}: {}", one.name, one.why)?;
                        }
                    }
                }
            }
        }
        for Part { name, outcome, .. } in self.parts {
            for failed in &outcome.failed {
                writeln!(f, "FAILED    {name}: {failed}")?;
            }
        }
        writeln!(f, "{:.0} s in all", self.took.as_secs_f64())?;
        match all(|o| o.before) {
            0 => {}
            before => writeln!(
                f,
                "{before} of those that passed did so before, and nothing of them has changed; --again tries them too"
            )?,
        }
        writeln!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

impl Table<'_> {
    fn slow(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let of_part = |part: &Part| {
            let named =
                |(test, took): &(String, Duration)| (part.name.clone(), test.clone(), *took);
            let slow = part.outcome.slow.iter().filter(|(_, took)| *took >= SLOW);
            slow.map(named).collect::<Vec<_>>()
        };
        let mut slow: Vec<_> = self.parts.iter().flat_map(of_part).collect();
        slow.sort_by_key(|(_, _, took)| std::cmp::Reverse(*took));
        for (part, test, took) in slow {
            writeln!(f, "{:7.1} s {part}: {test}", took.as_secs_f64())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_failed_or_was_left_out_is_missing_and_the_last_line_counts() {
        let mut first = Outcome::of("a", Ok(()));
        first.add("b", Duration::from_secs(7), Err("as it should not be".to_owned()));
        let second = Outcome::left_out("c", "there is no QEMU");
        let part = |name: &str, outcome| Part {
            name: name.to_owned(),
            outcome,
            took: Duration::from_secs(1),
        };
        let parts = [part("one", first), part("two", second)];
        let text = Table { parts: &parts, took: Duration::from_secs(2) }.to_string();
        let lines: Vec<&str> = text.trim().lines().map(str::trim).collect();
        assert_eq!(
            lines[2..],
            [
                "7.0 s one: b",
                "left out  two: c: there is no QEMU",
                "FAILED    one: b",
                "2 s in all",
                "1 passed, 1 failed, 1 skipped"
            ]
        );
    }
}
