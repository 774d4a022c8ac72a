//! Grid, ticks and titles.

use super::{Drawing, GRID, QUIET, escaped};
use crate::picture::Axis;

/// Letters of a tick's name that fit over the right end of an axis.
const SHORT: usize = 4;

impl Drawing<'_> {
    pub(super) fn axes(&mut self) {
        let (picture, sheet) = (self.picture, self.sheet);
        let (left, right, top, bottom) = (sheet.h(0.0), sheet.h(1.0), sheet.v(1.0), sheet.v(0.0));
        self.put(format_args!("<g{} stroke=\"{GRID}\">", sheet.class("grid y")));
        for (value, _) in &picture.y.ticks {
            let y = sheet.v(picture.y.place(*value));
            self.put(format_args!("<line x1=\"{left}\" y1=\"{y}\" x2=\"{right}\" y2=\"{y}\"/>"));
        }
        self.put(format_args!("</g><g{} stroke=\"{GRID}\">", sheet.class("grid x")));
        for (value, _) in &picture.x.ticks {
            let x = sheet.h(picture.x.place(*value));
            self.put(format_args!("<line x1=\"{x}\" y1=\"{top}\" x2=\"{x}\" y2=\"{bottom}\"/>"));
        }
        self.put(format_args!(
            "</g><g{} fill=\"{QUIET}\" text-anchor=\"end\">",
            sheet.class("tick")
        ));
        for (value, name) in &picture.y.ticks {
            let y = sheet.v(picture.y.place(*value));
            self.put(format_args!(
                "<text x=\"{left}\" y=\"{y}\" dx=\"-8\" dy=\"4\">{}</text>",
                escaped(name)
            ));
        }
        if !picture.y.title.is_empty() {
            let (title, class) = (escaped(&picture.y.title), sheet.class("title"));
            self.put(format_args!(
                "<text{class} x=\"{left}\" y=\"{top}\" dx=\"-52\" dy=\"-24\" text-anchor=\"start\">{title}</text>"
            ));
        }
        self.put(format_args!("</g>"));
        self.x_ticks();
    }

    /// Names of the x axis; on the page, every second of many gives way where there is no room.
    fn x_ticks(&mut self) {
        let (axis, sheet) = (&self.picture.x, self.sheet);
        let bottom = sheet.v(0.0);
        let crowd = crowd(axis);
        let class = sheet.class("tick x");
        self.put(format_args!("<g{class} fill=\"{QUIET}\" text-anchor=\"middle\">"));
        for (index, (value, name)) in axis.ticks.iter().enumerate() {
            let x = sheet.h(axis.place(*value));
            let gives_way = crowd.filter(|_| index % 2 == 1);
            let class = gives_way.map_or_else(String::new, |class| sheet.class(class));
            // One at the right end has no more room beside it than a number needs.
            let at_end = axis.place(*value) > 0.99 && name.chars().count() > SHORT;
            let aside = if at_end { " dx=\"12\" text-anchor=\"end\"" } else { "" };
            let name = escaped(name);
            self.put(format_args!(
                "<text{class}{} x=\"{x}\" y=\"{bottom}\" dy=\"19\"{aside}>{name}</text>",
                sheet.value(*value)
            ));
        }
        self.put(format_args!("</g>"));
        if !axis.title.is_empty() {
            let (x, title, class) = (sheet.h(0.5), escaped(&axis.title), sheet.class("title"));
            self.put(format_args!(
                "<text{class} x=\"{x}\" y=\"{bottom}\" dy=\"39\" fill=\"{QUIET}\" \
                 text-anchor=\"middle\">{title}</text>"
            ));
        }
    }
}

/// Where every second name of an axis has to give way: nowhere, on a narrow picture, on one of half
/// a page as well, on most.
fn crowd(axis: &Axis) -> Option<&'static str> {
    const LETTER: f64 = 7.0;
    let names = axis.ticks.iter().map(|(_, name)| (name.chars().count() as f64 + 1.5) * LETTER);
    match names.sum() {
        0.0..270.0 => None,
        270.0..440.0 => Some("narrow"),
        440.0..470.0 => Some("narrow half"),
        _ => Some("narrow half most"),
    }
}
