//! Whether the figures that a sweep asks for are figures of its test: told before hours are spent on
//! points that all lack them.
//!
//! Most tests' names are known before any run. Of the others the first point that ran has them, unless
//! they depend on the plan or on the drive and these differ from point to point: then only the end tells.

use writecliff::Plan;
use writecliff_device::did_you_mean;

use crate::error::SweepError;
use crate::plan::{DRIVE, Sweep, impossible};
use crate::point::Point;
use crate::row::Row;

/// So many points' plans are looked at, at most.
const LOOKED_AT: usize = 50;

/// Refuses a figure that none of these points can have, as far as that is known before any is run.
pub(crate) fn check(sweep: &Sweep, points: &[Point]) -> Result<(), SweepError> {
    if sweep.figures.is_empty() {
        return Ok(());
    }
    let step = points.len().div_ceil(LOOKED_AT).max(1);
    let plans: Vec<Plan> =
        points.iter().step_by(step).filter_map(|point| point.plan().ok()).collect();
    let names: Option<Vec<Vec<String>>> = plans.iter().map(Plan::figure_names).collect();
    let Some(names) = names else { return Ok(()) };
    // What depends on the plan may be there at a point that was not looked at.
    if step > 1 && names.iter().any(|other| *other != names[0]) {
        return Ok(());
    }
    let names = names.concat();
    let is_one =
        |name: &String| names.contains(name) || plans.iter().any(|plan| plan.is_not_always(name));
    match sweep.figures.iter().find(|name| !is_one(name)) {
        None => Ok(()),
        Some(name) => {
            let meant = did_you_mean(name, names.iter().map(String::as_str));
            let reason = format!(
                "{} has no figure '{name}'{meant} (`gate` and `run --json` use the same names; without \
                 `figures` a sweep has all)",
                sweep.test
            );
            Err(impossible("figures", reason))
        }
    }
}

/// Refuses to go on if the first point that ran has not what every other one would lack as well.
pub(crate) fn check_first(sweep: &Sweep, before: &[Row], row: &Row) -> Result<(), SweepError> {
    let is_alike = !sweep.varied().iter().any(|key| key == DRIVE || key.starts_with("plan."));
    let wanted = &sweep.figures;
    let has_run = |row: &Row| row.error.is_none() || row.lacks(wanted).is_some();
    let (Some(name), false, true) = (row.lacks(wanted), before.iter().any(has_run), is_alike)
    else {
        return Ok(());
    };
    match row.point.plan() {
        Ok(plan) if plan.figure_names().is_none() && !plan.is_not_always(name) => {
            let error = row.error.as_deref().unwrap_or_default();
            let reason = format!("{error} (the first point that ran lacks it, and so would all)");
            Err(impossible("figures", reason))
        }
        _ => Ok(()),
    }
}
