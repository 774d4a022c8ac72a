//! The series of seconds that are compared, and the ranges that they share.

use std::iter;

use writecliff_device::Nanos;
use writecliff_measure::{LatencyCount, Sample};
use writecliff_suite::consistency::{self, Outcome, UntilSteady};
use writecliff_suite::{DriveWarning, Plan, Warning, WindowState};

use crate::number;
use crate::picture::{Axis, Picture, Style, WRITES};
use crate::run::{InDoubt, Run};
use crate::section::{Panel, Place, View, picture_id, slug};
use crate::sections::scales;
use crate::subjects::Subjects;
use crate::torture::{Torture, tortures};

/// What the time axis of all pictures is called.
pub(super) const TIME: &str = "seconds of random writes";

/// The random writes of one drive with one spare area.
#[derive(Clone)]
pub(super) struct Series<'a> {
    pub(super) subject: usize,
    /// Index of its spare area among those of the section.
    pub(super) setting: usize,
    /// The drive, and the spare area if there are several in the section.
    pub(super) label: String,
    /// The drive alone.
    pub(super) model: String,
    /// The same, where no mark can say that it is simulated.
    pub(super) drive: String,
    /// What tells it apart from the others of its view.
    pub(super) caption: String,
    /// The label, where no mark can say that it is simulated.
    pub(super) name: String,
    pub(super) outcome: Option<&'a Outcome>,
    pub(super) state: WindowState,
    /// What of it is in doubt.
    pub(super) in_doubt: InDoubt,
    pub(super) style: Style,
    /// `4 KiB random writes, QD32, ...`
    pub(super) conditions: String,
    pub(super) run: &'a Run,
    plan: consistency::Plan,
    phase: String,
    suffix: String,
}

impl Series<'_> {
    /// What went wrong with a simulated drive in these writes from a second on, and in which seconds.
    pub(super) fn faults_s(&self, from: f64) -> Vec<(f64, &'static str)> {
        let died = self.run.record.warnings.iter().filter_map(|doubt| match doubt {
            Warning::Drive(DriveWarning::DieLost { phase, after: Some(after), .. }) => {
                (*phase == self.phase).then_some((after.as_secs_f64(), "a die lost"))
            }
            _ => None,
        });
        let cuts = self.run.power_lost_in(&self.phase).map(Nanos::as_secs_f64);
        // The first that is in this picture says what it is.
        let names = iter::once("power lost").chain(iter::repeat("again"));
        let cuts = cuts.filter(|at| *at >= from).zip(names);
        died.filter(|(at, _)| *at >= from).chain(cuts).collect()
    }
}

/// All of them, by drive and then spare area, and what the spare areas are called.
pub(super) fn of<'a>(subjects: &Subjects<'a>) -> (Vec<Series<'a>>, Vec<String>) {
    let mut found = Vec::new();
    for (subject, run) in subjects.runs() {
        found.extend(tortures(run).into_iter().map(|torture| (subject, run, torture)));
    }
    // The consistency test itself, where it had the same spare area as a part of another test.
    found.sort_by(|a, b| (a.0.cmp(&b.0)).then(a.2.spare_percent.total_cmp(&b.2.spare_percent)));
    found.dedup_by(|b, a| (a.0, a.2.spare_percent) == (b.0, b.2.spare_percent));
    let mut spares: Vec<f64> = found.iter().map(|one| one.2.spare_percent).collect();
    spares.sort_by(f64::total_cmp);
    spares.dedup();
    let settings: Vec<String> = spares.iter().map(|s| crate::run::spare_setting(*s)).collect();
    let series = found.into_iter().map(|(subject, run, torture)| {
        let Torture { spare_percent: spare, phase, outcome } = torture;
        let setting = spares.iter().position(|one| *one == spare).unwrap_or(0);
        let several = settings.len() > 1 || spare > 0.0;
        let tail = if several { format!(", {}", setting_in_a_name(spare)) } else { String::new() };
        let spare_id =
            if several { format!("-{}", slug(&settings[setting])) } else { String::new() };
        Series {
            subject,
            setting,
            label: format!("{}{tail}", subjects.name(subject)),
            model: subjects.name(subject).to_owned(),
            drive: subjects.full_name(subject),
            caption: match subjects.is_comparison() {
                true => format!("{}{tail}", subjects.name(subject)),
                false => settings[setting].clone(),
            },
            name: format!("{}{tail}", subjects.full_name(subject)),
            outcome,
            state: crate::writes::state(run, spare),
            in_doubt: run.in_doubt_at(spare),
            style: subjects.style(subject, WRITES),
            conditions: conditions(&plan_of(run, spare)),
            run,
            plan: plan_of(run, spare),
            phase,
            suffix: picture_id("", subjects, subject) + &spare_id,
        }
    });
    (series.collect(), settings)
}

