//! A picture as a figure of Plotly: the JSON that its script takes. Colours of text, grid and heat
//! come from the page's style sheet, at display.

use serde_json::{Value, json};

use super::thin::thinned;
use super::{
    Axis, BLUE, Bar, GREY, Heat, Look, Mark, ORANGE, Picture, Points, Range, Scale, Trace,
};

/// `data` and `layout`.
pub(crate) fn figure(picture: &Picture) -> Value {
    let data: Vec<Value> = picture.traces.iter().flat_map(|trace| traces(picture, trace)).collect();
    let top = if picture.is_bars() { 8 } else { 28 };
    let mut layout = json!({
        "xaxis": axis(&picture.x),
        "yaxis": axis(&picture.y),
        "shapes": picture.marks.iter().filter_map(shape).collect::<Vec<_>>(),
        "annotations": picture.marks.iter().filter_map(|mark| note(picture, mark)).collect::<Vec<_>>(),
        "margin": { "l": 64, "r": 22, "t": top, "b": 48 },
        "height": picture.height(),
        "showlegend": picture.has_legend(),
    });
    if picture.has_legend() {
        layout["legend"] = json!({ "orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom",
            "itemsizing": "constant" });
    }
    if picture.named().any(|points| points.look == Look::Columns) {
        // Their places are their own.
        layout["barmode"] = json!("overlay");
    }
    if let Some(Trace::Bars(bars)) = picture.traces.first() {
        layout["margin"]["l"] = json!(16);
        layout["yaxis"] = json!({ "range": [picture.y.to, picture.y.from], "visible": false });
        let names = bars.iter().enumerate().map(|(place, bar)| bar_name(place, &bar.name));
        layout["annotations"] = names.collect();
    }
    if let Some(Trace::Ranges(ranges)) = picture.traces.first() {
        layout["margin"]["l"] = json!(16);
        layout["yaxis"] = json!({ "range": [picture.y.to, picture.y.from], "visible": false });
        let name = |(place, range): (usize, &Range)| {
            bar_name(place, &format!("{}: {}", range.name, range.words))
        };
        layout["annotations"] = ranges.iter().enumerate().map(name).collect();
    }
    json!({ "data": data, "layout": layout })
}

fn traces(picture: &Picture, trace: &Trace) -> Vec<Value> {
    match trace {
        Trace::Points(points) if points.look == Look::Columns => {
            vec![column_trace(picture, points)]
        }
        Trace::Points(points) => scatter(picture, points),
        Trace::Bars(bars) => vec![bar_trace(bars)],
        Trace::Ranges(ranges) => ranges.iter().enumerate().map(range_trace).collect(),
        Trace::Heat(heat) => {
            [heat_trace(picture, heat)].into_iter().chain(few_cells(heat)).collect()
        }
    }
}

/// The points, and those that a log axis cannot show at its bottom.
fn scatter(picture: &Picture, points: &Points) -> Vec<Value> {
    let cannot_show = |y: f64| picture.y.scale == Scale::Log && y <= 0.0;
    let (zeros, shown): (Vec<_>, Vec<_>) = points.points.iter().partition(|p| cannot_show(p.1));
    let (x, y) = columns(&thinned(&shown));
    let mut main = json!({
        "type": "scatter",
        "name": text(&points.name),
        "x": x,
        "y": y,
        "hovertemplate": hover(picture),
    });
    let is_line = points.look == Look::Line;
    main["mode"] = json!(match (is_line, points.has_dots()) {
        (false, _) => "markers",
        (true, true) => "lines+markers",
        (true, false) => "lines",
    });
    main["marker"] = match is_line {
        false => json!({ "size": 4, "opacity": 0.65, "color": points.style.colour }),
        true => json!({ "size": 7, "color": points.style.colour }),
    };
    if is_line {
        main["line"] = json!({ "color": points.style.colour, "width": 2 });
    }
    let mut all = vec![main];
    if !zeros.is_empty() {
        let (x, _) = columns(&thinned(&zeros));
        let y = vec![brief(picture.y.bottom()); x.len()];
        all.push(json!({
            "type": "scatter", "mode": "markers", "name": "0", "x": x, "y": y,
            "marker": { "size": 8, "symbol": "triangle-down-open", "color": ORANGE.colour },
            "hovertemplate": "%{x}: 0<extra></extra>", "showlegend": false,
        }));
    }
    all
}

