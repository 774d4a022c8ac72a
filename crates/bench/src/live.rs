//! A library whose results are shown while they become more.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::BenchError;
use crate::library::Library;
use crate::model::{Bench, Picture, Pictures, Problem};
use crate::server::Source;

/// A library that a server looks at again and again.
#[derive(Debug)]
pub struct Live {
    library: Mutex<State>,
}

#[derive(Debug)]
struct State {
    library: Library,
    is_shown: bool,
}

impl From<Library> for Live {
    fn from(library: Library) -> Self {
        Self { library: Mutex::new(State { library, is_shown: false }) }
    }
}

impl Live {
    fn state(&self) -> MutexGuard<'_, State> {
        self.library.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn fresh(&mut self) -> Result<Option<Bench>, BenchError> {
        let is_new = self.library.refresh()? || !self.is_shown;
        if !is_new {
            return Ok(None);
        }
        let bench = self.library.bench()?;
        self.is_shown = true;
        Ok(Some(bench))
    }
}

impl Source for Live {
    fn fresh(&self) -> Option<Bench> {
        let mut state = self.state();
        match state.fresh() {
            Ok(bench) => bench,
            // What was shown goes on being shown.
            Err(_) if state.is_shown => None,
            Err(error) => {
                let problem = Problem { path: "the library".into(), message: error.to_string() };
                Some(Bench { problems: vec![problem], ..Bench::default() })
            }
        }
    }
}

impl Pictures for Live {
    fn pictures(&self, run: &str) -> Vec<Picture> {
        self.state().library.pictures(run)
    }
}
