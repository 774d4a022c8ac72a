//! Runs to fill libraries with: of the smallest drive, over in no time.

// Not every file of tests needs all of it.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use writecliff::device::Nanos;
use writecliff::{DriveName, Overrides, Plan, RunOptions, UNWATCHED};
use writecliff_bench::{Bench, Home, Library, Run};

/// A directory with a library and with runs, and nothing of the user's.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(&self.directory.path().join("library"))
    }

    pub(crate) fn library(&self) -> Library {
        Library::open(self.home()).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A short run of the consistency test that is no quick one.
    pub(crate) fn consistency(&self, name: &str, seed: u64) -> PathBuf {
        let changes = Overrides {
            duration: Some(Nanos::from_secs(5)),
            seed: Some(seed),
            ..Overrides::default()
        };
        let plan = writecliff::plan("consistency").unwrap().with(&changes).unwrap();
        self.run(name, &plan)
    }

    pub(crate) fn run(&self, name: &str, plan: &Plan) -> PathBuf {
        let path = self.path(name);
        run(plan, &path, RunOptions::default());
        path
    }
}

pub(crate) fn run(plan: &Plan, path: &Path, options: RunOptions) {
    let drive = DriveName::from("sim:tiny");
    writecliff::run(plan, &drive, None, path, options, UNWATCHED).unwrap();
}

/// The runs that did not come with Writecliff.
pub(crate) fn own(bench: &Bench) -> Vec<&Run> {
    bench.runs.iter().filter(|run| !run.catalogue).collect()
}
