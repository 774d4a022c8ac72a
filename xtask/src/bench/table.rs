//! The table of all benches.

use super::ROUNDS;
use super::divan::Rate;
use crate::revision::Revision;

/// One bench: each side's rate in each round. A side that lacks it has none.
pub(crate) struct Row {
    bench: String,
    pub(crate) this: Vec<Rate>,
    pub(crate) earlier: Vec<Rate>,
}

/// The bench's row, new at the end if it has none.
pub(crate) fn row<'a>(rows: &'a mut Vec<Row>, bench: &str) -> &'a mut Row {
    let index = rows.iter().position(|row| row.bench == bench).unwrap_or(rows.len());
    if index == rows.len() {
        rows.push(Row { bench: bench.to_owned(), this: Vec::new(), earlier: Vec::new() });
    }
    &mut rows[index]
}

/// The whole table, its legend first; only this tree's rates without an earlier revision.
pub(crate) fn text(rows: &[Row], earlier: Option<&Revision>) -> String {
    let width = rows.iter().map(|row| row.bench.chars().count()).max().unwrap_or(0).max(5);
    let Some(Revision { commit, subject }) = earlier else {
        let mut text = format!("This tree's benches, best of {ROUNDS} rounds\n");
        text += &format!("{:<width$} {:>16}\n", "bench", "this tree");
        for Row { bench, this, .. } in rows {
            text += &format!("{bench:<width$} {:>16}\n", cell(best(this)));
        }
        return text;
    };
    let mut text = format!(
        "This tree beside {commit}: {subject}\n\
         Best of {ROUNDS} rounds in turn; above 1.00 this tree is faster\n\
         Noise is how far one side's rounds lie apart; trust no ratio within it\n{:<width$} {:>16} {commit:>16} {:>7} {:>7}\n",
        "bench", "this tree", "ratio", "noise"
    );
    for Row { bench, this, earlier } in rows {
        let noise = spread(this).max(spread(earlier));
        let (this, earlier) = (best(this), best(earlier));
        let ratio = this.zip(earlier).and_then(|(this, earlier)| this.ratio(earlier));
        let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        let (this, earlier) = (cell(this), cell(earlier));
        text += &format!("{bench:<width$} {this:>16} {earlier:>16} {ratio:>7} {noise:>6.0}%\n");
    }
    text
}

fn best(rounds: &[Rate]) -> Option<Rate> {
    rounds.iter().copied().max_by(Rate::compare)
}

/// How much faster the best round was than the worst, in percent.
fn spread(rounds: &[Rate]) -> f64 {
    let worst = rounds.iter().copied().min_by(Rate::compare);
    let ratio = best(rounds).zip(worst).and_then(|(best, worst)| best.ratio(worst));
    ratio.map_or(0.0, |ratio| (ratio - 1.0) * 100.0)
}

fn cell(rate: Option<Rate>) -> String {
    rate.map_or("-".to_owned(), |rate| rate.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::divan::rates;
    use super::*;

    fn rate(time: &str) -> Rate {
        let table = format!("m  fastest │ │ │ │ │ iters\n╰─ b  {time} │ │ │ │ 1 │ 1\n");
        rates(&table)[0].1
    }

    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        row(&mut rows, "m::both").this.extend([rate("88 ns"), rate("80 ns")]);
        row(&mut rows, "m::both").earlier.extend([rate("101 ns"), rate("100 ns")]);
        row(&mut rows, "m::new").this.push(rate("1.5 µs"));
        row(&mut rows, "m::gone").earlier.push(rate("3 ns"));
        rows
    }

    #[test]
    fn benches_of_one_side_have_a_dash() {
        let revision = Revision { commit: "abc1234".to_owned(), subject: "Faster".to_owned() };
        let expected = "\
This tree beside abc1234: Faster
Best of 3 rounds in turn; above 1.00 this tree is faster
Noise is how far one side's rounds lie apart; trust no ratio within it
bench          this tree          abc1234   ratio   noise
m::both     80.0 ns/call    100.0 ns/call    1.25     10%
m::new    1500.0 ns/call                -       -      0%
m::gone                -      3.0 ns/call       -      0%
";
        assert_eq!(text(&rows(), Some(&revision)), expected);
    }

    #[test]
    fn without_an_earlier_commit_there_are_no_ratios() {
        let mut rows = rows();
        rows.truncate(2);
        let expected = "\
This tree's benches, best of 3 rounds
bench          this tree
m::both     80.0 ns/call
m::new    1500.0 ns/call
";
        assert_eq!(text(&rows, None), expected);
    }
}
