//! What there is to know of a drive that is served.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceError, Nanos, Telemetry};
use writecliff_measure::LatencyHistogram;
use writecliff_sim::Spare;
use writecliff_suite::{Floor, too_late};

use crate::drive::{Request, Work};

/// A drive that is served, at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Status {
    /// The name that clients know it by.
    pub export: String,
    /// Its address.
    pub drive: String,
    /// The model's name.
    pub model: String,
    /// Always: nothing else is exported.
    pub simulated: bool,
    /// Its size.
    pub capacity: Bytes,
    /// Whether its plug is in.
    pub has_power: bool,
    /// How often its power went, by plan or by command.
    pub power_cuts: u64,
    /// Units of its map whose last acknowledged, or unanswered, writes it has lost.
    pub lost_units: u64,
    /// How old it is, on its own clock; what prepared it is in it.
    pub drive_time: Nanos,
    /// Connections now.
    pub clients: usize,
    /// Connections that there have been.
    pub clients_ever: u64,
    /// What was asked for.
    pub counts: Counts,
    /// Requests under way.
    pub in_flight: usize,
    /// What the data take, in memory or on the disk.
    pub stored: Bytes,
    /// Older versions of volatile data, in memory.
    pub kept_for_power_cuts: Bytes,
    /// What the model takes for a request.
    pub service: Quantiles,
    /// How much later than the model says answers went out, by its clock; `None` where time is free.
    pub lateness: Option<Quantiles>,
    /// What a client saw of a drive that takes no time, before this one was served; `None` where time is free.
    pub floor: Option<Floor>,
    /// What the drive says of itself.
    pub telemetry: Telemetry,
    /// What it can do without; `None` if the model does not tell.
    pub spare: Option<Spare>,
    /// Whether it is not worn out.
    pub takes_writes: bool,
    /// Why what was measured here may not be what the drive would do.
    pub doubts: Vec<String>,
}

/// Requests, by what they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Writes, of zeros as well.
    pub writes: u64,
    /// Their bytes.
    pub written_bytes: u64,
    /// Writes that had to be durable at once.
    pub forced: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// Their bytes.
    pub trimmed_bytes: u64,
}

/// How times are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Quantiles {
    /// How many there were.
    pub count: u64,
    /// Their median.
    pub p50: Nanos,
    /// Their 99th percentile.
    pub p99: Nanos,
    /// Their 99.9th percentile.
    pub p999: Nanos,
    /// The longest.
    pub max: Nanos,
}

/// Why a plug is not pulled, or put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PowerRefused {
    #[error("the model of disks does not tell what a power cut takes; export a solid-state drive")]
    NotModelled,
    #[error("it has no power; power-on gives it back")]
    IsOff,
    #[error("it has power")]
    IsOn,
}

impl Counts {
    pub(crate) fn count(&mut self, request: &Request) {
        match request.work {
            Work::Read => {
                self.reads += 1;
                self.read_bytes += request.length;
            }
            Work::Write(_) | Work::WriteZeroes { .. } => {
                self.writes += 1;
                self.written_bytes += request.length;
                self.forced += u64::from(request.forced);
            }
            Work::Flush => self.flushes += 1,
            Work::Trim => {
                self.trims += 1;
                self.trimmed_bytes += request.length;
            }
            Work::Cache | Work::Status { .. } => {}
        }
    }
}

impl Quantiles {
    pub(crate) fn of(times: &LatencyHistogram) -> Self {
        let [p50, p99, p999, max] = [50.0, 99.0, 99.9, 100.0].map(|p| times.percentile(p));
        Self { count: times.count(), p50, p99, p999, max }
    }
}

/// Why what was measured may not be the drive's.
pub(crate) fn doubts(
    status: &Status,
    store_error: Option<&str>,
    broken: Option<&DeviceError>,
) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Some(late) = status.lateness.filter(|late| late.count > 0) {
        let doubt = too_late([late.p50, late.p99], [status.service.p50, status.service.p99]);
        doubts.extend(doubt.map(|doubt| doubt.to_string()));
    }
    if let Some(error) = store_error {
        doubts.push(format!("data could not be kept, and requests have failed for it: {error}"));
    }
    if let Some(error) = broken {
        doubts.push(format!("the model cannot go on: {error}"));
    }
    doubts
}

