//! Plans of one's own, and plans that cannot be: one clear message, never a panic, never a hang.
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::Operation;
use writecliff_trace::{MakeError, Maker, PLANS, Plan, SequentialDetector, TraceIo};

/// A plan with as little in it as possible: one scenario that reads and writes.
const SMALL: &str = r#"
name = "small"
about = "a test"
device_size = "1GiB"
alignment = "4KiB"
duration = "1h"

[target]
reads = 6000
writes = 4000
read_bytes = "60MB"
written_bytes = "50MB"
sequential_percent = 30
mean_queue_depth = 3
at_queue_depth_1_percent = 60
queue_depth_max = 16
sizes = [{ size = "4KiB", percent = 50 }, { size = "8KiB" }, { size = "64KiB" }]

[[area]]
name = "files"
size = "512MiB"

[[scenario]]
name = "work"
reads_percent = 100
writes_percent = 100
read_sizes = { 4KiB = 1, 8KiB = 1, 64KiB = 1 }
write_sizes = { 4KiB = 1, 8KiB = 1, 64KiB = 1 }
sequential = { small_percent = 20, large_percent = 80 }
queue = { at_1_percent = 50, deep = 5 }
file = "1MiB"
reads_from = ["files"]
writes_to = ["files"]
hot = { space_percent = 20, access_percent = 80 }
content = { compressible_percent = 40, duplicate_percent = 10 }
active = [[0, 100]]
"#;

fn made(text: &str) -> Result<Vec<TraceIo>, MakeError> {
    Ok(Maker::new(&Plan::parse("small.toml", text)?, 1)?.collect())
}

fn with(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    SMALL.replace(from, to)
}

fn sequential(ios: &[TraceIo]) -> usize {
    let mut detector = SequentialDetector::new();
    ios.iter().filter(|io| detector.is_sequential(io)).count()
}

#[test]
fn shipped_plans_are_known_by_the_names_within() {
    for shipped in &PLANS {
        assert_eq!(Plan::shipped(shipped.name).unwrap().name, shipped.name);
    }
    assert_eq!(Plan::shipped("heaviest-2011"), None);
}

#[test]
fn a_plan_of_one_s_own_is_met() {
    let ios = made(SMALL).unwrap();
    let count = |holds: fn(&TraceIo) -> bool| ios.iter().filter(|io| holds(io)).count();
    assert_eq!(count(|io| io.operation == Operation::Read), 6000);
    assert_eq!(count(|io| io.length.0 == 4096), 5000);
    assert_eq!(sequential(&ios), 3000);
    let read: u64 =
        ios.iter().filter(|io| io.operation == Operation::Read).map(|io| io.length.0).sum();
    // Operations change between 8 and 64 KiB: half of that difference is as near as it gets.
    assert!(read.abs_diff(60_000_000) <= 28 * 1024, "{read}");
}

#[test]
fn extremes_are_met_too() {
    let order = |percent: &str| made(&with("sequential_percent = 30", percent)).unwrap();
    assert_eq!(sequential(&order("sequential_percent = 0")), 0, "none, not even by accident");
    let all = with("sequential_percent = 30", "sequential_percent = 100");
    let ios = made(&all.replace("device_size = \"1GiB\"", "device_size = \"2GiB\"")).unwrap();
    assert!(sequential(&ios) >= 9990, "all but where there is nothing to go on from");
    let alone = with("mean_queue_depth = 3", "mean_queue_depth = 1");
    let alone = alone.replace("at_queue_depth_1_percent = 60", "at_queue_depth_1_percent = 100");
    let ios = made(&alone.replace("at_1_percent = 50", "at_1_percent = 100")).unwrap();
    assert!(ios.iter().all(|io| io.queue_depth == Some(1)));
    let writes = with("reads = 6000", "reads = 0").replace("60MB", "0B");
    let ios = made(&writes.replace("reads_percent = 100", "reads_percent = 0")).unwrap();
    assert_eq!(ios.len(), 4000);
}

