//! One way from a trace's name to its operations.
//!
//! A name is that of a synthetic trace that ships ([`PLANS`]), which is made while it is read, or a
//! file's path. A file that is called like a plan is meant by its path: `./light-2011`.

use std::path::Path;

use crate::{Maker, PLANS, Plan, ReadError, Source, SourceOptions};

/// Opens the trace of this name at its beginning. `seed` decides what the plan of a synthetic one
/// leaves open; `options` say how a file is read: one in the own format only is asked for by
/// [`SourceOptions::format`].
///
/// # Errors
/// As [`Source::open`].
pub fn open(
    name: impl AsRef<Path>,
    seed: u64,
    options: &SourceOptions,
) -> Result<Source, ReadError> {
    let path = name.as_ref();
    match path.to_str().and_then(Plan::shipped) {
        Some(plan) => Ok(Source::made(Maker::new(&plan, seed)?, &plan.name, seed)),
        None if is_a_mere_name(path) => {
            Err(ReadError::Unknown { name: path.to_string_lossy().into_owned() })
        }
        None => Source::open(path, options),
    }
}

/// Whether this can only be a plan's name, mistyped: no file is there, nor one's ending in it.
fn is_a_mere_name(path: &Path) -> bool {
    path.components().count() == 1 && path.extension().is_none() && !path.exists()
}

/// What a trace is called in phases and reports: a file by its name without directory and ending.
pub fn title(name: &str) -> &str {
    Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name)
}

/// The same trace by a name that holds in any directory: a file that is there by its absolute path.
pub fn from_anywhere(name: &str) -> String {
    if PLANS.iter().any(|plan| plan.name == name) {
        return name.to_owned();
    }
    let path = std::path::absolute(name).ok().filter(|path| path.exists());
    path.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Existing, Format, Header, TraceIo, TraceWriter};
    use writecliff_device::{Bytes, Nanos, Operation};

    fn ios(name: impl AsRef<Path>, options: &SourceOptions) -> Result<Vec<TraceIo>, ReadError> {
        open(name, 7, options)?.collect()
    }

    #[test]
    fn a_name_is_a_plans_or_a_files_in_any_format() {
        let directory = tempfile::tempdir().unwrap();
        let io = TraceIo::new(Nanos(0), Operation::Read, Bytes(512), Bytes(1024));
        let own = directory.path().join("a.trace");
        let mut writer = TraceWriter::create(&own, Existing::Replaced).unwrap();
        writer.write(&io).unwrap();
        let summary = writer.finish(&Header::default()).unwrap();
        let foreign = directory.path().join("a.csv");
        std::fs::write(&foreign, "issued_ns,operation,offset,length\n5,read,512,1024\n").unwrap();

        let (any, only_own) = (SourceOptions::default(), SourceOptions::of(Format::Trace));
        for (path, options) in [(&own, &any), (&own, &only_own), (&foreign, &any)] {
            assert_eq!(ios(path, options).unwrap(), [io], "{}", path.display());
        }
        assert!(ios(&foreign, &only_own).is_err());
        let identity = |path| open(path, 7, &any).unwrap().identity();
        assert_eq!(identity(&own), Some(format!("{:016x}", summary.digest)));
        assert_eq!(identity(&foreign), None);

        let plan = Plan::shipped("light-2011").unwrap();
        let made: Vec<TraceIo> = Maker::new(&plan, 7).unwrap().take(1000).collect();
        let mut light = open("light-2011", 7, &only_own).unwrap();
        let first: Result<Vec<TraceIo>, ReadError> = light.by_ref().take(1000).collect();
        assert_eq!(first.unwrap(), made);
        assert_eq!(light.identity().as_deref(), Some("seed 7"));
        assert_eq!(light.summary().unwrap().reads, plan.target.reads);
    }

    #[test]
    fn a_file_is_called_by_its_stem_and_found_from_anywhere() {
        assert_eq!(title("light-2011"), "light-2011");
        assert_eq!(title("a/b.c.trace"), "b.c");
        for name in ["light-2011", "not here.trace"] {
            assert_eq!(from_anywhere(name), name);
        }
        let here = std::env::current_dir().unwrap().join("Cargo.toml");
        assert_eq!(from_anywhere("Cargo.toml"), here.to_str().unwrap());
    }

    #[test]
    fn a_file_that_is_not_what_its_summary_says_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.trace");
        let mut writer = TraceWriter::create(&path, Existing::Replaced).unwrap();
        for index in 0..3 {
            let io = TraceIo::new(Nanos(index), Operation::Read, Bytes(index * 512), Bytes(512));
            writer.write(&io).unwrap();
        }
        writer.finish(&Header::default()).unwrap();
        let mut source = open(&path, 1, &SourceOptions::default()).unwrap();
        source.next();
        let error = source.verify().unwrap_err().to_string();
        assert!(error.contains("not those of its summary"), "{error}");
        open(&path, 1, &SourceOptions::default()).unwrap().verify().unwrap();
    }
}
