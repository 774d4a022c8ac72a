//! What the pictures of several drives are drawn along and up to, so that they can be compared by eye.

use writecliff_device::DeviceInfo;

use super::Answer;
use crate::number;
use crate::picture::{Axis, Look, Picture, Scale, Trace, short};
use crate::section::View;

/// On a linear scale up to the highest of all, a drive that reaches a fifth of it is nearly a line.
pub(super) const FLAT: f64 = 5.0;

/// Where several drives, or settings of one, share a linear scale on which one of them would be
/// flattened by another, they share a logarithmic one.
pub(super) fn flatten_none(view: &mut View, is_comparison: bool) {
    let by_highest = "by the highest of each";
    let (tops, by): (Vec<f64>, _) = match &view.panels[..] {
        [one] if is_comparison && one.of.subject.is_none() => match columns_apart(&one.picture) {
            Some(columns) => (columns, "where they are farthest apart"),
            None => (lines(&one.picture).map(top).collect(), by_highest),
        },
        [first, rest @ ..] if rest.iter().all(|other| other.picture.y == first.picture.y) => {
            (view.panels.iter().map(|panel| top_of(&panel.picture)).collect(), by_highest)
        }
        _ => return,
    };
    let Some(times) = apart(&tops) else { return };
    let y = &view.panels[0].picture.y;
    if y.scale != Scale::Linear || y.from != 0.0 || y.quantity.contains('%') {
        return;
    }
    let all = view.panels.iter().flat_map(|panel| lines(&panel.picture)).flatten();
    let values: Vec<f64> = all.map(|point| point.1).collect();
    let highest = values.iter().copied().fold(0.0, f64::max);
    let lowest = values.iter().copied().filter(|value| *value > 0.0).fold(highest, f64::min);
    // A last dot of nearly nothing is no reason for decades that are empty.
    let lowest = lowest.max(highest / 1e4);
    let has_less = values.iter().any(|value| *value < lowest);
    let shared = Axis::decades(&y.quantity, (lowest, highest), has_less, short);
    view.panels.iter_mut().for_each(|panel| panel.picture.y = shared.clone());
    let said = format!(
        "{} Logarithmic: {by}, the fastest drive has {} times what the slowest has.",
        view.text,
        number::times(times)
    );
    view.text = said.trim_start().to_owned();
}

/// How many times the lowest of these the highest is, if that flattens the lowest.
pub(super) fn apart(tops: &[f64]) -> Option<f64> {
    let alive = || tops.iter().copied().filter(|top| *top > 0.0);
    let (highest, lowest) = (alive().fold(0.0, f64::max), alive().fold(f64::INFINITY, f64::min));
    (highest > FLAT * lowest).then(|| highest / lowest)
}

fn lines(picture: &Picture) -> impl Iterator<Item = &[(f64, f64)]> {
    picture.traces.iter().filter_map(|trace| match trace {
        Trace::Points(points) => Some(&points.points[..]),
        Trace::Bars(_) | Trace::Heat(_) | Trace::Ranges(_) => None,
    })
}

/// Of columns at places of their own those of the place where they are farthest apart.
fn columns_apart(picture: &Picture) -> Option<Vec<f64>> {
    let is_of_columns =
        |trace: &Trace| matches!(trace, Trace::Points(points) if points.look == Look::Columns);
    if picture.x.scale == Scale::Log || !picture.traces.iter().all(is_of_columns) {
        return None;
    }
    let mut places: Vec<f64> = lines(picture).flatten().map(|point| point.0).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let at = |place: f64| {
        lines(picture).flatten().filter(move |point| point.0 == place).map(|point| point.1)
    };
    let of_place = places.into_iter().map(|place| at(place).collect::<Vec<_>>());
    of_place.max_by(|a, b| apart(a).unwrap_or(1.0).total_cmp(&apart(b).unwrap_or(1.0)))
}

fn top(line: &[(f64, f64)]) -> f64 {
    line.iter().map(|point| point.1).fold(0.0, f64::max)
}

fn top_of(picture: &Picture) -> f64 {
    lines(picture).map(top).fold(0.0, f64::max)
}

