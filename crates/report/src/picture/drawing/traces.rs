//! What the values look like: dots, lines, columns, cells.

use super::sheet::{STEPS_A_PIXEL, Sheet};
use super::{ALARM, Drawing, HEAT, escaped, of_subject};
use crate::picture::path::Path;
use crate::picture::thin::thinned;
use crate::picture::{Heat, Look, Points, Scale, Style};

impl Drawing<'_> {
    pub(super) fn points(&mut self, points: &Points) {
        let cannot_show = |y: f64| self.picture.y.scale == Scale::Log && y <= 0.0;
        let (zeros, shown): (Vec<_>, Vec<_>) = points.points.iter().partition(|p| cannot_show(p.1));
        let thin = |points: &[(f64, f64)], share| thinned(points, self.sheet.points_max() / share);
        let drawn = match self.picture.x.scale {
            Scale::Broken { at } => {
                let (first, second) = shown.split_at(shown.partition_point(|(x, _)| *x < at));
                [thin(first, 2), thin(second, 2)].concat()
            }
            Scale::Linear | Scale::Log | Scale::Names => thin(&shown, 1),
        };
        let places: Vec<(i64, i64)> = drawn.into_iter().map(|p| self.place(p)).collect();
        let is_line = points.is_line();
        if is_line {
            let mut path = Path::default();
            for (index, place) in places.iter().enumerate() {
                match (index, points.look) {
                    (0, _) => path.move_to(*place),
                    (_, Look::Steps) => {
                        path.line_to((place.0, places[index - 1].1));
                        path.line_to(*place);
                    }
                    _ => path.line_to(*place),
                }
            }
            let dashes = self.sheet.dashes(dashes(points.style));
            self.stroke(&path, points, (2.0, &format!("stroke-linejoin=\"round\"{dashes}")), true);
        }
        if points.has_dots() {
            let (cap, hollow) = form(points.style);
            let mut path = Path::default();
            places.iter().for_each(|place| path.dot(*place, dot_length(cap)));
            let (width, opacity) = if is_line { (8.0, 1.0) } else { (3.6, 0.85) };
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
            Sheet::Page { hides, .. } => {
                let subject = of_subject(hides(&points.name));
                format!("{subject} data-name=\"{}\"", escaped(&points.name))
            }
            Sheet::File(..) => String::new(),
        }
    }

    /// Upright strokes at the bottom for what a logarithmic axis cannot show.
    fn zeros(&mut self, points: &Points, zeros: &[(f64, f64)]) {
        let height = self.sheet.steps().1;
        let mut path = Path::default();
        for (x, _) in thinned(zeros, self.sheet.points_max()) {
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

    pub(super) fn columns(&mut self, points: &Points) {
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
    pub(super) fn heat(&mut self, heat: &Heat) {
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
            Sheet::Page { .. } => format!("{} stroke-linecap=\"square\" ", self.sheet.stroke(5.0)),
            Sheet::File(..) => {
                format!("stroke-width=\"{}\" ", rounded4(5.0 * STEPS_A_PIXEL / cell.1))
            }
        }
    }
}

/// In PDF a line of no length is drawn where its ends are round, and is nothing where they are square.
fn dot_length(cap: &str) -> i64 {
    i64::from(cap == "square")
}

/// How the line of a style is dashed.
pub(in crate::picture) fn dashes(style: Style) -> &'static [f64] {
    [&[][..], &[9.0, 4.0], &[2.0, 4.0]][style.form % 3]
}

/// How the dots of a style look: their ends, and whether they are hollow. With dashes, twelve
/// styles differ.
pub(in crate::picture) fn form(style: Style) -> (&'static str, bool) {
    [("round", false), ("square", false), ("round", true), ("square", true)][style.form % 4]
}

fn rounded4(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
