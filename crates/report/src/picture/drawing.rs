//! What page and file have in common: axes, traces and marks as elements of SVG.
//!
//! On the page a picture takes the width it is given: texts stand at percentages, and data lie on a
//! grid that is stretched below strokes that are not. A file has a size, and every place is a number
//! of pixels. Colours are attributes; a page's style sheet overrules those that depend on light and
//! dark.

use std::fmt::Write;

use super::path::Path;
use super::thin::thinned;
use super::{Axis, Heat, Look, Mark, Picture, Points, Scale, Style, Trace, heat};

pub(super) const INK: &str = "#1d2430";
pub(super) const QUIET: &str = "#5b6675";
const GRID: &str = "#d9dee5";
/// Of the cliff and of seconds in which nothing completed.
const ALARM: &str = "#b54a00";
/// Of the weakest to the strongest cells: all stand out from white, each from its neighbours.
pub(super) const HEAT: [&str; heat::LEVELS] =
    ["#2f9482", "#25849c", "#2770b0", "#3559b5", "#4741a3", "#472a80", "#371a58", "#1b0c2e"];

/// Places of data on a page, from one end of an axis to the other.
const GRID_STEPS: (f64, f64) = (4000.0, 10_000.0);
/// Of a file, for each pixel.
const STEPS_A_PIXEL: f64 = 10.0;

/// What is drawn on: the area that the axes span, from its upper left corner.
pub(super) enum Sheet<'a> {
    /// Of whatever size; traces with the name of a subject are hidden with it.
    Page(&'a dyn Fn(&str) -> Option<usize>),
    /// Of a size in pixels.
    File(f64, f64),
}

impl Sheet<'_> {
    /// A place on the x axis, as a coordinate of text and grid.
    fn h(&self, place: f64) -> String {
        self.length(place, |width, _| width)
    }

    /// A place on the y axis, from the bottom.
    fn v(&self, place: f64) -> String {
        self.length(1.0 - place, |_, height| height)
    }

    fn length(&self, place: f64, side: fn(f64, f64) -> f64) -> String {
        match *self {
            Self::Page(_) => format!("{}%", rounded(place * 100.0)),
            Self::File(width, height) => rounded(place * side(width, height)),
        }
    }

    fn steps(&self) -> (f64, f64) {
        match *self {
            Self::Page(_) => GRID_STEPS,
            Self::File(width, height) => (width * STEPS_A_PIXEL, height * STEPS_A_PIXEL),
        }
    }

    /// A stroke of so many pixels.
    fn stroke(&self, width: f64) -> String {
        match self {
            Self::Page(_) => {
                format!("stroke-width=\"{}\" vector-effect=\"non-scaling-stroke\"", rounded(width))
            }
            Self::File(..) => format!("stroke-width=\"{}\"", rounded(width * STEPS_A_PIXEL)),
        }
    }

    fn dashes(&self, dashes: &[f64]) -> String {
        let scale = if let Self::Page(_) = self { 1.0 } else { STEPS_A_PIXEL };
        let lengths: Vec<String> = dashes.iter().map(|length| rounded(length * scale)).collect();
        match lengths.is_empty() {
            true => String::new(),
            false => format!(" stroke-dasharray=\"{}\"", lengths.join(" ")),
        }
    }

    /// A class by which the page's style sheet finds it; files have none.
    fn class(&self, name: &str) -> String {
        if let Self::Page(_) = self { format!(" class=\"{name}\"") } else { String::new() }
    }
}

/// A picture on a sheet.
struct Drawing<'a> {
    picture: &'a Picture,
    sheet: &'a Sheet<'a>,
    svg: String,
}

/// Axes, traces and marks; what lies outside the axes' area overflows it.
pub(super) fn drawing(picture: &Picture, sheet: &Sheet<'_>) -> String {
    let mut drawing = Drawing { picture, sheet, svg: String::new() };
    drawing.axes();
    drawing.data();
    drawing.labels();
    drawing.svg
}

