//! What the page shows of one test: pictures and tables over all drives that have it.

use writecliff_suite::{Good, TestEntry, are_apart};

use crate::number::NONE;
use crate::picture::Picture;
use crate::subjects::Subjects;

/// One test's part of the page.
pub(crate) struct Section {
    /// Its anchor.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) question: String,
    /// Doubts about it, each with the subject whose it is.
    pub(crate) doubts: Vec<(usize, String)>,
    /// The ways in which drives were set up, if there are several to choose from.
    pub(crate) settings: Vec<String>,
    pub(crate) views: Vec<View>,
    pub(crate) tables: Vec<Table>,
    pub(crate) listings: Vec<Listing>,
}

/// A text to be copied as it is.
pub(crate) struct Listing {
    pub(crate) title: String,
    /// What it is for.
    pub(crate) text: String,
    pub(crate) lines: String,
}

/// A picture for each drive and setting on equal axes, or one for all of them.
pub(crate) struct View {
    /// Its anchor, unique in the page.
    pub(crate) id: String,
    pub(crate) title: String,
    /// How to read it.
    pub(crate) text: String,
    /// Whether it answers what another picture of its section answers as well: shown on demand.
    pub(crate) more: bool,
    pub(crate) panels: Vec<Panel>,
}

/// A picture and what it is of.
pub(crate) struct Panel {
    pub(crate) of: Place,
    pub(crate) caption: Option<String>,
    pub(crate) picture: Picture,
}

/// Rows of values in words.
pub(crate) struct Table {
    /// Whose it is, if it is not everybody's.
    pub(crate) of: Place,
    /// Whether it stands before its section's pictures, because it is what they come to.
    pub(crate) first: bool,
    pub(crate) title: String,
    pub(crate) text: String,
    /// What the first column is, if that needs saying.
    pub(crate) corner: String,
    pub(crate) columns: Vec<Column>,
    /// What the last column is, where rows have meanings.
    pub(crate) meanings: &'static str,
    /// Whether its figures are other tests', whose doubts its cells have.
    pub(crate) of_others: bool,
    pub(crate) rows: Vec<Row>,
}

/// The head of a column.
pub(crate) struct Column {
    pub(crate) of: Place,
    pub(crate) name: String,
}

/// One value for each column, and what it means.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) values: Vec<Cell>,
    pub(crate) meaning: String,
    /// Which of its values is marked as the best, if that means anything.
    pub(crate) good: Option<Good>,
}

/// One value, in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// What it is compared by; `None` where there is none, or where it is no number.
    pub(crate) number: Option<f64>,
    /// Whether it is in doubt: then it is never the best.
    pub(crate) in_doubt: bool,
}

/// The drives of a page and the figures that decide between them: rows of drives that the reader
/// sorts, relative to any of them.
pub(crate) struct Ranking {
    pub(crate) columns: Vec<RankedBy>,
    /// By subject, each with a cell for every column.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// What its marks mean; empty where it has none.
    pub(crate) note: String,
}

/// A column of a [`Ranking`].
pub(crate) struct RankedBy {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) meaning: String,
    pub(crate) good: Option<Good>,
}

/// A figure at the top of a page about one subject: `Floor`, `3,684 IOPS`, `55 % of the mean`.
pub(crate) struct Tile {
    pub(crate) name: String,
    pub(crate) value: String,
    /// What puts it into proportion; may be empty.
    pub(crate) note: String,
    /// Anchor of the picture that shows it; empty if none does.
    pub(crate) see: String,
}

/// What the buttons show and hide something by: a drive, and a setting of its section; neither
/// for what is always shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) subject: Option<usize>,
    pub(crate) setting: Option<usize>,
}

impl Place {
    pub(crate) fn of(subject: usize) -> Self {
        Self { subject: Some(subject), setting: None }
    }
}

impl View {
    /// One picture that shows all drives.
    pub(crate) fn common(title: &str, text: &str, picture: Picture) -> Self {
        let id = picture.id.clone();
        let panels = vec![Panel { of: Place::default(), caption: None, picture }];
        Self { id, title: title.to_owned(), text: text.to_owned(), more: false, panels }
    }
}

impl View {
    /// The same, behind a switch: another picture answers its question.
    pub(crate) fn on_demand(mut self) -> Self {
        self.more = true;
        self
    }
}

impl Section {
    /// A section of this test without settings.
    pub(crate) fn new(
        test: &'static str,
        title: &'static str,
        method: &str,
        views: Vec<View>,
        mut tables: Vec<Table>,
    ) -> Self {
        // Of a run that was broken off.
        tables.retain(|table| !table.rows.is_empty());
        let question = question(test);
        let question = if method.is_empty() { question } else { format!("{question} {method}") };
        let (doubts, settings, listings) = (Vec::new(), Vec::new(), Vec::new());
        Self { id: test, title, question, doubts, settings, views, tables, listings }
    }

