//! Path data of SVG in whole numbers, relative to each other: a dense cloud is one short attribute.

use std::fmt::Write;

/// Path data that grows.
#[derive(Default)]
pub(super) struct Path {
    data: String,
    at: Option<(i64, i64)>,
}

impl Path {
    /// Goes on from another place.
    pub(super) fn move_to(&mut self, to: (i64, i64)) {
        match self.at {
            None => self.pair('M', to),
            Some((x, y)) => self.pair('m', (to.0 - x, to.1 - y)),
        }
        self.at = Some(to);
    }

    /// A line from where it is.
    pub(super) fn line_to(&mut self, to: (i64, i64)) {
        let (x, y) = self.at.unwrap_or_default();
        self.pair('l', (to.0 - x, to.1 - y));
        self.at = Some(to);
    }

    /// A line of next to no length, which the ends of its stroke make a dot; none where one is.
    pub(super) fn dot(&mut self, at: (i64, i64), length: i64) {
        if self.at != Some((at.0 + length, at.1)) {
            self.move_to(at);
            self.across(length);
        }
    }

    /// A line to the right.
    pub(super) fn across(&mut self, length: i64) {
        self.one('h', length);
        self.at = self.at.map(|(x, y)| (x + length, y));
    }

    /// A line up or down.
    pub(super) fn down(&mut self, length: i64) {
        self.one('v', length);
        self.at = self.at.map(|(x, y)| (x, y + length));
    }

    /// An area between two corners.
    pub(super) fn area(&mut self, from: (i64, i64), to: (i64, i64)) {
        self.move_to(from);
        self.one('h', to.0 - from.0);
        self.one('v', to.1 - from.1);
        self.one('h', from.0 - to.0);
        // Closing leads back to where it began.
        self.data.push('z');
    }

    pub(super) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    pub(super) fn data(&self) -> &str {
        &self.data
    }

    fn one(&mut self, command: char, value: i64) {
        // Writing to a String cannot fail.
        let _ = write!(self.data, "{command}{value}");
    }

    fn pair(&mut self, command: char, (x, y): (i64, i64)) {
        let between = if y < 0 { "" } else { " " };
        let _ = write!(self.data, "{command}{x}{between}{y}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_from_the_place_before() {
        let mut path = Path::default();
        for at in [(3, 90), (5, 20), (5, 20), (4, 20)] {
            path.dot(at, 0);
        }
        path.area((10, 0), (12, 5));
        path.move_to((10, 1));
        path.line_to((20, 9));
        assert_eq!(path.data(), "M3 90h0m2-70h0m-1 0h0m6-20h2v5h-2zm0 1l10 8");
        let mut square = Path::default();
        [(3, 90), (3, 90), (4, 90)].into_iter().for_each(|at| square.dot(at, 1));
        assert_eq!(square.data(), "M3 90h1m0 0h1");
    }
}
