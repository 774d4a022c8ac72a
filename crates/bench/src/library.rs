//! The results library: which directories are in it, and what is in them.
//!
//! Truth is the run directories. The index only spares reading them again: where it is damaged, of
//! another version, or cannot be written, everything is read anew and shown all the same, with a word
//! about it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use writecliff::suite::in_parallel;

use crate::error::BenchError;
use crate::gather::{Gather, NewRun};
use crate::home::Home;
use crate::index::{Index, Read, Unusable, is_damage};
use crate::ingest::CONTRADICTED;
use crate::model::{Bench, Picture, Pictures, Problem};
use crate::scan::{Found, runs_at};
use crate::{catalogue, conditions, ingest, pictures, published};

/// Results of directories, those that came with Writecliff, and printed ones.
#[derive(Debug)]
pub struct Library {
    /// None if only directories that were named are looked at.
    home: Option<Home>,
    /// Looked at besides what is kept.
    directories: Vec<PathBuf>,
    index: Index,
    is_kept: bool,
    watch: Watch,
    /// About the library itself.
    notes: Vec<Problem>,
    /// Places that are not there or hold nothing, as of the last look.
    missing: Vec<Problem>,
    version: String,
}

/// Is told, from any thread, that so many of so many runs that are new have been read.
pub type Watch = fn(usize, usize);

/// What became of a directory that was to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// It, without links and `..`.
    pub place: PathBuf,
    /// Runs in it and below it that can be read; those under way, too.
    pub runs: usize,
    /// What cannot be read there, and runs whose records contradict themselves.
    pub problems: Vec<Problem>,
}

impl Library {
    /// A library that keeps what is added to it.
    ///
    /// # Errors
    /// [`BenchError`] if the list of what is in it cannot be read. That of an index never is one.
    pub fn open(home: Home) -> Result<Self, BenchError> {
        Self::open_watched(home, |_, _| {})
    }

