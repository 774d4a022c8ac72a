//! `writecliff model`: the files of other systems, and what keeps one from being written.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::user::{User, errors};

/// What is printed for a run or a drive.
fn printed(user: &User, arguments: &[&str]) -> String {
    let output = user.command(&[&["model"], arguments].concat()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The lines that are no comments.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
}

#[test]
fn a_drive_is_measured_and_written_as_each_system_reads_it() {
    let user = User::new();
    let iocost = printed(&user, &["sim:tiny", "--quick", "--no-bench", "--out", "run"]);
    assert!(iocost.contains("# Cost model for io.cost of Tiny: a SIMULATED drive"), "{iocost}");
    let [model, qos] = lines(&iocost)[..] else { panic!("{iocost}") };
    let json: Value = serde_json::from_str(&printed(&user, &["run", "--format", "json"])).unwrap();
    assert_eq!(json["simulated"], true);
    let value = |line: &str, key: &str| -> f64 {
        let mut words = line.split(' ').filter_map(|word| word.split_once('='));
        words.find(|(name, _)| *name == key).unwrap().1.parse().unwrap()
    };
    assert!(model.starts_with("MAJ:MIN ctrl=user model=linear rbps="), "{model}");
    for rate in ["rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"] {
        assert_eq!(value(model, rate), json["steady"][rate].as_f64().unwrap().floor());
    }
    assert!(qos.starts_with("MAJ:MIN enable=1 ctrl=user rpct=95.00 rlat="), "{qos}");
    let micros = |key: &str| (json["limits"][key].as_f64().unwrap() / 1e3).ceil();
    assert_eq!((value(qos, "rlat"), value(qos, "wlat")), (micros("read_ns"), micros("write_ns")));
    assert_eq!(value(qos, "max"), json["limits"]["kept_percent"].as_f64().unwrap());

    let hwdb = printed(&user, &["run", "--format", "hwdb"]);
    let entry = lines(&hwdb);
    assert_eq!(
        entry[..2],
        ["block:*:name:SIMULATED Tiny:fwrev:*:", "  IOCOST_SOLUTIONS=writecliff"]
    );
    assert!(model.ends_with(entry[2].strip_prefix("  IOCOST_MODEL_WRITECLIFF=").unwrap()));
    assert!(qos.ends_with(entry[3].strip_prefix("  IOCOST_QOS_WRITECLIFF=").unwrap()));

    let seastar = |more: &[&str]| printed(&user, &[&["run", "--format", "seastar"], more].concat());
    let number = |text: &str, key: &str| -> f64 {
        text.split_once(&format!("    {key}: ")).unwrap().1.lines().next().unwrap().parse().unwrap()
    };
    let alone = seastar(&["--mount-point", "/var/lib/\"it\""]);
    assert!(alone.contains("  - mountpoint: \"/var/lib/\\\"it\\\"\"\n"), "{alone}");
    let mixed = seastar(&["--mixed"]);
    let kept = json["limits"]["kept_percent"].as_f64().unwrap() / 100.0;
    let (all, share) = (number(&alone, "read_iops"), number(&mixed, "read_iops"));
    assert!((share - all * kept).abs() <= 1.0, "{share} of {all}");

    let file = user.path().join("jobs.fio");
    fs::write(&file, printed(&user, &["run", "--format", "fio"])).unwrap();
    let image = user.path().join("image");
    fs::write(&image, vec![0; 1 << 20]).unwrap();
    match Command::new("fio").arg("--parse-only").arg(&file).env("DRIVE", &image).output() {
        Ok(parsed) => assert!(parsed.status.success(), "{parsed:?}"),
        Err(_) => println!("SKIPPED: that fio reads its file needs the program fio"),
    }
}

#[test]
fn a_disk_has_a_model_though_it_is_never_fresh() {
    let user = User::new();
    let run =
        ["run", "cost-model", "sim:wd-velociraptor-300gb", "--quick", "--no-bench", "--quiet"];
    let output = user.command(&run).args(["--out", "run"]).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let json: serde_json::Value =
        serde_json::from_str(&printed(&user, &["run", "--format", "json"])).unwrap();
    assert!(json["fresh"].is_null() && json["limits"]["percentile"] == 50.0, "{json:#}");
    for format in ["iocost", "hwdb", "seastar", "fio"] {
        assert!(!printed(&user, &["run", "--format", format]).is_empty(), "{format}");
    }
}

#[test]
fn what_no_model_comes_of_says_so() {
    let user = User::new();
    let quick = ["--quick", "--no-bench", "--quiet", "--out"];
    let ran = |arguments: &[&str]| {
        let output = user.command(&[arguments, &quick, &["other"]].concat()).output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
    };
    ran(&["run", "trim", "sim:tiny"]);
    let review = ["review", "sim:tiny", "--tests", "trim", "--quick", "--no-bench", "--quiet"];
    assert!(user.command(&review).args(["--out", "review"]).output().unwrap().status.success());
    let cases: [(&[&str], i32, &str); 6] = [
        (&["other"], 2, "that is a run of trim"),
        (&["review"], 2, "a review without cost-model"),
        (&["other", "--seed", "3"], 2, "--seed says how a test is run"),
        (&["other", "--format", "yaml"], 2, "iocost"),
        (&["nowhere"], 2, "nowhere"),
        (&["."], 2, "below it there are"),
    ];
    for (arguments, code, expected) in cases {
        let output = user.command(&[&["model"], arguments].concat()).output().unwrap();
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(expected) && output.stdout.is_empty(), "{arguments:?}: {text}");
    }
}
