//! Circles of imports: files of a crate that need each other, so that none is read alone.
//!
//! What a file imports is read off its text: every path that begins with `crate`, `self` or `super`,
//! in `use` or anywhere else, led through the `pub use` of the modules on its way to the file where
//! the thing is. A room's front (`mod.rs`, or `name.rs` beside `name/`) and the files in it are one
//! room: arrows between them are none. Tests (`mod tests`, `*_tests.rs`) may import what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Circles that stay: one file of each, and why. The module's own documentation says so as well.
const NAMED: [(&str, &str); 1] = [(
    "crates/sim/src/ssd/map/ftl.rs",
    "one drive's map, whose copies stand in a file of their own",
)];

/// Refuses every circle that is not named, and names that no circle has any more.
pub(super) fn check() -> Result<(), String> {
    let mut found = Vec::new();
    for source in sources()? {
        found.extend(House::read(Path::new(&source))?.circles());
    }
    let is_named = |circle: &&Vec<String>| {
        NAMED.iter().any(|(file, _)| circle.iter().any(|other| other == file))
    };
    let (named, unnamed): (Vec<_>, Vec<_>) = found.iter().partition(is_named);
    if named.len() < NAMED.len() {
        return Err("a circle that xtask/src/tidy/circles.rs names is none any more".to_owned());
    }
    match unnamed[..] {
        [] => Ok(()),
        _ => {
            let lines = unnamed
                .iter()
                .map(|circle| format!("these need each other: {}", circle.join(", ")));
            Err(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// The `src` of every crate.
fn sources() -> Result<Vec<String>, String> {
    let crates = fs::read_dir("crates").map_err(|error| format!("crates: {error}"))?;
    let folders = crates.filter_map(Result::ok).map(|entry| entry.path().join("src"));
    let mut sources: Vec<String> =
        folders.filter(|path| path.is_dir()).map(|path| path.display().to_string()).collect();
    sources.push("xtask/src".to_owned());
    sources.sort();
    Ok(sources)
}

/// Where a module is: the names on the way to it, none for the crate's front.
type Place = Vec<String>;

/// A crate's modules.
#[derive(Debug, Default)]
struct House {
    /// The file of each module, and its text without comments and tests.
    modules: BTreeMap<Place, (String, String)>,
    /// What a module passes on: a name in it, and the path that it is short for.
    passed_on: BTreeMap<(Place, String), Place>,
}

impl House {
    fn read(source: &Path) -> Result<Self, String> {
        let mut house = Self::default();
        house.enter(source, &[])?;
        house.learn();
        Ok(house)
    }

    fn enter(&mut self, folder: &Path, place: &[String]) -> Result<(), String> {
        let told = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(told)? {
            let path = entry.map_err(told)?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let inner = [place, &[stem.to_owned()]].concat();
            if path.is_dir() {
                self.enter(&path, &inner)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let is_front = ["lib", "main", "mod"].contains(&stem);
                let text = fs::read_to_string(&path).map_err(told)?;
                let place = if is_front { place.to_vec() } else { inner };
                self.add(place, &path.display().to_string(), &text);
            }
        }
        Ok(())
    }

    fn add(&mut self, place: Place, file: &str, text: &str) {
        let is_test = |name: &String| name == "tests" || name.ends_with("_tests");
        if place.last().is_some_and(is_test) && !file.ends_with("mod.rs") {
            return;
        }
        self.modules.insert(place, (file.to_owned(), bare(text)));
    }

    /// Notes what modules pass on.
    fn learn(&mut self) {
        for (place, (_, text)) in &self.modules {
            for statement in text.split(';') {
                let Some((before, path)) = statement.rsplit_once("use ") else { continue };
                if before.trim_end().ends_with(')') || before.trim_end().ends_with("pub") {
                    for path in expanded(path.trim()) {
                        let (path, name) = match path.split_last() {
                            Some((last, rest)) if last == "self" => {
                                (rest.to_vec(), rest.last().cloned())
                            }
                            Some((last, _)) => (path.clone(), Some(last.clone())),
                            None => continue,
                        };
                        if let (Some(path), Some(name)) = (self.absolute(place, &path), name) {
                            self.passed_on.insert((place.clone(), name), path);
                        }
                    }
                }
            }
        }
    }

    /// A path as seen from the crate's front; `None` if it leads out of the crate.
    fn absolute(&self, place: &[String], path: &[String]) -> Option<Place> {
        let mut base = place.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            child => {
                let inner = [place, &[child.to_owned()]].concat();
                self.modules.contains_key(&inner).then_some(())?;
            }
        }
        Some([&base, rest].concat())
    }

    /// The module in which the thing at the end of a path is.
    fn home(&self, path: &Place, depth: u8) -> Place {
        let mut place = Place::new();
        for (nth, name) in path.iter().enumerate() {
            let inner = [place.clone(), vec![name.clone()]].concat();
            if self.modules.contains_key(&inner) {
                place = inner;
                continue;
            }
            if let Some(target) = self.passed_on.get(&(place.clone(), name.clone())) {
                let whole = [target.clone(), path[nth + 1..].to_vec()].concat();
                if depth < 8 && whole != *path {
                    return self.home(&whole, depth + 1);
                }
            }
            break;
        }
        place
    }

    /// Which modules each needs, other than the room that it is in or whose front it is.
    fn arrows(&self) -> BTreeMap<&Place, BTreeSet<&Place>> {
        let mut arrows = BTreeMap::new();
        for (place, (_, text)) in &self.modules {
            let paths = mentioned(text).into_iter().filter_map(|path| self.absolute(place, &path));
            let homes = paths.map(|path| self.home(&path, 0));
            let others = homes.filter(|home| !home.starts_with(place) && !place.starts_with(home));
            let needs =
                others.filter_map(|home| Some(self.modules.get_key_value(&home)?.0)).collect();
            arrows.insert(place, needs);
        }
        arrows
    }

    /// Files that can be reached from each other, each circle once.
    fn circles(&self) -> Vec<Vec<String>> {
        let arrows = self.arrows();
        let reached = |from: &Place| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(place) = next.pop() {
                for other in &arrows[&place] {
                    if seen.insert((*other).clone()) {
                        next.push((*other).clone());
                    }
                }
            }
            seen
        };
        let reach: BTreeMap<&Place, BTreeSet<Place>> =
            self.modules.keys().map(|place| (place, reached(place))).collect();
        let mut circles = BTreeSet::new();
        for (place, seen) in &reach {
            if seen.contains(*place) {
                let around = seen.iter().filter(|other| reach[other].contains(*place));
                circles
                    .insert(around.map(|other| self.modules[other].0.clone()).collect::<Vec<_>>());
            }
        }
        circles.into_iter().collect()
    }
}

/// A text without comments, and without the tests at its end.
fn bare(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path in a text that begins within the crate.
fn mentioned(text: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(root) {
            let before = text[..at].chars().next_back();
            let is_inside = before.is_some_and(|c| c.is_alphanumeric() || "_:$".contains(c));
            if !is_inside {
                paths.extend(expanded(&text[at..]));
            }
        }
    }
    paths
}

/// The paths that a use tree stands for; reading ends where it does.
fn expanded(tree: &str) -> Vec<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = tree.trim_start();
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        names.push(rest[..end].to_owned());
        match rest[end..].strip_prefix("::") {
            Some(after) => rest = after.trim_start(),
            None => return vec![names],
        }
    }
    match rest.strip_prefix('{') {
        Some(group) => {
            let within = parts(group).into_iter().flat_map(expanded);
            within.map(|tail| [names.clone(), tail].concat()).collect()
        }
        None => vec![names],
    }
}

