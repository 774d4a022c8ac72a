//! Cost model: which rates and response times may a scheduler count on?
//!
//! The kernel's `io.cost`, Seastar and their like divide a drive among those who want it by a model of
//! what it does: six rates, and response times that it keeps at them. Tools that measure them take a drive
//! as it is, most often fresh. Here they are measured of the fresh drive, as those tools do it, and of the
//! same drive in steady state; then reads and writes arrive together at growing shares of the steady rates,
//! which tells how much of the model the drive keeps, and how late it is then.

mod coefficients;
mod conclude;
mod outcome;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Stream, Streams, Totals};
use writecliff_workload::{Gaps, Pace, RandomUniform};

use crate::method::estimate::{Demands, Estimate, is_hard_disk, scale};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH};
use crate::method::limits::{PlanError, check_block, check_duration, check_list, listed, used};
use crate::method::loads::{Load, series};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, few, quick_span};
use crate::method::seed::seed_of;
use crate::method::session::{Extent, RunError, Session};
use crate::method::settling::{DRIVE_WRITES_MAX, Settling, TIME_MAX};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::Figure;
use crate::record::warning::Warning;

pub use coefficients::{Coefficient, Coefficients};
pub use conclude::measured;
pub use outcome::{Limits, OfOperation, Outcome, PERCENTILE, Promise, Rung, State};

/// The phase that writes the part in which the fresh drive is measured.
const LAYOUT: &str = "layout";
/// The phase that writes every LBA once.
pub const FILL: &str = "fill";
/// The phase of random writes until the drive is steady.
pub const SETTLE: &str = "settle";
/// The phase that does what the drive keeps once more.
const CHECK: &str = "check";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Size of an I/O where I/Os are counted.
    pub block: Bytes,
    /// Size of an I/O where bytes are counted.
    pub transfer: Bytes,
    /// I/Os of the size `block` in flight, if the drive takes as many.
    pub queue_depth: usize,
    /// I/Os of the size `transfer` in flight.
    pub transfer_queue_depth: usize,
    /// How long each rate and each share of them is measured.
    pub measurement: Nanos,
    /// The part of the fresh drive, from its start, that is written and measured: other tools' test file.
    pub layout: Bytes,
    /// How long random writes go on at least, and then on until the drive is steady.
    pub settle: Nanos,
    /// Shares of the steady rates at which reads and writes arrive together, in percent: half of it of
    /// each.
    pub percents: Vec<u32>,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides where I/Os go and when they arrive.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            block: Bytes::from_kib(4),
            transfer: Bytes::from_mib(1),
            queue_depth: 64,
            transfer_queue_depth: 32,
            measurement: Nanos::from_secs(30),
            layout: Bytes::from_gib(16),
            settle: Nanos::from_secs(600),
            percents: vec![10, 25, 50, 60, 70, 80, 90, 100],
            span: None,
            seed: 1,
        }
    }
}

/// More than its model says nobody asks of a drive.
const PERCENT_MAX: u32 = 100;
/// What is more waits in the host, and takes memory there.
const QUEUE_DEPTH_MAX: usize = 4096;

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.transfer)
    }

    /// Of a scale model such a part as it has of the drive: else the rates of the fresh drive would be those
    /// of one that is full.
    fn layout_on(&self, drive: &DeviceInfo) -> Bytes {
        let parts = scale(drive).map_or(1, u64::from);
        Bytes(self.layout.0 / parts).max(self.transfer.max(FILL_BLOCK)).min(self.layout)
    }

    /// What is used in a state.
    fn used_in(&self, state: State, drive: &DeviceInfo) -> Bytes {
        match state {
            State::Fresh => used(Some(self.layout_on(drive)), self.used(drive), self.transfer),
            State::Steady => self.used(drive),
        }
    }

    fn load(&self, coefficient: Coefficient) -> Load {
        let block = if coefficient.counts_bytes() { self.transfer } else { self.block };
        coefficient.load(block)
    }

    fn depth(&self, coefficient: Coefficient, drive: &DeviceInfo) -> usize {
        let asked = match coefficient.counts_bytes() {
            true => self.transfer_queue_depth,
            false => self.queue_depth,
        };
        asked.min(drive.queue_depth_max)
    }

    fn settling(&self, drive: &DeviceInfo) -> Settling {
        Settling { block: self.block, least: self.settle, used: self.used(drive) }
    }

    fn percentile(drive: &DeviceInfo) -> f64 {
        if is_hard_disk(drive) { outcome::PERCENTILE_OF_DISKS } else { PERCENTILE }
    }
}