fn column_trace(picture: &Picture, points: &Points) -> Value {
    let ends = || points.points.iter().map(|(x, _)| picture.column_ends(points, *x));
    let name = |(x, _): &(f64, f64)| text(&picture.x.name_of(*x));
    json!({
        "type": "bar",
        "name": text(&points.name),
        "x": ends().map(|(from, _)| brief(from)).collect::<Vec<_>>(),
        "width": ends().map(|(from, to)| brief(to - from)).collect::<Vec<_>>(),
        "offset": 0,
        "y": points.points.iter().map(|(_, y)| brief(*y)).collect::<Vec<_>>(),
        "customdata": points.points.iter().map(name).collect::<Vec<_>>(),
        "marker": { "color": points.style.colour },
        "hovertemplate": format!("%{{customdata}}<br>%{{y:,.4~r}} {}            <extra>%{{fullData.name}}</extra>", text(&picture.y.quantity)),
    })
}

fn hover(picture: &Picture) -> String {
    let x = if picture.x.scale == Scale::Names { "" } else { "%{x:,~r} " };
    let (name, x) = match picture.x.scale {
        Scale::Names => ("%{x}".to_owned(), x),
        Scale::Linear | Scale::Log => (text(&picture.x.quantity), x),
    };
    let quantity = text(&picture.y.quantity);
    format!("{x}{name}<br>%{{y:,.4~r}} {quantity}<extra>%{{fullData.name}}</extra>")
}

fn bar_trace(bars: &[Bar]) -> Value {
    let each = |part: fn(&Bar) -> Value| bars.iter().map(part).collect::<Vec<Value>>();
    json!({
        "type": "bar", "orientation": "h", "width": 0.42, "offset": -0.02, "hoverinfo": "none",
        "x": each(|bar| brief(bar.value)),
        "y": (0..bars.len()).collect::<Vec<_>>(),
        "text": each(|bar| json!(text(&bar.words))),
        "textposition": "outside", "cliponaxis": false, "constraintext": "none",
        "marker": { "color": each(|bar| json!(bar.style.colour)) },
    })
}

fn range_trace((place, range): (usize, &Range)) -> Value {
    let Range { low, middle, high, style, .. } = range;
    json!({
        "type": "scatter", "mode": "lines+markers", "hoverinfo": "x", "showlegend": false,
        "x": [brief(*low), brief(*middle), brief(*high)],
        "y": vec![place as f64 + 0.2; 3],
        "marker": { "size": [11, 8, 7], "symbol": ["circle", "line-ns-open", "circle"],
            "color": style.colour },
        "line": { "color": style.colour, "width": 3 },
    })
}

fn bar_name(place: usize, name: &str) -> Value {
    json!({ "text": text(name), "x": 0, "xref": "paper", "xanchor": "left", "showarrow": false,
        "y": place as f64 - 0.04, "yref": "y", "yanchor": "bottom", "xshift": -4 })
}

fn heat_trace(picture: &Picture, heat: &Heat) -> Value {
    let row = |row: usize| -> Vec<Value> {
        let share = |column: &Vec<f64>| match column[row] {
            0.0 => Value::Null,
            share => brief(share),
        };
        heat.columns.iter().map(share).collect()
    };
    let edges = |edges: &[f64]| edges.iter().map(|edge| brief(*edge)).collect::<Vec<_>>();
    json!({
        "type": "heatmap", "zmin": 0, "zmax": heat.full, "showscale": false,
        "x": edges(&heat.x_edges),
        "y": edges(&heat.y_edges),
        "z": (0..heat.y_edges.len() - 1).map(row).collect::<Vec<_>>(),
        "hovertemplate": format!("%{{z:,.2~r}} {}<br>%{{x:,.4~r}} {}<extra></extra>",
            text(heat.unit), text(&picture.x.quantity)),
    })
}

