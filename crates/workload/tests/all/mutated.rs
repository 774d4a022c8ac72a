//! Job files with damage: the reader never panics, its errors name the file, and what it and the
//! check accept makes I/Os that a drive can take.
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Operation};
use writecliff_workload::fio::{OPTIONS, read};

const LBA: Bytes = Bytes(512);
const CAPACITY: Bytes = Bytes::from_mib(64);

/// Pieces that numbers and units are made of, and some that are not.
const PIECES: [&str; 16] = [
    "0",
    "9",
    "-1",
    "k",
    "%",
    ":",
    "/",
    "=",
    "\n",
    "[x]",
    "18446744073709551615",
    "4096",
    ",",
    "1g",
    "é",
    "${X}",
];

struct Damage {
    random: Xoshiro256PlusPlus,
}

impl Damage {
    fn below(&mut self, limit: usize) -> usize {
        (self.random.next_u64() % limit.max(1) as u64) as usize
    }

    /// One to four of: a character gone, a piece put in, a line twice, an option put in.
    fn done_to(&mut self, text: &str) -> String {
        let mut damaged: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(4) {
            let at = self.below(damaged.len());
            match self.below(4) {
                0 if !damaged.is_empty() => {
                    damaged.remove(at);
                }
                1 => {
                    let piece = PIECES[self.below(PIECES.len())];
                    damaged.splice(at..at, piece.chars());
                }
                2 => {
                    let whole: String = damaged.iter().collect();
                    let lines: Vec<&str> = whole.lines().collect();
                    let line = lines.get(self.below(lines.len())).copied().unwrap_or_default();
                    damaged.extend(format!("\n{line}\n").chars());
                }
                _ => {
                    let names = OPTIONS[self.below(OPTIONS.len())].names;
                    let value = PIECES[self.below(PIECES.len())];
                    damaged.extend(format!("\n{}={value}\n", names[0]).chars());
                }
            }
        }
        damaged.into_iter().collect()
    }
}

#[test]
fn no_damage_leads_to_a_panic_or_to_an_io_that_cannot_be() {
    let jobs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobs");
    let mut files: Vec<_> =
        std::fs::read_dir(jobs).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    let mut damage = Damage { random: Xoshiro256PlusPlus::seed_from_u64(11) };
    let (mut accepted, mut refused) = (0, 0);
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        for _ in 0..300 {
            let damaged = damage.done_to(&text);
            match read("damaged.fio", &damaged, &|_| None) {
                Ok(jobs) if jobs.list.check(LBA, CAPACITY).is_ok() => {
                    accepted += 1;
                    assert_possible(&jobs.list, &damaged);
                }
                Ok(_) => {}
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().starts_with("damaged.fio"), "{error}\n{damaged}");
                }
            }
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}

fn assert_possible(list: &writecliff_workload::JobList, text: &str) {
    for job in list.groups(1, CAPACITY).into_iter().flatten() {
        for io in job.ios(LBA, CAPACITY).take(200) {
            if io.operation == Operation::Flush {
                continue;
            }
            let aligned = io.offset.is_multiple_of(LBA) && io.length.is_multiple_of(LBA);
            assert!(aligned && io.length > Bytes::ZERO, "{io:?}\n{text}");
            assert!(io.offset + io.length <= CAPACITY, "{io:?}\n{text}");
        }
    }
}
