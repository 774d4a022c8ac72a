//! Where a test did not come to what its method asks for.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Mechanism, Nanos};

use crate::record::figure::Stage;
use crate::record::number::{counted, in_words, thousands};
use crate::record::warning::Warning;

/// Whether the window that is called steady is; the worst of several comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WindowState {
    /// Nothing speaks against it.
    Settled,
    /// The drive still got faster or slower in it.
    Settling,
    /// Less was written than tells.
    TooLittle,
    /// It has too few seconds.
    TooShort,
}

/// The method was not, or could not be, followed to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MethodWarning {
    /// Shorter than the method, on a part of a drive that is not tiny.
    #[error(
        "A quick run: shorter than the method and, but for suites, on no more than the first 2 GiB. \
         Its figures are not those of the method."
    )]
    Quick,
    /// The drive's performance still changed in the window called steady.
    #[error(
        "No steady state: in the last part of the run the IOPS still moved by {percent:+.0} % of \
         their mean. A longer run would say more. {NOT_STEADY}"
    )]
    NotSteady {
        /// Rise of the fitted line over the window, in percent of the mean.
        percent: f64,
    },
    /// The same where the writes go on until they are steady.
    #[error(
        "No steady state after {drive_writes:.2} drive writes, where the test goes on for {most:.0} of them or 48 \
         hours at most, and no less than its duration: over the last five rounds the IOPS ranged over {range:.0} % of their mean and moved by {percent:+.0} % of it. {NOT_STEADY}"
    )]
    NotSteadyWithin {
        /// How often the drive was written.
        drive_writes: f64,
        /// The test ends after so many.
        most: f64,
        /// Highest less lowest of the rounds, in percent of the mean.
        range: f64,
        /// Rise of the fitted line over the rounds, in percent of the mean.
        percent: f64,
    },
    /// No more was written than a part of the drive: what it comes to is not known.
    #[error(
        "Too little was written to call it steady: after the fill {drive_writes:.2} of what is in use, where at \
         least one whole is needed. {} {NOT_STEADY}",
        match went_on {
            true => "The test goes on for 48 hours at most, and the drive takes no more in them.",
            false => "With --until-steady, and on a simulated drive, the test goes on until it is, for five drive \
                      writes or 48 hours at most, if it is left to.",
        }
    )]
    TooFewWrites {
        /// How often the drive was written.
        drive_writes: f64,
        /// Whether the test went on as long as it does at most, or would not have written enough by then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        went_on: bool,
    },
    /// Performance never fell.
    #[error(
        "No write cliff: the IOPS never fell to half of the fresh figure. Less was written than the \
         spare area holds, or the drive has none to run out of."
    )]
    NoCliff,
    /// The drive was full before the random writes began.
    #[error(
        "The random writes did not begin on a fresh drive: NAND wrote {fill:.1} times what the fill before them \
         did, and {first:.1} times what they did in their first seconds. The spare area was used up by then: \
         what is called fresh is no more than that, and no cliff could come."
    )]
    NotFresh {
        /// Write amplification of the fill.
        fill: f64,
        /// Of the first seconds of random writes.
        first: f64,
    },
    /// It fell within the seconds that are called fresh.
    #[error(
        "Its random writes fell within the first seconds, whose median is called fresh, {}: the first second had \
         {}, and whether this was the write cliff is not known.",
        in_words(fresh.round_ties_even(), "IOPS"),
        in_words(first.round_ties_even(), "IOPS")
    )]
    FreshFell {
        /// IOPS of the first second.
        first: f64,
        /// The median of ten.
        fresh: f64,
    },
    /// It fell in the first second or at its end.
    #[error(
        "The write cliff came after {seconds} s or sooner: what is called fresh, {}, may have part of it in it. \
         What the drive does erased may be more, and the cliff may come sooner.",
        in_words(fresh.round_ties_even(), "IOPS")
    )]
    CliffAtOnce {
        /// By which second it was there.
        seconds: u32,
        /// The mean of those before.
        fresh: f64,
    },
    /// Too short for its percentiles.
    #[error(
        "The run lasted {seconds} s of writes: its last part, which would be the steady window, has \
         {}, too few for a floor or a percentile that can be relied on. {NOT_STEADY}",
        counted(u64::from(*window), "sample")
    )]
    TooShort {
        /// Seconds recorded.
        seconds: u32,
        /// Samples in the steady window.
        window: u32,
    },
    /// The run ended before the part that it is about.
    #[error(
        "The run ended before its first second of random writes{}. There are no figures of random writes.",
        fill.as_ref().map_or_else(String::new, |fill| format!(", {fill}"))
    )]
    NoRandomWrites {
        /// What had been filled by then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<Filled>,
    },
    /// A doubt about one setting of the spare area.
    #[error("At {}: {doubt}", at_spare(*percent))]
    AtSpare {
        /// The setting.
        percent: f64,
        /// The doubt.
        doubt: Box<Warning>,
    },
    /// A part of the test has no figures.
    #[error(
        "The run ended {}: {} has no figures.",
        match lasted {
            Some(lasted) => format!("in {phase}, after {lasted} of it"),
            None => format!("before {phase}"),
        },
        if lasted.is_some() { "that part, and what comes after it," } else { "what comes from there on" }
    )]
    Ended {
        /// The first part that is missing.
        phase: String,
        /// What was recorded of it, which is too little for a figure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lasted: Option<Nanos>,
    },
    /// What was written fits into the drive's fast buffer.
    #[error(
        "{}{written} were written {}, {}. The figures may be the buffer's, and those of a longer write lower.",
        part.as_ref().map_or_else(String::new, |part| format!("{part}: ")),
        if *again { "again and again" } else { "at a time" },
        match or_heat {
            true => format!(
                "no more than the {buffer} after which the fill fell, at the end of a fast buffer or by heat"
            ),
            false => format!("which fits into the drive's fast buffer of about {buffer}"),
        }
    )]
    WithinBuffer {
        /// The part of the test, if it is not all of it.
        part: Option<String>,
        /// What it wrote at a time.
        written: Bytes,
        /// Whether it wrote that place more than once, and more than the buffer holds.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        again: bool,
        /// The buffer, as a sequential write showed it.
        buffer: Bytes,
        /// Whether the drive was too warm by then to tell whether that was a buffer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        or_heat: bool,
    },
    /// I/Os came faster than the drive does them.
    #[error(
        "{phase}: {} I/Os came a second and {} were done. Response times there have in them how far the drive had \
         fallen behind, which depends on for how long I/Os came.",
        thousands(*asked),
        thousands(*done)
    )]
    FellBehind {
        /// The phase with the fewest arrivals of which this is so.
        phase: String,
        /// Arrivals a second.
        asked: f64,
        /// I/Os done a second.
        done: f64,
    },
    /// Over before a rate means anything.
    #[error("{part} lasted {lasted}: too short for a rate that can be relied on.")]
    Brief {
        /// What.
        part: String,
        /// How long it was.
        lasted: Nanos,
    },
    /// Too few I/Os for those that were still under way at the end not to matter.
    #[error(
        "Only {} came to an end in {part}, with {queue_depth} in flight: those that were still under way are in no \
         figure, so that I/Os take longer than is told, and rates are of a few.",
        in_words(*ios as f64, "I/Os")
    )]
    FewIos {
        /// What; of several that with the fewest for what was in flight.
        part: String,
        /// I/Os completed.
        ios: u64,
        /// I/Os in flight.
        queue_depth: usize,
    },
    /// The stream that went on beside what was measured was slower than it was to be.
    #[error(
        "The stream in the background was to be {asked:.0} MB/s, and the drive wrote {}: what is told is of \
         writes beside less.",
        if *done < 9.995 { format!("{done:.2}") } else { format!("{done:.1}") }
    )]
    BackgroundFellBehind {
        /// MB/s, as the plan has it.
        asked: f64,
        /// MB/s on average.
        done: f64,
    },
    /// What was to be measured at one rate had several.
    #[error(
        "The rate changed while it was measured, {}: from {first} at first to {last} in the end. \
         Figures there are means of all of it, and no speed of the drive.",
        in_parts(*parts, most, others)
    )]
    Changed {
        /// In how many parts.
        parts: usize,
        /// Where it changed most.
        most: String,
        /// Where else, if there are not too many to name. Older runs do not tell.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
        /// What it was at first.
        first: String,
        /// What it was in the end.
        last: String,
    },
    /// Fewer writes went on beside the reads than were asked for.
    #[error(
        "Beside {}: {} writes a second were asked for, and the drive did {} on average. The reads there are beside these.",
        if *drive_writes_per_day == 1.0 {
            "1 drive write a day".to_owned()
        } else {
            format!("{drive_writes_per_day} drive writes a day")
        },
        thousands(*asked),
        thousands(*done)
    )]
    WritesFellBehind {
        /// As the plan has it.
        drive_writes_per_day: f64,
        /// Writes a second.
        asked: f64,
        /// Writes done a second.
        done: f64,
    },
    /// A commit that takes no longer than its write.
    #[error(
        "A flush costs nothing here: a write takes {write}, and one with its flush {commit}, by their medians. {}",
        why_free(write_cache.as_deref())
    )]
    FlushCostsNothing {
        /// How the kernel takes the drive's cache, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        write_cache: Option<String>,
        /// Median of a write with its flush.
        commit: String,
        /// Median of the same write without.
        write: String,
    },
    /// A model's flush brings the data to NAND and no more.
    #[error(
        "What a flush writes of the drive's map is not modelled here: flushes and forced writes take the \
         programs of their data alone, and drives without capacitors do more: commits of the real one may take longer."
    )]
    FlushOfDataOnly,
    /// Reads wait behind writes of which the buffer has taken many more than the drive has done.
    #[error(
        "Beside {write_percent} % writes a read takes {reads} on average, and a write {writes}: in this model all \
         that waits does so in the writes that the buffer has taken. A real drive may let its reads go first, \
         and its writes wait."
    )]
    ReadsWaitInModel {
        /// Writes in percent of the I/Os.
        write_percent: u8,
        /// Mean of the reads.
        reads: String,
        /// Mean of the writes.
        writes: String,
    },
    /// TRIM is not to be had.
    #[error("The drive takes no TRIM: nothing can be said of what it would bring.")]
    NoTrim,
    /// The rounds never met the rule.
    #[error(
        "{part}: {}. The figures are means of the last rounds, and a longer run may give others.",
        match *rounds {
            0 => "not steady within the time, in which there was not one whole round".to_owned(),
            few @ 1..5 => {
                let rounds = counted(few.into(), "round");
                format!("not judged after {rounds}, of the five that the rule looks at")
            }
            rounds => format!("not steady within {rounds} rounds"),
        }
    )]
    NeverSteady {
        /// The part of the test.
        part: String,
        /// Rounds run.
        rounds: u32,
    },
    /// Two figures that do not go together.
    #[error(
        "Odd: {has} of {what}, beside {gave} of {than}{}. The drive may have been in another state (its \
         buffer, its spare area, its temperature) or work in other units than it was asked for, or something \
         disturbed one of the two.",
        match &others[..] {
            [] => String::new(),
            others => format!("; the same is so of {}", others.join(", ")),
        }
    )]
    Odd {
        /// What is slower than it can be.
        what: String,
        /// What else is, held against the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
        /// How fast it is.
        has: String,
        /// What it is held against.
        than: String,
        /// How fast that is.
        gave: String,
    },
    /// The drive was on its way while loads were compared.
    #[error(
        "Even writes went at {first} before the first load and at {last} before the last: the drive was still on its \
         way, and each load found another state of it. Ratios are to the last."
    )]
    EvenWritesChanged {
        /// The rate at first.
        first: String,
        /// The rate in the end.
        last: String,
    },
    /// More load shortened response times.
    #[error(
        "{}at {less} % of saturation I/Os took {took} on average, at {more} % {took_then}: more load shortens \
         nothing, so that something else made them wait, and the course has no knee.",
        course.as_ref().map_or_else(|| "A course: ".to_owned(), |course| format!("{course}: "))
    )]
    NoKnee {
        /// Of which load, arriving how; older runs do not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        course: Option<String>,
        /// Share of the saturation at which they took long, in percent.
        less: u32,
        /// How long.
        took: String,
        /// The higher share at which they took less.
        more: u32,
        /// How long they took there.
        took_then: String,
    },
    /// What was kept of a cost model was not, once more.
    #[error(
        "At {percent} % of the model reads and writes were to take no more than {limits}, and took {took} when \
         the same load was tried once more. The drive does not repeat itself so closely: ask for more time, or for \
         a smaller share."
    )]
    LimitsNotHeld {
        /// The share, in percent.
        percent: u32,
        /// Of reads and of writes.
        limits: String,
        /// Reads and writes, the second time.
        took: String,
    },
    /// A figure depends on what was measured before.
    #[error(
        "In ascending order {what} gives {first}, in another {again}{}. What this comes to depends on \
         more than how many are in flight.",
        match &others[..] {
            [] => String::new(),
            others => format!("; also more than a fifth apart: {}", others.join(", ")),
        }
    )]
    OfOrder {
        /// What gives another figure; of several that which differs most.
        what: String,
        /// What else does.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
        /// In the order of the plan.
        first: String,
        /// In the other one.
        again: String,
    },
    /// It is about something that the drive, or its model, does not do.
    #[error(
        "{} has no {mechanism}, so that the test was not run on it.",
        match mechanism {
            Mechanism::Collection => "A hard disk",
            _ => "Not modelled: this model",
        }
    )]
    NotModelled {
        /// What it lacks.
        mechanism: Mechanism,
    },
    /// Nothing told what the drive draws.
    #[error(
        "Nothing told what power the drive draws: a simulated drive does if its profile has \
         [power]; to a real one's run `writecliff meter RUN METER.csv` adds a meter's log."
    )]
    NoPower,
    /// The drive does not tell how warm it is.
    #[error(
        "Nothing told how warm the drive was: whether a fall of its speed was heat's is not known. \
         A simulated drive tells if its profile has power.ambient, a real one if the kernel has a \
         driver for its sensor (drivetemp for SATA)."
    )]
    NoTemperature,
    /// A part of the test has figures of less than its time.
    #[error(
        "The run ended in {phase}, after {lasted} of it: what is told of that part, if anything is, is of this time."
    )]
    BrokenOff {
        /// The part.
        phase: String,
        /// What was recorded of it.
        lasted: Nanos,
        /// Whether figures are of this part alone, as [`Figure::of`](crate::Figure::of) has it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        has_part: bool,
        /// Whether it came to a write cliff before, which ends what the fresh drive does.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        met_cliff: bool,
    },
    /// The run ended before its planned duration.
    #[error(
        "The run ended after {recorded} of the planned {planned} of random writes{}; the figures \
         cover what was recorded.",
        if *until_steady { ", which go on until they are steady" } else { "" }
    )]
    Incomplete {
        /// Device time recorded in the main phase.
        recorded: Nanos,
        /// The planned duration.
        planned: Nanos,
        /// Whether that is only the least.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        until_steady: bool,
        /// Whether it came to a write cliff before, which ends what the fresh drive does.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        met_cliff: bool,
    },
}

