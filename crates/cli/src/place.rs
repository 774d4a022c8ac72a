//! Where a result goes that was given no place.

use std::fs;
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A directory for a result: one that the user named, or a new one below `runs`, which is made at
/// once, so that no other process takes its name, and removed again if nothing came into it.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    is_ours: bool,
}

impl Place {
    /// The directory that was named, or a new one called like this.
    pub(crate) fn named_or(named: Option<&Path>, name: impl FnOnce() -> String) -> Self {
        match named {
            Some(path) => Self { path: path.to_owned(), is_ours: false },
            None => Self::new(&PathBuf::from("runs").join(name())),
        }
    }

    /// The directory that was named, or a new one called like what is done, the plan's file and the
    /// time.
    pub(crate) fn of_plan(what: &str, plan: &Path, named: Option<&Path>) -> Self {
        Self::named_or(named, || {
            let stem = plan.file_stem().map_or_else(|| "plan".into(), |s| s.to_string_lossy());
            format!("{what}-{stem}-{}", jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S"))
        })
    }

    /// `path`, or the first of `path-2`, `path-3` and so on that is not there yet.
    fn new(path: &Path) -> Self {
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let numbered = |number: u32| match number {
            1 => path.to_owned(),
            _ => PathBuf::from(format!("{}-{number}", path.display())),
        };
        for path in made.into_iter().flat_map(|()| (1..=u32::MAX).map(numbered)) {
            match fs::create_dir(&path) {
                Ok(()) => return Self { path, is_ours: true },
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(_) => break,
            }
        }
        // Whoever writes there says why that cannot be.
        Self { path: path.to_owned(), is_ours: false }
    }
}

impl Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_ours {
            // Only an empty directory can be removed like this.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_an_empty_place_goes() {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("runs/trim-tiny");
        let (first, second) = (Place::new(&name), Place::new(&name));
        assert_eq!((&*first, &*second), (&*name, &*dir.path().join("runs/trim-tiny-2")));
        fs::write(first.join("run.json"), "").unwrap();
        drop((first, second));
        let left: Vec<_> = fs::read_dir(dir.path().join("runs")).unwrap().collect();
        assert_eq!(left.len(), 1);
        assert!(name.join("run.json").exists());
    }
}
