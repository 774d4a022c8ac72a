//! Options and values that several commands take.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use writecliff::{ALL_TESTS, DestroyData, Label, TESTS, ThreadCount};
use writecliff_device::{Nanos, ParseUnitError, Purge};

use crate::output::Loudness;

#[derive(Debug, Args)]
pub(crate) struct CommonOptions {
    /// Minutes instead of hours: shorter, and on no more than the first 2 GiB; the report says so
    #[arg(long)]
    pub(crate) quick: bool,
    /// Decides which LBAs are used, in which order, and with what data [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Directory for the result, new or empty [default: ./runs/TEST-DRIVE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Keep every single I/O, not only every second (about 13 bytes each)
    #[arg(long)]
    pub(crate) every_io: bool,
    /// How long a real drive may take for one I/O. What takes longer has failed; if it has not come
    /// back after as long again, the run ends
    #[arg(long, value_name = "TIME", default_value = "60s", allow_hyphen_values = true,
          value_parser = io_timeout)]
    pub(crate) io_timeout: Nanos,
    /// How a real drive is purged, as `writecliff drives DRIVE` names it [default: the drive's own
    /// format, if it has one; else a discard of everything]
    #[arg(long, value_name = "HOW", value_parser = purge_name)]
    pub(crate) purge: Option<Purge>,
    /// Threads that keep a real drive busy together, each with a ring of its own and a share of what is
    /// in flight [default: auto, one for each of the drive's hardware queues and each processor but one,
    /// where each has 32 in flight at least]
    #[arg(
        long,
        value_name = "N",
        default_value = "auto",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub(crate) threads: ThreadCount,
    /// Ask a real drive for completions all the time instead of waiting for its interrupts: takes a
    /// processor for each thread, and a drive with queues for it (nvme.poll_queues)
    #[arg(long)]
    pub(crate) poll: bool,
    /// Leave the result out of the results library (`writecliff bench`)
    #[arg(long)]
    pub(crate) no_bench: bool,
    /// A name of your own for the result, shown beside the drive's
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<Label>,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    #[command(flatten)]
    pub(crate) shown: ShownOptions,
}

impl CommonOptions {
    /// One that says how to run a test, if any was given.
    pub(crate) fn of_a_run(&self) -> Option<&'static str> {
        let given = [
            ("--quick", self.quick),
            ("--seed", self.seed.is_some()),
            ("--out", self.out.is_some()),
            ("--every-io", self.every_io),
            ("--purge", self.purge.is_some()),
            ("--poll", self.poll),
            ("--no-bench", self.no_bench),
            ("--label", self.label.is_some()),
            ("--destroy-data-on", self.consent.destroy_data_on.is_some()),
            ("--others-not-visible", self.consent.others_not_visible),
            ("--open", self.shown.open),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }
}

/// Agreement to what cannot be undone.
#[derive(Debug, Args)]
pub(crate) struct ConsentOptions {
    /// Agree to lose all data on this drive: its serial, or what `writecliff drives DRIVE` says
    #[arg(long, value_name = "NAME")]
    pub(crate) destroy_data_on: Option<OsString>,
    /// In a container: say that no process which cannot be seen from there uses the drive
    #[arg(long)]
    pub(crate) others_not_visible: bool,
}

impl ConsentOptions {
    /// With the name that was passed, or was typed.
    pub(crate) fn named(&self, name: impl Into<OsString>) -> DestroyData {
        let consent = DestroyData::named(name);
        match self.others_not_visible {
            true => consent.though_others_are_not_visible(),
            false => consent,
        }
    }
}

/// How a result is shown when it is there.
#[derive(Debug, Args)]
pub(crate) struct ShownOptions {
    /// Print everything as JSON instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the path of the page, and what went wrong
    #[arg(long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Open the page when it is made
    #[arg(long)]
    pub(crate) open: bool,
}

impl ShownOptions {
    pub(crate) const fn loudness(&self) -> Loudness {
        if self.quiet { Loudness::Quiet } else { Loudness::Usual }
    }
}

/// `5%` or `5`: a share from 0 to 100 percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('%').unwrap_or(text).trim().parse();
        let is_share = |percent: &f64| (0.0..=100.0).contains(percent);
        let percent: Option<f64> = number.ok().filter(is_share);
        percent.map(Self).ok_or_else(|| "expected a share like 5%, from 0% to 100%".to_owned())
    }
}

/// `25` or `25%`; whether it is possible is the plan's to say.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    number.parse().map_err(|_| "expected a share in percent, like 25 or 25%".to_owned())
}

/// A time that is not negative; `allow_hyphen_values` lets it say so itself.
pub(crate) fn time(text: &str) -> Result<Nanos, String> {
    if text.starts_with('-') {
        return Err("expected a time that is not negative, like 20ms or 30min".to_owned());
    }
    text.parse().map_err(|error: ParseUnitError| error.to_string())
}

pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// A second is the unit that runs are recorded in.
fn io_timeout(text: &str) -> Result<Nanos, String> {
    let timeout: Nanos = text.parse().map_err(|error: ParseUnitError| error.to_string())?;
    if (Nanos::from_secs(1)..=Nanos::from_secs(24 * 3600)).contains(&timeout) {
        return Ok(timeout);
    }
    Err("expected a time from 1s to 24h, like 60s".to_owned())
}

pub(crate) fn purge_name(text: &str) -> Result<Purge, String> {
    text.parse()
}

pub(crate) fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..f64::INFINITY).contains(number));
    number.ok_or_else(|| "expected a number that is not negative, like 6000".to_owned())
}

/// `2.5s`, `-300ms`: a time that may be negative, in seconds.
pub(crate) fn signed_seconds(text: &str) -> Result<f64, ParseUnitError> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (-1.0, unsigned),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    Ok(sign * unsigned.parse::<Nanos>()?.as_secs_f64())
}

/// The names of the tests that a review may have, and of all of them.
pub(crate) fn tests_of_a_review() -> PossibleValuesParser {
    let all = PossibleValue::new(ALL_TESTS).help("every test whose load is not your own");
    test_values().chain([all]).collect::<Vec<_>>().into()
}

/// The names of the tests.
pub(crate) fn test_names() -> PossibleValuesParser {
    test_values().collect::<Vec<_>>().into()
}

/// The tests, with what they answer.
fn test_values() -> impl Iterator<Item = PossibleValue> {
    TESTS.iter().map(|test| PossibleValue::new(test.name).help(test.question))
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
