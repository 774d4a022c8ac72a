//! `writecliff meter`: adds a power meter's log to a run, and makes its report anew.

use std::fs::File;
use std::io::BufReader;

use writecliff_device::{Nanos, ParseUnitError};
use writecliff_measure::{Adapter, MeterOptions};
use writecliff_suite::{Review, add_meter};

use super::report::report;
use crate::args::MeterArguments;
use crate::error::CliError;
use crate::output::print;

pub(crate) fn meter(arguments: &MeterArguments) -> Result<(), CliError> {
    let MeterArguments { run, log, .. } = arguments;
    let options = MeterOptions {
        clock_offset_s: arguments.clock_offset,
        adapter: arguments.msata_adapter.then_some(Adapter::Msata),
    };
    let file =
        File::open(log).map_err(|source| CliError::LogUnreadable { path: log.clone(), source })?;
    let metered = add_meter(run, BufReader::new(file), &options)?;
    let (with_power, samples) = (metered.with_power, metered.samples);
    print(&format!(
        "{with_power} of {samples} samples have their power from {}\n\n",
        log.display()
    ))?;
    report(std::slice::from_ref(run), None)?;
    match run.parent().filter(|parent| Review::is_at(parent)) {
        Some(review) => report(&[review.to_owned()], None),
        None => Ok(()),
    }
}

/// `2.5s`, `-300ms`: a time that may be negative, in seconds.
pub(crate) fn signed_seconds(text: &str) -> Result<f64, ParseUnitError> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (-1.0, unsigned),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    Ok(sign * unsigned.parse::<Nanos>()?.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_a_time_with_a_sign() {
        assert_eq!(signed_seconds("2.5s"), Ok(2.5));
        assert_eq!(signed_seconds("-300ms"), Ok(-0.3));
        assert_eq!(signed_seconds("+1h"), Ok(3600.0));
        for wrong in ["2.5", "--1s", "-", "s"] {
            assert!(signed_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
