//! A picture's data as CSV: every value, also of those that are not drawn. The first column's name has with it
//! under what conditions they hold, as the picture itself has: that they are simulated, or in doubt.

use super::{Axis, Bar, Heat, Picture, Points, Range, Scale, Trace};

/// Points: a row for each x, a column for each trace. Bars: a row each. Heat maps: a row for each
/// cell that is not empty.
pub(crate) fn csv(picture: &Picture) -> String {
    match picture.traces.first() {
        Some(Trace::Bars(bars)) => bars_csv(picture, bars),
        Some(Trace::Heat(heat)) => heat_csv(picture, heat),
        Some(Trace::Ranges(ranges)) => ranges_csv(picture, ranges),
        Some(Trace::Points(_)) | None => points_csv(picture),
    }
}

fn points_csv(picture: &Picture) -> String {
    let traces: Vec<&Points> = picture.named().collect();
    let mut text = first(&picture.x.quantity, picture);
    for trace in &traces {
        text += ",";
        text += &field(&trace.name);
    }
    text.push('\n');
    let mut xs: Vec<f64> = traces.iter().flat_map(|t| t.points.iter().map(|p| p.0)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    // Points of a scatter come in any order.
    let in_order = |trace: &&Points| {
        let mut points = trace.points.clone();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let in_order: Vec<Vec<(f64, f64)>> = traces.iter().map(in_order).collect();
    let mut rest: Vec<&[(f64, f64)]> = in_order.iter().map(Vec::as_slice).collect();
    for x in xs {
        // Where a trace stands still it has several values for one x: a row for each.
        while rest.iter().any(|points| points.first().is_some_and(|point| point.0 == x)) {
            text += &place(&picture.x, x);
            for points in &mut rest {
                text.push(',');
                if let Some((_, y)) = points.first().filter(|point| point.0 == x) {
                    text += &y.to_string();
                    *points = &points[1..];
                }
            }
            text.push('\n');
        }
    }
    text
}

fn bars_csv(picture: &Picture, bars: &[Bar]) -> String {
    let varies = bars.iter().any(|bar| bar.error.is_some());
    let (name, value) = (first(&picture.y.quantity, picture), field(&picture.x.quantity));
    let head = if varies { ",deviation" } else { "" };
    let mut text = format!("{name},{value}{head}\n");
    for bar in bars {
        text += &format!("{},{}", field(&bar.name), bar.value);
        text += &bar.error.map_or_else(String::new, |error| format!(",{error}"));
        text.push('\n');
    }
    text
}

fn ranges_csv(picture: &Picture, ranges: &[Range]) -> String {
    let unit = &picture.x.quantity;
    let middle = ranges.first().map_or("middle", |range| range.middle_is);
    let ends = ["lowest", middle, "highest"].map(|end| field(&format!("{end} {unit}")));
    let mut text = format!("{},{}\n", first(&picture.y.quantity, picture), ends.join(","));
    for range in ranges {
        let Range { low, middle, high, .. } = range;
        text += &format!("{},{low},{middle},{high}\n", field(&range.name));
    }
    text
}

fn heat_csv(picture: &Picture, heat: &Heat) -> String {
    let (x, y) = (&picture.x.quantity, &picture.y.quantity);
    let head =
        [format!("{x} to"), format!("{y} from"), format!("{y} to"), heat.quantity.to_owned()];
    let mut text = first(&format!("{x} from"), picture);
    text += &format!(",{}\n", head.map(|name| field(&name)).join(","));
    for (column, x) in heat.columns.iter().zip(heat.x_edges.windows(2)) {
        for (share, y) in column.iter().zip(heat.y_edges.windows(2)) {
            if *share > 0.0 {
                text += &format!("{},{},{},{},{share}\n", x[0], x[1], y[0].round(), y[1].round());
            }
        }
    }
    text
}

/// The name of the first column.
fn first(name: &str, picture: &Picture) -> String {
    match picture.conditions.as_str() {
        "" => field(name),
        conditions => field(&format!("{name} ({conditions})")),
    }
}

fn place(axis: &Axis, value: f64) -> String {
    match axis.scale {
        Scale::Names => field(&axis.name_of(value)),
        Scale::Linear | Scale::Broken { .. } | Scale::Log => value.to_string(),
    }
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{BLUE, GREEN};
    use super::*;

    #[test]
    fn traces_are_joined_by_their_x() {
        let x = Axis::names("size", vec!["4KiB".into(), "8KiB".into(), "a \"b\", c".into()]);
        let y = Axis::linear("MB/s", 10.0);
        let one = Points::line("read", BLUE, vec![(0.0, 1.0), (2.0, 3.5)]);
        let two = Points::line("write", GREEN, vec![(0.0, 2.0), (1.0, 9.0)]);
        let picture = Picture::new("id".into(), "title".into(), x, y, vec![one, two]);
        let expected = "size,read,write\n4KiB,1,2\n8KiB,,9\n\"a \"\"b\"\", c\",3.5,\n";
        assert_eq!(csv(&picture), expected);
        let mut picture = picture;
        "QD1, simulated".clone_into(&mut picture.conditions);
        assert!(csv(&picture).starts_with("\"size (QD1, simulated)\",read,write\n4KiB,"));
    }

    #[test]
    fn no_point_of_a_scatter_is_lost() {
        let [x, y] = ["watts", "IOPS"].map(|name| Axis::linear(name, 10.0));
        let points = vec![(3.0, 1.0), (1.0, 2.0), (3.0, 4.0), (2.0, 5.0)];
        let traces = vec![Points::dots("points", BLUE, points)];
        let picture = Picture::new("id".into(), "title".into(), x, y, traces);
        assert_eq!(csv(&picture), "watts,points\n1,2\n2,5\n3,1\n3,4\n");
    }
}
