//! Where on the drive a scenario's files are.

use super::plan::{Hot, Plan};
use super::random::Random;

/// A stretch of the drive, in units of the plan's alignment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) begin: u64,
    pub(super) length: u64,
}

/// The places that a scenario reads from, or writes to; units are the plan's alignment.
#[derive(Debug, Clone)]
pub(super) struct Places {
    areas: Vec<Stretch>,
    hot: Hot,
}

impl Places {
    /// The areas of these names, which a checked plan has.
    pub(super) fn new(plan: &Plan, names: &[String], hot: Hot) -> Self {
        let mut begin = 0;
        let mut areas = Vec::new();
        for area in &plan.area {
            let length = area.size.0 / plan.alignment.0;
            if names.contains(&area.name) {
                areas.push(Stretch { begin, length });
            }
            begin += length;
        }
        Self { areas, hot }
    }

    /// A stretch that a random operation of `length` may begin in: every area is as likely as it
    /// is large, its hot part likelier if the operation has favourites.
    pub(super) fn choose(&self, length: u64, has_favourites: bool, random: &mut Random) -> Stretch {
        let index = random.pick(self.areas.iter().map(|area| area.length)).unwrap_or(0);
        let area = self.areas[index];
        let is_hot = has_favourites && random.chance(u64::from(self.hot.access_percent), 100);
        let percent = if is_hot { u64::from(self.hot.space_percent) } else { 100 };
        Stretch { length: area.length * percent / 100 - length + 1, ..area }
    }
}
