//! `cargo xtask bench`: every bench of this tree beside an earlier commit's, then Writecliff beside
//! fio, and the Python package beside the command line.

mod baseline;
mod divan;
mod fio;
mod measured;
mod program;
mod python;
mod table;
mod timed;

use std::fs::File;
use std::io;
use std::path::Path;

use crate::revision::Revision;
use crate::target_directory;
use baseline::Baseline;
use divan::Rate;
use program::Program;
use table::Row;

/// Each side's turns. Neighbours on the machine only ever slow a bench down, so each side's best
/// counts.
const ROUNDS: usize = 3;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only the benches whose name contains NAME; nothing beside fio
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Compare with this commit [default: HEAD if the tree differs from it, else HEAD~1]
    #[arg(long, value_name = "REV", value_parser = Revision::named)]
    against: Option<Revision>,
    /// Only Writecliff beside fio
    #[arg(long, conflicts_with_all = ["only", "against"])]
    beside_fio: bool,
}

/// Prints both tables; ratios hold where absolute rates do not.
pub(crate) fn bench(options: &Options) -> Result<(), String> {
    let target = target_directory()?;
    let _turn =
        turn(&target).map_err(|error| format!("cannot lock {}: {error}", target.display()))?;
    if options.beside_fio {
        return fio::beside_fio(&target);
    }
    let this = program::build(Path::new("."), &target)?;
    let baseline = options.against.clone().map_or_else(Revision::previous, Ok);
    let baseline = baseline.and_then(|revision| Baseline::build(revision, &target));
    if let Err(why) = &baseline {
        println!("xtask: NO RATIOS: {why}");
    }
    let baseline = baseline.ok();
    let earlier = baseline.as_ref().map_or(&[][..], |baseline| &baseline.programs);

    let rows = compare(&this, earlier, options.only.as_deref())?;
    if let (Some(only), []) = (&options.only, &rows[..]) {
        return Err(format!("no bench's name contains '{only}'"));
    }
    print!("\n{}", table::text(&rows, baseline.as_ref().map(|baseline| &baseline.revision)));
    match options.only {
        Some(_) => Ok(()),
        None => {
            fio::beside_fio(&target)?;
            python::beside_the_program(&target)
        }
    }
}

/// Waits until no other run measures or holds the checkout; lasts as long as the file.
fn turn(target: &Path) -> io::Result<File> {
    std::fs::create_dir_all(target)?;
    let file = File::create(target.join("bench-lock"))?;
    if file.try_lock().is_err() {
        println!("xtask: waiting for another bench run to end");
        file.lock()?;
    }
    Ok(file)
}

/// This tree's benches in their order, then those that only the earlier commit has.
fn compare(this: &[Program], earlier: &[Program], only: Option<&str>) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for program in this {
        let twin = earlier.iter().find(|other| other.name == program.name);
        rows.extend(in_turn(Some(program), twin, only)?);
    }
    let is_gone = |program: &&Program| this.iter().all(|other| other.name != program.name);
    for program in earlier.iter().filter(is_gone) {
        rows.extend(in_turn(None, Some(program), only)?);
    }
    Ok(rows)
}

/// Runs one program of both sides alternately, so that noise hits both.
fn in_turn(
    this: Option<&Program>,
    earlier: Option<&Program>,
    only: Option<&str>,
) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for round in 1..=ROUNDS {
        if let Some(program) = this {
            for (bench, rate) in program.run(only)? {
                table::row(&mut rows, &bench).this.push(rate);
            }
        }
        if let Some(program) = earlier {
            for (bench, rate) in program.run(only).unwrap_or_else(|why| without_rates(&why)) {
                table::row(&mut rows, &bench).earlier.push(rate);
            }
        }
        let Some(program) = this.or(earlier).filter(|_| !rows.is_empty()) else { break };
        println!("xtask: {}: {round} of {ROUNDS} rounds done", program.name);
    }
    Ok(rows)
}

/// An earlier commit's failure must not stop the measuring of this tree.
fn without_rates(why: &str) -> Vec<(String, Rate)> {
    println!("xtask: NO RATIOS: {why}");
    Vec::new()
}
