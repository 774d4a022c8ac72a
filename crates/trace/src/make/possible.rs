//! Whether a plan makes sense, told before anything is computed.

use writecliff_device::{Bytes, Nanos};

use super::pace::working_time;
use super::plan::{KINDS, Plan, Scenario};

/// The part of an area that operations are thrown at holds at least so many of the largest: more
/// than the runs that are remembered, so that there is always a place where none ended.
const ROOM: u64 = 64;
/// More operations than anybody has recorded, few enough that every sum fits.
const IOS_MAX: u64 = 1 << 40;
/// More of a list than anybody writes by hand, few enough to compute with at once.
const LIST_MAX: usize = 64;
/// Larger than any drive, and longer than any recording.
const DEVICE_MAX: Bytes = Bytes(1 << 60);
const DURATION_MAX: Nanos = Nanos::from_secs(10 * 365 * 86_400);

/// Says what is wrong with the plan and what would be right.
pub(super) fn check(plan: &Plan) -> Result<(), String> {
    check_lists(plan)?;
    check_target(plan)?;
    check_sizes(plan)?;
    check_areas(plan)?;
    plan.scenario.iter().try_for_each(|scenario| check_scenario(plan, scenario))?;
    check_shares(plan)?;
    let needed = working_time(plan);
    refuse(!(needed..=DURATION_MAX).contains(&plan.duration), || {
        let duration = plan.duration;
        format!("duration is {duration}; the work alone takes {needed}, most is {DURATION_MAX}")
    })
}

fn refuse(is_wrong: bool, reason: impl FnOnce() -> String) -> Result<(), String> {
    if is_wrong { Err(reason()) } else { Ok(()) }
}

fn check_percent(key: &str, percent: f64) -> Result<(), String> {
    refuse(!(0.0..=100.0).contains(&percent), || format!("{key} is {percent}, not 0 to 100"))
}

fn check_lists(plan: &Plan) -> Result<(), String> {
    let lists = [
        ("target.sizes", plan.target.sizes.len()),
        ("area", plan.area.len()),
        ("scenario", plan.scenario.len()),
    ];
    lists.iter().try_for_each(|(list, length)| {
        refuse(!(1..=LIST_MAX).contains(length), || {
            format!("{list} has {length} entries; it takes 1 to {LIST_MAX}")
        })
    })
}

fn check_target(plan: &Plan) -> Result<(), String> {
    let target = &plan.target;
    let ios = target.ios();
    refuse(!(1..=IOS_MAX).contains(&ios), || {
        format!("the target has {ios} operations; it takes 1 to {IOS_MAX}")
    })?;
    check_percent("sequential_percent", target.sequential_percent)?;
    check_percent("at_queue_depth_1_percent", target.at_queue_depth_1_percent)?;
    let alone = target.at_queue_depth_1_percent;
    refuse(alone < 5.0, || {
        format!("at_queue_depth_1_percent is {alone}; every burst begins with one, so at least 5")
    })?;
    let (mean, most) = (target.mean_queue_depth, target.queue_depth_max);
    refuse(!(1.0..=1024.0).contains(&mean), || {
        format!("mean_queue_depth is {mean}; possible is 1 to 1024")
    })?;
    refuse(!(1..=4096).contains(&most), || {
        format!("queue_depth_max is {most}; possible is 1 to 4096")
    })
}

fn check_sizes(plan: &Plan) -> Result<(), String> {
    let (sizes, unit) = (&plan.target.sizes, plan.alignment);
    refuse(!(512..=1 << 20).contains(&unit.0) || !unit.0.is_power_of_two(), || {
        format!("alignment is {}; possible are powers of two from 512B to 1MiB", unit.exact())
    })?;
    refuse(!sizes.is_sorted_by(|a, b| a.size < b.size), || {
        "target.sizes are not in ascending order, each once".to_owned()
    })?;
    for share in sizes {
        let size = share.size;
        let is_possible = size.is_multiple_of(unit) && (unit..=Bytes::from_mib(16)).contains(&size);
        refuse(!is_possible, || {
            format!("size {} is no multiple of {} up to 16MiB", size.exact(), unit.exact())
        })?;
        check_percent(&format!("the percent of {}", size.exact()), share.percent.unwrap_or(0.0))?;
    }
    let fixed: f64 = sizes.iter().filter_map(|size| size.percent).sum();
    let is_whole = sizes.iter().all(|size| size.percent.is_some());
    refuse(fixed > 100.001 || (is_whole && fixed < 99.999), || {
        format!("the percentages of target.sizes add up to {fixed}")
    })
}

