//! What the library calls by the name of a field, as it is typed here.

use writecliff::Error;
use writecliff_bench::ServerError;
use writecliff_measure::{MeterError, RecordError, RunDirectoryError};
use writecliff_report::ReportError;
use writecliff_suite::gate::{Check, GateError};
use writecliff_suite::{AddMeterError, PlanError, RepeatsError, RerunError, ReviewError, RunError};
use writecliff_trace::{ConvertError, ReadError};
use writecliff_uring::{OpenError, PsidRevertError};

/// Fields that are options of a command.
const OPTIONS: [(&str, &str); 15] = [
    ("duration", "--duration"),
    ("until_steady", "--until-steady"),
    ("spare", "--spare"),
    ("traces", "--traces"),
    ("reopen", "--reopen"),
    ("purge", "--purge"),
    ("speed", "--speed"),
    ("min_floor_iops", "--min-floor-iops"),
    ("min_worst_iops", "--min-worst-iops"),
    ("min_mean_iops", "--min-mean-iops"),
    ("min_floor_to_mean", "--min-floor-to-mean"),
    ("max_p99", "--max-p99"),
    ("max_p999", "--max-p999"),
    ("max_p9999", "--max-p9999"),
    ("max_latency", "--max-latency"),
];

/// The option of this field, or the field if it is none.
fn as_typed(key: &str) -> &str {
    OPTIONS.iter().find(|(field, _)| *field == key).map_or(key, |(_, option)| option)
}

/// An error with fields as they are typed, and with the options that help.
pub(crate) fn of_error(error: &Error) -> String {
    match error {
        Error::Plan(error)
        | Error::Run(RunError::Plan(error))
        | Error::Review(ReviewError::Plan(error)) => of_plan(error),
        Error::Review(error) => of_review(error),
        Error::Gate(error) => of_gate(error),
        Error::Again(error) => of_again(error),
        Error::Report(ReportError::DifferentPlans { .. }) => format!("{error} (--different-plans)"),
        Error::Report(ReportError::Write { .. } | ReportError::NotEmpty { .. })
        | Error::Run(RunError::RunDirectory(RunDirectoryError::NotEmpty { .. }))
        | Error::Repeats(RepeatsError::Directory(RunDirectoryError::NotEmpty { .. }))
        | Error::RunDirectory(RunDirectoryError::NotEmpty { .. }) => format!("{error} (--out)"),
        Error::Run(RunError::Record(RecordError::Unanswered { .. })) => {
            format!("{error} (--io-timeout)")
        }
        Error::Open(OpenError::Consent { expected, .. })
        | Error::PsidRevert(PsidRevertError::Open(OpenError::Consent { expected, .. })) => format!(
            "{error}: if this is the right drive, pass --destroy-data-on {}",
            expected.quoted()
        ),
        error => error.to_string(),
    }
}

fn of_plan(error: &PlanError) -> String {
    let PlanError { option, got, reason } = error;
    format!("{} {got} is not possible: {reason}", as_typed(option))
}

/// The same of a plan in a file, whose keys are written as they are.
pub(crate) fn of_plan_file(error: &PlanError) -> String {
    let PlanError { option, got, reason } = error;
    format!("{option} {got} is not possible: {reason}")
}

fn of_review(error: &ReviewError) -> String {
    match error {
        ReviewError::NotAmong { option, got, test } => format!(
            "{} {got} is not possible: {test} is not among the tests; add it by --with {test}",
            as_typed(option)
        ),
        ReviewError::Directory(RunDirectoryError::NotEmpty { path }) => format!(
            "{} is not empty; give --out a new directory, or go on with an interrupted review by \
             --resume",
            path.display()
        ),
        ReviewError::IsRun { path } => {
            format!("{error} (`writecliff run --again {}`)", path.display())
        }
        error => error.to_string(),
    }
}

fn of_again(error: &RerunError) -> String {
    let command = match error {
        RerunError::IsReview { path } => format!("review --again {}", path.display()),
        RerunError::IsRepeats { path, first } => {
            format!("run --again {}", path.join(first).display())
        }
        error => return error.to_string(),
    };
    format!("{error} (`writecliff {command}`)")
}

fn of_gate(error: &GateError) -> String {
    match error {
        GateError::NoConsistency { limit } => {
            GateError::NoConsistency { limit: as_typed(limit) }.to_string()
        }
        GateError::NoFigure { limit, test, figure, missing, runs } => {
            let (limit, missing, runs) = (as_typed(limit), *missing, *runs);
            GateError::NoFigure { limit, test, figure, missing, runs }.to_string()
        }
        GateError::NotSteady { limit, test, figure, doubt, unsteady, runs } => {
            let (limit, doubt, unsteady, runs) = (as_typed(limit), doubt.clone(), *unsteady, *runs);
            GateError::NotSteady { limit, test, figure, doubt, unsteady, runs }.to_string()
        }
        GateError::NothingAsked => {
            "a gate needs a limit, like --min-floor-iops, or a --baseline".to_owned()
        }
        error => error.to_string(),
    }
}

/// The same with limits as they are typed.
pub(crate) fn of_check(check: Check) -> Check {
    Check { because: as_typed(&check.because).to_owned(), ..check }
}

/// Which option chooses another address.
pub(crate) fn for_serving(error: &ServerError) -> &'static str {
    match error {
        ServerError::Taken { .. } => " (--port PORT)",
        ServerError::Listen { .. } => " (--listen ADDRESS)",
        _ => "",
    }
}

/// Which option does what an error of an export asks for.
pub(crate) fn for_exporting(error: &writecliff_export::ExportError) -> &'static str {
    use writecliff_export::ExportError as Error;
    match error {
        Error::NotLoopback { .. } => " (--listen-to-all allows it)",
        Error::OneStore { .. } | Error::NoStore { .. } | Error::OtherDrive { .. } => " (--store)",
        Error::SocketTaken { .. } | Error::NoSocket { .. } | Error::Socket { .. } => {
            " (--socket PATH)"
        }
        _ => "",
    }
}

/// Which options of the commands that read traces do what an error asks for.
pub(crate) fn for_reading(error: &ReadError) -> &'static str {
    match error {
        ReadError::UnknownFormat { .. } => " (--from FORMAT)",
        ReadError::BadLines { .. } => " (--bad-lines PERCENT)",
        ReadError::SeveralVolumes { .. } => " (--stream NAME, or --all-volumes)",
        _ => "",
    }
}

pub(crate) fn for_converting(error: &ConvertError) -> &'static str {
    match error {
        ConvertError::Read(error) => for_reading(error),
        _ => "",
    }
}

/// Which option puts a meter's clock right.
pub(crate) fn for_meters(error: &AddMeterError) -> &'static str {
    match error {
        AddMeterError::Meter(MeterError::NoOverlap { .. }) => " (--clock-offset)",
        _ => "",
    }
}