/// How far a fill came.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    /// What was written.
    pub written: Bytes,
    /// Its time.
    pub lasted: Nanos,
}

/// In words that follow a comma.
impl Display for Filled {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let rate = self.written.0 as f64 / self.lasted.as_secs_f64() / 1e6;
        let Self { written, lasted } = self;
        write!(
            f,
            "after {written} of its fill were recorded, in {lasted}, which is {} MB/s on average",
            thousands(rate)
        )
    }
}

/// What figures with a steady state in their name are where there is none.
const NOT_STEADY: &str = "Where a figure is named steady, it is of the last part of the run.";

/// So many parts are named; nobody reads more. The figures of the others have their marks.
pub(super) const NAMED: usize = 12;

/// The parts besides the one where something was most.
pub(crate) fn others<'a>(parts: impl Iterator<Item = &'a str>, most: &str) -> Vec<String> {
    parts.filter(|part| *part != most).map(str::to_owned).collect()
}

/// Where something was so: `in a`, or `in 3 of the parts, most of all in a (the others: b, c)`.
pub(super) fn in_parts(parts: usize, most: &str, others: &[String]) -> String {
    match (parts, others) {
        (1, _) => format!("in {most}"),
        (parts, []) => format!("in {parts} of the parts, most of all in {most}"),
        (parts, others) => {
            let named = &others[..others.len().min(NAMED - 1)];
            let more = match others.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "in {parts} of the parts, most of all in {most} (the {}: {}{more})",
                if others.len() == 1 { "other" } else { "others" },
                named.join(", ")
            )
        }
    }
}