    /// The same, for whoever waits: a run that is new takes some hundredths of a second.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_watched(home: Home, watch: Watch) -> Result<Self, BenchError> {
        home.places()?;
        let (index, is_kept, notes) = match home.create() {
            Ok(()) => index_of(&home.index())?,
            Err(error) => (in_memory(&home.index())?, false, vec![note(home.path(), &error)]),
        };
        let home = home.resolved();
        Self::looked_at(Self {
            notes,
            is_kept,
            watch,
            ..Self::empty(Some(home), Vec::new(), index)
        })
    }

    /// The user's own, and what is in these directories besides, which are not kept in it. Where there
    /// is no library, only these.
    ///
    /// # Errors
    /// [`BenchError`]
    pub fn of_user(also: &[PathBuf]) -> Result<Self, BenchError> {
        Self::of_user_watched(also, |_, _| {})
    }

    /// The same, watched.
    ///
    /// # Errors
    /// [`BenchError`]
    pub fn of_user_watched(also: &[PathBuf], watch: Watch) -> Result<Self, BenchError> {
        let mut library = match Home::of_user() {
            Ok(home) => Self::open_watched(home, watch)?,
            Err(_) if !also.is_empty() => return Self::of_watched(also, watch),
            Err(error) => return Err(error),
        };
        library.directories =
            also.iter().map(|directory| place(directory)).collect::<Result<_, _>>()?;
        library.refresh()?;
        Ok(library)
    }

    /// Only what is in these directories and below them, and nothing is kept anywhere.
    ///
    /// # Errors
    /// [`BenchError::NoDirectory`].
    pub fn of(directories: &[PathBuf]) -> Result<Self, BenchError> {
        Self::of_watched(directories, |_, _| {})
    }

    /// The same, watched.
    ///
    /// # Errors
    /// [`BenchError::NoDirectory`].
    pub fn of_watched(directories: &[PathBuf], watch: Watch) -> Result<Self, BenchError> {
        let directories = directories.iter().map(|directory| place(directory));
        let directories = directories.collect::<Result<Vec<_>, _>>()?;
        let index = in_memory(Path::new(":memory:"))?;
        Self::looked_at(Self { watch, ..Self::empty(None, directories, index) })
    }

    fn empty(home: Option<Home>, directories: Vec<PathBuf>, index: Index) -> Self {
        let (notes, missing, version) = (Vec::new(), Vec::new(), String::new());
        let watch: Watch = |_, _| {};
        Self { home, directories, index, is_kept: false, watch, notes, missing, version }
    }

    fn looked_at(mut self) -> Result<Self, BenchError> {
        self.refresh()?;
        Ok(self)
    }

    /// Looks for what is new, has changed or has gone; true if anything of that is.
    ///
    /// # Errors
    /// [`BenchError`] if even an index in memory cannot be made.
    pub fn refresh(&mut self) -> Result<bool, BenchError> {
        let looked = self.look();
        let Err(error) = looked else { return looked };
        if !self.is_kept {
            return Err(error);
        }
        // A full disk, a directory that cannot be written, damage: all is read anew into memory.
        self.notes.push(note(&self.index_path(), &error));
        (self.index, self.is_kept) = (in_memory(&self.index_path())?, false);
        self.look()
    }

    fn look(&mut self) -> Result<bool, BenchError> {
        let failed = BenchError::index(&self.index_path());
        // Before the places: what another process has put into the index meanwhile was in the list by
        // then, and is not taken for gone.
        let known = self.index.known().map_err(&failed)?;
        let (found, missing) = self.find()?;
        let is_new = |found: &&Found| {
            known
                .get(&found.directory)
                .is_none_or(|known| known.stamp != found.stamp || known.is_running)
        };
        let new: Vec<Found> = found.iter().filter(is_new).cloned().collect();
        let there: BTreeSet<&PathBuf> = found.iter().map(|found| &found.directory).collect();
        let gone: Vec<PathBuf> =
            known.into_keys().filter(|directory| !there.contains(directory)).collect();
        if !new.is_empty() || !gone.is_empty() {
            self.index.change(&gone, &read(&new, self.watch)).map_err(&failed)?;
        }
        self.missing = missing;
        let version = self.state(&found)?;
        let is_other = version != self.version;
        self.version = version;
        Ok(is_other)
    }

    /// Every run of every place once, and the places that give none.
    fn find(&self) -> Result<(Vec<Found>, Vec<Problem>), BenchError> {
        let (mut all, mut missing) = (BTreeMap::new(), Vec::new());
        for place in self.places()? {
            let runs = runs_at(&place);
            if runs.is_empty() {
                let what = match place.exists() {
                    true => "there is no run in it any more",
                    false => "it is not there any more, or cannot be reached",
                };
                let message = format!("{what}; `writecliff bench rm` takes it out of the library");
                missing.push(Problem { path: place, message });
            }
            all.extend(runs.into_iter().map(|found| (found.directory.clone(), found)));
        }
        Ok((all.into_values().collect(), missing))
    }

    /// What is looked at: what was added, and each that was imported.
    pub fn places(&self) -> Result<Vec<PathBuf>, BenchError> {
        let Some(home) = &self.home else { return Ok(self.directories.clone()) };
        let mut places = home.places()?;
        let imported = fs::read_dir(home.imported()).into_iter().flatten().filter_map(Result::ok);
        let mut imported: Vec<PathBuf> = imported
            .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
            .map(|entry| entry.path())
            .collect();
        imported.sort();
        places.extend(imported);
        places.extend(self.directories.iter().cloned());
        Ok(places)
    }

    /// Changes whenever what is shown does.
    fn state(&self, found: &[Found]) -> Result<String, BenchError> {
        let running = self.index.known().map_err(BenchError::index(&self.index_path()))?;
        let mut text: String = found
            .iter()
            .map(|found| format!("{found:?}{:?}\n", running.get(&found.directory)))
            .collect();
        text.extend(self.missing.iter().map(|problem| format!("{problem:?}\n")));
        Ok(conditions::hash(&text))
    }

    fn index_path(&self) -> PathBuf {
        self.home.as_ref().map_or_else(|| PathBuf::from(":memory:"), Home::index)
    }

    /// Something short that changes whenever [`refresh`](Self::refresh) finds something new.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Everything that there is to show, as of the last look.
    ///
    /// # Errors
    /// [`BenchError`]
    pub fn bench(&self) -> Result<Bench, BenchError> {
        let failed = BenchError::index(&self.index_path());
        let mut gather = Gather::default();
        self.index.runs().map_err(&failed)?.into_iter().for_each(|run| gather.run(run));
        catalogue::shipped()?.runs().for_each(|run| gather.run(run));
        published::shipped()?.into_iter().for_each(|figure| gather.published(figure));
        let unread = self.index.problems().map_err(&failed)?;
        let all = self.notes.iter().chain(&self.missing).cloned().chain(unread);
        all.for_each(|problem| gather.problem(problem));
        Ok(gather.finish())
    }

    /// Takes in directories: those of runs, of reviews, of repeats, and any with such below them.
    ///
    /// # Errors
    /// [`BenchError::NoDirectory`], [`BenchError::NoRun`], [`BenchError::Unreadable`] if nothing of what
    /// is in one can be read; nothing is added then. [`BenchError::Write`].
    pub fn add(&mut self, directories: &[PathBuf]) -> Result<Vec<Added>, BenchError> {
        let mut places = Vec::new();
        for directory in directories {
            let place = place(directory)?;
            if runs_at(&place).is_empty() {
                return Err(BenchError::NoRun { path: directory.clone() });
            }
            places.push(place);
        }
        // In the list before they are looked at, so that another process that looks at the library keeps
        // what is read of them; taken out again where nothing can be read.
        let new = self.keep(&places)?;
        let added = self.refresh().and_then(|_| self.added(&places));
        if added.is_err() {
            self.give_up(&new)?;
        }
        added
    }

    /// Puts places in the list; which of them were not in it.
    fn keep(&mut self, places: &[PathBuf]) -> Result<Vec<PathBuf>, BenchError> {
        match &self.home {
            Some(home) => home.add(places),
            None => {
                let mut new = places.to_vec();
                new.retain(|place| !self.directories.contains(place));
                self.directories.extend(new.iter().cloned());
                Ok(new)
            }
        }
    }

    fn give_up(&mut self, places: &[PathBuf]) -> Result<(), BenchError> {
        match &self.home {
            Some(home) => home.remove(places)?,
            None => self.directories.retain(|place| !places.contains(place)),
        }
        self.refresh().map(drop)
    }

    /// What was found in places that have just been looked at.
    fn added(&self, places: &[PathBuf]) -> Result<Vec<Added>, BenchError> {
        let failed = BenchError::index(&self.index_path());
        let unread = self.index.problems().map_err(&failed)?;
        let runs = self.index.runs().map_err(&failed)?;
        let directory = |run: &NewRun| run.private.directory.clone().unwrap_or_default();
        let contradicts = |run: &&NewRun| run.doubts.iter().any(|doubt| doubt == CONTRADICTED);
        let contradicted = runs
            .iter()
            .filter(contradicts)
            .map(|run| Problem { path: directory(run), message: CONTRADICTED.to_owned() });
        let told: Vec<Problem> = unread.iter().cloned().chain(contradicted).collect();
        let added = |place: &PathBuf| {
            let problems = told.iter().filter(|problem| problem.path.starts_with(place));
            let problems: Vec<Problem> = problems.cloned().collect();
            match runs.iter().filter(|run| directory(run).starts_with(place)).count() {
                0 => Err(BenchError::Unreadable {
                    path: place.clone(),
                    why: problems.first().map_or_else(String::new, |first| first.message.clone()),
                }),
                runs => Ok(Added { place: place.clone(), runs, problems }),
            }
        };
        places.iter().map(added).collect()
    }

    /// Takes places out of the library. What was imported lies in it and is deleted; nothing else is.
    ///
    /// # Errors
    /// [`BenchError::NotThere`], before anything is done; [`BenchError::Write`].
    pub fn remove(&mut self, places: &[PathBuf]) -> Result<(), BenchError> {
        let Some(home) = self.home.clone() else { return Ok(()) };
        let all = self.places()?;
        if let Some(path) = places.iter().find(|place| !all.contains(place)) {
            return Err(BenchError::NotThere { path: path.clone() });
        }
        let (imported, added): (Vec<PathBuf>, Vec<PathBuf>) =
            places.iter().cloned().partition(|place| home.holds(place));
        if !added.is_empty() {
            home.remove(&added)?;
        }
        for place in imported {
            fs::remove_dir_all(&place).map_err(BenchError::write(&place))?;
        }
        self.refresh().map(drop)
    }

    /// The places that an argument may mean: a directory, or the id of a run, whose place is meant if
    /// nothing else is in it.
    ///
    /// # Errors
    /// [`BenchError::NotThere`].
    pub fn place_of(&self, argument: &Path) -> Result<PathBuf, BenchError> {
        let places = self.places()?;
        let absolute = std::path::absolute(argument).unwrap_or_else(|_| argument.to_owned());
        let whole = argument.canonicalize().unwrap_or(absolute);
        if places.contains(&whole) {
            return Ok(whole);
        }
        let run = argument.to_str().map(|id| self.index.directory_of(id));
        let run = run.transpose().map_err(BenchError::index(&self.index_path()))?.flatten();
        let place =
            run.and_then(|(directory, _)| places.into_iter().find(|place| *place == directory));
        place.ok_or_else(|| BenchError::NotThere { path: argument.to_owned() })
    }

    /// Whether a run of this id is there.
    pub(crate) fn has(&self, run: &str) -> Result<bool, BenchError> {
        let found = self.index.directory_of(run);
        Ok(found.map_err(BenchError::index(&self.index_path()))?.is_some())
    }

    /// Whether a place is a copy in the library, which goes when it is removed.
    pub fn is_imported(&self, place: &Path) -> bool {
        self.home.as_ref().is_some_and(|home| home.holds(place))
    }

    /// Throws the index away and reads every directory anew.
    ///
    /// # Errors
    /// [`BenchError::Write`] if the old one cannot be removed.
    pub fn rebuild(home: Home, watch: Watch) -> Result<Self, BenchError> {
        for end in ["", "-journal", "-wal", "-shm"] {
            let mut path = home.index().into_os_string();
            path.push(end);
            let path = PathBuf::from(path);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(BenchError::write(&path)(error));
                }
                _ => {}
            }
        }
        Self::open_watched(home, watch)
    }
}