impl Drawing<'_> {
    fn put(&mut self, words: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.svg.write_fmt(words);
    }

    fn axes(&mut self) {
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
            let data = if let Sheet::Page(_) = sheet {
                format!(" data-v=\"{value}\"")
            } else {
                String::new()
            };
            let gives_way = crowd.filter(|_| index % 2 == 1);
            let class = gives_way.map_or_else(String::new, |class| sheet.class(class));
            let name = escaped(name);
            self.put(format_args!(
                "<text{class}{data} x=\"{x}\" y=\"{bottom}\" dy=\"19\">{name}</text>"
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

    /// Windows, traces and upright lines, on the grid of data.
    fn data(&mut self) {
        let (width, height) = self.sheet.steps();
        match self.sheet {
            Sheet::Page(_) => self.put(format_args!(
                "<svg class=\"data\" width=\"100%\" height=\"100%\" viewBox=\"0 0 {width} {height}\" \
                 preserveAspectRatio=\"none\" overflow=\"visible\" fill=\"none\">"
            )),
            Sheet::File(..) => {
                let scale = 1.0 / STEPS_A_PIXEL;
                self.put(format_args!("<g transform=\"scale({scale})\" fill=\"none\">"));
            }
        }
        self.windows();
        for trace in &self.picture.traces {
            match trace {
                Trace::Points(points) if points.look == Look::Columns => self.columns(points),
                Trace::Points(points) => self.points(points),
                // Rows are words as much as lengths: page and file lay them out each their own way.
                Trace::Bars(_) | Trace::Ranges(_) => {}
                Trace::Heat(heat) => self.heat(heat),
            }
        }
        self.uprights();
        let end = if let Sheet::Page(_) = self.sheet { "</svg>" } else { "</g>" };
        self.svg.push_str(end);
    }

    fn place(&self, (x, y): (f64, f64)) -> (i64, i64) {
        let (width, height) = self.sheet.steps();
        let x = self.picture.x.place(x).clamp(0.0, 1.0) * width;
        let y = (1.0 - self.picture.y.place(y).clamp(0.0, 1.0)) * height;
        (x.round() as i64, y.round() as i64)
    }

    fn windows(&mut self) {
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

    fn uprights(&mut self) {
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

    fn points(&mut self, points: &Points) {
        let cannot_show = |y: f64| self.picture.y.scale == Scale::Log && y <= 0.0;
        let (zeros, shown): (Vec<_>, Vec<_>) = points.points.iter().partition(|p| cannot_show(p.1));
        let places: Vec<(i64, i64)> = thinned(&shown).into_iter().map(|p| self.place(p)).collect();
        let is_line = points.look == Look::Line;
        if is_line {
            let mut path = Path::default();
            for (index, place) in places.iter().enumerate() {
                if index == 0 { path.move_to(*place) } else { path.line_to(*place) }
            }
            let dashes = self.sheet.dashes(dashes(points.style));
            self.stroke(&path, points, (2.0, &format!("stroke-linejoin=\"round\"{dashes}")), true);
        }
        if points.has_dots() {
            let mut path = Path::default();
            places.iter().for_each(|place| path.dot(*place));
            let (width, opacity) = if is_line { (8.0, 1.0) } else { (3.6, 0.85) };
            let (cap, hollow) = form(points.style);
            let class = if is_line { String::new() } else { self.sheet.class("dots") };
            let cap = format!("{class} stroke-linecap=\"{cap}\" stroke-opacity=\"{opacity}\"");
            self.stroke(&path, points, (width, &cap), !is_line);
            if is_line && hollow {
                let (class, stroke) = (self.sheet.class("hollow"), self.sheet.stroke(4.0));
                let data = path.data();
                self.put(format_args!(
                    "<path{class} stroke=\"#fff\" {stroke} {cap} d=\"{data}\"/>"
                ));
            }
        }
        self.zeros(points, &zeros);
    }

    /// A path in the trace's colour. The one with its values, `is_data`, has its name on a page.
    fn stroke(&mut self, path: &Path, points: &Points, (width, more): (f64, &str), is_data: bool) {
        if path.is_empty() {
            return;
        }
        let (stroke, colour) = (self.sheet.stroke(width), points.style.colour);
        let name = if is_data { self.of(points) } else { String::new() };
        let data = path.data();
        self.put(format_args!("<path{name} stroke=\"{colour}\" {stroke} {more} d=\"{data}\"/>"));
    }

    /// By what the page's script finds a trace.
    fn of(&self, points: &Points) -> String {
        match self.sheet {
            Sheet::Page(subject) => {
                let subject = of_subject(subject(&points.name));
                format!("{subject} data-name=\"{}\"", escaped(&points.name))
            }
            Sheet::File(..) => String::new(),
        }
    }

    /// Upright strokes at the bottom for what a logarithmic axis cannot show.
    fn zeros(&mut self, points: &Points, zeros: &[(f64, f64)]) {
        let height = self.sheet.steps().1;
        let mut path = Path::default();
        for (x, _) in thinned(zeros) {
            path.move_to(self.place((x, self.picture.y.from)));
            path.down(-(height * 0.05) as i64);
        }
        if !path.is_empty() {
            let (class, stroke) = (self.sheet.class("alarm"), self.sheet.stroke(1.5));
            let (of, data) = (self.of(points), path.data());
            self.put(format_args!(
                "<path{class}{of} data-zero=\"\" stroke=\"{ALARM}\" {stroke} d=\"{data}\"/>"
            ));
        }
    }

    fn columns(&mut self, points: &Points) {
        let mut path = Path::default();
        for &(x, y) in &points.points {
            let (from, to) = self.picture.column_ends(points, x);
            let bottom = self.picture.y.from;
            path.area(self.place((from, y)), self.place((to, bottom)));
        }
        let (of, colour, data) = (self.of(points), points.style.colour, path.data());
        let class = self.sheet.class("column");
        let gap = self.sheet.stroke(1.0);
        self.put(format_args!(
            "<path{class}{of} fill=\"{colour}\" stroke=\"#fff\" {gap} d=\"{data}\"/>"
        ));
    }

    /// Runs of cells as thick lines on a grid of cells; of few cells a dot each.
    fn heat(&mut self, heat: &Heat) {
        let (columns, rows) = (heat.columns.len(), heat.rows());
        let corner = |x: &[f64], y: &[f64]| Some((*x.first()?, *y.last()?));
        let Some(first) = corner(&heat.x_edges, &heat.y_edges) else { return };
        let last = (heat.x_edges[columns], heat.y_edges[0]);
        let ((left, top), (right, bottom)) = (self.place(first), self.place(last));
        let cell = ((right - left) as f64 / columns as f64, (bottom - top) as f64 / rows as f64);
        let (is_sparse, levels) = (heat.is_sparse(), heat.runs());
        let (across, down) = (rounded4(cell.0), rounded4(cell.1));
        let area = format!("translate({left} {top}) scale({across} {down}) translate(0 .5)");
        self.put(format_args!(
            "<g{} transform=\"{area}\" stroke-width=\"1\" shape-rendering=\"crispEdges\">",
            self.sheet.class("heat")
        ));
        for (level, runs) in levels.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
            let mut path = Path::default();
            for run in runs {
                path.move_to((run.column as i64, run.row as i64));
                path.across(run.length as i64);
            }
            let (class, data) = (self.sheet.class(&format!("h{level}")), path.data());
            let seen = if is_sparse { self.seen(cell) } else { String::new() };
            self.put(format_args!("<path{class} stroke=\"{}\" {seen}d=\"{data}\"/>", HEAT[level]));
        }
        self.svg.push_str("</g>");
    }

    /// The strokes of cells so few that each would be overlooked in its true size.
    fn seen(&self, cell: (f64, f64)) -> String {
        match self.sheet {
            Sheet::Page(_) => format!("{} stroke-linecap=\"square\" ", self.sheet.stroke(5.0)),
            Sheet::File(..) => {
                format!("stroke-width=\"{}\" ", rounded4(5.0 * STEPS_A_PIXEL / cell.1))
            }
        }
    }

    /// Names of marks: of lines above the axes' area, of windows in it.
    fn labels(&mut self) {
        let sheet = self.sheet;
        let top = sheet.v(1.0);
        for mark in &self.picture.marks {
            match mark {
                Mark::Upright { at, label } => {
                    let place = self.picture.x.place(*at);
                    let side = if place < 0.5 { "start" } else { "end" };
                    let (x, label, class) =
                        (sheet.h(place), escaped(label), sheet.class("mark alarm"));
                    let data = if let Sheet::Page(_) = sheet {
                        format!(" data-v=\"{at}\"")
                    } else {
                        String::new()
                    };
                    self.put(format_args!(
                        "<text{class}{data} x=\"{x}\" y=\"{top}\" dy=\"-7\" fill=\"{ALARM}\" \
                         text-anchor=\"{side}\">{label}</text>"
                    ));
                }
                Mark::Window { to, label, .. } if !label.is_empty() => {
                    let data = if let Sheet::Page(_) = sheet {
                        format!(" data-v=\"{to}\"")
                    } else {
                        String::new()
                    };
                    let (x, label) = (sheet.h(self.picture.x.place(*to).min(1.0)), escaped(label));
                    let class = sheet.class("mark");
                    self.put(format_args!(
                        "<text{class}{data} x=\"{x}\" y=\"{top}\" dx=\"-6\" dy=\"17\" fill=\"{QUIET}\" \
                         text-anchor=\"end\">{label}</text>"
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
        if let Some(words) = self.picture.watermark {
            let (x, y, class) = (sheet.h(0.5), sheet.v(0.42), sheet.class("watermark"));
            self.put(format_args!(
                "<text{class} x=\"{x}\" y=\"{y}\" fill=\"{QUIET}\" fill-opacity=\".22\" \
                 font-size=\"44\" font-weight=\"700\" text-anchor=\"middle\" aria-hidden=\"true\">{}</text>",
                escaped(words)
            ));
        }
    }
}

/// The attribute by which buttons find what they hide.
pub(super) fn of_subject(subject: Option<usize>) -> String {
    subject.map_or_else(String::new, |subject| format!(" data-subject=\"{subject}\""))
}

/// How the line of a style is dashed.
pub(super) fn dashes(style: Style) -> &'static [f64] {
    [&[][..], &[9.0, 4.0], &[2.0, 4.0]][style.form % 3]
}

/// How the dots of a style look: their ends, and whether they are hollow. With dashes, twelve
/// styles differ.
pub(super) fn form(style: Style) -> (&'static str, bool) {
    [("round", false), ("square", false), ("round", true), ("square", true)][style.form % 4]
}

/// Where every second name of an axis has to give way: nowhere, on a narrow picture, on one of half
/// a page as well.
fn crowd(axis: &Axis) -> Option<&'static str> {
    const LETTER: f64 = 7.0;
    let names = axis.ticks.iter().map(|(_, name)| (name.chars().count() as f64 + 1.5) * LETTER);
    match names.sum() {
        0.0..270.0 => None,
        270.0..440.0 => Some("narrow"),
        _ => Some("narrow half"),
    }
}

/// At most two decimals, none that are zero.
fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn rounded4(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text of SVG and HTML: no markup, nothing that XML forbids.
pub(super) fn escaped(text: &str) -> String {
    let legal = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(legal).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
