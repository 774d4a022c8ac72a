//! One result on every face that shows it: what one says, all say, and none says a figure without its
//! doubts.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::user::User;

/// What a face says, without its line breaks and its markup.
fn plain(text: &str) -> String {
    let text = [
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&apos;", "'"),
        ("&quot;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
    ]
    .iter()
    .fold(text.replace("&amp;", "&"), |text, (escaped, plain)| text.replace(escaped, plain));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Every string in a piece of JSON.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().flat_map(strings).collect(),
        Value::Object(all) => all.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// All files below a directory that end so.
fn files(directory: &Path, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path, ending)),
            path if path.to_str().unwrap().ends_with(ending) => {
                found.push(fs::read_to_string(path).unwrap());
            }
            _ => {}
        }
    }
    found
}

/// What a user reads of a run, by where.
fn faces(user: &User, run: &str) -> Vec<(&'static str, String)> {
    let read = |path: &str| fs::read_to_string(user.path().join(path)).unwrap();
    let of_json = |text: &str| strings(&json(text)).join("\n");
    let limit = ["gate", run, "--baseline", run];
    let gate = user.run(&limit);
    let gate = [gate.stderr, gate.stdout].concat();
    user.well(&[&limit[..], &["--junit", "gate.xml"]].concat());
    user.well(&["report", run, "--format", "markdown", "--out", "markdown"]);
    user.well(&["bench", "export", "site", run]);
    vec![
        ("terminal", user.well(&["report", run, "--out", "page"])),
        ("page", read("page/index.html")),
        ("Markdown", read("markdown/report.md")),
        ("JSON of a report", of_json(&user.well(&["report", run, "--json", "--out", "page"]))),
        ("gate", String::from_utf8(gate).unwrap()),
        ("JSON of a gate", of_json(&user.well(&[&limit[..], &["--json"]].concat()))),
        ("JUnit", read("gate.xml")),
        ("bench show", user.well(&["bench", "show", run])),
        ("JSON of bench show", of_json(&user.well(&["bench", "show", run, "--json"]))),
        ("bench compare", user.well(&["bench", "compare", run, run])),
        ("Markdown of bench compare", user.well(&["bench", "compare", run, run, "--markdown"])),
        ("JSON of bench compare", of_json(&user.well(&["bench", "compare", run, run, "--json"]))),
        ("pages of bench", files(&user.path().join("site"), ".html").join("\n")),
    ]
}

#[test]
fn every_face_of_a_result_tells_each_of_its_doubts() {
    let user = User::new();
    let quick = ["run", "corners", "sim:samsung-840-evo-250gb@1/64", "--quick", "--out", "quick"];
    let short = ["run", "consistency", "sim:tiny", "--duration", "20s", "--out", "short"];
    user.well(&quick);
    user.well(&short);
    for run in ["short", "quick"] {
        let record = json(&user.well(&["report", run, "--json", "--out", "page"]));
        let doubts: Vec<String> = strings(&record[0]["doubts"]).into_iter().map(plain).collect();
        assert!(!doubts.is_empty(), "{run} is to be doubted: {record}");
        for (face, said) in faces(&user, run) {
            let said = plain(&said);
            for doubt in &doubts {
                assert!(said.contains(doubt), "{run}, {face} leaves out: {doubt}\n\n{said}");
            }
        }
        // A picture stands alone in an article.
        for picture in files(&user.path().join("page/pictures"), ".svg") {
            assert!(picture.contains("with doubts that its page tells"), "{picture}");
        }
        for data in files(&user.path().join("page/pictures"), ".csv") {
            let head = data.lines().next().unwrap();
            assert!(head.contains("simulated, "), "{head}");
            assert!(head.contains("with doubts that its page tells)"), "{head}");
        }
        let table = user.well(&["bench", "compare", run, run, "--csv"]);
        let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let doubted = columns.iter().position(|column| *column == "a_doubted").unwrap();
        for row in table.lines().skip(1).filter(|row| !row.contains('"')) {
            // What is too short is so after the fill.
            let is_fill = row.contains("sequential fill");
            let expected = if is_fill { "no" } else { "yes" };
            assert_eq!(row.split(',').nth(doubted), Some(expected), "{row}");
        }
    }
}

#[test]
fn every_face_of_a_result_says_the_same_of_each_figure() {
    let user = User::new();
    user.well(&["run", "consistency", "sim:tiny", "--duration", "20s", "--out", "run"]);
    let record = json(&user.well(&["report", "run", "--json", "--out", "page"]));
    let figures = record[0]["figures"].as_array().unwrap();
    assert!(figures.len() > 10, "{figures:?}");
    let shown = user.well(&["bench", "show", "run"]);
    let compared = user.well(&["bench", "compare", "run", "run", "--csv"]);
    let listed = json(&user.well(&["bench", "show", "run", "--json"]));
    let listed = listed[0]["figures"].as_array().unwrap();
    for figure in figures {
        let (name, value) = (figure["name"].as_str().unwrap(), figure["value"].as_f64().unwrap());
        let in_words = writecliff_suite::in_words(value, figure["unit"].as_str().unwrap());
        let line = shown.lines().find(|line| line.trim_start().starts_with(&format!("{name}  ")));
        let line = line.unwrap_or_else(|| panic!("{name}: {shown}"));
        let sure = line.strip_suffix("  in doubt");
        assert!(sure.unwrap_or(line).ends_with(&in_words), "{name}: {in_words}: {shown}");
        let row = compared.lines().find(|line| line.contains(&format!(",{name},")));
        assert!(row.is_none_or(|row| row.contains(&format!(",{value},{value},"))), "{row:?}");
        let of_bench = listed.iter().find(|one| one["name"] == *name).unwrap();
        assert_eq!(of_bench["value"], figure["value"], "{name}");
        // Not all are: the fill was over by then.
        assert_eq!(of_bench["doubted"], sure.is_some(), "{name}");
        assert_eq!(sure.is_none(), name == "sequential fill", "{name}");
    }
    // The worst of the steady window and the worst of all, each by its name, on all of them.
    let value = |name: &str| {
        let figure = figures.iter().find(|figure| figure["name"] == name).unwrap();
        writecliff_suite::thousands(figure["value"].as_f64().unwrap())
    };
    for (face, said) in faces(&user, "run") {
        let said = plain(&said);
        if !face.starts_with("JSON") && face != "pages of bench" {
            assert!(said.contains(&value("steady floor")), "{face}: {said}");
        }
    }
}