/// A rate's phase.
pub fn phase(state: State, coefficient: Coefficient) -> String {
    format!("{}-{}", state.name(), coefficient.name())
}

/// A share's phase.
fn rung_phase(percent: u32) -> String {
    format!("mixed-{percent}%")
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "cost-model";
    const QUESTION: &'static str = "which rates and response times may a scheduler count on?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    /// 3: response times are the longest of all shares that are kept.
    const METHOD_VERSION: u32 = 3;
    /// Some drives keep no share, and no promise.
    const NOT_ALWAYS: &'static [&'static str] = &["model kept", "promise", "at what is kept"];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { measurement: overrides.duration.unwrap_or(self.measurement), ..self })
    }

    fn quick(self) -> Self {
        Self {
            measurement: QUICK_MEASUREMENT.min(self.measurement),
            settle: QUICK_MEASUREMENT.min(self.settle),
            percents: few(self.percents, &[25, 50, 100]),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        let queue_depth = self.queue_depth.max(self.transfer_queue_depth).max(FILL_QUEUE_DEPTH);
        let io_size = self.block.max(self.transfer).max(FILL_BLOCK);
        Demands { queue_depth, io_size }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let each = self.measurement;
        let rates = |estimate: Estimate| estimate.rest(each * 3).sequential(each * 2).random(each);
        let used = self.used(drive);
        let is_disk = is_hard_disk(drive);
        let longest = if is_disk { self.settle } else { TIME_MAX.max(self.settle) };
        let to_fresh = match is_disk {
            true => Estimate::on(drive),
            false => rates(Estimate::on(drive).fill(self.used_in(State::Fresh, drive))),
        };
        rates(to_fresh.fill(used).random_until(self.settle..longest, used, DRIVE_WRITES_MAX))
            .random(each * (self.percents.len() as u64 + 1))
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("percents", &self.percents)?;
        if !self.percents.iter().all(|percent| (1..=PERCENT_MAX).contains(percent)) {
            let reason = format!("1 to {PERCENT_MAX} percent of the model are");
            return Err(PlanError { option: "percents", got: listed(&self.percents), reason });
        }
        check_duration("measurement", self.measurement)?;
        check_duration("settle", self.settle)?;
        for depth in [self.queue_depth, self.transfer_queue_depth] {
            if !(1..=QUEUE_DEPTH_MAX).contains(&depth) {
                let (got, reason) = (depth.to_string(), format!("1 to {QUEUE_DEPTH_MAX} are"));
                return Err(PlanError { option: "a queue depth of", got, reason });
            }
        }
        for block in [self.block, self.transfer, FILL_BLOCK] {
            check_block(block, Some(self.layout.min(self.used(drive))), drive)?;
        }
        Ok(())
    }

    fn is_one_rate(&self, series: &str, _: u32) -> bool {
        let states = [State::Fresh, State::Steady];
        states.iter().any(|state| Coefficient::ALL.iter().any(|one| series == phase(*state, *one)))
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude::conclude(self, recording, known.drive)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.figures()
    }

    fn figure_names(&self) -> Option<Vec<String>> {
        Some(outcome::figure_names())
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    // A magnetic disk is never fresh: what its first parts do better is the shorter way of its arm.
    if !is_hard_disk(session.drive()) {
        fill(plan, session, LAYOUT, State::Fresh)?;
        for coefficient in Coefficient::AS_THE_KERNEL_MEASURES {
            measure(plan, session, State::Fresh, coefficient)?;
        }
        session.purge()?;
    }
    fill(plan, session, FILL, State::Steady)?;
    settle(plan, session)?;
    // Writes in order come last: they leave another drive behind than random ones.
    let writes = measure(plan, session, State::Steady, Coefficient::Wrandiops)?;
    let reads = measure(plan, session, State::Steady, Coefficient::Rrandiops)?;
    measure(plan, session, State::Steady, Coefficient::Rseqiops)?;
    measure(plan, session, State::Steady, Coefficient::Rbps)?;
    if let Some(rates) = reads.zip(writes) {
        climb(plan, session, rates)?;
    }
    measure(plan, session, State::Steady, Coefficient::Wseqiops)?;
    measure(plan, session, State::Steady, Coefficient::Wbps)?;
    Ok(())
}

fn fill(plan: &Plan, session: &mut Session<'_>, name: &str, state: State) -> Result<(), RunError> {
    let depth = FILL_QUEUE_DEPTH.min(session.drive().queue_depth_max);
    session.fill(name, plan.used_in(state, session.drive()), FILL_BLOCK, depth)
}

/// Random writes until the drive is steady; a disk, which has nothing to become steady to, has the least.
fn settle(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let drive = session.drive();
    let depth = plan.depth(Coefficient::Wrandiops, drive);
    let (span, seed) = (plan.used(drive), seed_of(plan.seed, SETTLE));
    let writes = RandomUniform::new(Operation::Write, span, plan.block, seed);
    match is_hard_disk(drive) {
        true => {
            let (time, extent) = (Some(plan.settle), Extent::Time(plan.settle));
            session.record(SETTLE, Queue::new(writes, depth), time, extent)
        }
        false => plan.settling(drive).record(session, SETTLE, writes, depth),
    }
}

/// One rate by itself, in I/Os a second.
fn measure(
    plan: &Plan,
    session: &mut Session<'_>,
    state: State,
    coefficient: Coefficient,
) -> Result<Option<f64>, RunError> {
    let drive = session.drive();
    let (name, depth) = (phase(state, coefficient), plan.depth(coefficient, drive));
    let (span, lba_size) = (plan.used_in(state, drive), drive.lba_size);
    let stream = plan.load(coefficient).stream(span, lba_size, depth, seed_of(plan.seed, &name));
    let (time, extent) = (Some(plan.measurement), Extent::Time(plan.measurement));
    let mut rate = None;
    session.phase(&name, |session| {
        rate = session.series(&name, Streams::new([stream]), time, extent)?;
        Ok(())
    })?;
    Ok(rate.map(|rate| rate.iops))
}

/// Reads and writes together at growing shares of their rates, until the drive keeps up no more; and once
/// more at the last that it kept.
fn climb(plan: &Plan, session: &mut Session<'_>, rates: (f64, f64)) -> Result<(), RunError> {
    let mut kept = None;
    for percent in plan.shares(rates) {
        if !rung(plan, session, &rung_phase(percent), percent, rates)? {
            break;
        }
        kept = Some(percent);
    }
    match kept {
        Some(percent) => rung(plan, session, CHECK, percent, rates).map(|_| ()),
        None => Ok(()),
    }
}

/// Whether the drive kept up.
fn rung(
    plan: &Plan,
    session: &mut Session<'_>,
    name: &str,
    percent: u32,
    (reads, writes): (f64, f64),
) -> Result<bool, RunError> {
    let drive = session.drive();
    let (span, lba_size) = (plan.used(drive), drive.lba_size);
    let arriving = |operation: Operation, rate: f64| {
        let coefficient = Coefficient::random(operation);
        let series = series(name, operation);
        let pace = Pace::Arrivals { iops: arrivals(rate, percent), gaps: Gaps::Poisson };
        let seed = seed_of(plan.seed, &series);
        let stream = plan.load(coefficient).stream(span, lba_size, plan.queue_depth, seed);
        Stream { pace, duration: Some(plan.measurement), ..stream }
    };
    let streams =
        Streams::new([arriving(Operation::Read, reads), arriving(Operation::Write, writes)]);
    let names = [Operation::Read, Operation::Write].map(|operation| series(name, operation));
    let mut is_kept = false;
    session.phase(name, |session| {
        let names = names.each_ref().map(String::as_str);
        let extent = Extent::Time(plan.measurement);
        let totals = session.several(name, &names, streams, None, extent)?;
        let keeps_up = |(totals, rate): (&Totals, f64)| {
            keeps_up(totals, arrivals(rate, percent), plan.measurement)
        };
        is_kept = totals.iter().zip([reads, writes]).all(keeps_up);
        Ok(())
    })?;
    Ok(is_kept)
}

/// Arrivals a second of an operation whose rate this is, at half of a share of it: the other half is the
/// other operation's.
fn arrivals(rate: f64, percent: u32) -> u64 {
    ((rate * f64::from(percent) / 200.0).round() as u64).max(1)
}

/// Whole arrivals a second are this close to a share, or it cannot be asked for.
const NEAR: f64 = 0.1;

impl Plan {
    /// The shares of the model at which I/Os can arrive, of which there are whole ones in a second; the
    /// smallest first.
    fn shares(&self, (reads, writes): (f64, f64)) -> Vec<u32> {
        let is_near = |rate: f64, percent: u32| {
            let exact = rate * f64::from(percent) / 200.0;
            (arrivals(rate, percent) as f64 - exact).abs() <= NEAR * exact
        };
        let mut shares = self.percents.clone();
        shares.retain(|percent| is_near(reads, *percent) && is_near(writes, *percent));
        shares.sort_unstable();
        shares
    }
}

/// What has arrived may take so much longer than the arrivals lasted, as a share of that...
const LATE: f64 = 0.02;
/// ... and such a share of it may be missing: arrivals are random.
const MISSING: f64 = 0.05;

/// Whether what arrived was done while it arrived.
fn keeps_up(totals: &Totals, asked_iops: u64, lasted: Nanos) -> bool {
    let expected = asked_iops as f64 * lasted.as_secs_f64();
    // Of few arrivals, chance decides how many there are.
    let spread = MISSING.max(4.0 / expected.max(1.0).sqrt());
    totals.span.0 as f64 <= lasted.0 as f64 * (1.0 + LATE)
        && totals.ios as f64 >= expected * (1.0 - spread)
}

#[cfg(test)]
mod tests {
    use writecliff_sim::{Build, load};

    use super::*;

    #[test]
    fn a_scale_model_is_measured_fresh_in_its_share_of_the_whole_drive() {
        let drive = |address: &str| {
            let drive = load("samsung-840-evo-250gb").unwrap().open(address);
            drive.info().clone()
        };
        let plan = Plan::default();
        let fresh = |address: &str| plan.used_in(State::Fresh, &drive(address));
        assert_eq!(fresh("sim:x"), Bytes::from_gib(16));
        assert_eq!(fresh("sim:x@1/16"), Bytes::from_gib(1));
        assert_eq!(fresh("sim:x@1/1000000"), Bytes::from_mib(1), "one transfer at least");
    }

    #[test]
    fn each_rate_is_one_whatever_the_state() {
        let plan = Plan::default();
        for state in [State::Fresh, State::Steady] {
            assert!(Coefficient::ALL.iter().all(|one| plan.is_one_rate(&phase(state, *one), 0)));
        }
        for other in [LAYOUT, FILL, SETTLE, CHECK] {
            assert!(!plan.is_one_rate(other, 0), "{other}");
        }
    }
}
