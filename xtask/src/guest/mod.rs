//! `cargo xtask guest`: a virtual machine with some thirty emulated drives, and the cases that the
//! tool must get right on them.
//!
//! What the guest runs lies in `xtask/guest`: `init` (its first process), `words` (the vocabulary of
//! the cases) and `cases/`. This side boots machines, hands them cases one by one, and counts.

mod cases;
mod drives;
mod image;
mod machine;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cases::Case;
use image::Image;
use machine::{Answer, Machine};

use crate::{cargo, packages, run, target_directory};

/// Which cases to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only cases whose name contains this, from either set
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Every case, not only the quick ones
    #[arg(long)]
    all: bool,
    /// No cases: boot the guest and give a shell in it on this terminal
    #[arg(long)]
    shell: bool,
    /// Boot so that every path to an NVMe namespace is a device of its own, with --shell
    #[arg(long, requires = "shell")]
    paths: bool,
}

/// Why there is no guest on this machine, if there can be none.
pub(crate) fn unavailable() -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        return Some("its kernel is for x86_64 only".to_owned());
    }
    let missing = packages::missing(packages::FOR_GUEST);
    (!missing.is_empty()).then(|| format!("this machine has no {}", missing.join(", ")))
}

/// Runs the cases that `cargo xtask test` runs, or says why there are none.
pub(crate) fn test(all: bool) -> Result<(), String> {
    packages::install(packages::FOR_GUEST)?;
    if let Some(reason) = unavailable() {
        println!("xtask: SKIPPED every case of `cargo xtask guest`: {reason}");
        return Ok(());
    }
    guest(&Options { only: None, all, shell: false, paths: false })
}

/// Builds the tool and the guest, and runs cases in it.
pub(crate) fn guest(options: &Options) -> Result<(), String> {
    packages::install(packages::FOR_GUEST)?;
    if let Some(reason) = unavailable() {
        return Err(format!("there can be no guest here: {reason}"));
    }
    let chosen = chosen(cases::read(&here().join("cases"))?, options)?;
    cargo(&["build", "--release", "--package", "writecliff-cli"])?;
    let cache = target_directory()?.join("guest");
    let folder = cache.join("machine");
    let told = |error: std::io::Error| format!("{}: {error}", cache.display());
    fs::create_dir_all(&cache).map_err(told)?;
    let only_one = fs::File::create(cache.join("lock")).map_err(told)?;
    only_one.try_lock().map_err(|_| "another `cargo xtask guest` is running here; wait for it")?;
    let image = Image::prepare(&cache)?;
    share(&folder)?;
    if options.shell {
        let kernel = kernel_options(options.paths);
        println!("xtask: a shell in the guest; `exit` ends it, as does Ctrl-A X");
        return machine::shell(&image, &folder, kernel).map(drop);
    }
    verdict(&chosen.iter().collect::<Vec<_>>(), &image, &folder)
}

/// Where this side's scripts lie.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guest")
}

fn chosen(cases: Vec<Case>, options: &Options) -> Result<Vec<Case>, String> {
    let is_chosen = |case: &Case| match &options.only {
        Some(part) => case.name.contains(part.as_str()),
        None => case.is_quick || options.all,
    };
    let mut chosen: Vec<Case> = cases.into_iter().filter(is_chosen).collect();
    chosen.sort_by_key(|case| case.wants_paths); // as few boots as can be
    match (chosen.is_empty(), &options.only) {
        (true, Some(part)) => Err(format!("no case's name contains '{part}'")),
        _ => Ok(chosen),
    }
}

/// What the guest sees at `/host`: its init, the cases, the drives' sizes and the tool.
fn share(folder: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(told)?;
    }
    let share = folder.join("share");
    fs::create_dir_all(share.join("cases")).map_err(told)?;
    fs::create_dir_all(folder.join("drives")).map_err(told)?;
    for name in ["init", "words"] {
        fs::copy(here().join(name), share.join(name)).map_err(told)?;
    }
    for entry in fs::read_dir(here().join("cases")).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let name = path.file_name().unwrap_or_default();
        fs::copy(&path, share.join("cases").join(name)).map_err(told)?;
    }
    fs::write(share.join("drives"), drives::list()).map_err(told)?;
    let program = target_directory()?.join("release/writecliff");
    run(Command::new("strip").arg("-o").arg(share.join("writecliff")).arg(program))
}

fn kernel_options(wants_paths: bool) -> &'static str {
    if wants_paths { "nvme_core.multipath=N" } else { "nvme_core.multipath=Y" }
}

/// Runs the cases, one line each; an error if any is wrong.
fn verdict(cases: &[&Case], image: &Image, folder: &Path) -> Result<(), String> {
    let mut wrong = 0;
    let mut machine: Option<(bool, Machine)> = None;
    for case in cases {
        let started = std::time::Instant::now();
        let fits = machine.as_ref().is_some_and(|(paths, _)| *paths == case.wants_paths);
        if !fits {
            drop(machine.take());
            let booted = Machine::boot(image, folder, kernel_options(case.wants_paths))?;
            println!("xtask: the guest is up after {:.0?}", started.elapsed());
            machine = Some((case.wants_paths, booted));
        }
        let Some((_, running)) = machine.as_mut() else { continue };
        let answer = running.run(&case.file, &case.name, case.limit);
        let is_lost = answer.is_err();
        let answer = answer.unwrap_or_else(|text| Answer { is_ok: false, text, log: Vec::new() });
        let verdict = if answer.is_ok { "ok   " } else { "WRONG" };
        println!("{verdict}  {:40} {} ({:.0?})", case.name, answer.text, started.elapsed());
        answer.log.iter().for_each(|line| println!("       | {line}"));
        wrong += usize::from(!answer.is_ok);
        if is_lost {
            machine = None; // the next case gets another
        }
    }
    println!("{} cases, {wrong} wrong", cases.len());
    if wrong > 0 {
        return Err(format!("the tool does wrong in {wrong} of {} cases", cases.len()));
    }
    Ok(())
}
