//! Doubts about jobs and suites of them, which are the user's own.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos};

use crate::record::imported::ImportedFrom;
use crate::record::number::thousands;

/// A job, or a step of a suite, is not what it was meant to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum JobWarning {
    /// An average of a job, or of a step of a suite, is of times that differ.
    #[error(
        "The {} '{job}' ran at {} IOPS in the {} of its time and at {} in the {}: its averages hide that{}.",
        if *is_step { "step" } else { "job" },
        thousands(*first),
        if *of_tenths { "fastest tenth" } else { "first third" },
        thousands(*last),
        if *of_tenths { "slowest" } else { "last" },
        if *is_step { "" } else { ", its picture shows it" }
    )]
    Uneven {
        /// Its name.
        job: String,
        /// Whether it is a step.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_step: bool,
        /// Whether that is of the fastest tenth of its time and of the slowest, where thirds do not differ so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        of_tenths: bool,
        /// Mean IOPS of all its operations in the first third.
        first: f64,
        /// The same in the last third.
        last: f64,
    },
    /// A job, or a step of a suite, did less than it was to.
    #[error(
        "{asked} were asked of {whose}, and {done} done. {}",
        match counts_lateness {
            true => "I/Os waited longer the longer they came, and response times tell how long that was.",
            false => "Service times count from when an I/O began, and do not show how much later than it was due that was.",
        }
    )]
    Behind {
        /// The job or the step, or which of its operations.
        #[serde(alias = "job")]
        whose: String,
        /// The rate that the plan has.
        asked: String,
        /// The rate that it had.
        done: String,
        /// Whether latency counts from when an I/O was due.
        counts_lateness: bool,
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
         ran, it does not tell.{}{}{}",
        from.program,
        match from.without_submission {
            true => " Its latencies begin when an I/O has been submitted.",
            false => "",
        },
        match from.beside.is_empty() {
            true => String::new(),
            false => format!(" It was also asked: {}.", from.beside.join(", ")),
        },
        match from.logged_percent {
            None => String::new(),
            Some(percent) => format!(
                " Its logs, of which the pictures over time are, have {percent} % of the bytes that it counted."
            ),
        }
    )]
    #[serde(rename = "told")]
    Imported {
        /// Which, and what its figures are.
        #[serde(rename = "told")]
        from: ImportedFrom,
    },
    /// What clients of an export measured is not the drive's alone.
    #[error(
        "{part} of the answers went out {late} late or more, beside {own} that the drive takes: this machine \
         was too slow or too busy for it. A lower speed shows the drive as it is."
    )]
    AnswersLate {
        /// Which of them.
        part: String,
        /// How late they were.
        late: Nanos,
        /// What the drive takes for as many.
        own: Nanos,
    },
    /// A job did nothing that counts.
    #[error(
        "The job '{job}' has no figures: it was not begun, or none of its I/Os completed after its ramp time."
    )]
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
    /// The model trims for nothing.
    #[error(
        "What a trim frees takes no time on this model (not modelled): a trim takes and waits as \
         long as its command, and what runs beside it waits for no more than that."
    )]
    TrimsTakeNoTime,
    /// More I/Os were in flight than the drive takes.
    #[error(
        "Some {wanted} I/Os were in flight at once in the busiest second that figures are of, and the drive takes {taken}: the rest \
         waited in the host, as they do in the kernel, and latencies include that."
    )]
    QueuedInHost {
        /// Of all jobs of a group together, in the second with the most.
        wanted: usize,
        /// By the drive.
        taken: usize,
    },
    /// The first jobs read a drive that holds nothing.
    #[error(
        "Jobs read what was never written, which is faster on many drives than reading data. \
         A job that writes it before them, or in a plan `prepare = \"fill\"`, gives them some."
    )]
    ReadsNothing,
    /// A job read where little had been written.
    #[error(
        "Job '{job}' reads from {size}, of which the jobs before it wrote {written} at most: the rest was never \
         written, which is faster on many drives to read than data. Jobs that write all of it, or in a plan \
         `prepare = \"fill\"`, give it some."
    )]
    ReadsLittle {
        /// The job.
        job: String,
        /// What it reads from.
        size: Bytes,
        /// What of it can have been written.
        written: Bytes,
    },
    /// A step of a suite read a drive that holds nothing.
    #[error(
        "The step '{step}' read {} that was never written{}, which is faster on many drives than reading data. A step \
         {} that prepares the drive, or writes all that it reads from, gives it data to read.",
        if *some { "much" } else { "data" },
        if *trimmed { " since the trim before it" } else { "" },
        if *trimmed { "between the two" } else { "before it" },
    )]
    StepReadsNothing {
        /// Its name.
        step: String,
        /// Whether some of it was written, before or by itself.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        some: bool,
        /// Whether the drive was trimmed before it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        trimmed: bool,
    },
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
}
