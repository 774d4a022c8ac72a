//! Main effects: one picture for each key and figure.

use super::{KeyValues, SweepFigure, SweepKey, SweepTable, conditions};
use crate::picture::{Axis, BLUE, NEUTRAL, Picture, Points, Range, short};
use crate::section::{Panel, Place, View, slug};
use crate::{finish, number};

/// A line through more means than that would only repeat the dots.
const MEANS_MAX: usize = 12;
/// Over a key of that many values, points are brought together in so many parts of equal size.
const PARTS: usize = 8;
/// A key whose values differ by more is shown on a logarithmic axis.
const SPAN_MAX: f64 = 30.0;

/// A view for each figure, with a panel for each key.
pub(super) fn views(sweep: &SweepTable) -> Vec<View> {
    let view = |(index, figure): (usize, &SweepFigure)| {
        let panel = |key: &SweepKey| {
            let caption = Some(key.name.clone());
            Some(Panel { of: Place::default(), caption, picture: picture(figure, key)? })
        };
        let panels: Vec<Panel> = sweep.keys.iter().filter_map(panel).collect();
        let id = format!("effects-{}", slug(&figure.name));
        let (title, text) = (figure.name.clone(), String::new());
        (!panels.is_empty()).then_some(View { id, title, text, more: index >= SHOWN, panels })
    };
    sweep.figures.iter().enumerate().filter_map(view).collect()
}

/// Figures beyond these are shown on demand.
const SHOWN: usize = 4;

fn picture(figure: &SweepFigure, key: &SweepKey) -> Option<Picture> {
    if key.groups().len() < 2 {
        return None;
    }
    let id = format!("effect-{}-{}", slug(&figure.name), slug(&key.name));
    let title = format!("{} over {}", figure.name, key.name);
    let mut picture = match &key.values {
        KeyValues::Numbers(values, unit) => over_numbers(figure, key, values, unit, id, title),
        KeyValues::Names(_) => over_names(figure, key, id, title),
    };
    picture.conditions = conditions(&[figure]);
    picture.alt =
        format!("{} ({}). {}", picture.title, picture.conditions, finish::values(&picture));
    Some(picture)
}

fn over_numbers(
    figure: &SweepFigure,
    key: &SweepKey,
    numbers: &[f64],
    unit: &str,
    id: String,
    title: String,
) -> Picture {
    let points = numbers.iter().zip(&figure.values);
    let points: Vec<(f64, f64)> = points.filter_map(|(x, y)| Some((*x, (*y)?))).collect();
    let (from, to) = numbers
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(from, to), number| (from.min(*number), to.max(*number)));
    let name = if unit.is_empty() { key.name.clone() } else { format!("{}, {unit}", key.name) };
    let x = match from > 0.0 && to / from > SPAN_MAX {
        true => Axis::decades(&name, (from, to), false, short),
        false => Axis::span(&name, from, to),
    };
    let y = Axis::linear(&figure.quantity(), figure.highest());
    let means = means(key, figure, numbers);
    let traces = vec![Points::dots("points", NEUTRAL, points), Points::line("mean", BLUE, means)];
    Picture::new(id, title, x, y, traces)
}

/// The mean of each value, or of parts of equal size where there are many values.
fn means(key: &SweepKey, figure: &SweepFigure, numbers: &[f64]) -> Vec<(f64, f64)> {
    let groups = key.groups();
    let parts: Vec<Vec<usize>> = match groups.len() {
        0..=MEANS_MAX => groups.iter().map(|group| group.1.clone()).collect(),
        many => groups
            .chunks(many.div_ceil(PARTS))
            .map(|part| part.iter().flat_map(|group| group.1.clone()).collect())
            .collect(),
    };
    let middle =
        |part: &[usize]| part.iter().map(|point| numbers[*point]).sum::<f64>() / part.len() as f64;
    // The mean of fewer is one of others.
    let count = |part: &Vec<usize>| part.iter().filter(|at| figure.values[**at].is_some()).count();
    let most = parts.iter().map(count).max().unwrap_or_default();
    let whole = parts.iter().filter(|part| groups.len() > MEANS_MAX || count(part) == most);
    whole.filter_map(|part| Some((middle(part), figure.mean(part)?))).collect()
}

fn over_names(figure: &SweepFigure, key: &SweepKey, id: String, title: String) -> Picture {
    let range = |(name, points): (String, Vec<usize>)| {
        let values: Vec<f64> = points.iter().filter_map(|point| figure.values[*point]).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        let middle = figure.mean(&points)?;
        let words = match low == high {
            true => figure.words(middle),
            false => {
                let [low, high] = [low, high].map(number::significant);
                format!("{} ({low} to {high})", figure.words(middle))
            }
        };
        Some(Range { name, low, middle, middle_is: "mean", high, words, style: BLUE })
    };
    let ranges: Vec<Range> = key.groups().into_iter().filter_map(range).collect();
    let lowest = ranges.iter().map(|range| range.low).filter(|low| *low > 0.0);
    let lowest = lowest.fold(figure.highest().max(1e-9), f64::min);
    let ends = (lowest, figure.highest().max(1e-9));
    Picture::ranges(id, title, &figure.quantity(), (&key.name, ranges), ends)
}
