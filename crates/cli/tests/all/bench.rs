//! The results library as a user meets it.
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::user::{User, errors};

const RUN: [&str; 6] = ["run", "consistency", "sim:tiny", "--duration", "5s", "--quiet"];

fn run(user: &User, out: &str, more: &[&str]) {
    user.well(&[&RUN[..], &["--out", out], more].concat());
}

#[test]
fn what_is_run_is_in_the_library_unless_it_is_not_to_be() {
    let user = User::new();
    run(&user, "kept", &[]);
    run(&user, "not-kept", &["--no-bench"]);
    run(&user, "repeats", &["--repeat", "2"]);
    let review = ["review", "sim:tiny", "--quick", "--tests", "trim,corners", "--out", "review"];
    user.well(&review);
    let null = ["run", "consistency", "null:", "--quick", "--duration", "1s", "--out", "null"];
    user.well(&null);
    let mut places: Vec<String> = user
        .runs()
        .iter()
        .map(|run| {
            let directory = Path::new(run["directory"].as_str().unwrap());
            let inside = directory.strip_prefix(user.path().canonicalize().unwrap()).unwrap();
            inside.display().to_string()
        })
        .collect();
    places.sort();
    let expected = ["kept", "repeats/seed-1", "repeats/seed-2", "review/corners", "review/trim"];
    assert_eq!(places, expected);
    let drives: Value = serde_json::from_str(&user.well(&[
        "bench",
        "list",
        "--json",
        "--test",
        "consistency",
        "--kind",
        "simulated",
        "kept",
    ]))
    .unwrap();
    assert!(
        drives["drives"].as_array().unwrap().iter().any(|drive| drive["id"] == "tiny-64mib"
            || drive["name"].as_str().unwrap().starts_with("Tiny")),
        "{drives}"
    );
}