/// What was asked at a spare area.
fn plan_of(run: &Run, spare: f64) -> consistency::Plan {
    match &run.record.plan {
        Plan::Consistency(plan) => plan.clone(),
        Plan::SpareArea(plan) => plan.at(spare),
        _ => Default::default(),
    }
}

/// What every picture of these writes should say.
fn conditions(plan: &consistency::Plan) -> String {
    let spare = plan.spare_percent;
    let (block, duration) = (number::size(plan.block), plan.duration.as_secs_f64());
    let (depth, spare) = (plan.queue_depth, setting_in_a_name(spare));
    let spare = if spare == "default" { "no LBAs left unused".to_owned() } else { spare };
    let duration = match plan.until_steady {
        UntilSteady::Yes => "until steady".to_owned(),
        _ => number::seconds(duration),
    };
    format!("{block} random writes, QD{depth}, {duration}, incompressible data, {spare}")
}

fn setting_in_a_name(spare: f64) -> String {
    if spare == 0.0 { "default".to_owned() } else { crate::run::spare_setting(spare) }
}

impl Series<'_> {
    /// Whether any spare area would have been used up.
    pub(super) fn had_time_for_a_cliff(&self) -> bool {
        self.run.had_time_for_a_cliff(&self.phase)
    }

    /// What the seconds are called that its last figures are of.
    pub(super) fn window(&self) -> &'static str {
        crate::writes::window(self.state)
    }

    fn steady_from(&self) -> Option<f64> {
        Some(f64::from(self.outcome?.steady_from_s))
    }

    fn end(&self) -> f64 {
        self.seconds().last().map_or(1.0, |sample| f64::from(sample.second) + 1.0)
    }

    /// Whether its writes go on until they are steady.
    pub(super) fn goes_on(&self) -> bool {
        self.plan.until_steady == UntilSteady::Yes
    }

    /// Its whole seconds; the last one of a phase may be a fragment.
    pub(super) fn seconds(&self) -> impl Iterator<Item = &Sample> {
        self.run.recording.series(&self.phase).filter(|sample| sample.is_whole())
    }

    /// The same, with their latency counts.
    pub(super) fn latencies(&self) -> impl Iterator<Item = (&Sample, &[LatencyCount])> {
        let all = self.run.recording.latency_counts(&self.phase);
        all.filter(|(sample, _)| sample.is_whole())
    }

    /// Values by second.
    pub(super) fn points(&self, value: impl Fn(&Sample) -> Option<f64>) -> Vec<(f64, f64)> {
        let point = |sample: &Sample| Some((f64::from(sample.second), value(sample)?));
        self.seconds().filter_map(point).collect()
    }
}

/// A view with the picture that `draw` makes of each series, given its id and its title.
/// What the seconds of all of them are called that their last figures are of.
pub(super) fn windows<'a>(series: impl Iterator<Item = &'a Series<'a>>) -> &'static str {
    let mut names: Vec<&'static str> = series.map(Series::window).collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [only] => only,
        _ => "steady window (of those that have none, the last part)",
    }
}

