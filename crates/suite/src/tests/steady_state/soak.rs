//! Random writes until they are steady: what the parts that vary rests or queues begin with. Of each
//! round the first measurement is judged, and the rest of the round only wears the drive in.

use writecliff_device::Nanos;
use writecliff_measure::{Stream, Streams, Totals};

use super::part::Part;
use super::plan::{BySeries, Plan};
use crate::method::session::{Extent, RunError, Session};
use crate::method::window::{Settled, is_steady};
use crate::record::rate::Rate;

/// The series of a round that is judged, and that of the rest of it; rounds count from 1.
fn series(part: Part, round: u32) -> [String; 2] {
    let name = part.name();
    [format!("{name}/soak {round}"), format!("{name}/soak {round}, rest")]
}

/// Records as many rounds of `writes`, which get a seed each, as it takes.
pub(super) fn run(
    plan: &Plan,
    session: &mut Session<'_>,
    part: Part,
    writes: impl Fn(u64) -> Stream<'static>,
) -> Result<(), RunError> {
    let further = Nanos(plan.soak_round.0.saturating_sub(plan.measurement.0));
    let mut tracked = Vec::new();
    for round in 1..=plan.rounds_max {
        session.phase(&format!("{} soak {round}", part.name()), |session| {
            let [judged, rest] = series(part, round);
            let rate = measure(session, &judged, writes(plan.seed_of(&judged)), plan.measurement)?;
            tracked.extend(rate.map(|rate| rate.iops));
            if is_steady(&tracked).is_none() && further > Nanos::ZERO {
                measure(session, &rest, writes(plan.seed_of(&rest)), further)?;
            }
            Ok(())
        })?;
        if is_steady(&tracked).is_some() {
            break;
        }
    }
    Ok(())
}

/// Records one stream for so long as a series of the phase under way.
pub(super) fn measure(
    session: &mut Session<'_>,
    name: &str,
    stream: Stream<'static>,
    time: Nanos,
) -> Result<Option<Rate>, RunError> {
    session.series(name, Streams::new([stream]), Some(time), Extent::Time(time))
}

/// IOPS round by round; `None` if not one was recorded.
pub(super) fn conclude(plan: &Plan, part: Part, by_series: &BySeries<'_>) -> Option<Settled> {
    let iops = |round| {
        let [judged, _] = series(part, round);
        let totals = Totals::of(by_series.get(judged.as_str())?.iter().copied());
        Rate::of(&totals).filter(|_| totals.span >= plan.measurement).map(|rate| rate.iops)
    };
    Settled::of((1..=plan.rounds_max).map_while(iops).collect())
}
