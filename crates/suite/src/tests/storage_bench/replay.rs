//! Does traces again.

use writecliff_device::{Bytes, DeviceKind, Nanos};
use writecliff_measure::{Replay, ReplayIo};
use writecliff_trace::name::title;
use writecliff_trace::{Map, Summary, TraceIo, read_ahead};

use super::plan::Plan;
use super::series::{fill_phase, series_name};
use crate::method::limits::PlanError;
use crate::method::session::{Extent, RunError, Session};
use crate::method::traces::Known;
use crate::record::warning::TraceWarning;

/// Looks for damage in the traces, which is better known before a drive is purged and filled for
/// them.
pub(crate) fn verify(plan: &Plan) -> Result<(), RunError> {
    let verify = |trace: &String| plan.resolved.open(trace, plan.seed)?.verify();
    Ok(plan.traces.iter().try_for_each(verify)?)
}

pub(super) fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    verify(plan)?;
    let mut holds_nothing = session.drive().kind == DeviceKind::Simulated && !plan.prepare;
    for trace in &plan.traces {
        let name = title(trace);
        if std::mem::take(&mut holds_nothing) && plan.known(trace)?.summary.reads > 0 {
            session.warn(TraceWarning::OnEmptyDrive { trace: name.to_owned() });
        }
        if plan.prepare {
            session.purge()?;
            let (span, block) = (plan.used(session.drive()), plan.fill_block);
            let whole = Bytes(span.0 / block.0 * block.0);
            session.fill(&fill_phase(name), whole, block, plan.fill_queue_depth)?;
        }
        replay(plan, trace, name, session)?;
    }
    Ok(())
}

/// Does a trace again on the drive as it is, as the phase `called`.
pub(crate) fn replay(
    plan: &Plan,
    name: &str,
    called: &str,
    session: &mut Session<'_>,
) -> Result<(), RunError> {
    let (trace, mut ios) = (plan.known(name)?, plan.resolved.open(name, plan.seed)?);
    let name = title(name);
    let mapping = plan.mapping(&trace, session.drive()).map_err(|misfit| {
        let reason = misfit.to_string();
        PlanError { option: "the trace", got: name.to_owned(), reason }
    })?;
    let span = plan.used(session.drive());
    let doubts = [doubt_of_order(plan, name, &trace), doubt_of_place(plan, name, &trace, span)];
    doubts.into_iter().flatten().for_each(|doubt| session.warn(doubt));
    let (timing, extent) = (plan.timing(), extent(plan, &trace.summary));
    let names: Vec<String> = timing.series().iter().map(|s| series_name(called, *s)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let most = plan.operations.unwrap_or(u64::MAX);
    let takes_trims = session.drive().trim;
    let (count, unreadable) = read_ahead(&mut ios, |ios| {
        let mut ios = ios.onto(mapping, most, takes_trims);
        let replay = Replay::new(ios.by_ref().map(again), timing);
        session.record_as(called, &names, replay, None, extent)?;
        Ok::<_, RunError>(ios.end())
    })?;
    if count > 0 {
        session.warn(TraceWarning::TrimsLeftOut { trace: name.to_owned(), count });
    }
    Ok(unreadable.map_or(Ok(()), Err)?)
}

fn again(io: TraceIo) -> ReplayIo {
    let TraceIo { issued, completed, queue_depth, .. } = io;
    ReplayIo { io: io.io(), issued, completed, queue_depth }
}

fn extent(plan: &Plan, summary: &Summary) -> Extent {
    let share = plan.share_of(summary);
    match plan.speed {
        None => {
            let bytes = (summary.read_bytes + summary.written_bytes).0 as f64;
            Extent::Bytes(Bytes((bytes * share) as u64))
        }
        Some(speed) => Extent::Time(Nanos((summary.duration().0 as f64 * share / speed) as u64)),
    }
}

/// A trace that does not tell what waited for what is done one operation at a time.
fn doubt_of_order(plan: &Plan, name: &str, trace: &Known) -> Option<TraceWarning> {
    let is_known = trace.summary.has_queue_depths || trace.summary.has_completions;
    let trace = name.to_owned();
    (plan.speed.is_none() && !is_known).then_some(TraceWarning::OrderUnknown { trace })
}

/// A trace that is pressed together, or begins again at the drive's start, overwrites more.
fn doubt_of_place(plan: &Plan, name: &str, trace: &Known, span: Bytes) -> Option<TraceWarning> {
    let (end, map, trace) = (trace.summary.end, plan.map, name.to_owned());
    (map != Map::Exact && end > span).then_some(TraceWarning::Mapped { trace, end, span, map })
}