/// What may make a flush cost nothing.
fn why_free(write_cache: Option<&str>) -> &'static str {
    match write_cache {
        Some("write through") => {
            "The kernel sends this drive none, since it takes its cache for one that needs no flush \
             (`queue/write_cache` in sysfs): that is so without a cache, or where capacitors make its data safe at \
             once. Of any other drive commits are lost with the power. Look at its data sheet."
        }
        Some(_) => {
            "The kernel sends them (`queue/write_cache` in sysfs), so that either capacitors make the drive's data \
             safe at once, or it does not do what it says: only the first keeps a database's promises. Look at \
             its data sheet."
        }
        None => {
            "Either capacitors make its data safe at once, or the kernel takes its cache for one that needs no \
             flush, or the drive does not do what it says: only the first keeps a database's promises. Look at \
             its data sheet, and at `queue/write_cache` in sysfs."
        }
    }
}

impl MethodWarning {
    /// What it leaves of the window that is called steady.
    pub(crate) const fn window_state(&self) -> WindowState {
        match self {
            Self::TooShort { .. } => WindowState::TooShort,
            Self::TooFewWrites { .. } => WindowState::TooLittle,
            Self::NotSteady { .. } | Self::NotSteadyWithin { .. } => WindowState::Settling,
            _ => WindowState::Settled,
        }
    }
    /// As [`Warning::is_of`].
    pub(crate) fn is_of(&self, stage: Stage) -> bool {
        match self {
            Self::NotFresh { .. } => stage != Stage::Later,
            Self::FreshFell { .. } | Self::CliffAtOnce { .. } => stage == Stage::Fresh,
            Self::NotSteady { .. } | Self::NotSteadyWithin { .. } | Self::TooFewWrites { .. } => {
                stage == Stage::Later
            }
            // Fresh is what the first ten seconds are.
            Self::TooShort { seconds, .. } if *seconds >= 10 => stage == Stage::Later,
            Self::Incomplete { met_cliff: true, .. } | Self::BrokenOff { met_cliff: true, .. } => {
                stage == Stage::Later
            }
            Self::NoCliff
            | Self::Incomplete { .. }
            | Self::BrokenOff { .. }
            | Self::TooShort { .. } => stage != Stage::Fill,
            Self::AtSpare { doubt, .. } => doubt.is_of(stage),
            // There is no figure of what TRIM would bring, or of a part that is missing.
            Self::NoTrim | Self::Ended { .. } | Self::NoRandomWrites { .. } => false,
            _ => true,
        }
    }

    /// The part of the test that it is about alone, as [`Figure::of`](crate::Figure::of) has it.
    pub(crate) fn part(&self) -> Option<String> {
        match self {
            Self::AtSpare { percent, .. } => Some(at_spare(*percent)),
            Self::WithinBuffer { part, .. } => part.clone(),
            Self::BrokenOff { phase, has_part: true, .. } => Some(phase.clone()),
            _ => None,
        }
    }
}

/// What figures of one setting of the spare area are of.
pub(crate) fn at_spare(percent: f64) -> String {
    format!("{percent} % spare")
}
