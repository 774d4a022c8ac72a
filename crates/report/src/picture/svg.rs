//! A picture as an SVG file that stands alone: on white, with its title, ready to be published.

use std::fmt::Write;

use super::thin::thinned;
use super::{Axis, Bar, GREY, Heat, Look, Mark, Picture, Points, Range, Scale, Trace};

const WIDTH: f64 = 960.0;
const RIGHT: f64 = WIDTH - 24.0;
const LEGEND_ROW: f64 = 22.0;
/// Of marks, and of cells that stand alone.
const ORANGE: &str = super::ORANGE.colour;
const BLUE: &str = super::BLUE.colour;
const INK: &str = "#1d2430";
const GRID: &str = "#d9dee5";
/// Colours of 0.01 %, 0.1 %, 1 %, 10 % and 100 % of a heat map's strongest; as on the page.
const HEAT: [[f64; 3]; 5] = [
    [222.0, 232.0, 242.0],
    [158.0, 196.0, 226.0],
    [74.0, 144.0, 196.0],
    [24.0, 90.0, 150.0],
    [8.0, 38.0, 84.0],
];

/// The area that the axes span, in pixels.
struct Area {
    left: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + axis.place(value).clamp(0.0, 1.0) * (RIGHT - self.left)
    }

    fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.bottom - axis.place(value).clamp(0.0, 1.0) * (self.bottom - self.top)
    }
}

/// The whole file.
pub(crate) fn svg(picture: &Picture) -> String {
    let left = if picture.is_bars() { 24.0 } else { 84.0 };
    let mut entries = String::new();
    let rows = if picture.has_legend() { legend(&mut entries, picture, left) } else { 0 };
    let top = 68.0 + LEGEND_ROW * f64::from(rows);
    let height = top + f64::from(picture.height());
    let area = Area { left, top, bottom: height - 56.0 };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif\" \
         font-size=\"14\" fill=\"{INK}\">\n<title>{}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n",
        escaped(&picture.title)
    );
    text(&mut svg, (24.0, 32.0), "start", "font-size=\"19\" font-weight=\"600\"", &picture.title);
    svg += &entries;
    windows(&mut svg, picture, &area);
    axes(&mut svg, picture, &area);
    for trace in &picture.traces {
        match trace {
            Trace::Points(points) if points.look == Look::Columns => {
                draw_columns(&mut svg, picture, points, &area);
            }
            Trace::Points(points) => draw_points(&mut svg, picture, points, &area),
            Trace::Bars(bars) => draw_bars(&mut svg, picture, bars, &area),
            Trace::Heat(heat) => draw_heat(&mut svg, picture, heat, &area),
            Trace::Ranges(ranges) => draw_ranges(&mut svg, picture, ranges, &area),
        }
    }
    marks(&mut svg, picture, &area);
    svg + "</svg>\n"
}

fn axes(svg: &mut String, picture: &Picture, area: &Area) {
    let Area { left, top, bottom } = *area;
    for (value, name) in &picture.x.ticks {
        let x = area.x(&picture.x, *value);
        line(svg, (x, top), (x, bottom), &format!("stroke=\"{GRID}\""));
        text(svg, (x, bottom + 20.0), "middle", "", name);
    }
    text(svg, (f64::midpoint(left, RIGHT), bottom + 44.0), "middle", "", &picture.x.title);
    if picture.is_bars() {
        return;
    }
    for (value, name) in &picture.y.ticks {
        let y = area.y(&picture.y, *value);
        line(svg, (left, y), (RIGHT, y), &format!("stroke=\"{GRID}\""));
        text(svg, (left - 8.0, y + 5.0), "end", "", name);
    }
    let middle = f64::midpoint(top, bottom);
    let turned = format!("transform=\"rotate(-90 20 {middle:.1})\"");
    text(svg, (20.0, middle), "middle", &turned, &picture.y.title);
}

