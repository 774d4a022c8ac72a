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
use std::slice::Iter;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cases::Case;
use image::{Image, Kernel};
use machine::{Answer, Machine};

use crate::test::{Built, Outcome};
use crate::{cargo, packages, run, target_directory};

/// Machines at once: one leaves a core of two idle for half of the time.
const MACHINES: usize = 2;

/// Which cases to run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Only cases whose name contains this, or one of several of these, from either set
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Every case, not only the quick ones
    #[arg(long)]
    all: bool,
    /// The kernel that it boots
    #[arg(long, value_enum, default_value_t)]
    kernel: Kernel,
    /// Try this program, instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
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

/// What can be done before anything is built: its packages, and what it boots.
pub(crate) fn prepare() -> Result<(), String> {
    packages::install(packages::FOR_GUEST)?;
    match unavailable() {
        Some(_) => Ok(()), // told when the cases are due
        None => Image::prepare(&cache()?, Kernel::default()).map(drop),
    }
}

/// Where the guest is kept.
fn cache() -> Result<PathBuf, String> {
    let cache = target_directory()?.join("guest");
    fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    Ok(cache)
}

/// What comes of the cases that `cargo xtask test` runs, with the program that the other tests have
/// built.
pub(crate) fn outcome(built: &Built, all: bool) -> Outcome {
    if let Some(reason) = unavailable() {
        return Outcome::left_out("every case", &reason);
    }
    let Some(program) = built.writecliff.clone() else {
        return Outcome::left_out("every case", "the program did not build");
    };
    let kernels: &[Kernel] = if all { &[Kernel::Stable, Kernel::Newer] } else { &[Kernel::Stable] };
    let mut outcome = Outcome::default();
    for &kernel in kernels {
        let options = Options { all, kernel, program: Some(program.clone()), ..Options::default() };
        let of_kernel = cases_of(&options);
        outcome.join(of_kernel.unwrap_or_else(|why| Outcome::of("the machine", Err(why))));
    }
    outcome
}

/// Builds the tool and the guest, and runs cases in it.
pub(crate) fn guest(options: &Options) -> Result<(), String> {
    packages::install(packages::FOR_GUEST)?;
    if let Some(reason) = unavailable() {
        return Err(format!("there can be no guest here: {reason}"));
    }
    let wrong = cases_of(options)?.failed.len();
    match wrong {
        0 => Ok(()),
        _ => Err(format!("the tool does wrong in {wrong} cases")),
    }
}

/// Runs the chosen cases, or a shell instead of them.
fn cases_of(options: &Options) -> Result<Outcome, String> {
    let chosen = chosen(cases::read(&here().join("cases"))?, options)?;
    let program = program(options)?;
    let cache = cache()?;
    let folder = cache.join("machines");
    let told = |error: std::io::Error| format!("{}: {error}", cache.display());
    let only_one = fs::File::create(cache.join("lock")).map_err(told)?;
    only_one.try_lock().map_err(|_| "another `cargo xtask guest` is running here; wait for it")?;
    let image = Image::prepare(&cache, options.kernel)?;
    share(&folder, &program)?;
    if options.shell {
        let kernel = kernel_options(options.paths);
        println!("xtask: a shell in the guest; `exit` ends it, as does Ctrl-A X");
        return machine::shell(&image, &folder.join("0"), kernel).map(|_| Outcome::default());
    }
    run_all(&chosen, &image, &folder)
}

/// The program to try, built if none was named.
fn program(options: &Options) -> Result<PathBuf, String> {
    if let Some(program) = &options.program {
        return Ok(program.clone());
    }
    cargo(&["build", "--release", "--package", "writecliff-cli"])?;
    Ok(target_directory()?.join("release/writecliff"))
}

/// Where this side's scripts lie.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guest")
}

fn chosen(cases: Vec<Case>, options: &Options) -> Result<Vec<Case>, String> {
    let is_named = |case: &Case| options.only.iter().any(|part| case.name.contains(part));
    let is_chosen = |case: &Case| match options.only.is_empty() {
        true if options.kernel != Kernel::Stable => case.is_of_the_kernel,
        true => case.is_quick || options.all,
        false => is_named(case),
    };
    let mut chosen: Vec<Case> = cases.into_iter().filter(is_chosen).collect();
    chosen.sort_by_key(|case| case.wants_paths); // as few boots as can be
    if chosen.is_empty() {
        return Err(format!("no case's name contains '{}'", options.only.join("' or '")));
    }
    Ok(chosen)
}