pub(super) fn view(
    series: &[Series<'_>],
    (id, title, text): (&str, &str, &str),
    draw: impl Fn(&Series<'_>, String, String) -> Option<Picture>,
) -> Option<View> {
    let id = format!("consistency-{id}");
    let panel = |one: &Series<'_>| {
        let mut picture =
            draw(one, format!("{id}{}", one.suffix), format!("{title}: {}", one.name))?;
        picture.conditions.clone_from(&one.conditions);
        let of = Place { subject: Some(one.subject), setting: Some(one.setting) };
        let caption = (series.len() > 1).then(|| one.caption.clone());
        Some(Panel { of, caption, picture })
    };
    let panels: Vec<Panel> = series.iter().filter_map(panel).collect();
    let (title, text) = (title.to_owned(), text.to_owned());
    (!panels.is_empty()).then_some(View { id, title, text, more: false, panels })
}

/// The ranges that all series share, so that they can be compared by eye.
pub(super) struct Ranges {
    /// Whether all were given the same load: only then they share a time axis.
    is_equal_load: bool,
    /// Whether they also have their steady windows at the same time.
    is_equal_time: bool,
    /// Settings, and the end of a series with that, in seconds.
    ends: Vec<(usize, f64)>,
    /// Beginning of the earliest steady window; of complete runs, if there are any, because the
    /// window of a run that was cut off may lie anywhere.
    steady_from: f64,
    /// Lowest and highest IOPS; the lowest is not zero.
    pub(super) iops: (f64, f64),
    /// Highest IOPS of the steady windows; `None` where that of one would flatten another.
    pub(super) steady_top: Option<f64>,
    /// Whether any second had no I/O at all.
    pub(super) has_dead: bool,
    /// Shortest and longest latency, in nanoseconds.
    pub(super) latency: (f64, f64),
    /// Highest write amplification.
    pub(super) amplification: f64,
    /// Fewest and most blocks free; the fewest is not zero.
    pub(super) free_blocks: (f64, f64),
    /// Whether there was ever none.
    pub(super) has_no_free_block: bool,
}

impl Ranges {
    pub(super) fn of(series: &[Series<'_>], is_equal_load: bool) -> Self {
        let all = || series.iter().flat_map(Series::seconds);
        let iops = || all().map(|sample| sample.iops().get());
        let free_blocks = || all().filter_map(|sample| Some(sample.free_blocks? as f64));
        let lowest = iops().filter(|iops| *iops > 0.0).fold(100.0, f64::min);
        let steady_from = steady_from(series);
        let is_equal_time = is_equal_load && !series.iter().any(Series::goes_on);
        let top = |one: &Series<'_>| {
            let from = one.steady_from().filter(|_| !is_equal_time).unwrap_or(steady_from);
            let steady = one.seconds().filter(|sample| f64::from(sample.second) >= from);
            steady.map(|sample| sample.iops().get()).fold(0.0, f64::max)
        };
        let steady_tops: Vec<f64> = series.iter().map(top).collect();
        let longest = all().map(|sample| sample.latency_max_ns).max().unwrap_or(1).max(1);
        let counts = series.iter().flat_map(Series::latencies).filter_map(|(_, all)| all.first());
        let shortest = counts.map(|shortest| shortest.latency).min().unwrap_or(1).max(1);
        Self {
            is_equal_load,
            is_equal_time,
            ends: series.iter().map(|one| (one.setting, one.end())).collect(),
            steady_from,
            iops: (lowest, iops().fold(1e5, f64::max)),
            steady_top: scales::apart(&steady_tops)
                .is_none()
                .then(|| steady_tops.iter().copied().fold(0.0, f64::max)),
            has_dead: iops().any(|iops| iops == 0.0),
            latency: (shortest as f64, longest as f64),
            amplification: all().filter_map(Sample::write_amplification).fold(8.0, f64::max),
            free_blocks: (
                free_blocks().filter(|blocks| *blocks > 0.0).fold(10.0, f64::min),
                free_blocks().fold(100.0, f64::max),
            ),
            has_no_free_block: free_blocks().any(|blocks| blocks == 0.0),
        }
    }
}

impl Ranges {
    /// The time axis of a series. The documents' part of a run that goes on until it is steady is its
    /// first half.
    pub(super) fn time(&self, one: &Series<'_>) -> Axis {
        let end = self.end(one);
        match self.documents(one) {
            Some(documents) => Axis::broken(TIME, documents, end),
            None => Axis::span(TIME, 0.0, end),
        }
    }

    /// Where the documents' part ends, if what comes after it, of any that shares its time axis, is
    /// longer than a fifth of it.
    pub(super) fn documents(&self, one: &Series<'_>) -> Option<f64> {
        let documents = one.plan.duration.as_secs_f64();
        (self.longest(one) > 1.2 * documents).then_some(documents)
    }

    /// Where the time axis of a series ends. How long a drive takes until it is steady is its own:
    /// after the documents' part each has as much room as any other.
    pub(super) fn end(&self, one: &Series<'_>) -> f64 {
        let own = |documents: f64| one.end().max(2.0 * documents);
        self.documents(one).map_or_else(|| self.longest(one), own)
    }

    fn longest(&self, one: &Series<'_>) -> f64 {
        let with_it = self.ends.iter().filter(|(setting, _)| *setting == one.setting);
        let longest = with_it.map(|(_, end)| *end).fold(1.0, f64::max);
        if self.is_equal_load { longest } else { one.end() }
    }

    /// Where its closer look ends.
    pub(super) fn end_of_window(&self, one: &Series<'_>) -> f64 {
        if self.is_equal_time { self.end(one) } else { one.end() }
    }

    /// Where its closer look begins.
    pub(super) fn steady_from(&self, one: &Series<'_>) -> f64 {
        one.steady_from().filter(|_| !self.is_equal_time).unwrap_or(self.steady_from)
    }
}

fn steady_from(series: &[Series<'_>]) -> f64 {
    let complete = series.iter().filter(|one| one.run.is_complete());
    let earliest = complete.filter_map(Series::steady_from).reduce(f64::min);
    let of_any = || series.iter().filter_map(Series::steady_from).reduce(f64::min);
    earliest.or_else(of_any).unwrap_or(0.0)
}
