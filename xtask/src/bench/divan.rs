//! What divan prints. It has no output for machines (0.1.21), so its table is read: names as a
//! tree, one line of times per bench, below it a line per counter. Harnesses with such an output
//! (criterion, with critcmp) compare runs that came one after the other; here both sides take turns,
//! because neighbours on a machine come and go.

use std::cmp::Ordering;
use std::fmt;

/// How fast something is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    per_second: f64,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Bytes,
    Chars,
    Hertz,
    Items,
    /// Calls of a bench without a counter; shown as the time of one.
    Calls,
}

/// As divan writes them, in the order to look for them.
const UNITS: [(&str, Unit); 4] =
    [("B/s", Unit::Bytes), ("char/s", Unit::Chars), ("item/s", Unit::Items), ("Hz", Unit::Hertz)];

const PREFIXES: [(&str, f64); 6] =
    [("", 1.0), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15)];

const TIMES: [(&str, f64); 8] = [
    ("ps", 1e-12),
    ("ns", 1e-9),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("d", 86400.0),
];

impl Rate {
    /// Orders by speed.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        self.per_second.total_cmp(&other.per_second)
    }

    /// How many times as fast as `other`. None if they do not compare: one of them counts
    /// something else, or was too short for the clock.
    pub(crate) fn ratio(self, other: Self) -> Option<f64> {
        let ratio = self.per_second / other.per_second;
        (self.unit == other.unit && ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }

    /// Reads a throughput: "2.1 Mitem/s".
    fn throughput(cell: &str) -> Option<Self> {
        let (number, scaled) = cell.rsplit_once(' ')?;
        let (prefix, unit) =
            UNITS.iter().find_map(|(suffix, unit)| Some((scaled.strip_suffix(suffix)?, *unit)))?;
        let (_, scale) = PREFIXES.iter().find(|(name, _)| *name == prefix)?;
        Some(Self { per_second: number.parse::<f64>().ok()? * scale, unit })
    }

    /// Reads the time of one call: "31.82 µs".
    fn time(cell: &str) -> Option<Self> {
        let (number, unit) = cell.rsplit_once(' ')?;
        let (_, seconds) = TIMES.iter().find(|(name, _)| *name == unit)?;
        let time = number.parse::<f64>().ok()? * seconds;
        Some(Self { per_second: 1.0 / time, unit: Unit::Calls })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unit == Unit::Calls {
            let seconds = 1.0 / self.per_second;
            return match seconds {
                1.0.. => write!(f, "{seconds:.1} s/call"),
                1e-3.. => write!(f, "{:.1} ms/call", seconds * 1e3),
                _ => write!(f, "{:.1} ns/call", seconds * 1e9),
            };
        }
        let reached = |(_, scale): &&(&str, f64)| self.per_second >= *scale;
        let (prefix, scale) = PREFIXES.iter().rev().find(reached).unwrap_or(&PREFIXES[0]);
        let unit = UNITS.iter().find(|(_, unit)| *unit == self.unit).map_or("", |(name, _)| name);
        write!(f, "{:.2} {prefix}{unit}", self.per_second / scale)
    }
}

/// Every bench that was measured, by its path (`ssd::random_reads::tiny`), with the rate of its
/// fastest sample: by its first counter, or by time without one.
pub(crate) fn rates(output: &str) -> Vec<(String, Rate)> {
    let mut benches: Vec<(String, Rate)> = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    for line in output.lines() {
        let fastest = fastest(line);
        if let Some((depth, rest)) = branch(line) {
            path.truncate(depth);
            path.push(rest.split("  ").next().unwrap_or(rest).trim());
            benches.extend(fastest.and_then(Rate::time).map(|rate| (path.join("::"), rate)));
        } else if fastest == Some("fastest") {
            path = line.split_whitespace().take(1).collect();
        } else if let (Some(rate), Some((_, last))) =
            (fastest.and_then(Rate::throughput), benches.last_mut())
            && last.unit == Unit::Calls
        {
            *last = rate;
        }
    }
    benches
}

/// How deep a line's branch is in the tree, the root being 0, and what stands behind the branch.
fn branch(line: &str) -> Option<(usize, &str)> {
    let start = line.find(['├', '╰'])?;
    // Each level is three characters wide.
    let depth = line[..start].chars().count() / 3 + 1;
    Some((depth, line[start..].trim_start_matches(['├', '╰', '─', ' '])))
}