impl Status {
    /// Its blocks in words: how many it can do without, and what became of the others.
    pub fn spare_text(&self) -> String {
        let Self { telemetry, .. } = self;
        let mut lines = vec![self.heading()];
        match &self.spare {
            Some(spare) => lines.extend([
                format!("  blocks        {} in use", spare.blocks),
                format!("  needed        {}", spare.needed),
                format!("  spare         {}", spare.blocks.saturating_sub(spare.needed)),
                format!("  replacements  {} left", spare.replacements),
            ]),
            None => lines.push("  blocks        not told by this model".to_owned()),
        }
        let told = [
            ("free", telemetry.free_blocks.map(|count| count.to_string())),
            ("retired", telemetry.retired_blocks.map(|count| count.to_string())),
            ("wear", telemetry.wear_permille.map(|wear| format!("{} %", wear as f64 / 10.0))),
        ];
        let told = told.into_iter().filter_map(|(name, value)| Some((name, value?)));
        lines.extend(told.map(|(name, value)| format!("  {name:<13} {value}")));
        let writes = if self.takes_writes {
            "taken"
        } else {
            "refused: it is worn out, or has lost more than it can do without"
        };
        lines.push(format!("  writes        {writes}"));
        lines.join("\n") + "\n"
    }

    /// What the drive says of itself in words, a line for each thing that it knows.
    pub fn telemetry_text(&self) -> String {
        let Self { telemetry, .. } = self;
        let bytes = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.to_string());
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        let told = [
            ("written by clients, and before them", bytes(telemetry.host_written)),
            ("written to NAND", bytes(telemetry.nand_written)),
            ("free blocks", number(telemetry.free_blocks)),
            ("erases", number(telemetry.erases)),
            ("retired blocks", number(telemetry.retired_blocks)),
            ("wear", telemetry.wear_permille.map(|wear| format!("{} %", wear as f64 / 10.0))),
            ("units lost", number(telemetry.lost_pages)),
            ("energy", telemetry.energy.map(|energy| format!("{:.1} J", energy.0 as f64 / 1e9))),
            ("temperature", telemetry.temperature.map(|degrees| degrees.to_string())),
            ("slowed down for heat", telemetry.throttled.map(|time| time.to_string())),
        ];
        let told = told.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let lines = told.map(|(name, value)| format!("  {name:<37} {value}"));
        std::iter::once(self.heading()).chain(lines).collect::<Vec<_>>().join("\n") + "\n"
    }

    /// What less than cannot be shown, if it was measured.
    pub fn floor_text(&self) -> Option<String> {
        let Floor { p50_ns, p99_ns, .. } = self.floor?;
        let [p50, p99] = [p50_ns, p99_ns].map(Nanos);
        Some(format!(
            "  the way    {p50} (median), {p99} (p99) to a drive that takes no time, and back"
        ))
    }

    fn heading(&self) -> String {
        let Self { export, model, drive, capacity, .. } = self;
        format!("{export}: simulated {model} ({drive}), {capacity}")
    }

    /// In words, a line for each thing.
    pub fn text(&self) -> String {
        let Self { counts, service, telemetry, .. } = self;
        let power = if self.has_power { "on" } else { "off" };
        let mut lines = vec![
            self.heading(),
            format!(
                "  power      {power}; cut so far: {}, units lost: {}",
                self.power_cuts, self.lost_units
            ),
            format!(
                "  clients    {} of {} so far; {} requests in flight",
                self.clients, self.clients_ever, self.in_flight
            ),
            format!("  reads      {} ({})", counts.reads, Bytes(counts.read_bytes)),
            format!(
                "  writes     {} ({}), {} of them forced",
                counts.writes,
                Bytes(counts.written_bytes),
                counts.forced
            ),
            format!("  flushes    {}", counts.flushes),
            format!("  trims      {} ({})", counts.trims, Bytes(counts.trimmed_bytes)),
            format!(
                "  data       {} kept, {} more for power cuts",
                self.stored, self.kept_for_power_cuts
            ),
            format!("  drive      takes {}", quantiles(service)),
        ];
        if let Some(late) = &self.lateness {
            lines.push(format!("  answers    late by {}", quantiles(late)));
        }
        lines.extend(self.floor_text());
        let amplification = telemetry.write_amplification_since(&Telemetry {
            host_written: Some(Bytes::ZERO),
            nand_written: Some(Bytes::ZERO),
            ..Telemetry::default()
        });
        if let Some(amplification) = amplification {
            lines.push(format!(
                "  NAND       write amplification {amplification:.2} since it was made, its preparation with it"
            ));
        }
        if !self.takes_writes {
            lines.push(
                "  writes     refused: it is worn out, or has lost more than it can do without"
                    .to_owned(),
            );
        }
        lines.extend(self.doubts.iter().map(|doubt| format!("  DOUBT: {doubt}")));
        lines.join("\n") + "\n"
    }
}

fn quantiles(times: &Quantiles) -> String {
    let Quantiles { count, p50, p99, p999, max } = times;
    match count {
        0 => "nothing yet".to_owned(),
        _ => format!("{p50} (median), {p99} (p99), {p999} (p99.9), {max} at most"),
    }
}