/// Entries beside each other, and below where there is no more room; returns the rows taken.
fn legend(svg: &mut String, picture: &Picture, left: f64) -> u32 {
    let (mut x, mut row) = (left, 0);
    for points in picture.named() {
        // Letters are about half as wide as they are high.
        let width = 40.0 + 7.6 * points.name.chars().count() as f64;
        if x > left && x + width > RIGHT {
            (x, row) = (left, row + 1);
        }
        let y = 57.0 + LEGEND_ROW * f64::from(row);
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y}\" r=\"5\" fill=\"{}\"/>",
            points.style.colour
        );
        text(svg, (x + 10.0, y + 5.0), "start", "", &points.name);
        x += width;
    }
    row + 1
}

fn draw_points(svg: &mut String, picture: &Picture, points: &Points, area: &Area) {
    let cannot_show = |y: f64| picture.y.scale == Scale::Log && y <= 0.0;
    let (zeros, shown): (Vec<_>, Vec<_>) = points.points.iter().partition(|p| cannot_show(p.1));
    let place = |(x, y): (f64, f64)| (area.x(&picture.x, x), area.y(&picture.y, y));
    let places: Vec<(f64, f64)> = thinned(&shown).into_iter().map(place).collect();
    if points.look == Look::Line {
        draw_line(svg, &places, points.style.colour);
    }
    if !points.has_dots() {
        return;
    }
    let (radius, opacity) = if points.look == Look::Dots { (1.8, 0.65) } else { (4.0, 1.0) };
    let _ = writeln!(svg, "<g fill=\"{}\" fill-opacity=\"{opacity}\">", points.style.colour);
    for (x, y) in &places {
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
    }
    svg.push_str("</g>\n");
    for (x, _) in thinned(&zeros) {
        let (x, y) = place((x, picture.y.bottom()));
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}h8l-4 7z\" fill=\"none\" stroke=\"{ORANGE}\"/>",
            x - 4.0,
            y - 4.0
        );
    }
}

fn draw_columns(svg: &mut String, picture: &Picture, points: &Points, area: &Area) {
    let _ = writeln!(svg, "<g fill=\"{}\">", points.style.colour);
    for &(x, y) in &points.points {
        let (from, to) = picture.column_ends(points, x);
        let (left, right) = (area.x(&picture.x, from), area.x(&picture.x, to));
        let top = area.y(&picture.y, y);
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            (right - left - 1.0).max(0.5),
            area.bottom - top
        );
    }
    svg.push_str("</g>\n");
}

fn draw_line(svg: &mut String, places: &[(f64, f64)], colour: &str) {
    let points: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let points = points.join(" ");
    let _ = writeln!(
        svg,
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
    );
}

fn draw_bars(svg: &mut String, picture: &Picture, bars: &[Bar], area: &Area) {
    let step = (area.bottom - area.top) / bars.len() as f64;
    for (index, bar) in bars.iter().enumerate() {
        let middle = area.top + step * (index as f64 + 0.5);
        let width = area.x(&picture.x, bar.value) - area.left;
        let (left, height) = (area.left, step * 0.42);
        text(svg, (left, middle - 4.0), "start", "", &bar.name);
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{middle:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{}\"/>",
            bar.style.colour
        );
        if let Some(span) = bar.span() {
            let (from, to) = (area.x(&picture.x, span.0), area.x(&picture.x, span.1));
            error_bar(svg, (from, to), (middle, height));
        }
        let end = area.x(&picture.x, bar.end());
        let at = (end + 8.0, middle + height / 2.0 + 5.0);
        text(svg, at, "start", "font-weight=\"600\"", &bar.words);
    }
}

/// A line with a dot at either end, and a stroke at the middle value.
fn draw_ranges(svg: &mut String, picture: &Picture, ranges: &[Range], area: &Area) {
    let step = (area.bottom - area.top) / ranges.len() as f64;
    for (index, range) in ranges.iter().enumerate() {
        let y = area.top + step * (index as f64 + 0.72);
        let [low, middle, high] =
            [range.low, range.middle, range.high].map(|value| area.x(&picture.x, value));
        let colour = range.style.colour;
        text(svg, (area.left, y - 14.0), "start", "", &range.name);
        text(svg, (RIGHT, y - 14.0), "end", "font-weight=\"600\"", &range.words);
        line(svg, (low, y), (high, y), &format!("stroke=\"{colour}\" stroke-width=\"3\""));
        let stroke = format!("stroke=\"{colour}\" stroke-width=\"4\"");
        line(svg, (middle, y - 8.0), (middle, y + 8.0), &stroke);
        for (x, radius) in [(low, 6.0), (high, 3.5)] {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>"
            );
        }
    }
}

