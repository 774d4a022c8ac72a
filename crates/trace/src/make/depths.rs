//! How many operations are in flight: bursts that climb, stay and end, and calm stretches of one
//! at a time.
//!
//! Operations are issued in order, so the depth at issue rises by one at most from one operation
//! to the next; it may fall to any number, when many have completed in between. Every burst and
//! every stretch begins on an idle drive, at depth 1. What kind comes next, and how high it climbs,
//! is chosen such that the means asked for are met all the time, not only at the end.

use super::plan::Plan;
use super::random::Random;

/// How far, in operations, the share at depth 1 may wander so that a scenario's own character
/// shows beside others.
const LEEWAY: f64 = 200.0;
/// The leeway, and all variety, ends so many operations before the trace does.
const LANDING: u64 = 4000;
/// A bend of the preferences is looked for up to here, and to so many binary digits.
const BEND_MAX: f64 = 1e9;
const HALVINGS: u32 = 80;

/// What a scenario's operations find in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Character {
    /// Share of its operations that are alone.
    alone: f64,
    /// Mean depth of the others.
    deep: f64,
}

/// Operations that are issued one after the other, beginning on an idle drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Burst {
    /// The scenario that most of them are of.
    pub(super) leader: usize,
    /// Operations to come.
    pub(super) left: u64,
    /// Of the last operation; zero before the first.
    pub(super) depth: u32,
    /// No operation is deeper.
    pub(super) peak: u32,
}

/// Chooses bursts, and keeps account of what they came to.
#[derive(Debug, Clone)]
pub(super) struct Depths {
    characters: Vec<Character>,
    max: u32,
    /// Operations that should have been alone so far and were not; negative if too many were.
    alone_owed: f64,
    /// Depth by which all operations so far fell short; negative if they were too deep.
    depth_owed: f64,
}

impl Depths {
    /// For scenarios that do so many operations each.
    ///
    /// # Errors
    /// What of the target cannot be had.
    pub(super) fn new(plan: &Plan, ios: &[u64]) -> Result<Self, String> {
        let target = &plan.target;
        let deep = deep_mean(plan)?;
        let likes = |index: usize| plan.scenario[index].queue;
        let weights: Vec<f64> = ios.iter().map(|&ios| ios as f64).collect();
        let alone_share = target.at_queue_depth_1_percent / 100.0;
        let alone = bend("queue.at_1_percent", &weights, alone_share, |index, bend| {
            let odds = likes(index).at_1_percent * bend;
            odds / (odds + 100.0 - likes(index).at_1_percent)
        })?;
        let others: Vec<f64> =
            weights.iter().zip(&alone).map(|(ios, one)| ios * (1.0 - one)).collect();
        let highest = f64::from(target.queue_depth_max) * 0.75;
        let deep = bend("queue.deep", &others, deep, |index, bend| {
            (2.0 + (likes(index).deep - 2.0) * bend).min(highest)
        })?;
        let both = alone.into_iter().zip(deep);
        let characters = both.map(|(alone, deep)| Character { alone, deep }).collect();
        Ok(Self { characters, max: target.queue_depth_max, alone_owed: 0.0, depth_owed: 0.0 })
    }

    /// The next burst or calm stretch, led by this scenario; `left` operations end the trace.
    pub(super) fn begin(&self, leader: usize, left: u64, random: &mut Random) -> Burst {
        let alone = self.characters[leader].alone;
        let is_landing = left < LANDING;
        let lean = if is_landing { 0.0 } else { (2.0 * alone - 1.0) * LEEWAY };
        let (length, peak) = if alone >= 1.0 || self.alone_owed + lean > 0.0 {
            (if is_landing { 1 + random.below(16) } else { 4 + random.below(125) }, 1)
        } else {
            self.climb(leader, left, is_landing, random)
        };
        Burst { leader, left: length.min(left), depth: 0, peak }
    }

