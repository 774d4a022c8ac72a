//! One test several times, with nothing but the seed different.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use writecliff_device::DeviceInfo;
use writecliff_measure::RunDirectory;
use writecliff_output::check_directory;
use writecliff_suite::{Estimate, Plan, Repeats, RepeatsError, RunOptions, RunRecord, Status};
use writecliff_uring::DestroyData;

use crate::drive::DriveName;
use crate::error::Error;
use crate::progress::{Event, Watch};
use crate::run;
use crate::several::{ReviewEnd, run_all};

/// Repeats that are about to begin. Nothing was written or asked of the drive yet.
#[derive(Debug)]
pub struct RepeatRun {
    repeats: Repeats,
    plans: Vec<(String, Plan)>,
    path: PathBuf,
    drive: DriveName,
    info: DeviceInfo,
}

/// Nobody's place among the runs.
const NOBODY: usize = usize::MAX;

impl RepeatRun {
    /// `count` runs of `plan` on `drive`, with the plan's seed and those that follow, into the
    /// directory `path`.
    ///
    /// # Errors
    /// As [`DriveName::look`]; [`Error::Repeats`] or [`Error::Plan`] if they are not possible, or if
    /// the directory is not empty; [`Error::Destination`].
    pub fn begin(
        plan: Plan,
        drive: DriveName,
        count: u32,
        options: RunOptions,
        path: &Path,
    ) -> Result<Self, Error> {
        check_directory(path)?;
        RunDirectory::check_place(path).map_err(RepeatsError::from)?;
        let info = drive.look_for(&plan)?;
        plan.check(&info)?;
        let repeats = Repeats::of(&drive.to_string(), plan, count, options)?;
        let (plans, path) = (repeats.plans()?, path.to_owned());
        Ok(Self { repeats, plans, path, drive, info })
    }

    /// What will be in `repeats.json`.
    pub fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    /// What the drive is.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Time and bytes of all of them, roughly.
    pub fn estimate(&self) -> Estimate {
        let plans = self.plans.iter().map(|(_, plan)| plan.estimate(&self.info));
        plans.reduce(Estimate::and).unwrap_or_default()
    }

    /// Runs them: one after the other on a real drive, which one consent is for, and on all
    /// processors on models of it. What is broken off keeps the runs that have ended. Of runs that go
    /// on at once one at a time is shown.
    ///
    /// # Errors
    /// As [`run`], of the first that failed; no further one was begun then. [`Error::Repeats`] if the
    /// directory cannot be made.
    pub fn run(&self, consent: Option<&DestroyData>, watch: Watch<'_>) -> Result<ReviewEnd, Error> {
        if !self.drive.is_simulated() {
            drop(self.drive.open(&self.plans[0].1, consent, &self.repeats.options)?);
        }
        self.repeats.create(&self.path)?;
        let shown = AtomicUsize::new(NOBODY);
        let jobs: Vec<_> = self.plans.iter().enumerate().collect();
        run_all(&self.drive, &jobs, watch, |(place, (directory, plan)), watch| {
            let only_one = |event: Event<'_>| shown_alone(*place, &shown, event, watch);
            let (path, options) = (self.path.join(directory), self.repeats.options.clone());
            run(plan, &self.drive, consent, &path, options, &only_one).map(drop)
        })
    }

    /// Whether any of them has begun, so that there is something to report on.
    ///
    /// # Errors
    /// As [`records`](Self::records).
    pub fn has_begun(path: &Path) -> Result<bool, Error> {
        let plans = Repeats::open(path)?.plans()?;
        Ok(plans.iter().any(|(directory, _)| RunDirectory::is_at(&path.join(directory))))
    }

    /// The records of those that came to their end, in the order of their seeds.
    ///
    /// # Errors
    /// [`Error::RunDirectory`] with what cannot be read.
    pub fn records(path: &Path) -> Result<Vec<RunRecord>, Error> {
        let plans = Repeats::open(path)?.plans()?;
        let runs = plans.into_iter().map(|(directory, _)| path.join(directory));
        let mut records = Vec::new();
        for run in runs.filter(|run| run.exists()) {
            records.push(writecliff_suite::open(&run)?.0);
        }
        records.retain(|record| record.status == Status::Complete);
        Ok(records)
    }
}

/// Hands the event on if its run is the one that is shown, or nobody's is. Of the others only their
/// ends are told; they are broken off by the next event of that one.
fn shown_alone(
    place: usize,
    shown: &AtomicUsize,
    event: Event<'_>,
    watch: Watch<'_>,
) -> ControlFlow<()> {
    match shown.compare_exchange(NOBODY, place, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {}
        Err(other) if other == place => {}
        Err(_) => {
            return match event {
                Event::Ended(test) => watch(Event::EndedUnseen(test)),
                _ => ControlFlow::Continue(()),
            };
        }
    }
    let is_over = matches!(event, Event::Ended(_));
    let flow = watch(event);
    if is_over {
        shown.store(NOBODY, Ordering::Relaxed);
    }
    flow
}
