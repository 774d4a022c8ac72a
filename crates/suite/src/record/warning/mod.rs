//! Why a result may be worth less than it looks; stored with the run, shown on top of the report.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Link, Nanos, Purge, Temperature};
use writecliff_trace::Map;

use crate::record::imported::ImportedFrom;

/// One doubt about a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Warning {
    /// The drive offers no purge.
    #[error(
        "The drive was not purged: it offers no way to erase or trim it. The beginning of the run \
         shows the state that it was left in, not a fresh drive."
    )]
    NotPurged,
    /// The drive failed the purge that it offers.
    #[error(
        "The drive was not purged: {error}. The beginning of the run shows the state that it was \
         left in, not a fresh drive."
    )]
    PurgeFailed {
        /// What the drive answered.
        error: String,
    },
    /// The drive failed the best purge that it offers, and was purged by the next.
    #[error("A better purge failed ({error}); the drive was purged by the next best that it has.")]
    BetterPurgeFailed {
        /// What the drive answered.
        error: String,
    },
    /// The purge was something less than the drive's own erase.
    #[error("The drive was purged by {}.", how.describe())]
    WeakPurge {
        /// What was done instead.
        how: Purge,
    },
    /// Data could still be read after the purge.
    #[error(
        "The purge did not erase everything: {still_readable} of {sampled} places read back \
         afterwards still held data. Figures called fresh may be too low."
    )]
    PurgeIneffective {
        /// Places that still held data.
        still_readable: u32,
        /// Places read.
        sampled: u32,
    },
    /// The device is a file on a file system, or a loop device on one.
    #[error(
        "This is a file, not a drive, or stands on one: the file system and its cache policy are \
         part of what was measured."
    )]
    FileNotDrive,
    /// Nothing was measured but the machine.
    #[error("There was no drive (null:): the figures are this machine's and this program's own.")]
    NoDrive,
    /// Shorter than the method, on a part of a drive that is not tiny.
    #[error(
        "A quick run: shorter than the method and, but for suites, on no more than the first 2 GiB of \
         the drive. It shows that all works and how the pictures look; its figures are not those of \
         the method."
    )]
    Quick,
    /// The drive's performance still changed in the window called steady.
    #[error(
        "No steady state: in the window called steady the IOPS still moved by {percent:+.0} % of \
         their mean. A longer run would say more."
    )]
    NotSteady {
        /// Rise of the fitted line over the window, in percent of the mean.
        percent: f64,
    },
    /// Performance never fell.
    #[error(
        "No write cliff: the IOPS never fell to half of the fresh figure. Less was written than the \
         spare area holds, or the drive has none to run out of."
    )]
    NoCliff,
    /// Too short for its percentiles.
    #[error(
        "The run lasted {seconds} s of writes; the steady window has {window} samples, too few for \
         a floor or a percentile that can be relied on."
    )]
    TooShort {
        /// Seconds recorded.
        seconds: u32,
        /// Samples in the steady window.
        window: u32,
    },
    /// The device failed I/Os.
    #[error("The device failed {count} I/Os. They count in no figure; its health is in doubt.")]
    FailedIos {
        /// How many.
        count: u64,
    },
    /// Somebody else used the drive.
    #[error(
        "Other load on the drive: {bytes} ({percent:.0} % of all) were read or written by other \
         programs during {}. The drive served both; alone it would have been faster.",
        phases.join(", ")
    )]
    OtherLoad {
        /// Read and written by others.
        bytes: Bytes,
        /// Their share of everything that the system counted in these phases.
        percent: f64,
        /// The phases in which it was too much.
        phases: Vec<String>,
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
    /// The measuring threads hardly ever waited for the drive.
    #[error(
        "This machine may have been the limit: in {phase} {} computed for {percent:.0} % of the \
         time. The drive may be faster than its figures; more threads (--threads) may show it.",
        measuring(*threads)
    )]
    GeneratorBusy {
        /// Processor time of the threads over the phase's length, of each on average.
        percent: f64,
        /// The phase in which it was most.
        phase: String,
        /// How many they were.
        #[serde(default = "one")]
        threads: usize,
    },
    /// The machine slept during the run.
    #[error(
        "The machine slept for {span} during the run: the drive rested or lost power meanwhile, \
         and the recording's clock stood still. What follows the sleep is another run."
    )]
    Suspended {
        /// Time asleep.
        span: Nanos,
    },
    /// The process was stopped, starved, or in a virtual machine that stood still.
    #[error(
        "This machine paused the measuring thread for {span} during {}: it was stopped, starved of \
         the processor, or its virtual machine stood still. Latencies of that time are the \
         machine's own, not the drive's.",
        phases.join(", ")
    )]
    HeldUp {
        /// All pauses together.
        span: Nanos,
        /// The phases in which it was held up for long.
        phases: Vec<String>,
    },
    /// The drive could not give data back.
    #[error(
        "The drive counted {count} new media errors: data that it could not give back, of this run or \
         of older times. Its health is in doubt."
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
        "The drive lost its power without a word {count} times during the run, by its own count: what \
         follows such a loss is another run."
    )]
    UnsafeShutdown {
        /// By its own count.
        count: u64,
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
    /// The run ended before the part that it is about.
    #[error("The run ended before its first second of random writes: there are no figures.")]
    NoRandomWrites,
    /// A doubt about one setting of the spare area.
    #[error("At {percent} % spare: {doubt}")]
    AtSpare {
        /// The setting.
        percent: f64,
        /// The doubt.
        doubt: Box<Warning>,
    },
    /// A part of the test has no figures.
    #[error("The run ended before {phase}: what comes from there on has no figures.")]
    Ended {
        /// The first part that is missing.
        phase: String,
    },
    /// What was written fits into the drive's fast buffer.
    #[error(
        "{}{written} were written at a time, which fits into the drive's fast buffer of about \
         {buffer}. The figures are the buffer's; a longer write would be slower.",
        part.as_ref().map_or_else(String::new, |part| format!("{part}: "))
    )]
    WithinBuffer {
        /// The part of the test, if it is not all of it.
        part: Option<String>,
        /// What it wrote at a time.
        written: Bytes,
        /// The buffer, as a sequential write showed it.
        buffer: Bytes,
    },
    /// A job's average is of times that differ.
    #[error(
        "The job '{job}' ran at {first:.0} IOPS in the first third of its time and at {last:.0} in \
         the last: its averages hide that, its picture shows it."
    )]
    Uneven {
        /// Its name.
        job: String,
        /// Mean IOPS of its first operation in the first third.
        first: f64,
        /// The same in the last third.
        last: f64,
    },
    /// A job that was to end when it is steady ended otherwise.
    #[error(
        "The job '{job}' was to run until it is steady, and never was: it ended by its other limits. \
         What follows it found a drive that was still changing."
    )]
    JobNotSteady {
        /// Its name.
        job: String,
    },
    /// A step of a suite was left out.
    #[error("The step '{step}' was left out: it needs a drive of {needs}.")]
    StepLeftOut {
        /// Its name.
        step: String,
        /// How large the drive has to be.
        needs: Bytes,
    },
    /// Another program measured it.
    #[error(
        "These figures are {}'s, read from its output: what it did to the drive before, and what else \
         ran, it does not tell.{}{}",
        from.program,
        match from.without_submission {
            true => " Its latencies begin when an I/O has been submitted.",
            false => "",
        },
        match from.beside.is_empty() {
            true => String::new(),
            false => format!(" It was also asked: {}.", from.beside.join(", ")),
        }
    )]
    #[serde(rename = "told")]
    Imported {
        /// Which, and what its figures are.
        #[serde(rename = "told")]
        from: ImportedFrom,
    },
    /// A job did nothing that counts.
    #[error("The job '{job}' has no figures: none of its I/Os completed after its ramp time.")]
    NoFigures {
        /// Its name.
        job: String,
    },
    /// The kernel trims while everything else waits.
    #[error(
        "Jobs with trims ran beside others: the kernel takes a trim by a call that nothing else \
         overtakes here, so the other I/Os' latencies hold their wait for trims."
    )]
    TrimsHoldUp,
    /// More I/Os were in flight than the drive takes.
    #[error(
        "Up to {wanted} I/Os were in flight, and the drive takes {taken} at once: the rest waited in \
         the host, as they do in the kernel, and latencies include that."
    )]
    QueuedInHost {
        /// Of all jobs of a group together.
        wanted: usize,
        /// By the drive.
        taken: usize,
    },
    /// I/Os came faster than the drive does them.
    #[error(
        "{phase}: {asked:.0} I/Os came a second and {done:.0} were done, so that response times grew \
         for as long as they came. They tell how long that was, and nothing of the drive."
    )]
    FellBehind {
        /// The phase with the fewest arrivals of which this is so.
        phase: String,
        /// Arrivals a second.
        asked: f64,
        /// I/Os done a second.
        done: f64,
    },
    /// Fewer writes went on beside the reads than were asked for.
    #[error(
        "Beside {drive_writes_per_day} drive writes a day: {asked:.0} writes a second were asked \
         for, and the drive did {done:.0}. The reads there are beside as many as it can do."
    )]
    WritesFellBehind {
        /// As the plan has it.
        drive_writes_per_day: f64,
        /// Writes a second.
        asked: f64,
        /// Writes done a second.
        done: f64,
    },
    /// A trace does not tell what waited for what.
    #[error(
        "The trace {trace} tells neither queue depths nor completions: its operations were done \
         one after the other, whatever had been in flight together. By its own clock (speed = 1.0 in \
         its plan) it would be as recorded."
    )]
    OrderUnknown {
        /// Its name.
        trace: String,
    },
    /// A trace did not lie where it was recorded.
    #[error(
        "The trace {trace} reaches up to {end} and was laid onto {span} of the drive, {}: places \
         that were apart may have met.",
        laid(*map)
    )]
    Mapped {
        /// Its name.
        trace: String,
        /// The first byte that no operation of it reaches.
        end: Bytes,
        /// The part of the drive in use.
        span: Bytes,
        /// How.
        map: Map,
    },
    /// A drive without TRIM was asked for some.
    #[error("The trace {trace}: {count} trims were left out, because the drive takes none.")]
    TrimsLeftOut {
        /// Its name.
        trace: String,
        /// How many.
        count: u64,
    },
    /// A trace was not done to its end.
    #[error(
        "The trace {trace} was done up to operation {done} of {planned}; its figures are of these."
    )]
    TraceCutShort {
        /// Its name.
        trace: String,
        /// Operations that completed well.
        done: u64,
        /// Operations that were to be done.
        planned: u64,
    },
    /// A replay by the clock did not keep to it.
    #[error(
        "The trace {trace}: one of a hundred operations began {late} late or later, because the \
         queue was full or this machine was busy. Response times hold that wait."
    )]
    Late {
        /// Its name.
        trace: String,
        /// The 99th percentile of the delay.
        late: Nanos,
    },
    /// TRIM is not to be had.
    #[error("The drive takes no TRIM: nothing can be said of what it would bring.")]
    NoTrim,
    /// There is no software encryption to be had.
    #[error("The drive was only measured without software encryption: {why}.")]
    NoEncryption {
        /// What is missing.
        why: String,
    },
    /// The rounds never met the rule.
    #[error(
        "{part}: not steady within {rounds} rounds. The figures are means of the last rounds, \
         and a longer run may give others."
    )]
    NeverSteady {
        /// The part of the test.
        part: String,
        /// Rounds run.
        rounds: u32,
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
    /// The first jobs read a drive that holds nothing.
    #[error(
        "The first jobs read what was never written, which is faster on many drives than reading \
         data. `prepare = \"fill\"` in the plan, or a job that writes before them, gives them some."
    )]
    ReadsNothing,
    /// A job of a mixed load ended before its time.
    #[error("Job '{job}' ran for {recorded} of the planned {planned}.")]
    JobCutShort {
        /// The job.
        job: String,
        /// Device time recorded of it.
        recorded: Nanos,
        /// Its runtime, or the run's if that is shorter.
        planned: Nanos,
    },
    /// Blocks did not come back as they were written.
    #[error(
        "{bad} of {blocks} blocks did not come back as they were written. Nothing should be trusted \
         to this drive before it is known why: LBAs and what was found there are in the report."
    )]
    BadBlocks {
        /// How many.
        bad: u64,
        /// Of how many.
        blocks: u64,
    },
    /// The rest of the drive was left alone.
    #[error(
        "Only the first {tested} of {capacity} were tested: nothing is known of the data behind \
         that, nor whether the drive has all of it."
    )]
    PartTested {
        /// From the first LBA on.
        tested: Bytes,
        /// What the drive claims to have.
        capacity: Bytes,
    },
    /// The drive claims more than it has.
    #[error(
        "The drive claims {claimed} and has {real}: what is written behind that is lost, or \
         destroys what was written before."
    )]
    ClaimsTooMuch {
        /// What it says.
        claimed: Bytes,
        /// What was found.
        real: Bytes,
    },
    /// The run ended before its planned duration.
    #[error(
        "The run ended after {recorded} of the planned {planned} of random writes; the figures \
         cover what was recorded."
    )]
    Incomplete {
        /// Device time recorded in the main phase.
        recorded: Nanos,
        /// The planned duration.
        planned: Nanos,
    },
}

impl Warning {
    /// Whether it says that the drive does not keep what is written to it: no figure matters then.
    pub(crate) const fn is_of_lost_data(&self) -> bool {
        matches!(self, Self::BadBlocks { .. } | Self::ClaimsTooMuch { .. })
    }
}

/// How a trace was laid onto a smaller drive.
const fn laid(map: Map) -> &'static str {
    match map {
        Map::Exact => "where they were",
        Map::Wrap => "beginning again at its start",
        Map::Scale => "pressed together",
    }
}

fn one() -> usize {
    1
}

fn measuring(threads: usize) -> String {
    match threads {
        1 => "the measuring thread".to_owned(),
        count => format!("each of the {count} measuring threads"),
    }
}