    /// The same with texts to copy.
    pub(crate) fn with_listings(self, listings: Vec<Listing>) -> Self {
        Self { listings, ..self }
    }
}

/// The test's question from the table of tests, as a sentence.
fn question(test: &str) -> String {
    let question = TestEntry::find(test).map_or("", |entry| entry.question);
    let mut letters = question.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

impl Row {
    /// Of words that are not compared.
    pub(crate) fn new(name: &str, values: Vec<String>, meaning: &str) -> Self {
        let values = values.into_iter().map(Cell::from).collect();
        Self { name: name.to_owned(), values, meaning: meaning.to_owned(), good: None }
    }

    /// The places of its best values; none if all are equal.
    pub(crate) fn best(&self) -> Vec<usize> {
        self.good.map_or_else(Vec::new, |good| best(good, self.values.iter()))
    }
}

impl Cell {
    /// One that is in no doubt.
    pub(crate) fn new(text: String, number: Option<f64>) -> Self {
        Self { text, number, in_doubt: false }
    }

    /// Whether its reader sees that it is in doubt.
    pub(crate) fn is_marked(&self) -> bool {
        self.text.ends_with(DOUBT)
    }
}

/// What stands behind a figure that is in doubt.
const DOUBT: &str = " ?";
/// What that means.
pub(crate) const DOUBT_MEANS: &str =
    "A figure with ? is in doubt, or may be, for the reasons told here.";

/// Marks the figures in doubt; whether there are any.
fn mark_doubts<'a>(figures: impl Iterator<Item = &'a mut Cell>) -> bool {
    let doubtful = figures.filter(|cell| cell.in_doubt);
    doubtful.map(|cell| cell.text += DOUBT).count() > 0
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text, None)
    }
}

impl Ranking {
    /// With what is in doubt marked.
    pub(crate) fn new(columns: Vec<RankedBy>, mut rows: Vec<Vec<Cell>>) -> Self {
        // What is shown and not ranked is a figure as well.
        let figures = rows.iter_mut().flatten().filter(|cell| cell.text != NONE);
        let note = if mark_doubts(figures) { DOUBT_MEANS } else { "" }.to_owned();
        Self { columns, rows, note }
    }

    /// The rows that have the best value of a column; none if all are equal.
    pub(crate) fn best(&self, column: usize) -> Vec<usize> {
        let cells = self.rows.iter().map(|row| &row[column]);
        self.columns[column].good.map_or_else(Vec::new, |good| best(good, cells))
    }
}

/// The places of the best number, and of those that are not told apart from it; none if that is true of
/// all.
fn best<'a>(good: Good, cells: impl Iterator<Item = &'a Cell>) -> Vec<usize> {
    let cells: Vec<&Cell> = cells.collect();
    let known = || cells.iter().filter(|cell| cell.number.is_some());
    let by_number = |a: &&&Cell, b: &&&Cell| {
        a.number.unwrap_or_default().total_cmp(&b.number.unwrap_or_default())
    };
    let best = match good {
        Good::AtLeast => known().max_by(by_number),
        Good::AtMost => known().min_by(by_number),
    };
    let is_as_good = |cell: &Cell, best: &Cell| match (cell.number, best.number) {
        (Some(one), Some(most)) => cell.text == best.text || !are_apart(one, most),
        _ => false,
    };
    // Where the best is in doubt, nobody is known to be; nor is one alone among what is.
    let is_worse = |cell: &Cell, best: &Cell| !cell.in_doubt && !is_as_good(cell, best);
    let is_sure = |best: &&&Cell| !best.in_doubt && known().any(|cell| is_worse(cell, best));
    let Some(best) = best.filter(is_sure) else { return Vec::new() };
    let has_star = |cell: &Cell| is_as_good(cell, best) && !cell.in_doubt;
    (0..cells.len()).filter(|place| has_star(cells[*place])).collect()
}

impl Table {
    /// A table with a column for each of these drives.
    pub(crate) fn new(title: &str, text: &str, columns: Vec<Column>, rows: Vec<Row>) -> Self {
        let (title, text, corner) = (title.to_owned(), text.to_owned(), String::new());
        let (of, first, meanings, of_others) = (Place::default(), false, "Meaning", false);
        Self { of, first, title, text, corner, columns, meanings, of_others, rows }
    }

    /// Marks what is in doubt, and says what that means.
    pub(crate) fn mark_doubts(&mut self) {
        let cells = self.rows.iter_mut().flat_map(|row| &mut row.values);
        // Also `yes, 6.42 ms`, and `NO`.
        let is_answer = |text: &str| ["yes", "no"].iter().any(|one| text.eq_ignore_ascii_case(one));
        let is_figure = |cell: &&mut Cell| {
            cell.number.is_some()
                || cell.text.contains(|one: char| one.is_ascii_digit())
                || is_answer(&cell.text)
        };
        if mark_doubts(cells.filter(is_figure)) {
            self.text = format!("{} {DOUBT_MEANS}", self.text).trim_start().to_owned();
        }
    }