/// The first of a line's six columns; two spaces or more divide it from the names.
fn fastest(line: &str) -> Option<&str> {
    let cell = line.rsplit('│').nth(5)?.trim();
    Some(cell.rsplit("  ").next().unwrap_or(cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> Vec<String> {
        rates(output).iter().map(|(name, rate)| format!("{name} = {rate}")).collect()
    }

    #[test]
    fn items_and_their_arguments() {
        let output = "\
ssd                               fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ random_reads                                 │               │               │               │         │
│  ├─ samsung-840-evo-1tb         63.63 ms      │ 76.18 ms      │ 72.44 ms      │ 71.2 ms       │ 10      │ 10
│  │                              3.142 Mitem/s │ 2.625 Mitem/s │ 2.76 Mitem/s  │ 2.808 Mitem/s │         │
│  ╰─ samsung-840-evo-250gb       45.27 ms      │ 50.75 ms      │ 47.39 ms      │ 47.72 ms      │ 10      │ 10
│                                 4.417 Mitem/s │ 3.94 Mitem/s  │ 4.219 Mitem/s │ 4.19 Mitem/s  │         │
╰─ sequential_fill_in_pages                     │               │               │               │         │
   ├─ samsung-840-evo-1tb         2.598 s       │ 2.666 s       │ 2.614 s       │ 2.626 s       │ 3       │ 3
   │                              93.95 Mitem/s │ 91.56 Mitem/s │ 93.39 Mitem/s │ 92.96 Mitem/s │         │
   ╰─ samsung-840-evo-250gb       785.2 ms      │ 808.3 ms      │ 786.3 ms      │ 793.3 ms      │ 3       │ 3
                                  77.74 Mitem/s │ 75.52 Mitem/s │ 77.63 Mitem/s │ 76.95 Mitem/s │         │

";
        let expected = [
            "ssd::random_reads::samsung-840-evo-1tb = 3.14 Mitem/s",
            "ssd::random_reads::samsung-840-evo-250gb = 4.42 Mitem/s",
            "ssd::sequential_fill_in_pages::samsung-840-evo-1tb = 93.95 Mitem/s",
            "ssd::sequential_fill_in_pages::samsung-840-evo-250gb = 77.74 Mitem/s",
        ];
        assert_eq!(shown(output), expected);
    }

    #[test]
    fn bytes() {
        let output = "\
content        fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ fill                      │               │               │               │         │
   ├─ 4096     109.7 ns      │ 31.82 µs      │ 119.7 ns      │ 438.1 ns      │ 100     │ 100
   │           37.31 GB/s    │ 128.6 MB/s    │ 34.2 GB/s     │ 9.348 GB/s    │         │
   ╰─ 4194304  97.01 µs      │ 3.011 ms      │ 103.3 µs      │ 135.6 µs      │ 100     │ 100
               43.23 GB/s    │ 1.392 GB/s    │ 40.58 GB/s    │ 30.92 GB/s    │         │
";
        let expected = ["content::fill::4096 = 37.31 GB/s", "content::fill::4194304 = 43.23 GB/s"];
        assert_eq!(shown(output), expected);
    }

    /// Left-out benches, a warning in the table, times without counters, groups, threads, names
    /// with the table's own characters, two counters, and lines of an allocation profile.
    #[test]
    fn all_that_divan_can_print() {
        let output = "\
many                fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ left_out         (ignored)     │               │               │               │         │
├─ never_calls      warning: No benchmark function registered for 'never_calls'

├─ plain            125.5 ns      │ 129.3 ns      │ 127.4 ns      │ 127.5 ns      │ 100     │ 1600
├─ slow             300.1 ms      │ 300.1 ms      │ 300.1 ms      │ 300.1 ms      │ 3       │ 3
╰─ group                          │               │               │               │         │
   ├─ many_threads                │               │               │               │         │
   │  ├─ a b                      │               │               │               │         │
   │  │  ╰─ t=2     15.24 ns      │ 42.49 ns      │ 17.29 ns      │ 17.42 ns      │ 100     │ 6400
   │  │             196.7 MB/s    │ 70.59 MB/s    │ 173.4 MB/s    │ 172.1 MB/s    │         │
   │  │             196.7 Mchar/s │ 70.59 Mchar/s │ 173.4 Mchar/s │ 172.1 Mchar/s │         │
   │  │             max alloc:    │               │               │               │         │
   │  │               1           │ 1             │ 1             │ 1             │         │
   │  │               3 B         │ 3 B           │ 3 B           │ 3 B           │         │
   │  ╰─ c│d                      │               │               │               │         │
   │     ╰─ t=1     16.35 ns      │ 22.21 ns      │ 16.93 ns      │ 17.26 ns      │ 100     │ 12800
   │                305.6 MB/s    │ 225 MB/s      │ 295.1 MB/s    │ 289.5 MB/s    │         │
   ╰─ vector                      │               │               │               │         │
      ╰─ u64        66.79 ns      │ 860.5 ns      │ 68.17 ns      │ 84.53 ns      │ 100     │ 800
                    max alloc:    │               │               │               │         │
                      8 KB        │ 8 KB          │ 8 KB          │ 8 KB          │         │
";
        let expected = [
            "many::plain = 125.5 ns/call",
            "many::slow = 300.1 ms/call",
            "many::group::many_threads::a b::t=2 = 196.70 MB/s",
            "many::group::many_threads::c│d::t=1 = 305.60 MB/s",
            "many::group::vector::u64 = 66.8 ns/call",
        ];
        assert_eq!(shown(output), expected);
    }

    #[test]
    fn nothing_measured_is_no_bench() {
        assert!(rates("").is_empty());
        assert!(rates("│\n├─\n╰─ x │ │ │ │ │\nfastest │ │ │ │ │ iters\n").is_empty());
    }

    #[test]
    fn faster_is_above_one() {
        let (fast, slow) = (Rate::time("10 ns").unwrap(), Rate::time("20 ns").unwrap());
        let (many, none) = (Rate::throughput("1 item/s").unwrap(), Rate::time("0 ns").unwrap());
        assert_eq!(fast.ratio(slow), Some(2.0));
        assert_eq!(fast.ratio(many), None);
        assert_eq!(fast.ratio(none), None);
        assert_eq!(none.ratio(none), None);
        assert_eq!(fast.compare(&slow), Ordering::Greater);
    }
}