/// What stands between the commas of a group, up to the brace that closes it.
fn parts(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let mut house = House::default();
        for (file, text) in files {
            let names = file.trim_end_matches(".rs").trim_end_matches("/mod").split('/');
            let place = names.filter(|name| *name != "lib").map(str::to_owned).collect();
            house.add(place, file, text);
        }
        house.learn();
        house.circles()
    }

    #[test]
    fn files_that_need_each_other_are_a_circle_by_whatever_way() {
        let a = ("a.rs", "use crate::{x, b::{B, C}};");
        assert_eq!(circles(&[a, ("b.rs", "fn f() -> super::a::A {}")]), [["a.rs", "b.rs"]]);
        assert_eq!(circles(&[a, ("b.rs", "use std::fmt; // crate::a")]).len(), 0);
        let front = ("lib.rs", "mod a;\nmod b;\npub use a::{A, D};\npub(crate) use b::B;");
        let (a, b) = (("a.rs", "use crate::B;"), ("b.rs", "use crate::D;"));
        assert_eq!(circles(&[front, a, b]), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn a_rooms_front_and_its_files_are_one_room_and_tests_are_free() {
        let front = ("room/mod.rs", "use self::table::Table;\npub struct Row;");
        assert_eq!(circles(&[front, ("room/table.rs", "use super::Row;")]).len(), 0);
        let tests = "use crate::b::B;\n#[cfg(test)]\nmod tests {\n use crate::b::C;\n}";
        assert_eq!(
            circles(&[("a.rs", tests), ("b.rs", "#[cfg(test)]\nmod t { use crate::a::A; }")]).len(),
            0
        );
    }
}