    /// Length and peak of a burst. Peaks vary, and now and then one is far higher than usual; the
    /// bursts after it make up for it.
    fn climb(&self, leader: usize, left: u64, is_landing: bool, random: &mut Random) -> (u64, u32) {
        let deep = self.characters[leader].deep;
        // Four times its depth is long enough for the climb to matter little.
        let length = (4 * deep.ceil() as u64 * (1 + random.below(8))).min(left);
        let percent = match random.below(16) {
            _ if is_landing => 100,
            0 => 300,
            _ => 50 + random.below(76),
        };
        let usual = length.saturating_sub(1) as f64 * deep;
        // Those that were alone too early, or are so too late, are not this burst's debt.
        let owed = self.depth_owed + self.alone_owed * (deep - 1.0);
        let owed = owed.clamp(-usual / 2.0, usual / 2.0);
        (length, self.peak(length, usual * percent as f64 / 100.0 + owed))
    }

    /// How high a burst climbs so that the depths of all but its first operation add up to this.
    fn peak(&self, length: u64, depth_sum: f64) -> u32 {
        let sum_to = |peak: u32| {
            let climb = u64::from(peak).min(length);
            (climb * (climb + 1) / 2 - 1 + (length - climb) * u64::from(peak)) as f64
        };
        (2..self.max).find(|&peak| sum_to(peak) >= depth_sum).unwrap_or(self.max)
    }

    /// The depth of the burst's next operation, which is the scenario's.
    pub(super) fn next(&mut self, burst: &mut Burst, scenario: usize, random: &mut Random) -> u32 {
        burst.left -= 1;
        burst.depth = match burst.depth {
            _ if burst.peak == 1 => 1,
            depth if depth < burst.peak => depth + 1,
            // Now and then several complete at once.
            depth if random.chance(1, 16) => depth - random.below(u64::from(depth) / 2) as u32,
            depth => depth,
        };
        let Character { alone, deep } = self.characters[scenario];
        self.alone_owed += alone - f64::from(u8::from(burst.depth == 1));
        self.depth_owed += alone + (1.0 - alone) * deep - f64::from(burst.depth);
        burst.depth
    }
}

/// The mean depth of the operations that are not alone, if that is possible.
fn deep_mean(plan: &Plan) -> Result<f64, String> {
    let target = &plan.target;
    let (mean, alone) = (target.mean_queue_depth, target.at_queue_depth_1_percent / 100.0);
    if alone >= 1.0 {
        let is_one = mean == 1.0;
        return is_one.then_some(2.0).ok_or_else(|| {
            format!("with all operations at depth 1 their mean depth is 1, not {mean}")
        });
    }
    let deep = (mean - alone) / (1.0 - alone);
    let most = f64::from(target.queue_depth_max) / 2.0;
    if (2.0..=most).contains(&deep) {
        return Ok(deep);
    }
    Err(format!(
        "a mean queue depth of {mean} with {} % of the operations at depth 1 asks for {deep:.2} on \
         average of the others; possible is 2 to half of queue_depth_max, which is {most}",
        target.at_queue_depth_1_percent
    ))
}

/// Each scenario's value under the one bend of all preferences that gives their weighted mean.
/// Values rise with the bend.
fn bend(
    key: &str,
    weights: &[f64],
    mean: f64,
    value: impl Fn(usize, f64) -> f64,
) -> Result<Vec<f64>, String> {
    let sum: f64 = weights.iter().sum();
    let mean_at = |bend: f64| {
        let parts = weights.iter().enumerate();
        parts.map(|(index, weight)| weight * value(index, bend)).sum::<f64>() / sum
    };
    let (mut low, mut high) = (0.0, 1.0);
    while mean_at(high) < mean && high < BEND_MAX {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if mean_at(middle) < mean { low = middle } else { high = middle }
    }
    let off = mean_at(high) - mean;
    if sum > 0.0 && !(-1e-6..=1e-6).contains(&off) {
        return Err(format!(
            "the scenarios' {key} cannot be bent to the target's mean of {mean:.3}; let more of \
             them differ from its extremes"
        ));
    }
    Ok((0..weights.len()).map(|index| value(index, high)).collect())
}
