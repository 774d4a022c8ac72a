//! When operations are issued: work at the speed of an ordinary drive of 2011, thought in between.

use writecliff_device::{Bytes, Nanos, Throughput};

use super::plan::Plan;
use super::random::Random;
use super::schedule::Section;

/// From handing one operation to the drive to handing it the next, while the queue fills.
const SUBMIT: Nanos = Nanos::from_micros(10);
/// What the drive takes for an operation, besides its data.
const COMMAND: Nanos = Nanos::from_micros(100);
/// At which rate the drive moves data.
const RATE: Throughput = Throughput(250_000_000);

/// The clock of a trace in the making.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    now: Nanos,
    /// The operation before; `None` at first.
    before: Option<(u32, Bytes)>,
    /// What an operation takes on average when it is alone.
    service: Nanos,
}

impl Pace {
    pub(super) fn new(plan: &Plan) -> Self {
        let ios = plan.target.ios().max(1);
        Self { now: Nanos::ZERO, before: None, service: Nanos(working_time(plan).0 / ios) }
    }

    /// Passes the time before a burst: what the section has left beyond the work itself is spread
    /// over its bursts by their length, unevenly, as people think.
    pub(super) fn think(&mut self, section: &Section, ios: u64, random: &mut Random) {
        self.now = self.now.max(section.begin);
        if self.before.is_none() {
            return;
        }
        let left = section.ios_left().max(1);
        let work = self.now.0.saturating_add(self.service.0.saturating_mul(left));
        let spare = section.end.0.saturating_sub(work);
        let fair = (u128::from(spare) * u128::from(ios) / u128::from(left)) as u64;
        // The product of two even draws, four times as large: the mean is the fair share.
        let pause = random.below(fair.saturating_mul(4));
        self.now += Nanos(random.below(pause).min(spare));
    }

    /// When the next operation is issued, which finds this depth.
    pub(super) fn issue(&mut self, depth: u32, length: Bytes) -> Nanos {
        if let Some((depth_before, length_before)) = self.before {
            let transfer = RATE.time_for(length_before);
            self.now += match depth {
                1 => COMMAND + transfer,
                depth if depth > depth_before => SUBMIT,
                _ => transfer.max(SUBMIT),
            };
        }
        self.before = Some((depth, length));
        self.now
    }
}

/// What the plan's operations take without any pause, at most.
pub(super) fn working_time(plan: &Plan) -> Nanos {
    let target = &plan.target;
    let commands = COMMAND.0.saturating_mul(target.ios());
    let bytes = target.read_bytes.0.saturating_add(target.written_bytes.0);
    Nanos(commands.saturating_add(RATE.time_for(Bytes(bytes)).0))
}
