//! What is asked: traces, and how they are to be done.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::Timing;
use writecliff_trace::name::title;
use writecliff_trace::{Map, Mapping, Misfit, PLANS, ReadError, Summary};

use crate::method::traces::{Known, Resolved};
use crate::record::trace_facts::TraceFacts;

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The traces: names of those that ship, or files in the own format.
    pub traces: Vec<String>,
    /// `None`: as fast as the trace allows, idle time cut. Else by the trace's own clock, so many
    /// times as fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// Where the traces' offsets lie on the drive.
    pub map: Map,
    /// Whether ranges that are no whole LBAs are widened.
    pub align: bool,
    /// Whether the drive is purged and filled before each trace; else it is left as it is.
    pub prepare: bool,
    /// Size of a write of the fill.
    pub fill_block: Bytes,
    /// Writes of the fill in flight.
    pub fill_queue_depth: usize,
    /// The most operations of each trace, from its beginning; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides everything random in the traces that ship, and the data.
    pub seed: u64,
    /// What the traces were found to be.
    #[serde(skip)]
    pub resolved: Resolved,
}

impl Default for Plan {
    /// The documents' way, with the bench that takes a review minutes instead of hours.
    fn default() -> Self {
        Self {
            traces: vec!["light-2011".to_owned()],
            speed: None,
            map: Map::Exact,
            align: false,
            prepare: true,
            fill_block: Bytes::from_kib(128),
            fill_queue_depth: 32,
            operations: None,
            span: None,
            seed: 1,
            resolved: Resolved::default(),
        }
    }
}

/// The longest replay by the clock.
const TIMED_MAX: Nanos = Nanos::from_secs(30 * 86_400);
impl Plan {
    /// When I/Os begin.
    pub fn timing(&self) -> Timing {
        self.speed.map_or(Timing::IdleCut, |speed| Timing::Recorded { speed })
    }

    pub(super) fn used(&self, drive: &DeviceInfo) -> Bytes {
        self.span.unwrap_or(drive.capacity).min(drive.capacity)
    }

    /// What is known of the traces beforehand; those that cannot be read are told by
    /// the plan's check.
    pub(super) fn summaries(&self) -> impl Iterator<Item = Summary> {
        self.traces.iter().filter_map(|name| Some(self.known(name).ok()?.summary))
    }

    pub(super) fn known(&self, name: &str) -> Result<Arc<Known>, ReadError> {
        self.resolved.get(name, self.seed)
    }

    /// What a record has kept of a trace. Those of version 0.1 have kept nothing; but what ships is
    /// made from its seed, and nobody can have put another in its place.
    pub(super) fn as_it_was(&self, trace: &str, kept: &[TraceFacts]) -> Option<TraceFacts> {
        let ships = PLANS.iter().any(|plan| plan.name == trace);
        let kept = kept.iter().find(|kept| kept.name == title(trace)).cloned();
        kept.or_else(|| ships.then(|| Some(self.known(trace).ok()?.facts(trace)))?)
    }

    /// One damaged time can make a trace last for ages.
    pub(super) fn check_length(&self, summary: &Summary) -> Result<(), String> {
        let Some(speed) = self.speed else { return Ok(()) };
        let seconds = summary.duration().as_secs_f64() / speed;
        if seconds <= TIMED_MAX.as_secs_f64() {
            return Ok(());
        }
        let days = seconds / 86_400.0;
        Err(format!(
            "by its own clock it would last {days:.0} days, and at most 30 are taken; a greater speed \
             shortens it, and without one its idle time is cut"
        ))
    }

    pub(super) fn mapping(&self, trace: &Known, drive: &DeviceInfo) -> Result<Mapping, Misfit> {
        let known = (&trace.header, &trace.summary);
        Mapping::new(self.map, self.align, known, self.used(drive), drive.lba_size)
    }

    /// How much of a trace is used, from 0 to 1.
    pub(super) fn share_of(&self, summary: &Summary) -> f64 {
        let all = summary.ios();
        self.operations.map_or(1.0, |most| most.min(all) as f64 / all.max(1) as f64)
    }
}
