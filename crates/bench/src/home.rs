//! Where a user's library lives, and the list of the directories that are in it.
//!
//! `places.txt`, a path a line, is all of the library that is not made from results: it is appended to
//! in one write, replaced as a whole, and can be edited by hand. Copies of what was imported are in
//! `imported/`. The index beside it can be thrown away at any time.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use writecliff_output::write_text;

use crate::error::BenchError;

/// The variable that names the library's directory.
pub const VARIABLE: &str = "WRITECLIFF_BENCH";
/// What it says where there is to be none: nothing that is run is added anywhere.
pub const OFF: &str = "off";

const PLACES: &str = "places.txt";
const INDEX: &str = "index.sqlite";
const IMPORTED: &str = "imported";
const LOCK: &str = "lock";

/// A library's directory; it need not be there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

impl Home {
    /// The user's own: `$WRITECLIFF_BENCH`, else `writecliff/bench` in `$XDG_DATA_HOME` or
    /// `~/.local/share`.
    ///
    /// # Errors
    /// [`BenchError::NoHome`]; [`BenchError::Off`]; [`BenchError::UnderSudo`], for root must leave no
    /// files in a user's directories, nor would his results be found in root's.
    pub fn of_user() -> Result<Self, BenchError> {
        match directory(VARIABLE) {
            Some(path) if path.as_os_str() == OFF => return Err(BenchError::Off),
            Some(path) => return Ok(Self { path }),
            None => {}
        }
        if sudo_user().is_some() {
            return Err(BenchError::UnderSudo);
        }
        let data = directory("XDG_DATA_HOME").filter(|path| path.is_absolute());
        let data = data.or_else(|| Some(directory("HOME")?.join(".local/share")));
        Ok(Self { path: data.ok_or(BenchError::NoHome)?.join("writecliff/bench") })
    }

    /// In this directory.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.path.join(INDEX)
    }

    pub(crate) fn imported(&self) -> PathBuf {
        self.path.join(IMPORTED)
    }

    /// By its path without links, as places are.
    pub(crate) fn resolved(self) -> Self {
        Self { path: self.path.canonicalize().unwrap_or(self.path) }
    }

    /// Whether a place is a copy of what was imported.
    pub(crate) fn holds(&self, place: &Path) -> bool {
        place.parent() == Some(self.imported().as_path())
    }

    /// Makes the directory, which only its owner looks into: it holds serial numbers.
    pub(crate) fn create(&self) -> Result<(), BenchError> {
        use std::os::unix::fs::DirBuilderExt;
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.path);
        made.map_err(BenchError::write(&self.path))
    }

    /// The directories that are in the library, in the order in which they came.
    pub(crate) fn places(&self) -> Result<Vec<PathBuf>, BenchError> {
        let path = self.path.join(PLACES);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(lines(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(BenchError::Read { path, source }),
        }
    }

    /// Adds directories that are not there yet, for good; which those were.
    pub(crate) fn add(&self, new: &[PathBuf]) -> Result<Vec<PathBuf>, BenchError> {
        self.create()?;
        let _lock = self.lock()?;
        let known = self.places()?;
        let (mut text, mut added) = (String::new(), Vec::new());
        for place in new {
            let line = place.to_str().filter(|line| !line.contains(['\n', '\r']));
            let line = line.ok_or_else(|| BenchError::PathUnkept { path: place.clone() })?;
            if !known.contains(place) {
                text += &format!("{line}\n");
                added.push(place.clone());
            }
        }
        if text.is_empty() {
            return Ok(added);
        }
        let path = self.path.join(PLACES);
        // A line that a full disk has torn ends here, and is a place that is not there.
        let is_torn = fs::read(&path).is_ok_and(|old| old.last().is_some_and(|end| *end != b'\n'));
        let text = if is_torn { format!("\n{text}") } else { text };
        let opened = OpenOptions::new().append(true).create(true).open(&path);
        let written = opened.and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(BenchError::write(&path))?;
        Ok(added)
    }

    /// Takes directories out of the list; nothing happens to themselves.
    pub(crate) fn remove(&self, old: &[PathBuf]) -> Result<(), BenchError> {
        let _lock = self.lock()?;
        let mut places = self.places()?;
        places.retain(|place| !old.contains(place));
        let text: String = places.iter().map(|place| format!("{}\n", place.display())).collect();
        let path = self.path.join(PLACES);
        Ok(write_text(&path, &text).map_err(writecliff::Error::from)?)
    }

    /// Held while the list is changed, so that no process undoes what another does.
    fn lock(&self) -> Result<File, BenchError> {
        let path = self.path.join(LOCK);
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let locked = opened.and_then(|file| file.lock().map(|()| file));
        locked.map_err(BenchError::write(&path))
    }
}