/// A line from end to end of what a value varies by, with a cap at either.
fn error_bar(svg: &mut String, (from, to): (f64, f64), (top, height): (f64, f64)) {
    let (middle, cap) = (top + height / 2.0, height / 4.0);
    let style = format!("stroke=\"{INK}\" stroke-width=\"2\"");
    line(svg, (from, middle), (to, middle), &style);
    for end in [from, to] {
        line(svg, (end, middle - cap), (end, middle + cap), &style);
    }
}

fn draw_heat(svg: &mut String, picture: &Picture, heat: &Heat, area: &Area) {
    svg.push_str("<g shape-rendering=\"crispEdges\">\n");
    for (column, x) in heat.columns.iter().zip(heat.x_edges.windows(2)) {
        let (left, right) = (area.x(&picture.x, x[0]), area.x(&picture.x, x[1]));
        for (share, y) in column.iter().zip(heat.y_edges.windows(2)) {
            if *share == 0.0 {
                continue;
            }
            let (bottom, top) = (area.y(&picture.y, y[0]), area.y(&picture.y, y[1]));
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
                 fill=\"{}\"/>",
                // A little over the next cell, or a viewer that scales shows seams.
                right - left + 0.6,
                bottom - top + 0.6,
                heat_colour(*share * 100.0 / heat.full)
            );
        }
    }
    svg.push_str("</g>\n");
    for (x, y) in heat.middles_of_few() {
        let (x, y) = (area.x(&picture.x, x), area.y(&picture.y, y));
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"5\" height=\"5\" fill=\"{BLUE}\"/>",
            x - 2.5,
            y - 2.5
        );
    }
}

/// Logarithmic: each colour stands for ten times the share of the one before.
fn heat_colour(percent: f64) -> String {
    let place = (percent.log10() + 2.0).clamp(0.0, 4.0);
    let (low, high) = (HEAT[place.floor() as usize], HEAT[place.ceil() as usize]);
    let mixed = [0, 1, 2].map(|i| low[i] + (high[i] - low[i]) * place.fract());
    format!("#{:02x}{:02x}{:02x}", mixed[0] as u8, mixed[1] as u8, mixed[2] as u8)
}

fn windows(svg: &mut String, picture: &Picture, area: &Area) {
    for mark in &picture.marks {
        let Mark::Window { from, to, .. } = mark else { continue };
        let (left, right) = (area.x(&picture.x, *from), area.x(&picture.x, *to));
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{}\" fill=\"{GREY}\" \
             fill-opacity=\"0.12\"/>",
            area.top,
            right - left,
            area.bottom - area.top
        );
    }
}

fn marks(svg: &mut String, picture: &Picture, area: &Area) {
    let above = area.top - 6.0;
    for mark in &picture.marks {
        match mark {
            Mark::Upright { at, label } => {
                let x = area.x(&picture.x, *at);
                let style = format!("stroke=\"{ORANGE}\" stroke-dasharray=\"2 3\"");
                line(svg, (x, area.top), (x, area.bottom), &style);
                let side = if picture.x.place(*at) < 0.3 { "start" } else { "end" };
                text(svg, (x, above), side, &format!("fill=\"{ORANGE}\""), label);
            }
            Mark::Window { to, label, .. } => {
                let at = (area.x(&picture.x, *to), above);
                text(svg, at, "end", &format!("fill=\"{GREY}\""), label);
            }
            Mark::Nothing(words) => {
                let at = (f64::midpoint(area.left, RIGHT), f64::midpoint(area.top, area.bottom));
                text(svg, at, "middle", &format!("fill=\"{GREY}\""), words);
            }
        }
    }
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), style: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"
    );
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, style: &str, words: &str) {
    if words.is_empty() {
        return;
    }
    let words = escaped(words);
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{words}</text>"
    );
}

fn escaped(text: &str) -> String {
    let legal = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(legal).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