#[test]
fn a_key_that_is_not_known_is_refused_with_its_line() {
    for (from, to, expected) in [
        ("duration = \"1h\"", "durations = \"1h\"", "small.toml:6: unknown field `durations`"),
        ("reads = 6000", "reads = -1", "small.toml:9: invalid value"),
        ("deep = 5", "depth = 5", "small.toml:30: unknown field `depth`"),
        ("file = \"1MiB\"", "file = \"1 apple\"", "small.toml:31: '1 apple' is not a size"),
        ("[target]", "[target", "small.toml:8: "),
        (
            "name = \"small\"",
            "name = \"../../evil\"",
            "small.toml:2: the name \"../../evil\" cannot be a file's",
        ),
        (
            "name = \"small\"",
            "name = \"\\u001b[2J\"",
            "small.toml:2: the name \"\\u{1b}[2J\" cannot be",
        ),
        ("name = \"small\"", "name = \"\"", "small.toml:2: the name \"\" cannot be a file's"),
    ] {
        let error = made(&with(from, to)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn what_cannot_be_is_told_in_one_message() {
    for (from, to, expected) in [
        ("read_bytes = \"60MB\"", "read_bytes = \"1GB\"", "bytes read come to"),
        ("read_bytes = \"60MB\"", "read_bytes = \"1MB\"", "bytes read come to"),
        (
            "mean_queue_depth = 3",
            "mean_queue_depth = 1.2",
            "asks for 1.50 on average of the others",
        ),
        ("mean_queue_depth = 3", "mean_queue_depth = 9", "half of queue_depth_max, which is 8"),
        (
            "at_1_percent = 50",
            "at_1_percent = 100",
            "the scenarios' queue.at_1_percent cannot be bent",
        ),
        ("at_queue_depth_1_percent = 60", "at_queue_depth_1_percent = 2", "at least 5"),
        ("percent = 50 }", "percent = 150 }", "the percent of 4KiB is 150, not 0 to 100"),
        ("size = \"8KiB\"", "size = \"9000B\"", "size 9kB is no multiple of 4KiB"),
        ("size = \"8KiB\"", "size = \"2KiB\"", "not in ascending order"),
        ("reads_from = [\"files\"]", "reads_from = [\"file\"]", "there is no area 'file'"),
        (
            "reads_percent = 100",
            "reads_percent = 90",
            "reads_percent of all scenarios add up to 90",
        ),
        ("device_size = \"1GiB\"", "device_size = \"256MiB\"", "does not hold the areas"),
        ("size = \"512MiB\"", "size = \"16MiB\"", "the hot part of 'files' has less than 4MiB"),
        ("active = [[0, 100]]", "active = [[50, 20]]", "say it like [[0, 20], [50, 100]]"),
        ("active = [[0, 100]]", "active = []", "say it like"),
        ("duration = \"1h\"", "duration = \"1s\"", "the work alone takes"),
        ("alignment = \"4KiB\"", "alignment = \"3KiB\"", "powers of two"),
        ("read_sizes = { 4KiB = 1,", "read_sizes = { 2KiB = 1,", "2KiB is not in target.sizes"),
        ("compressible_percent = 40", "compressible_percent = 140", "not 0 to 100"),
        ("reads = 6000", "reads = 0", "bytes read come to"),
    ] {
        let error = made(&with(from, to)).unwrap_err().to_string();
        assert!(error.starts_with("the plan small cannot be carried out: "), "{error}");
        assert!(error.contains(expected), "{to}: {error}");
    }
}

/// Digits changed, characters gone, lines gone or twice: most plans are refused, the others made.
#[test]
fn no_damage_leads_to_a_panic_or_an_operation_that_cannot_be() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut below = |limit: usize| (random.next_u64() % limit.max(1) as u64) as usize;
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..600 {
        let whole = if round % 3 == 0 { PLANS[below(3)].text } else { SMALL };
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        for _ in 0..=below(2) {
            let at = below(lines.len());
            let line: Vec<char> = lines[at].chars().collect();
            let digits: Vec<usize> =
                (0..line.len()).filter(|&index| line[index].is_ascii_digit()).collect();
            match below(8) {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[at].clone()),
                2 if !line.is_empty() => {
                    let gone = below(line.len());
                    let kept = line.iter().enumerate().filter(|(index, _)| *index != gone);
                    lines[at] = kept.map(|(_, character)| character).collect();
                }
                _ if !digits.is_empty() => {
                    let mut changed = line;
                    changed[digits[below(digits.len())]] = char::from(b'0' + below(10) as u8);
                    lines[at] = changed.into_iter().collect();
                }
                _ => {}
            }
        }
        let text = lines.join("\n");
        let plan = Plan::parse("damaged.toml", &text);
        match plan.and_then(|plan| Maker::new(&plan, 1).map(|maker| (plan, maker))) {
            Ok((plan, maker)) => {
                accepted += 1;
                for io in maker.take(5000) {
                    assert!(io.end() <= plan.device_size, "{io:?}\n{text}");
                    assert!(io.offset.is_multiple_of(plan.alignment), "{io:?}\n{text}");
                    assert!(io.queue_depth <= Some(plan.target.queue_depth_max), "{io:?}\n{text}");
                }
            }
            Err(MakeError::Syntax { .. } | MakeError::Impossible { .. }) => refused += 1,
            Err(other) => panic!("{other}\n{text}"),
        }
    }
    assert!(accepted > 50 && refused > 50, "{accepted} accepted, {refused} refused");
}
