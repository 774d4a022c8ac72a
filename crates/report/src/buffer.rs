//! Which speeds are those of a drive's fast buffer.

use writecliff_device::Bytes;
use writecliff_suite::whole_drive::ERASED;
use writecliff_suite::{FastPart, Outcome, Plan, Stage};

use crate::number;
use crate::run::Run;
use crate::subject::Subject;

/// Why no fast buffer is told of a sequential write, in words that go on a sentence.
pub(crate) const NONE_TOLD: &str = "its speed takes no step down by a quarter for good after the first two seconds, \
                                    which is how the end of a fast buffer is told";

/// The same where it fell for another reason.
pub(crate) const MORE_WORK: &str = "its speed falls where NAND begins to do more for each byte, as where parity uses the \
                                    erased blocks up, which is not how a fast buffer ends";

/// What a sequential write showed, if any test of the drive found where it fell.
pub(crate) fn fast_part(subject: &Subject) -> Option<FastPart> {
    found(subject).map(|(_, part)| part)
}

/// The same with the run that found it.
pub(crate) fn found(subject: &Subject) -> Option<(&Run, FastPart)> {
    let part = |run: &Run| run.record.outcome.as_ref().and_then(Outcome::fast_part);
    // The test that is about it first.
    let is_about_it = |run: &&Run| matches!(run.record.plan, Plan::WholeDrive(_));
    let (about_it, others): (Vec<&Run>, Vec<&Run>) = subject.runs.iter().partition(is_about_it);
    about_it.into_iter().chain(others).find_map(|run| Some((run, part(run)?)))
}

/// Whether what such a run found is in doubt.
pub(crate) fn is_in_doubt(run: &Run) -> bool {
    match run.record.plan {
        Plan::Consistency(_) | Plan::SpareArea(_) => run.is_doubtful_at(Stage::Fill, None),
        Plan::WholeDrive(_) => run.is_doubtful_at(Stage::Later, Some(ERASED)),
        _ => run.is_doubtful_at(Stage::Later, None),
    }
}

/// `520 MB/s for the first 3.00 GB, 273 MB/s on average after`.
pub(crate) fn speeds(part: FastPart) -> String {
    let rate = number::megabytes_per_second;
    format!(
        "{} for the first {}, {} on average after",
        rate(part.fast_megabytes_per_second),
        part.bytes,
        rate(part.slow_megabytes_per_second)
    )
}

/// What so many bytes, written at once into the empty buffer of a drive of this capacity, are a measure
/// of; nothing where no buffer is known.
pub(crate) fn tag(part: Option<FastPart>, written: u64, capacity: Bytes) -> String {
    match part {
        None => String::new(),
        Some(part) if written <= part.bytes.0 => "in the buffer".to_owned(),
        // Written over again, a drive may have found time and room for more of it.
        Some(_) if written > capacity.0 => "in part in the buffer".to_owned(),
        Some(part) => {
            let (buffer, all) = (part.bytes, Bytes(written));
            format!("{buffer} of {all} in the buffer")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_says_whether_it_is_the_buffer_s() {
        let part = FastPart {
            bytes: Bytes(3_000_000_000),
            fast_megabytes_per_second: 520.0,
            slow_megabytes_per_second: 273.4,
        };
        assert_eq!(speeds(part), "520 MB/s for the first 3.00 GB, 273 MB/s on average after");
        let capacity = Bytes(20_000_000_000);
        assert_eq!(tag(Some(part), 1 << 30, capacity), "in the buffer");
        assert_eq!(tag(Some(part), 17_700_000_000, capacity), "3.00 GB of 17.7 GB in the buffer");
        assert_eq!(tag(Some(part), 24_700_000_000, capacity), "in part in the buffer");
        assert_eq!(tag(None, 1, capacity), "");
    }
}
