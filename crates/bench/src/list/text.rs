//! Lists and details in lines for a terminal.

use writecliff::suite::Status;
use writecliff::suite::in_words;
use writecliff_report::TextTable;

use super::{Details, DriveDetails, DriveEntry, FigureEntry, RunDetails, RunEntry, ValueEntry};
use crate::compare::spread;

/// Drives as a table for a terminal.
pub fn drive_table(drives: &[DriveEntry]) -> String {
    let mut table = TextTable::new()
        .text("drive", 10, 60)
        .numbers("simulated", 0)
        .numbers("measured", 0)
        .numbers("published", 0);
    for drive in drives {
        let counts = [drive.simulated, drive.measured, drive.published];
        let counts = counts.map(|count| if count == 0 { String::new() } else { count.to_string() });
        table.row([vec![drive.id.clone()], counts.to_vec()].concat());
    }
    table.render()
}

/// Runs as a table for a terminal.
pub fn run_table(runs: &[RunEntry]) -> String {
    let mut table = TextTable::new()
        .text("run", 12, 16)
        .text("drive", 10, 40)
        .text("test", 4, 20)
        .text("kind, conditions", 10, 44)
        .text("started", 0, 20)
        .text("", 0, 60);
    for run in runs {
        let place = match &run.private.directory {
            Some(directory) => directory.display().to_string(),
            None => "came with Writecliff".to_owned(),
        };
        table.row(vec![
            run.id.clone(),
            run.drive.clone(),
            run.test.clone(),
            format!("{}: {}", run.kind.word(), run.conditions),
            run.started.clone(),
            place,
        ]);
    }
    table.render()
}

impl Details {
    /// In lines for a terminal.
    pub fn text(&self) -> String {
        match self {
            Self::Drive(drive) => drive.text(),
            Self::Runs(runs) => runs.iter().map(RunDetails::text).collect::<Vec<_>>().join("\n"),
        }
    }
}

impl RunDetails {
    fn text(&self) -> String {
        let RunEntry { id, drive, variant, test, kind, conditions, status, label, .. } = &self.run;
        let mut facts = vec![
            ("Run", Some(id.clone())),
            ("Drive", Some(drive.clone())),
            ("Variant", variant.clone()),
            ("Test", Some(format!("{test}, {}: {conditions}", kind.word()))),
            ("Label", label.clone()),
            ("State", Some(state(status))),
            ("Same as", self.run.same_as.as_ref().map(|run| format!("{run}: they count as one"))),
            ("Started", Some(self.run.started.clone()).filter(|started| !started.is_empty())),
            ("Seed", Some(self.seed.to_string())),
            ("Writecliff", Some(self.tool_version.clone())),
        ];
        let private = &self.run.private;
        let path = |path: &Option<std::path::PathBuf>| {
            path.as_ref().map(|path| path.display().to_string())
        };
        facts.push(("Directory", path(&private.directory)));
        facts.push(("Report", path(&private.report)));
        facts.extend(self.run.doubts.iter().map(|doubt| ("Doubt", Some(doubt.clone()))));
        let mut text = facts_table(facts);
        let mut table = TextTable::new().text("figure", 12, 50).numbers("", 10).text("", 0, 10);
        let are_all = self.figures.iter().all(|figure| figure.doubted);
        for FigureEntry { metric, value, doubted } in &self.figures {
            let remark = in_doubt(*doubted, are_all);
            table.row(vec![metric.name.clone(), in_words(*value, &metric.unit), remark]);
        }
        if !self.figures.is_empty() {
            text += &format!("\n{}", table.render());
        }
        text
    }
}

impl DriveDetails {
    fn text(&self) -> String {
        let drive = &self.drive;
        let price = drive.price.as_ref().map(|price| {
            let of = price.of.as_ref().map_or_else(String::new, |of| format!(" ({of})"));
            format!("{} USD{of}", price.usd)
        });
        let facts = vec![
            ("Drive", Some(drive.name.clone())),
            ("Id", Some(drive.id.clone())),
            ("Interface", drive.interface.clone()),
            ("NAND", drive.nand.clone()),
            ("Controller", drive.controller.clone()),
            ("Price", price),
            ("Model of it", drive.profile.as_ref().map(|name| format!("sim:{name}"))),
        ];
        let mut text = facts_table(facts);
        for group in self.values.chunk_by(|one, next| one.stands_with(next)) {
            text += &format!("\n{}\n", group[0].heading());
            for doubt in self.doubts_of(group) {
                text += &format!("  Doubt: {doubt}\n");
            }
            let mut table =
                TextTable::new().text("", 12, 50).numbers("", 10).text("", 0, 10).text("", 0, 50);
            let are_all = group.iter().all(|value| value.doubted);
            for value in group {
                let shown = in_words(value.median, &value.metric.unit);
                let remark = in_doubt(value.doubted, are_all);
                let spread = spread(value.lowest, value.highest, value.runs.len());
                let spread = spread.unwrap_or_default();
                table.row(vec![value.metric.name.clone(), shown, remark, spread]);
            }
            text += &table.render();
        }
        text + &self.printed()
    }

    /// Each doubt of any run of these values once.
    fn doubts_of(&self, group: &[ValueEntry]) -> Vec<&str> {
        let is_of = |run: &&RunEntry| group.iter().any(|value| value.runs.contains(&run.id));
        let mut doubts: Vec<&str> = Vec::new();
        for doubt in self.runs.iter().filter(is_of).flat_map(|run| &run.doubts) {
            if !doubts.contains(&doubt.as_str()) {
                doubts.push(doubt);
            }
        }
        doubts
    }

    fn printed(&self) -> String {
        let mut table = TextTable::new()
            .text("published", 12, 44)
            .numbers("", 10)
            .text("", 0, 40)
            .text("", 0, 60);
        for figure in &self.published {
            let bound = figure.bound.as_ref().map_or_else(String::new, |bound| format!("{bound} "));
            let value = in_words(figure.value, &figure.metric.unit);
            table.row(vec![
                figure.metric.name.clone(),
                format!("{bound}{value}"),
                figure.conditions.clone(),
                figure.source.clone(),
            ]);
        }
        if self.published.is_empty() { String::new() } else { format!("\n{}", table.render()) }
    }
}

impl ValueEntry {
    fn stands_with(&self, other: &Self) -> bool {
        self.heading() == other.heading()
    }

    fn heading(&self) -> String {
        let variant = self.variant.as_ref().map_or_else(String::new, |of| format!(", {of}"));
        let (test, kind) = (&self.metric.test, self.kind.word());
        format!("{test}, {kind}: {}{variant}", self.conditions)
    }
}

/// What stands beside a figure whose doubts others do not share: what is true of all stands above them.
fn in_doubt(is_doubted: bool, are_all: bool) -> String {
    if is_doubted && !are_all { "in doubt".to_owned() } else { String::new() }
}

fn facts_table(facts: Vec<(&str, Option<String>)>) -> String {
    let mut table = TextTable::new().text("", 11, 20).text("", 0, 100);
    for (label, words) in facts {
        if let Some(words) = words {
            table.row(vec![label.to_owned(), words]);
        }
    }
    table.render()
}

fn state(status: &Status) -> String {
    match status {
        Status::Running => "still running".to_owned(),
        Status::Complete => "complete".to_owned(),
        Status::Interrupted => "interrupted".to_owned(),
        Status::Failed { error } => format!("failed ({error})"),
        Status::CutOff => "cut off before its end".to_owned(),
    }
}