fn lines(text: &str) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let place = PathBuf::from(line);
        if place.is_absolute() && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// What a variable names, if it names anything.
fn directory(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user that root works for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SudoUser {
    /// The user's number.
    pub user: u32,
    /// That of the user's group.
    pub group: u32,
    /// The home directory, if the system's list of users has it.
    pub home: Option<PathBuf>,
}

/// The user that root works for, if sudo says so.
pub fn sudo_user() -> Option<SudoUser> {
    let number = |variable| env::var(variable).ok()?.parse::<u32>().ok();
    let (user, group) = (number("SUDO_UID")?, number("SUDO_GID")?);
    let home = home_in(&fs::read_to_string("/etc/passwd").unwrap_or_default(), user);
    let is_root = rustix::process::geteuid().is_root();
    (user != 0 && is_root).then_some(SudoUser { user, group, home })
}

/// `name:password:number:group:words:home:shell`, a line each.
fn home_in(users: &str, user: u32) -> Option<PathBuf> {
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut of_user = fields.filter(|fields| fields.get(2) == Some(&user.to_string().as_str()));
    of_user.next()?.get(5).map(PathBuf::from)
}

/// Adds the result in a directory, which is there and whole, to the user's library: the next look
/// into it finds what there is.
///
/// # Errors
/// [`BenchError`]; nothing happens to the result.
pub fn keep(result: &Path) -> Result<(), BenchError> {
    let home = match Home::of_user() {
        Err(BenchError::Off) => return Ok(()),
        home => home?,
    };
    let place = result.canonicalize();
    let place = place.map_err(|_| BenchError::NoDirectory { path: result.to_owned() })?;
    home.add(&[place]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(&directory.path().join("data/bench"));
        (directory, home)
    }

    #[test]
    fn places_stay_in_order_once_each() {
        let (_directory, home) = home();
        assert_eq!(home.places().unwrap(), Vec::<PathBuf>::new());
        let [a, b, c] = ["/a", "/b b", "/c"].map(PathBuf::from);
        home.add(&[b.clone(), a.clone()]).unwrap();
        home.add(&[a.clone(), c.clone()]).unwrap();
        assert_eq!(home.places().unwrap(), [b.clone(), a.clone(), c.clone()]);
        home.remove(&[a]).unwrap();
        assert_eq!(home.places().unwrap(), [b, c]);
    }

    #[test]
    fn a_torn_line_costs_no_other() {
        let (_directory, home) = home();
        home.add(&[PathBuf::from("/first")]).unwrap();
        let list = home.path().join(PLACES);
        fs::write(&list, fs::read_to_string(&list).unwrap() + "/second/tor").unwrap();
        home.add(&[PathBuf::from("/third")]).unwrap();
        let places = home.places().unwrap();
        assert_eq!(places, ["/first", "/second/tor", "/third"].map(PathBuf::from));
    }

    #[test]
    fn a_home_is_looked_up_by_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbad\n";
        assert_eq!(home_in(users, 1000), Some(PathBuf::from("/home/ann")));
        assert_eq!(home_in(users, 7), None);
    }

    #[test]
    fn a_path_that_would_be_two_lines_is_refused() {
        let (_directory, home) = home();
        let path = PathBuf::from("/runs\n/etc");
        assert!(matches!(home.add(&[path]), Err(BenchError::PathUnkept { .. })));
        assert_eq!(home.places().unwrap(), Vec::<PathBuf>::new());
    }
}
