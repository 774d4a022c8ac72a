//! What this program writes to a drive against what the kernel counts: what is more is somebody else's.
//!
//! Nobody goes around these counters, whatever he holds the drive by, but who sends it commands of its own
//! (SG_IO, NVMe passthrough). The kernel counts an I/O when it is done, this side when it is asked for: so
//! the kernel's count can only be the smaller one, as long as nobody else writes. Requests that are merged
//! or split have the same bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use writecliff_device::{Bytes, Io, Operation};

use crate::guard::family::OtherPath;
use crate::guard::refusal::Refusal;
use crate::guard::twins;
use crate::host::io_counts::{IoCounter, IoCounts};
use crate::host::sysfs::{Host, Node};

/// So long before the first write nobody may have written.
const QUIET: Duration = Duration::from_secs(1);

/// What one way into a drive has asked it to change; written by its own thread only.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    written: AtomicU64,
    discarded: AtomicU64,
}

impl Asked {
    pub(crate) fn note(&self, io: &Io) {
        let sum = match io.operation {
            Operation::Write => &self.written,
            Operation::Trim => &self.discarded,
            Operation::Read | Operation::Flush => return,
        };
        sum.store(sum.load(Ordering::Relaxed) + io.length.0, Ordering::Release);
    }
}

/// The count of a whole drive's changes, from before it was judged on.
#[derive(Debug)]
pub(crate) struct Ledger {
    host: Host,
    since: Instant,
    own: Option<Counted>,
    others: Mutex<Vec<Other>>,
    /// By each way into it.
    asked: Mutex<Vec<Arc<Asked>>>,
}

/// A disk, and what was counted of it at first.
#[derive(Debug)]
struct Counted {
    name: String,
    counter: IoCounter,
    first: IoCounts,
}

/// Another name of the drive, or of one that may be it.
#[derive(Debug)]
struct Other {
    path: OtherPath,
    counted: Counted,
}

impl Counted {
    fn of(host: &Host, node: &Node) -> Option<Self> {
        let disk = node.disk().ok()?;
        let counter = IoCounter::of(&disk)?;
        let first = counter.read()?;
        Some(Self { name: host.name_of(&disk), counter, first })
    }

    /// What was changed since, but so much.
    fn beyond(&self, counts: IoCounts, (written, discarded): (u64, u64)) -> Option<Refusal> {
        let more =
            |now: Bytes, first: Bytes, own| now.0.saturating_sub(first.0).saturating_sub(own);
        let bytes = more(counts.written, self.first.written, written)
            + more(counts.discarded, self.first.discarded, discarded);
        let (device, bytes) = (self.name.clone(), Bytes(bytes));
        (bytes > Bytes::ZERO).then_some(Refusal::WrittenByOthers { device, bytes })
    }
}

impl Ledger {
    /// Begins to count.
    pub(crate) fn begin(host: &Host, node: &Node) -> Self {
        Self {
            host: host.clone(),
            since: Instant::now(),
            own: Counted::of(host, node),
            others: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// Counts for other names of the drive as well.
    pub(crate) fn watch(&self, paths: &[OtherPath]) {
        let counted = paths.iter().filter_map(|path| {
            let counted = Counted::of(&self.host, &path.other)?;
            Some(Other { path: path.clone(), counted })
        });
        self.others.lock().unwrap_or_else(PoisonError::into_inner).extend(counted);
    }

    /// For one more way into the drive.
    pub(crate) fn account(&self) -> Arc<Asked> {
        let asked = Arc::new(Asked::default());
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&asked));
        asked
    }

    /// Waits for what is left of the second in which nobody may write.
    pub(crate) fn wait_for_quiet(&self) {
        if self.own.is_some() {
            thread::sleep(QUIET.saturating_sub(self.since.elapsed()));
        }
    }

    /// Who has written to it since it was judged, before this program's first write.
    pub(crate) fn look_before_the_first_write(&self) -> Vec<Refusal> {
        let counts = self.own.as_ref().and_then(|own| own.counter.read());
        counts.map_or_else(Vec::new, |counts| self.beyond(counts))
    }