/// Dots over a heat map of few cells; what is said of them is the map's.
fn few_cells(heat: &Heat) -> Option<Value> {
    let (x, y) = columns(&heat.middles_of_few());
    (!x.is_empty()).then(|| {
        json!({
            "type": "scatter", "mode": "markers", "x": x, "y": y, "hoverinfo": "skip",
            "marker": { "size": 5, "symbol": "square", "color": BLUE.colour }, "showlegend": false,
        })
    })
}

fn axis(axis: &Axis) -> Value {
    let (kind, range) = match axis.scale {
        Scale::Log => ("log", [axis.from.log10(), axis.to.log10()]),
        Scale::Linear | Scale::Names => ("linear", [axis.from, axis.to]),
    };
    json!({
        "type": kind,
        "range": range.map(brief),
        "tickvals": axis.ticks.iter().map(|tick| brief(tick.0)).collect::<Vec<_>>(),
        "ticktext": axis.ticks.iter().map(|tick| text(&tick.1)).collect::<Vec<_>>(),
        "title": { "text": text(&axis.title) },
        "zeroline": false,
    })
}

fn shape(mark: &Mark) -> Option<Value> {
    let upright = |from: &f64, to: &f64| {
        json!({ "type": "rect", "layer": "below", "xref": "x", "yref": "paper",
            "x0": from, "x1": to, "y0": 0, "y1": 1 })
    };
    let mut shape = match mark {
        Mark::Upright { at, .. } => upright(at, at),
        Mark::Window { from, to, .. } => upright(from, to),
        Mark::Nothing(_) => return None,
    };
    if let Mark::Upright { .. } = mark {
        shape["line"] = json!({ "color": ORANGE.colour, "width": 1.5, "dash": "dot" });
    } else {
        shape["fillcolor"] = json!(GREY);
        shape["opacity"] = json!(0.12);
        shape["line"] = json!({ "width": 0 });
    }
    Some(shape)
}

fn note(picture: &Picture, mark: &Mark) -> Option<Value> {
    let note = |words: &str, colour| {
        json!({ "text": text(words), "showarrow": false, "yref": "paper", "yanchor": "bottom",
            "y": 1, "font": { "color": colour, "size": 12 } })
    };
    match mark {
        Mark::Upright { at, label } => {
            let side = if picture.x.place(*at) < 0.3 { "left" } else { "right" };
            let mut note = note(label, ORANGE.colour);
            (note["x"], note["xanchor"]) = (json!(at), json!(side));
            Some(note)
        }
        Mark::Window { label, .. } if label.is_empty() => None,
        Mark::Window { to, label, .. } => {
            let mut note = note(label, GREY);
            (note["x"], note["xanchor"]) = (json!(to), json!("right"));
            Some(note)
        }
        Mark::Nothing(words) => {
            let mut note = note(words, GREY);
            (note["x"], note["xref"], note["y"]) = (json!(0.5), json!("paper"), json!(0.5));
            Some(note)
        }
    }
}

fn columns(points: &[(f64, f64)]) -> (Vec<Value>, Vec<Value>) {
    points.iter().map(|(x, y)| (brief(*x), brief(*y))).unzip()
}

/// Six digits at most: more cannot be seen, and every one of them makes the page longer.
fn brief(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return json!(value as i64);
    }
    let decimals = (5.0 - value.abs().log10().floor()).clamp(0.0, 15.0);
    let scale = 10f64.powf(decimals);
    json!((value * scale).round() / scale)
}

/// Plotly reads markup in all its texts; a drive's name is none.
fn text(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
