//! What the drive is, or told of itself, that makes its figures doubtful, whatever the test.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Link, Nanos, Temperature};

use crate::record::number::counted;
use crate::record::phase::{is_one, is_zero, one};
use crate::record::warning::method::{NAMED, in_parts};

/// The drive is in doubt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DriveWarning {
    /// The device is a file on a file system, or a loop device on one.
    #[error(
        "This is a file, not a drive, or stands on one: the file system and its cache policy are \
         part of what was measured."
    )]
    FileNotDrive,
    /// A directory whose file system is not a drive's own.
    #[error(
        "This directory is on {filesystem}: a flush there is one of memory, of another file system or of another \
         machine, and says nothing of a drive here."
    )]
    FlushElsewhere {
        /// Its file system.
        filesystem: String,
    },
    /// A directory whose file system sends no flushes.
    #[error(
        "This file system is mounted without barriers: it sends the drive no flush, and what was committed may \
         be gone after a power cut unless the drive's buffer is protected."
    )]
    WithoutBarriers,
    /// Nothing was measured but the machine.
    #[error("There was no drive (null:): the figures are this machine's and this program's own.")]
    NoDrive,
    /// A drive with a part of its capacity.
    #[error(
        "A scale model: what follows from how much is written comes {parts} times as soon (the write cliff, \
         the end of a fast buffer), and a second averages over {parts} of the drive's. Pauses of single \
         erases, times of rest, and a write buffer or read-ahead that is large beside it are not kept: its \
         sequential figures, its corners and its traces are not the drive's."
    )]
    ScaleModel {
        /// It has one of so many parts.
        parts: u32,
    },
    /// A member of an array was made anew beside the load.
    #[error(
        "Member {member} of the array was rebuilt {}: {}. {} those of an \
         array that lacks this member where it is not made yet, and whose others are busy making it; {} \
         are not.",
        if *in_fill { "in the fill" } else { "beside the load" },
        match (done == of, times) {
            (true, 1) => format!("{of}, which took {time}"),
            (false, 1) => format!("{done} of {of} in the first {time}, and it goes on"),
            (_, times) => format!("{times} times, since every purge begins it anew{}", named(phases)),
        },
        if *times == 1 { "Figures until then are" } else { "Figures of what was measured meanwhile are" },
        if *times == 1 { "those behind it" } else { "others" }
    )]
    Rebuilt {
        /// Counted from 0.
        member: u32,
        /// Bytes of it that were there at the end; of several times, of the last.
        done: Bytes,
        /// Bytes that are to be.
        of: Bytes,
        /// How long that took.
        time: Nanos,
        /// Whether it was over before anything else than a fill began.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_fill: bool,
        /// How often it was begun.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        times: usize,
        /// The parts in which it went on, if it was begun several times and these are not too many to name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        phases: Vec<String>,
    },
    /// The link is not what the drive can.
    #[error(
        "The drive's link came up at {link}: sequential figures may show the link. Look at cable, slot \
         and port."
    )]
    ReducedLink {
        /// As it came up.
        link: Link,
    },
    /// The drive counts more than the run wrote to it.
    #[error(
        "The drive counts {counted} that hosts wrote in this run, which wrote {own}: somebody else wrote \
         to it by commands that the kernel does not count (NVMe's own, SG_IO), or it counts in another \
         unit than it should."
    )]
    WrittenByOthers {
        /// By the drive's own count.
        counted: Bytes,
        /// The run's own.
        own: Bytes,
    },
    /// The device failed I/Os.
    #[error(
        "The device failed {} of this test{}, whose service times are in no figure{}.",
        counted(*count, "I/O"),
        named(phases),
        match (power_cuts, simulated) {
            (1, _) => "; its power went once, as its profile has it".to_owned(),
            (2.., _) => format!("; its power went {power_cuts} times, as its profile has it"),
            (0, true) => String::new(),
            (0, false) => "; its health, or its power, is in doubt".to_owned(),
        }
    )]
    FailedIos {
        /// How many.
        count: u64,
        /// Whether it is a model, which fails them by what its profile says.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        simulated: bool,
        /// How often its power went meanwhile, where nothing else tells.
        #[serde(default, skip_serializing_if = "is_zero")]
        power_cuts: usize,
        /// The phases in which it did. Older runs do not tell.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        phases: Vec<String>,
        /// Whether fills and fresh rates were over by then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        only_later: bool,
    },
    /// A die of a simulated drive stopped working.
    #[error(
        "A die of the drive stopped working in {phase}{}: what came before is of the whole drive, and what came later \
         of what was left of it.",
        after.map_or_else(String::new, |after| format!(", after {after} of it"))
    )]
    DieLost {
        /// The phase.
        phase: String,
        /// When that was, from the phase's beginning; `None` if nothing planned it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Nanos>,
        /// Whether fills and fresh rates are of either drive as well.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        of_all_stages: bool,
    },
    /// The power of a simulated drive went while something was measured.
    #[error(
        "The drive lost power in {phase}, after {after} of it{}: what is under way then fails, and what comes until it \
         is back waits for that{}.",
        again(later, *times),
        if *back_at_once { "; its profile has it back at once" } else { "" }
    )]
    PowerLost {
        /// How often.
        times: usize,
        /// The phase in which it did first.
        phase: String,
        /// When that was, from the phase's beginning.
        after: Nanos,
        /// The phases in which it did again, and when; none in records from before they were kept.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        later: Vec<(String, Nanos)>,
        /// Whether its profile gives coming back no time but that of looking at every superblock.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        back_at_once: bool,
        /// Whether fills and fresh rates were over by then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        only_later: bool,
    },
    /// A simulated drive lost what it had acknowledged.
    #[error(
        "The drive lost {}: data that it had acknowledged, or was being given{}.",
        counted(*pages, "page"),
        named(phases)
    )]
    DataLost {
        /// Pages of its map.
        pages: u64,
        /// The phases in which it did.
        phases: Vec<String>,
        /// Whether fills were over by then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        only_later: bool,
    },
    /// The drive reached the temperature at which it protects itself.
    #[error(
        "The drive reached {temperature}; from {limit} on it may slow down to protect itself. \
         The figures may show its cooling instead of its firmware."
    )]
    TooWarm {
        /// The highest of any sample.
        temperature: Temperature,
        /// Where its protection begins.
        limit: Temperature,
    },
    /// The drive slowed down to protect itself from heat.
    #[error(
        "The drive became too warm and slowed down to protect itself{}, which kept commands waiting for \
         {} of the time there{}. What was measured while it did may show its cooling instead of its firmware.",
        match parts {
            1 => format!(" in {most}"),
            _ => format!(", {}", in_parts(*parts, most, others)),
        },
        match percent {
            ..1.0 => "less than 1 %".to_owned(),
            percent => format!("{percent:.0} %"),
        },
        last.as_ref().map_or_else(String::new, |last| format!("; the last time {last}"))
    )]
    SlowedDown {
        /// In how many parts of the test.
        parts: usize,
        /// Where most.
        most: String,
        /// Where else, if there are not too many to name. Older runs do not tell.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
        /// Its share of the time there, in percent.
        percent: f64,
        /// When it did so last: `in second 47 of torture`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<String>,
    },
    /// The drive could not give data back.
    #[error(
        "The drive counted {}: data that it could not give back, of this run or of older times. Its health is in \
         doubt.",
        counted(*count, "new media error")
    )]
    MediaErrors {
        /// New ones.
        count: u64,
    },
    /// The drive says that it slowed down.
    #[error(
        "The drive was warmer than its limits for {minutes} min by its own count, and slowed down to \
         protect itself. The figures may show its cooling instead of its firmware."
    )]
    Throttled {
        /// By its own count.
        minutes: u64,
    },
    /// The drive lost its power during the run.
    #[error(
        "The drive lost its power without a word {} during the run, by its own count: what follows such a loss is \
         another run.",
        counted(*count, "time")
    )]
    UnsafeShutdown {
        /// By its own count.
        count: u64,
    },
}

/// When power went again: each time if it was not often, else how often and when last.
fn again(later: &[(String, Nanos)], times: usize) -> String {
    let moments: Vec<String> =
        later.iter().map(|(phase, after)| format!("after {after} of {phase}")).collect();
    match &moments[..] {
        [] if times <= 1 => String::new(),
        [] => format!(", for the first of {times} times"),
        [one] => format!(", and again {one}"),
        [first, second] => format!(", and again {first} and {second}"),
        [.., last] => format!(", and {} times more, the last {last}", moments.len()),
    }
}

fn named(phases: &[String]) -> String {
    let (first, more) = phases.split_at(phases.len().min(NAMED));
    match (first, more.len()) {
        ([], _) => String::new(),
        (first, 0) => format!(" (in {})", first.join(", ")),
        (first, more) => format!(" (in {} and {more} more)", first.join(", ")),
    }
}