impl Pictures for Library {
    /// Those of the index; made when they are asked for, where it has none.
    fn pictures(&self, run: &str) -> Vec<Picture> {
        if let Ok(Some((directory, stamp))) = self.index.directory_of(run) {
            if let Ok(Some(kept)) = self.index.pictures(run, &stamp) {
                return kept;
            }
            let read = pictures::read(&directory).unwrap_or_default();
            // What cannot be kept is made again.
            let _ = self.index.keep_pictures(run, &stamp, &read);
            return read;
        }
        catalogue::shipped().map_or_else(|_| Vec::new(), |shipped| shipped.pictures(run))
    }
}

/// A directory that is there, without links and `..`.
fn place(directory: &Path) -> Result<PathBuf, BenchError> {
    let missing = || BenchError::NoDirectory { path: directory.to_owned() };
    let place = directory.canonicalize().map_err(|_| missing())?;
    if place.is_dir() { Ok(place) } else { Err(missing()) }
}

/// Each directory's run, or why there is none; on all processors.
fn read(new: &[Found], watch: Watch) -> Vec<Read> {
    let done = AtomicUsize::new(0);
    let read = |found: &Found| {
        let run = match found.directory.to_str() {
            Some(_) => ingest::read(&found.directory),
            None => Err("its name is no UTF-8; rename it".to_owned()),
        };
        watch(1 + done.fetch_add(1, Ordering::Relaxed), new.len());
        Ok::<Read, std::convert::Infallible>((found.clone(), run))
    };
    match in_parallel(new, read) {
        Ok(all) => all,
        Err(never) => match never {},
    }
}

/// The index in a file, or one in memory and why.
fn index_of(path: &Path) -> Result<(Index, bool, Vec<Problem>), BenchError> {
    let why = match Index::open(path) {
        Ok(index) => return Ok((index, true, Vec::new())),
        Err(Unusable::Newer) => {
            "a newer version of Writecliff wrote the index; it is left alone, and all results are read \
             anew"
                .to_owned()
        }
        Err(Unusable::Failed(source)) => {
            BenchError::Index { path: path.to_owned(), source }.to_string()
        }
    };
    let problem = Problem { path: path.to_owned(), message: why };
    Ok((in_memory(path)?, false, vec![problem]))
}

fn in_memory(path: &Path) -> Result<Index, BenchError> {
    Index::in_memory().map_err(BenchError::index(path))
}

fn note(path: &Path, error: &BenchError) -> Problem {
    let message = match error {
        BenchError::Index { source, .. } if !is_damage(source) => {
            format!("the index is not kept ({source}); all results are read anew each time")
        }
        error => error.to_string(),
    };
    Problem { path: path.to_owned(), message }
}
