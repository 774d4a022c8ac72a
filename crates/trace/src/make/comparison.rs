//! What a trace came to beside what its plan asks for.

use serde::Serialize;

use super::plan::Plan;
use crate::{SequentialDetector, Summary, TraceIo};

/// Counts a made trace by the figures of its plan's target.
#[derive(Debug, Clone)]
pub struct Comparison {
    plan: Plan,
    summary: Summary,
    /// Operations of each of the target's sizes.
    sizes: Vec<u64>,
    detector: SequentialDetector,
    sequential: u64,
    depth_sum: u64,
    alone: u64,
}

/// One figure of a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it is, with its unit.
    pub name: String,
    /// What the plan asks for.
    pub asked: f64,
    /// What the trace has.
    pub made: f64,
}

/// How far a figure may be from what was asked, as a part of that.
const TOLERANCE: f64 = 0.01;

impl Figure {
    /// Whether the trace has what the plan asks for, to one in a hundred.
    pub fn is_met(&self) -> bool {
        (self.made - self.asked).abs() <= self.asked.abs() * TOLERANCE
    }
}

impl Comparison {
    /// Of a trace that has no operation yet.
    pub fn new(plan: &Plan) -> Self {
        Self {
            plan: plan.clone(),
            summary: Summary::new(),
            sizes: vec![0; plan.target.sizes.len()],
            detector: SequentialDetector::new(),
            sequential: 0,
            depth_sum: 0,
            alone: 0,
        }
    }

    /// Counts one more operation.
    pub fn add(&mut self, io: &TraceIo) {
        self.summary.add(io);
        let sizes = &self.plan.target.sizes;
        if let Ok(index) = sizes.binary_search_by_key(&io.length, |share| share.size) {
            self.sizes[index] += 1;
        }
        self.sequential += u64::from(self.detector.is_sequential(io));
        let depth = io.queue_depth.unwrap_or(0);
        self.depth_sum += u64::from(depth);
        self.alone += u64::from(depth == 1);
    }

    /// The figures of all that was counted, in the order of the documents' tables.
    pub fn figures(&self) -> Vec<Figure> {
        let (target, summary) = (&self.plan.target, &self.summary);
        let ios = summary.ios().max(1) as f64;
        let percent = |count: u64| count as f64 / ios * 100.0;
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        let figure = |name: &str, asked, made| Figure { name: name.to_owned(), asked, made };
        let mut figures = vec![
            figure("reads", target.reads as f64, summary.reads as f64),
            figure("writes", target.writes as f64, summary.writes as f64),
            figure("GB read", gigabytes(target.read_bytes.0), gigabytes(summary.read_bytes.0)),
            figure(
                "GB written",
                gigabytes(target.written_bytes.0),
                gigabytes(summary.written_bytes.0),
            ),
        ];
        for (share, count) in target.sizes.iter().zip(&self.sizes) {
            if let Some(asked) = share.percent {
                figures.push(figure(
                    &format!("% of {}", share.size.exact()),
                    asked,
                    percent(*count),
                ));
            }
        }
        let depth = self.depth_sum as f64 / ios;
        let alone = percent(self.alone);
        figures.extend([
            figure("% sequential", target.sequential_percent, percent(self.sequential)),
            figure("mean queue depth", target.mean_queue_depth, depth),
            figure("% at queue depth 1", target.at_queue_depth_1_percent, alone),
        ]);
        figures
    }
}