    /// Who has written to it beside this program, by what the kernel counted a moment ago.
    pub(crate) fn beyond(&self, counts: IoCounts) -> Vec<Refusal> {
        // After the kernel's count: what was asked for since is only more.
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |of: fn(&Asked) -> &AtomicU64| -> u64 {
            asked.iter().map(|asked| of(asked).load(Ordering::Acquire)).sum()
        };
        let own = (sum(|asked| &asked.written), sum(|asked| &asked.discarded));
        let mut found = Vec::from_iter(self.own.as_ref().and_then(|own_| own_.beyond(counts, own)));
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        // One that only may be the same drive and is written has shown by now whether it is.
        others.retain(|Other { path, counted }| {
            let written = counted.counter.read().and_then(|now| counted.beyond(now, (0, 0)));
            let Some(written) = written else { return true };
            let OtherPath { own, other, .. } = path;
            let is_the_same =
                path.is_certain() || twins::hold_the_same(&self.host, own, other).unwrap_or(true);
            if is_the_same {
                found.extend([written, path.told(&self.host)]);
            }
            is_the_same
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::host::fake_machine::Machine;

    fn stat(written: u64, discarded: u64) -> String {
        format!("9 0 9 0 {w} 0 {w} 0 0 0 0 {d} 0 {d} 0", w = written, d = discarded)
    }

    fn machine() -> (Machine, Node) {
        let machine = Machine::new(&[("sda", "8:0")], &[], "");
        fs::create_dir_all(machine.place("sda").join("queue")).unwrap();
        fs::write(machine.place("sda").join("queue/iostats"), "1\n").unwrap();
        fs::write(machine.place("sda").join("stat"), stat(1000, 0)).unwrap();
        let node = machine.host.node("8:0".parse().unwrap()).unwrap();
        (machine, node)
    }

    fn beyond(machine: &Machine, ledger: &Ledger, written: u64, discarded: u64) -> Option<u64> {
        fs::write(machine.place("sda").join("stat"), stat(written, discarded)).unwrap();
        let counts = ledger.own.as_ref().unwrap().counter.read().unwrap();
        match &ledger.beyond(counts)[..] {
            [] => None,
            [Refusal::WrittenByOthers { bytes, .. }] => Some(bytes.0),
            found => panic!("{found:?}"),
        }
    }

    #[test]
    fn what_was_asked_for_is_this_program_s_and_a_sector_more_is_not() {
        let (machine, node) = machine();
        let ledger = Ledger::begin(&machine.host, &node);
        let (one, other) = (ledger.account(), ledger.account());
        one.note(&Io::write(Bytes(0), Bytes(4096)));
        other.note(&Io::trim(Bytes(0), Bytes(8192)));
        // In flight, in part, and done.
        for (written, discarded) in [(1000, 0), (1004, 8), (1008, 16)] {
            assert_eq!(beyond(&machine, &ledger, written, discarded), None);
        }
        assert_eq!(beyond(&machine, &ledger, 1009, 16), Some(512));
        assert_eq!(beyond(&machine, &ledger, 1008, 17), Some(512));
        one.note(&Io::read(Bytes(0), Bytes(4096)));
        assert_eq!(beyond(&machine, &ledger, 1016, 16), Some(4096));
    }

    #[test]
    fn a_write_in_the_second_before_the_first_is_told() {
        let (machine, node) = machine();
        let ledger = Ledger::begin(&machine.host, &node);
        ledger.wait_for_quiet();
        assert_eq!(ledger.look_before_the_first_write(), []);
        assert!(ledger.since.elapsed() >= QUIET);
        fs::write(machine.place("sda").join("stat"), stat(1001, 0)).unwrap();
        assert_eq!(ledger.look_before_the_first_write().len(), 1);
    }

    #[test]
    fn where_nothing_is_counted_nothing_is_told() {
        let (machine, node) = machine();
        fs::write(machine.place("sda").join("queue/iostats"), "0\n").unwrap();
        let ledger = Ledger::begin(&machine.host, &node);
        assert_eq!(ledger.look_before_the_first_write(), []);
    }
}
