//! A picture as an SVG file that stands alone: on white, with its title, its conditions and its
//! scale of colours, ready to be published.

use std::fmt::Write;

use super::drawing::{HEAT, INK, QUIET, Sheet, dashes, drawing, escaped, form, watermark};
use super::rows::Row;
use super::{Heat, Look, Picture, Points, Trace};

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 24.0;
/// Where the axes' area begins and ends.
const LEFT: f64 = 76.0;
const RIGHT: f64 = WIDTH - 32.0;
const LEGEND_ROW: f64 = 22.0;
const PLOT_HEIGHT: f64 = 320.0;
const ROW_STEP: f64 = 46.0;
/// Letters are about half as wide as they are high.
const LETTER: f64 = 7.4;
const CREDIT: &str = "Writecliff";

/// The whole file.
pub(crate) fn svg(picture: &Picture) -> String {
    let mut inner = String::new();
    // Bold letters are this wide, as a share of their height.
    let fits = (WIDTH - 2.0 * MARGIN) / (0.63 * picture.title.chars().count().max(1) as f64);
    let size = fits.clamp(9.0, 19.0).floor();
    let title = format!("font-size=\"{size}\" font-weight=\"600\"");
    text(&mut inner, (MARGIN, 34.0), "start", &title, &picture.title);
    let bottom = match picture.rows() {
        Some(rows) => draw_rows(&mut inner, picture, &rows),
        None => draw_plot(&mut inner, picture),
    };
    let height = bottom + 34.0;
    let small = format!("font-size=\"12\" fill=\"{QUIET}\"");
    text(&mut inner, (MARGIN, height - 14.0), "start", &small, &picture.conditions);
    text(&mut inner, (WIDTH - MARGIN, height - 14.0), "end", &small, CREDIT);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"system-ui, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif\" \
         font-size=\"14\" fill=\"{INK}\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n{inner}</svg>\n",
        escaped(&picture.title),
        escaped(&picture.alt)
    )
}

/// Legend or scale of colours, and the axes below; returns where they end.
fn draw_plot(svg: &mut String, picture: &Picture) -> f64 {
    let mut top = 92.0;
    if picture.has_legend() {
        top += LEGEND_ROW * f64::from(legend(svg, picture)) + 6.0;
    }
    if let Some(Trace::Heat(heat)) = picture.traces.first() {
        scale(svg, heat);
        top += LEGEND_ROW + 6.0;
    }
    let sheet = Sheet::File(RIGHT - LEFT, PLOT_HEIGHT);
    let drawing = drawing(picture, &sheet);
    let _ = writeln!(
        svg,
        "<g transform=\"translate({LEFT} {top})\" font-size=\"13\">\n{drawing}\n</g>"
    );
    top + PLOT_HEIGHT + 48.0
}

/// Entries beside each other, and below where there is no more room; returns the rows taken.
fn legend(svg: &mut String, picture: &Picture) -> u32 {
    let (mut x, mut row) = (MARGIN, 0);
    for points in picture.named() {
        let width = 64.0 + LETTER * points.name.chars().count() as f64;
        if x > MARGIN && x + width > RIGHT {
            (x, row) = (MARGIN, row + 1);
        }
        let y = 58.0 + LEGEND_ROW * f64::from(row);
        let _ =
            writeln!(svg, "<g transform=\"translate({x:.1} {:.1})\">{}</g>", y - 6.0, key(points));
        text(svg, (x + 38.0, y + 5.0), "start", "", &points.name);
        x += width;
    }
    row + 1
}

/// A piece of a trace, 30 × 12.
pub(super) fn key(points: &Points) -> String {
    let (colour, (cap, is_hollow)) = (points.style.colour, form(points.style));
    if points.look == Look::Columns {
        return format!("<path d=\"M9 0h12v12h-12z\" fill=\"{colour}\"/>");
    }
    let mut svg = String::new();
    let mut width = 6.0;
    if points.is_line() {
        let dashes: Vec<String> = dashes(points.style).iter().map(f64::to_string).collect();
        let dashes = match dashes.is_empty() {
            true => String::new(),
            false => format!(" stroke-dasharray=\"{}\"", dashes.join(" ")),
        };
        let _ = write!(svg, "<path d=\"M0 6h30\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>");
        width = 8.0;
    }
    if points.has_dots() {
        // Of no length it would be missing on paper.
        let dot = format!("stroke-linecap=\"{cap}\" d=\"M14.9 6h.2\"");
        let _ = write!(svg, "<path stroke=\"{colour}\" stroke-width=\"{width}\" {dot}/>");
        if points.is_line() && is_hollow {
            let _ =
                write!(svg, "<path class=\"hollow\" stroke=\"#fff\" stroke-width=\"4\" {dot}/>");
        }
    }
    svg
}

/// What the colours of cells stand for.
fn scale(svg: &mut String, heat: &Heat) {
    let (weakest, strongest) = heat.ends();
    let words = LETTER * weakest.chars().count() as f64;
    text(svg, (MARGIN, 64.0), "start", "", &weakest);
    let _ =
        writeln!(svg, "<g transform=\"translate({:.1} 52)\">{}</g>", MARGIN + words + 8.0, steps());
    text(svg, (MARGIN + words + 176.0, 64.0), "start", "", &strongest);
}

/// The colours of a heat map, 160 × 14.
pub(super) fn steps() -> String {
    let step = |(level, colour): (usize, &&str)| {
        format!(
            "<path class=\"h{level}\" stroke=\"{colour}\" stroke-width=\"14\" d=\"M{} 7h20\"/>",
            20 * level
        )
    };
    HEAT.iter().enumerate().map(step).collect()
}

/// Names above, values at the right, and the names of the axis where lengths do not say all;
/// returns where they end.
fn draw_rows(svg: &mut String, picture: &Picture, rows: &[Row<'_>]) -> f64 {
    let top = 56.0;
    let longest = rows.iter().map(|row| row.words.chars().count()).max().unwrap_or(0);
    let room = WIDTH - 2.0 * MARGIN - 24.0 - LETTER * 1.15 * longest as f64;
    let at = |place: f64| format!("{:.1}", place * room);
    for (index, row) in rows.iter().enumerate() {
        let y = top + ROW_STEP * index as f64;
        text(svg, (MARGIN, y + 14.0), "start", "", row.name);
        let shape = row.draw(&at);
        let _ = writeln!(svg, "<g transform=\"translate({MARGIN} {:.1})\">{shape}</g>", y + 20.0);
        text(svg, (WIDTH - MARGIN, y + 33.0), "end", "font-weight=\"600\"", row.words);
    }
    let mut bottom = top + ROW_STEP * rows.len() as f64;
    if picture.has_row_axis() {
        let quiet = format!("font-size=\"13\" fill=\"{QUIET}\"");
        for (value, name) in &picture.x.ticks {
            let x = MARGIN + picture.x.place(*value) * room;
            text(svg, (x, bottom + 14.0), "middle", &quiet, name);
        }
        bottom += 24.0;
    }
    if let Some(words) = picture.watermark {
        let middle = (WIDTH / 2.0, f64::midpoint(top, bottom) + 14.0);
        text(svg, middle, "middle", &watermark(), words);
    }
    bottom
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
