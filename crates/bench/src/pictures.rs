//! A run's course, thin enough for a page.

use std::path::Path;

use writecliff::Plan;
use writecliff::measure::{Recording, Sample};
use writecliff::suite::{consistency, spare_area};

use crate::model::{Picture, Stretch};

/// More stretches show no more on a page.
const STRETCHES_MAX: usize = 300;

/// What pages draw of the run in a directory.
///
/// # Errors
/// What cannot be read.
pub(crate) fn read(directory: &Path) -> Result<Vec<Picture>, String> {
    let (record, recording) = writecliff::open(directory).map_err(|error| error.to_string())?;
    Ok(pictures(&record.plan, &recording))
}

/// The seconds of random writes of the tests that show consistency; one picture for each spare area.
pub fn pictures(plan: &Plan, recording: &Recording) -> Vec<Picture> {
    let series = match plan {
        Plan::Consistency(plan) => {
            vec![(spare(plan.spare_percent), consistency::TORTURE.to_owned())]
        }
        Plan::SpareArea(plan) => {
            let series = |setting: &f64| (spare(*setting), spare_area::torture_phase(*setting));
            plan.settings.iter().map(series).collect()
        }
        _ => Vec::new(),
    };
    let picture = |(name, series): (String, String)| {
        let samples = recording.series(&series).filter(|sample| Sample::is_whole(sample));
        let iops: Vec<f32> = samples.map(|sample| sample.iops().get() as f32).collect();
        (!iops.is_empty()).then(|| thin(name, &iops))
    };
    series.into_iter().filter_map(picture).collect()
}

fn spare(percent: f64) -> String {
    match percent {
        0.0 => "no spare area added".to_owned(),
        percent => format!("{percent} % spare"),
    }
}

/// As many seconds to a stretch as it takes; the last may be shorter.
fn thin(name: String, seconds: &[f32]) -> Picture {
    let length = seconds.len().div_ceil(STRETCHES_MAX).max(1);
    let stretches = seconds.chunks(length).map(|chunk| {
        let mut sorted = chunk.to_vec();
        sorted.sort_by(f32::total_cmp);
        Stretch(sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1])
    });
    Picture {
        name,
        unit: "IOPS".to_owned(),
        seconds: length as f64,
        stretches: stretches.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_its_worst_and_its_best_second() {
        let mut seconds = vec![1000.0; 2000];
        seconds[777] = 3.0;
        seconds[1999] = 9000.0;
        let picture = thin(String::new(), &seconds);
        assert!(picture.stretches.len() <= STRETCHES_MAX);
        assert_eq!(picture.seconds, 7.0);
        assert_eq!(picture.stretches[777 / 7], Stretch(3.0, 1000.0, 1000.0));
        assert_eq!(picture.stretches[1999 / 7], Stretch(1000.0, 1000.0, 9000.0));
        assert_eq!(thin(String::new(), &[5.0]).stretches, [Stretch(5.0, 5.0, 5.0)]);
    }
}