/// What bytes are counted in along a picture: gigabytes of drives that are all of one size, else parts
/// of each drive.
#[derive(Debug, Clone, Copy)]
pub(super) enum Along {
    Gigabytes,
    /// Percent of the drive.
    Share,
    /// Times that all of the drive is written.
    DriveWrites,
}

impl Along {
    /// Places on the drive.
    pub(super) fn the_drive<T>(answers: &[Answer<'_, T>]) -> Self {
        if is_one_size(answers) { Self::Gigabytes } else { Self::Share }
    }

    /// Writes, of which there may be more than the drive holds.
    pub(super) fn the_writes<T>(answers: &[Answer<'_, T>]) -> Self {
        if is_one_size(answers) { Self::Gigabytes } else { Self::DriveWrites }
    }

    /// So many bytes on this drive.
    pub(super) fn place(self, bytes: f64, drive: &DeviceInfo) -> f64 {
        let capacity = drive.capacity.0.max(1) as f64;
        match self {
            Self::Gigabytes => bytes / 1e9,
            Self::Share => bytes / capacity * 100.0,
            Self::DriveWrites => bytes / capacity,
        }
    }

    /// From zero to a place, called after what was done to the drive: `written`.
    pub(super) fn axis(self, done: &str, end: f64) -> Axis {
        let title = match self {
            Self::Gigabytes => format!("GB {done}"),
            Self::Share => format!("% of the drive {done}"),
            Self::DriveWrites => format!("drive writes {done}"),
        };
        Axis::span(&title, 0.0, end)
    }
}

fn is_one_size<T>(answers: &[Answer<'_, T>]) -> bool {
    let capacity = |answer: &Answer<'_, T>| answer.run.record.drive.capacity;
    answers.windows(2).all(|pair| capacity(&pair[0]) == capacity(&pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{BLUE, Points};
    use crate::section::{Panel, Place};

    fn dots(top: f64) -> Trace {
        Points::dots("speed", BLUE, vec![(0.0, top), (1.0, 0.9 * top)])
    }

    fn panel(of: Place, traces: Vec<Trace>, highest: f64) -> Panel {
        let (x, y) = (Axis::span("GB written", 0.0, 1.0), Axis::linear("MB/s", highest));
        let picture = Picture::new(String::new(), String::new(), x, y, traces);
        Panel { of, caption: None, picture }
    }

    /// A picture for each drive, and one of all.
    fn views(tops: &[f64]) -> [View; 2] {
        let highest = tops.iter().copied().fold(0.0, f64::max);
        let own = tops.iter().enumerate();
        let own = own.map(|(subject, top)| panel(Place::of(subject), vec![dots(*top)], highest));
        let all = panel(Place::default(), tops.iter().copied().map(dots).collect(), highest);
        [own.collect(), vec![all]].map(|panels| View {
            id: String::new(),
            title: String::new(),
            text: String::new(),
            more: false,
            panels,
        })
    }

    #[test]
    fn drives_share_a_scale_that_flattens_none_of_them() {
        for (tops, expected) in [
            (&[7000.0, 250.0][..], Scale::Log),
            (&[7000.0, 1500.0], Scale::Linear),
            (&[7000.0, 0.0, 1500.0], Scale::Linear),
            (&[7000.0], Scale::Linear),
        ] {
            for mut view in views(tops) {
                flatten_none(&mut view, tops.len() > 1);
                let shared = view.panels[0].picture.y.clone();
                assert!(view.panels.iter().all(|panel| panel.picture.y == shared));
                assert_eq!(shared.scale, expected, "{tops:?}");
                assert_eq!(view.text.contains("Logarithmic"), expected == Scale::Log);
                for top in tops.iter().filter(|top| **top > 0.0) {
                    let place = shared.place(*top);
                    assert!((0.5 / FLAT..=1.0).contains(&place), "{tops:?}: {top} at {place}");
                }
            }
        }
        let [_, mut of_one_drive] = views(&[7000.0, 250.0]);
        flatten_none(&mut of_one_drive, false);
        assert_eq!(of_one_drive.panels[0].picture.y.scale, Scale::Linear, "reads beside writes");
    }
}