    /// Whether any row is explained.
    pub(crate) fn has_meanings(&self) -> bool {
        self.rows.iter().any(|row| !row.meaning.is_empty())
    }

    /// A column for each of these drives.
    pub(crate) fn columns_of(
        subjects: &Subjects<'_>,
        which: impl IntoIterator<Item = usize>,
    ) -> Vec<Column> {
        let column = |index| Column { of: Place::of(index), name: subjects.name(index).to_owned() };
        which.into_iter().map(column).collect()
    }
}

/// `view`, and for one of several drives `view-2-crucial-m4-256gb`.
pub(crate) fn picture_id(view: &str, subjects: &Subjects<'_>, index: usize) -> String {
    if !subjects.is_comparison() {
        return view.to_owned();
    }
    format!("{view}-{}-{}", index + 1, slug(&subjects.all[index].drive().model))
}

/// Lower-case letters and digits, dashes between them.
pub(crate) fn slug(text: &str) -> String {
    let separated: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' })
        .collect();
    separated.split_whitespace().collect::<Vec<_>>().join("-")
}

/// A sentence and where to look.
pub(crate) struct Sentence {
    pub(crate) text: String,
    /// Anchors of the pictures, each with what it is called.
    pub(crate) see: Vec<(&'static str, &'static str)>,
}

impl Sentence {
    pub(crate) fn new(text: String, see: &[(&'static str, &'static str)]) -> Self {
        Self { text, see: see.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubt_is_marked_beside_what_is_in_none() {
        let cell = |in_doubt| Cell { in_doubt, ..Cell::new("5".to_owned(), Some(5.0)) };
        let mut mixed = [cell(true), cell(false)];
        assert!(mark_doubts(mixed.iter_mut()));
        assert_eq!(mixed.map(|cell| cell.text), ["5 ?", "5"]);
        assert!(!mark_doubts([cell(false)].iter_mut()));
        let told = ["yes, 6.42 ms", "none"];
        let cells = told.map(|text| Cell { in_doubt: true, ..Cell::from(text.to_owned()) });
        let row = Row { values: cells.into(), ..Row::new("etcd", Vec::new(), "") };
        let mut table = Table::new("What it means", "", Vec::new(), vec![row]);
        table.mark_doubts();
        assert_eq!(table.rows[0].values[0].text, "yes, 6.42 ms ?");
        assert_eq!(table.rows[0].values[1].text, "none");
        let ranking = Ranking::new(Vec::new(), vec![vec![cell(true)], vec![cell(false)]]);
        assert_eq!((&*ranking.rows[0][0].text, &*ranking.note), ("5 ?", DOUBT_MEANS));
        // Of too few seconds, which have no place.
        let unranked = [("over 22", true), (NONE, true)]
            .map(|(text, in_doubt)| Cell { in_doubt, ..Cell::from(text.to_owned()) });
        let ranking = Ranking::new(Vec::new(), vec![unranked.into()]);
        assert_eq!(
            ranking.rows[0].iter().map(|cell| &*cell.text).collect::<Vec<_>>(),
            ["over 22 ?", NONE]
        );
        assert!(Ranking::new(Vec::new(), vec![vec![cell(false)]]).note.is_empty());
    }

    #[test]
    fn the_best_are_marked_only_where_values_differ() {
        let cells = |numbers: &[Option<f64>]| -> Vec<Cell> {
            numbers.iter().map(|n| Cell::new(format!("{n:.0?}"), *n)).collect()
        };
        // Single runs differ as much by themselves.
        let close = cells(&[Some(96.0), Some(100.0), Some(50.0)]);
        assert_eq!(best(Good::AtLeast, close.iter()), [0, 1]);
        assert!(best(Good::AtLeast, close[..2].iter()).is_empty());
        let mut doubtful = cells(&[Some(9.0), Some(2.0), Some(3.0)]);
        doubtful[0].in_doubt = true;
        assert!(best(Good::AtLeast, doubtful.iter()).is_empty(), "a doubtful one may be better");
        assert_eq!(best(Good::AtMost, doubtful.iter()), [1]);
        assert!(best(Good::AtMost, doubtful[..2].iter()).is_empty(), "better than none for sure");
        let mixed = cells(&[Some(2.0), None, Some(3.0), Some(3.0)]);
        assert_eq!(best(Good::AtLeast, mixed.iter()), [2, 3]);
        assert_eq!(best(Good::AtMost, mixed.iter()), [0]);
        assert!(best(Good::AtLeast, cells(&[Some(2.0), None, Some(2.0)]).iter()).is_empty());
        // Nobody sees why one of them should be better.
        let alike = cells(&[Some(2.01), Some(2.02), Some(1.0)]);
        assert_eq!(best(Good::AtLeast, alike.iter()), [0, 1]);
        assert!(best(Good::AtLeast, alike[..2].iter()).is_empty());
    }
}