fn check_areas(plan: &Plan) -> Result<(), String> {
    let unit = plan.alignment;
    let mut sum = Bytes::ZERO;
    for (index, area) in plan.area.iter().enumerate() {
        let is_twice = plan.area[..index].iter().any(|other| other.name == area.name);
        refuse(is_twice, || format!("area '{}' is there twice", area.name))?;
        refuse(!area.size.is_multiple_of(unit), || {
            format!("area '{}' is no multiple of the alignment {}", area.name, unit.exact())
        })?;
        sum = Bytes(sum.0.saturating_add(area.size.0));
    }
    let end = plan.device_size;
    refuse(end > DEVICE_MAX, || format!("device_size is {end}; most is {DEVICE_MAX}"))?;
    refuse(sum > end || !end.is_multiple_of(unit), || {
        format!(
            "device_size {} does not hold the areas, {} in all, in units of {}",
            end.exact(),
            sum.exact(),
            unit.exact()
        )
    })
}

fn check_scenario(plan: &Plan, scenario: &Scenario) -> Result<(), String> {
    let name = &scenario.name;
    let within = |reason: String| format!("scenario '{name}': {reason}");
    let percents = [
        ("reads_percent", scenario.reads_percent),
        ("writes_percent", scenario.writes_percent),
        ("sequential.small_percent", scenario.sequential.small_percent),
        ("sequential.large_percent", scenario.sequential.large_percent),
        ("queue.at_1_percent", scenario.queue.at_1_percent),
        ("hot.space_percent", f64::from(scenario.hot.space_percent)),
        ("hot.access_percent", f64::from(scenario.hot.access_percent)),
        ("content.compressible_percent", f64::from(scenario.content.compressible_percent)),
        ("content.duplicate_percent", f64::from(scenario.content.duplicate_percent)),
    ];
    percents.iter().try_for_each(|(key, percent)| check_percent(key, *percent)).map_err(within)?;
    let deep = scenario.queue.deep;
    refuse(!(2.0..=1024.0).contains(&deep), || {
        within(format!("queue.deep is {deep}; operations that are not alone are 2 deep or more"))
    })?;
    check_active(scenario).map_err(within)?;
    for kind in 0..KINDS.len() {
        check_kind(plan, scenario, kind).map_err(within)?;
    }
    Ok(())
}

fn check_active(scenario: &Scenario) -> Result<(), String> {
    let bounds = scenario.active.iter().flatten();
    let is_ascending = scenario.active.iter().flatten().is_sorted_by(|a, b| a <= b)
        && scenario.active.iter().all(|[from, to]| from < to);
    let is_within = bounds.clone().all(|percent| *percent <= 100);
    refuse(scenario.active.is_empty() || !is_ascending || !is_within, || {
        format!("active is {:?}; say it like [[0, 20], [50, 100]]", scenario.active)
    })
}

/// Sizes and places of a scenario's reads, or writes, if it has any.
fn check_kind(plan: &Plan, scenario: &Scenario, kind: usize) -> Result<(), String> {
    let (sizes, areas) = (scenario.sizes(kind), scenario.areas(kind));
    let [sizes_key, areas_key] = [["read_sizes", "reads_from"], ["write_sizes", "writes_to"]][kind];
    for (size, weight) in sizes {
        let is_known = plan.target.sizes.iter().any(|share| share.size == *size);
        refuse(!is_known, || format!("{sizes_key}: {} is not in target.sizes", size.exact()))?;
        refuse(!(0.0..=1e6).contains(weight), || {
            format!("{sizes_key}: {} has the weight {weight}, not 0 to 1000000", size.exact())
        })?;
    }
    let has_none = scenario.percent(kind) > 0.0 && (sizes.is_empty() || areas.is_empty());
    refuse(has_none, || format!("{sizes_key} or {areas_key} is empty"))?;
    let largest = plan.target.sizes.last().map_or(0, |share| share.size.0);
    for name in areas {
        let Some(area) = plan.area.iter().find(|area| area.name == *name) else {
            return Err(format!("{areas_key}: there is no area '{name}'"));
        };
        let hot = u128::from(area.size.0) * u128::from(scenario.hot.space_percent) / 100;
        refuse(hot < u128::from(ROOM * largest), || {
            let needed = Bytes(ROOM * largest).exact();
            format!("{areas_key}: the hot part of '{name}' has less than {needed}")
        })?;
    }
    Ok(())
}

fn check_shares(plan: &Plan) -> Result<(), String> {
    let sum = |kind| plan.scenario.iter().map(|scenario| scenario.percent(kind)).sum::<f64>();
    let shares = [
        ("reads_percent", sum(0), plan.target.reads),
        ("writes_percent", sum(1), plan.target.writes),
    ];
    shares.iter().try_for_each(|(key, sum, ios)| {
        refuse(*ios > 0 && !(99.99..=100.01).contains(sum), || {
            format!("{key} of all scenarios add up to {sum}, not 100")
        })
    })
}
