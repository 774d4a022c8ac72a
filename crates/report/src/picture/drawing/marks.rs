//! What points at a place of the picture, and what is written across it.

use std::ops::Range;

use super::{ALARM, Drawing, QUIET, escaped};
use crate::picture::Mark;
use crate::picture::path::Path;

/// How long a name may be, as a share of a narrow picture.
const NAME: f64 = 0.4;

/// Where the name of an upright line stands, and which end of it is at the line.
fn name_at(place: f64) -> (Range<f64>, &'static str) {
    match place < 0.5 {
        true => (place..place + NAME, "start"),
        false => (place - NAME..place, "end"),
    }
}

impl Drawing<'_> {
    pub(super) fn windows(&mut self) {
        for mark in &self.picture.marks {
            let Mark::Window { from, to, .. } = mark else { continue };
            let (y, class) = (&self.picture.y, self.sheet.class("window"));
            let mut path = Path::default();
            path.area(self.place((*from, y.to)), self.place((*to, y.from)));
            let data = path.data();
            self.put(format_args!(
                "<path{class} fill=\"#808080\" fill-opacity=\".1\" d=\"{data}\"/>"
            ));
        }
    }

    pub(super) fn uprights(&mut self) {
        let (y, sheet) = (&self.picture.y, self.sheet);
        for mark in &self.picture.marks {
            let Mark::Upright { at, .. } = mark else { continue };
            let (top, bottom) = (self.place((*at, y.to)), self.place((*at, y.from)));
            let mut path = Path::default();
            path.move_to(top);
            path.line_to(bottom);
            let (class, stroke, dashes) =
                (sheet.class("alarm"), sheet.stroke(1.5), sheet.dashes(&[2.0, 3.0]));
            let data = path.data();
            self.put(format_args!(
                "<path{class} stroke=\"{ALARM}\" {stroke}{dashes} d=\"{data}\"/>"
            ));
        }
    }

    /// How many other upright lines, to the left of this place, have their names where this one's would be, on
    /// a narrow screen. Its own then stands below them.
    fn beside(&self, place: f64) -> usize {
        let (own, _) = name_at(place);
        let is_beside = |mark: &&Mark| match mark {
            Mark::Upright { at, .. } => {
                let other = self.picture.x.place(*at);
                let (name, _) = name_at(other);
                other < place && name.start < own.end && own.start < name.end
            }
            _ => false,
        };
        self.picture.marks.iter().filter(is_beside).count()
    }

    /// Names of marks, lines' above the axes' area, windows' in it; and the watermark over all of it.
    pub(super) fn labels(&mut self) {
        let (picture, sheet) = (self.picture, self.sheet);
        let top = sheet.v(1.0);
        for mark in &picture.marks {
            match mark {
                Mark::Upright { at, label } => {
                    let place = picture.x.place(*at);
                    let (_, side) = name_at(place);
                    let (x, label, class) =
                        (sheet.h(place), escaped(label), sheet.class("mark alarm"));
                    let (y, halo) = match self.beside(place) {
                        0 => ("-7", ""),
                        1 => ("33", sheet.halo()),
                        _ => ("49", sheet.halo()),
                    };
                    self.put(format_args!(
                        "<text{class}{}{halo} x=\"{x}\" y=\"{top}\" dy=\"{y}\" fill=\"{ALARM}\" \
                         text-anchor=\"{side}\">{label}</text>",
                        sheet.value(*at)
                    ));
                }
                Mark::Window { to, label, .. } if !label.is_empty() => {
                    let x = sheet.h(picture.x.place(*to).min(1.0));
                    let (label, class) = (escaped(label), sheet.class("mark"));
                    let halo = sheet.halo();
                    self.put(format_args!(
                        "<text{class}{}{halo} x=\"{x}\" y=\"{top}\" dx=\"-6\" dy=\"17\" fill=\"{QUIET}\" \
                         text-anchor=\"end\">{label}</text>",
                        sheet.value(*to)
                    ));
                }
                Mark::Window { .. } => {}
                Mark::Nothing(words) => {
                    let (x, y, words) = (sheet.h(0.5), sheet.v(0.5), escaped(words));
                    let class = sheet.class("mark");
                    self.put(format_args!(
                        "<text{class} x=\"{x}\" y=\"{y}\" fill=\"{QUIET}\" text-anchor=\"middle\">{words}</text>"
                    ));
                }
            }
        }
        if let Some(words) = picture.watermark {
            let (x, y, class) = (sheet.h(0.5), sheet.v(0.42), sheet.class("watermark"));
            self.put(format_args!(
                "<text{class} x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" aria-hidden=\"true\" \
                 {}>{}</text>",
                watermark(),
                escaped(words)
            ));
        }
    }
}

/// How a watermark is written: on white as on the darkest cells of a heat map it is seen, by its letters
/// or by their edges.
pub(in crate::picture) fn watermark() -> String {
    format!(
        "font-size=\"44\" font-weight=\"700\" fill=\"{QUIET}\" fill-opacity=\".4\" stroke=\"#fff\" \
         stroke-opacity=\".6\" stroke-width=\"2.5\" paint-order=\"stroke\""
    )
}