#[test]
fn a_library_that_cannot_be_written_fails_no_run() {
    let user = User::new();
    fs::write(user.path().join("library"), "a file").unwrap();
    let output = user.run(&[&RUN[..], &["--out", "kept"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let said = errors(&output);
    let notes = said.lines().filter(|line| line.starts_with("note: the result is not in")).count();
    assert_eq!(notes, 1, "{said}");
    let nobody = user
        .command(&[&RUN[..], &["--out", "other"]].concat())
        .env_remove("WRITECLIFF_BENCH")
        .env_remove("HOME")
        .env_remove("XDG_DATA_HOME")
        .output()
        .unwrap();
    assert_eq!(nobody.status.code(), Some(0));
    assert!(errors(&nobody).contains("set WRITECLIFF_BENCH"), "{}", errors(&nobody));
    let off = user
        .command(&[&RUN[..], &["--out", "off"]].concat())
        .env("WRITECLIFF_BENCH", "off")
        .output()
        .unwrap();
    assert_eq!((off.status.code(), errors(&off)), (Some(0), String::new()));
}

#[test]
fn the_library_is_where_the_data_of_users_are() {
    let user = User::new();
    let ran = user
        .command(&[&RUN[..], &["--out", "kept"]].concat())
        .env_remove("WRITECLIFF_BENCH")
        .env_remove("XDG_DATA_HOME")
        .env("HOME", user.path())
        .output()
        .unwrap();
    assert_eq!((ran.status.code(), errors(&ran)), (Some(0), String::new()));
    let list = user.path().join(".local/share/writecliff/bench/places.txt");
    let kept = user.path().canonicalize().unwrap().join("kept");
    assert_eq!(fs::read_to_string(list).unwrap(), format!("{}\n", kept.display()));
}

#[test]
fn two_runs_are_compared_in_every_format() {
    let user = User::new();
    run(&user, "a", &["--label", "before"]);
    run(&user, "b", &["--label", "after", "--seed", "2"]);
    run(&user, "c", &["--no-bench", "--seed", "3"]);
    let text = user.well(&["bench", "compare", "a", "b"]);
    assert!(text.starts_with("A  Tiny") && text.contains("(before)"), "{text}");
    let json: Value =
        serde_json::from_str(&user.well(&["bench", "compare", "a", "b", "--json"])).unwrap();
    let record: Value =
        serde_json::from_str(&fs::read_to_string(user.path().join("a/run.json")).unwrap()).unwrap();
    let mean = json["rows"].as_array().unwrap().iter().find(|row| row["name"] == "steady mean");
    assert_eq!(mean.unwrap()["a"]["median"], record["outcome"]["steady_iops"]["mean"]);
    let csv = user.well(&["bench", "compare", "a", "c", "--csv"]);
    assert!(
        csv.starts_with("test,figure,unit,kind,conditions,a,b,better,ratio,undecided,a_lowest,"),
        "{csv}"
    );
    let markdown = user.well(&["bench", "compare", "a", "b", "--markdown"]);
    assert!(markdown.contains("| figure | A | B | better |"), "{markdown}");
    user.well(&["run", "trim", "sim:tiny", "--quick", "--quiet", "--out", "t"]);
    let apart = user.run(&["bench", "compare", "a", "t"]);
    assert_eq!(apart.status.code(), Some(2));
    assert!(errors(&apart).contains("only A has it"), "{}", errors(&apart));
    let unknown = user.run(&["bench", "show", "samsung-840-evo-255gb"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(errors(&unknown).contains("did you mean"), "{}", errors(&unknown));
    assert!(user.well(&["bench", "show", "a"]).contains("steady floor"));
    assert!(user.well(&["bench", "show", "840-pro"]).contains("published"));
}

#[test]
fn a_damaged_directory_is_no_run_and_a_list_of_a_directory_is_of_that_alone() {
    let user = User::new();
    run(&user, "runs/good", &["--no-bench"]);
    run(&user, "runs/cut", &["--no-bench", "--seed", "2"]);
    let listed: Value =
        serde_json::from_str(&user.well(&["bench", "list", "runs", "--json"])).unwrap();
    assert_eq!(listed["drives"].as_array().unwrap().len(), 1, "{listed}");
    let series = user.path().join("runs/cut/series.parquet");
    fs::write(&series, &fs::read(&series).unwrap()[..1000]).unwrap();
    let refused = user.run(&["bench", "add", "runs/cut"]);
    assert_eq!(refused.status.code(), Some(1), "{}", errors(&refused));
    assert!(errors(&refused).contains("0 runs"), "{}", errors(&refused));
    assert_eq!(user.runs().len(), 0);
    let added = user.run(&["bench", "add", "runs"]);
    let said = String::from_utf8_lossy(&added.stdout).into_owned();
    assert!(said.ends_with("runs: 1 run\n"), "{said}");
    assert!(
        errors(&added).contains("note: ") && errors(&added).contains("runs/cut"),
        "{}",
        errors(&added)
    );
}

#[test]
fn what_is_added_can_be_taken_out_and_what_is_imported_only_with_consent() {
    let user = User::new();
    run(&user, "a", &["--no-bench"]);
    assert_eq!(user.runs().len(), 0);
    assert!(user.well(&["bench", "add", "a"]).contains("1 run"));
    assert_eq!(user.runs().len(), 1);
    user.well(&["bench", "rm", "a"]);
    assert_eq!(user.runs().len(), 0);
    assert!(user.path().join("a/run.json").exists());
    assert!(user.well(&["bench", "import", "a"]).contains("1 run"));
    let id = user.runs()[0]["id"].as_str().unwrap().to_owned();
    let copy = user.runs()[0]["directory"].as_str().unwrap().to_owned();
    let refused = user.run(&["bench", "rm", &id]);
    assert_eq!(refused.status.code(), Some(3), "{}", errors(&refused));
    assert!(Path::new(&copy).exists());
    assert_eq!(user.well(&["bench", "import", "a"]), "All of it is in the library already.\n");
    user.well(&["bench", "rm", &id, "--yes"]);
    assert!(!Path::new(&copy).exists());
    assert_eq!(user.well(&["bench", "rebuild"]), "0 runs\n");
    let nowhere = user.run(&["bench", "rm", "nowhere"]);
    assert_eq!(nowhere.status.code(), Some(2));
}

/// What a server at this address answers for a path.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn pages_are_served_with_what_comes_new_until_ctrl_c() {
    let user = User::new();
    let mut serve = user.command(&["bench", "serve", "--port", "0"]);
    let mut server = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.split('/').nth(2).unwrap().to_owned();
    let port = address.rsplit(':').next().unwrap();
    let taken = user.run(&["bench", "serve", "--port", port]);
    assert_eq!(taken.status.code(), Some(2));
    assert!(errors(&taken).contains("is taken") && errors(&taken).contains("--port PORT"));
    let before = get(&address, "/live.json");
    assert!(get(&address, "/").contains("<title>Writecliff Bench</title>"));
    run(&user, "kept", &[]);
    while get(&address, "/live.json").lines().last() == before.lines().last() {
        std::thread::sleep(Duration::from_millis(50));
    }
    kill_process(Pid::from_child(&server), Signal::INT).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn pages_are_exported_with_reports_that_do_not_tell_the_machine() {
    let user = User::new();
    run(&user, "kept", &[]);
    let page = user.well(&["bench", "export", "site", "kept", "--quiet"]);
    assert_eq!(page, "site/index.html\n");
    let site = user.path().join("site");
    let report = fs::read_dir(site.join("reports")).unwrap().next().unwrap().unwrap().path();
    let report = fs::read_to_string(report.join("index.html")).unwrap();
    assert!(report.contains("../../index.html#drive/"), "it leads back");
    let record: Value =
        serde_json::from_str(&fs::read_to_string(user.path().join("kept/run.json")).unwrap())
            .unwrap();
    let here = user.path().to_str().unwrap();
    for secret in [record["host"]["kernel"].as_str().unwrap(), here] {
        assert!(!report.contains(secret), "{secret}");
    }
    let again = user.well(&["bench", "export", "site", "kept", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap()["written"], 0);
    let mine = user.run(&["bench", "export", "kept"]);
    assert_eq!(mine.status.code(), Some(2));
    assert!(errors(&mine).contains("holds no export"), "{}", errors(&mine));
}