/// What the guest sees at `/host`: its init, the cases, the drives' sizes and the tool.
fn share(folder: &Path, program: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(told)?;
    }
    let share = folder.join("share");
    fs::create_dir_all(share.join("cases")).map_err(told)?;
    for name in ["init", "words"] {
        fs::copy(here().join(name), share.join(name)).map_err(told)?;
    }
    for entry in fs::read_dir(here().join("cases")).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let name = path.file_name().unwrap_or_default();
        fs::copy(&path, share.join("cases").join(name)).map_err(told)?;
    }
    fs::write(share.join("drives"), drives::list()).map_err(told)?;
    let holder = here().join("holder.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-static", "-pthread", "-o"]).arg(share.join("holder")).arg(holder);
    run(&mut compiler)?;
    run(Command::new("strip").arg("-o").arg(share.join("writecliff")).arg(program))
}

fn kernel_options(wants_paths: bool) -> &'static str {
    if wants_paths { "nvme_core.multipath=N" } else { "nvme_core.multipath=Y" }
}

/// Runs the cases on several machines at once, one line each.
fn run_all(cases: &[Case], image: &Image, folder: &Path) -> Result<Outcome, String> {
    let waiting = Mutex::new(cases.iter());
    let outcome: Result<Outcome, String> = thread::scope(|scope| {
        let worker = |number: usize| {
            let folder = folder.join(number.to_string());
            let waiting = &waiting;
            scope.spawn(move || Worker::new(image, folder).work(waiting))
        };
        let machines = MACHINES.min(cases.len());
        let workers: Vec<_> = (0..machines).map(worker).collect();
        let panicked = |_| Err("a worker panicked".to_owned());
        let mut all = Outcome::default();
        for worker in workers {
            all.join(worker.join().unwrap_or_else(panicked)?);
        }
        Ok(all)
    });
    let outcome = outcome?;
    println!("{} cases, {} wrong", cases.len(), outcome.failed.len());
    Ok(outcome)
}

/// A machine after the other, and what runs on them.
struct Worker<'a> {
    image: &'a Image,
    folder: PathBuf,
    /// With what it was booted.
    machine: Option<(bool, Machine)>,
}

impl<'a> Worker<'a> {
    fn new(image: &'a Image, folder: PathBuf) -> Self {
        Self { image, folder, machine: None }
    }

    /// Takes cases until none is waiting.
    fn work(mut self, waiting: &Mutex<Iter<'_, Case>>) -> Result<Outcome, String> {
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        let mut outcome = Outcome::default();
        while let Some(case) = next() {
            let machine = self.machine_for(case)?;
            let started = Instant::now();
            let answer = machine.run(&case.file, &case.name, case.limit);
            let is_lost = answer.is_err();
            let answer =
                answer.unwrap_or_else(|text| Answer { is_ok: false, text, log: Vec::new() });
            let took = started.elapsed();
            tell(case, &answer, took);
            let done = if answer.is_ok { Ok(()) } else { Err(answer.text) };
            outcome.add(&case.name, took, done);
            if is_lost {
                self.machine = None; // the next case gets another
            }
        }
        Ok(outcome)
    }

    /// The machine that runs, or another if it was booted otherwise.
    fn machine_for(&mut self, case: &Case) -> Result<&mut Machine, String> {
        let fitting = self.machine.take().filter(|(paths, _)| *paths == case.wants_paths);
        let (_, machine) = match fitting {
            Some(fitting) => self.machine.insert(fitting),
            None => {
                let kernel = kernel_options(case.wants_paths);
                let machine = Machine::boot(self.image, &self.folder, kernel)?;
                self.machine.insert((case.wants_paths, machine))
            }
        };
        Ok(machine)
    }
}

fn tell(case: &Case, answer: &Answer, took: Duration) {
    let verdict = if answer.is_ok { "ok   " } else { "WRONG" };
    let mut text = format!("{verdict}  {:44} {} ({took:.0?})", case.name, answer.text);
    for line in &answer.log {
        text += &format!("\n       | {line}");
    }
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &Options) -> Vec<String> {
        let cases = cases::read(&here().join("cases")).unwrap();
        chosen(cases, options).unwrap().into_iter().map(|case| case.name).collect()
    }

    #[test]
    fn the_quick_set_needs_one_kind_of_boot() {
        let cases = cases::read(&here().join("cases")).unwrap();
        let quick = chosen(cases, &Options::default()).unwrap();
        assert!(quick.iter().all(|case| !case.wants_paths));
    }

    #[test]
    fn a_name_chooses_from_both_sets() {
        let only = Options { only: vec!["reviews-of".to_owned()], ..Options::default() };
        assert!(names(&only).len() > 3);
        assert!(!names(&Options::default()).iter().any(|name| name.starts_with("reviews-of")));
    }

    #[test]
    fn a_name_of_no_case_is_told() {
        let only = Options { only: vec!["W333".to_owned()], ..Options::default() };
        let cases = cases::read(&here().join("cases")).unwrap();
        assert_eq!(chosen(cases, &only).unwrap_err(), "no case's name contains 'W333'");
    }
}
