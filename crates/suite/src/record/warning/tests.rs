use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use writecliff_device::Nanos;

use super::*;

/// One of every kind, as runs have it in their directories.
fn kept() -> Vec<Value> {
    vec![
        json!({"kind": "not-purged"}),
        json!({"kind": "purge-failed", "error": "no"}),
        json!({"kind": "better-purge-failed", "error": "no"}),
        json!({"kind": "weak-purge", "how": "discard"}),
        json!({"kind": "purge-ineffective", "still_readable": 3, "sampled": 100}),
        json!({"kind": "no-encryption", "why": "no dm-crypt"}),
        json!({"kind": "file-not-drive"}),
        json!({"kind": "no-drive"}),
        json!({"kind": "scale-model", "parts": 16}),
        json!({"kind": "rebuilt", "member": 1, "done": "1GiB", "of": "2GiB", "time": "9s"}),
        json!({"kind": "reduced-link", "link": {
            "now_gbps": 2.5,
            "best_gbps": 8.0,
            "lanes_now": 1,
            "lanes_best": 4,
        }}),
        json!({"kind": "written-by-others", "counted": "3GiB", "own": "2GiB"}),
        json!({"kind": "failed-ios", "count": 9}),
        json!({"kind": "die-lost", "phase": "torture"}),
        json!({"kind": "power-lost", "times": 2, "phase": "fill", "after": "16s", "later": [["torture", "3s"]]}),
        json!({"kind": "data-lost", "pages": 1000, "phases": ["torture"]}),
        json!({"kind": "too-warm", "temperature": "71500mC", "limit": "70C"}),
        json!({"kind": "slowed-down", "parts": 1, "most": "torture", "percent": 40.5}),
        json!({"kind": "media-errors", "count": 2}),
        json!({"kind": "throttled", "minutes": 12}),
        json!({"kind": "unsafe-shutdown", "count": 1}),
        json!({"kind": "other-load", "bytes": "1MiB", "percent": 25.5, "phases": ["fill"]}),
        json!({"kind": "generator-busy", "percent": 95.0, "phase": "fill", "threads": 2}),
        json!({"kind": "suspended", "span": "3s"}),
        json!({"kind": "held-up", "span": "3s", "phases": ["fill", "torture"]}),
        json!({"kind": "quick"}),
        json!({"kind": "not-steady", "percent": -27.0}),
        json!({
            "kind": "not-steady-within",
            "drive_writes": 5.0,
            "most": 5.0,
            "range": 31.5,
            "percent": -27.0,
        }),
        json!({"kind": "too-few-writes", "drive_writes": 0.17}),
        json!({"kind": "no-cliff"}),
        json!({"kind": "too-short", "seconds": 60, "window": 18}),
        json!({"kind": "not-fresh", "fill": 2.1, "first": 5.4}),
        json!({"kind": "cliff-at-once", "seconds": 1, "fresh": 7776.0}),
        json!({"kind": "fresh-fell", "first": 13328.0, "fresh": 6315.0}),
        json!({"kind": "no-random-writes", "fill": {"written": "3GiB", "lasted": "12s"}}),
        json!({"kind": "at-spare", "percent": 25.0, "doubt": {"kind": "no-cliff"}}),
        json!({"kind": "ended", "phase": "fill"}),
        json!({"kind": "broken-off", "phase": "fill", "lasted": "3s"}),
        json!({"kind": "within-buffer", "part": null, "written": "1GiB", "buffer": "3GiB"}),
        json!({"kind": "fell-behind", "phase": "x", "asked": 1000.0, "done": 900.5}),
        json!({
            "kind": "writes-fell-behind",
            "drive_writes_per_day": 10.0,
            "asked": 1000.0,
            "done": 900.5,
        }),
        json!({"kind": "limits-not-held", "percent": 80, "limits": "1 µs and 2 µs", "took": "3 µs and 4 µs"}),
        json!({"kind": "no-trim"}),
        json!({"kind": "never-steady", "part": "iops", "rounds": 25}),
        json!({"kind": "not-modelled", "mechanism": "sleep"}),
        json!({
            "kind": "odd",
            "what": "reads of 2KiB",
            "has": "18 MB/s",
            "than": "reads of 4KiB",
            "gave": "402 MB/s",
        }),
        json!({
            "kind": "of-order",
            "what": "random write at QD4",
            "first": "637000 IOPS",
            "again": "320000 IOPS",
        }),
        json!({"kind": "brief", "part": "a pass", "lasted": "500ms"}),
        json!({"kind": "few-ios", "part": "a", "ios": 5, "queue_depth": 4}),
        json!({"kind": "background-fell-behind", "asked": 20.0, "done": 2.5}),
        json!({
            "kind": "changed",
            "parts": 2,
            "most": "sequential-write-qd16",
            "first": "479 MB/s",
            "last": "146 MB/s",
        }),
        json!({"kind": "no-power"}),
        json!({"kind": "no-temperature"}),
        json!({"kind": "incomplete", "recorded": "61s", "planned": "2000s"}),
        json!({"kind": "uneven", "job": "a", "first": 100.5, "last": 50.0}),
        json!({"kind": "job-not-steady", "job": "a"}),
        json!({"kind": "step-left-out", "step": "a", "needs": "1TiB"}),
        json!({"kind": "told", "told": {
            "program": "fio-3.33",
            "without_submission": true,
            "beside": ["fsync=1"],
            "logged_percent": 91,
        }}),
        json!({"kind": "answers-late", "part": "Half", "late": "52us", "own": "75us"}),
        json!({"kind": "no-figures", "job": "a"}),
        json!({"kind": "trims-hold-up"}),
        json!({"kind": "queued-in-host", "wanted": 512, "taken": 32}),
        json!({"kind": "behind", "whose": "the job 'a'", "asked": "5,000 IOPS", "done": "4,059 IOPS", "counts_lateness": false}),
        json!({"kind": "reads-nothing"}),
        json!({"kind": "reads-little", "job": "a", "size": "8KiB", "written": "4KiB"}),
        json!({"kind": "step-reads-nothing", "step": "a"}),
        json!({"kind": "job-cut-short", "job": "a", "recorded": "61s", "planned": "2000s"}),
        json!({"kind": "order-unknown", "trace": "a"}),
        json!({"kind": "mapped", "trace": "a", "end": "2GiB", "span": "1GiB", "map": "wrap"}),
        json!({"kind": "on-empty-drive", "trace": "a"}),
        json!({"kind": "trims-left-out", "trace": "a", "count": 1}),
        json!({"kind": "trace-cut-short", "trace": "a", "done": 1, "planned": 2}),
        json!({"kind": "trims-take-no-time"}),
        json!({"kind": "no-knee", "less": 80, "took": "3 ms", "more": 95, "took_then": "1 ms"}),
        json!({"kind": "flush-costs-nothing", "commit": "0.03 ms", "write": "0.02 ms"}),
        json!({"kind": "flush-of-data-only"}),
        json!({"kind": "even-writes-changed", "first": "13,497 IOPS", "last": "10,934 IOPS"}),
        json!({"kind": "flush-elsewhere", "filesystem": "tmpfs"}),
        json!({"kind": "without-barriers"}),
        json!({"kind": "reads-wait-in-model", "write_percent": 90, "reads": "37 ms", "writes": "0.04 ms"}),
        json!({"kind": "late", "trace": "a", "late": "2ms"}),
        json!({"kind": "bad-blocks", "bad": 1, "blocks": 1000}),
        json!({"kind": "part-tested", "tested": "1GiB", "capacity": "2GiB"}),
        json!({"kind": "claims-too-much", "claimed": "2GiB", "real": "1GiB"}),
    ]
}

/// The kinds that serde knows of one of the enums.
fn kinds<W: DeserializeOwned>() -> Vec<String> {
    let Err(error) = serde_json::from_value::<W>(json!({"kind": "?"})) else { panic!("no kind") };
    let error = error.to_string();
    error.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_kind_is_read_and_written_as_it_was_when_all_were_one_list() {
    for kept in kept() {
        let warning: Warning = serde_json::from_value(kept.clone()).unwrap();
        assert_eq!(serde_json::to_value(&warning).unwrap(), kept, "{warning}");
    }
}

#[test]
fn no_two_warnings_are_of_one_kind_and_none_is_forgotten_here() {
    let all = [
        kinds::<PreparationWarning>(),
        kinds::<DriveWarning>(),
        kinds::<HostWarning>(),
        kinds::<MethodWarning>(),
        kinds::<JobWarning>(),
        kinds::<TraceWarning>(),
        kinds::<DataWarning>(),
    ]
    .concat();
    let kept = kept();
    let known: BTreeSet<&str> = kept.iter().map(|kept| kept["kind"].as_str().unwrap()).collect();
    assert_eq!(all.iter().map(String::as_str).collect::<BTreeSet<_>>(), known);
    assert_eq!((all.len(), kept.len()), (known.len(), known.len()));
}

#[test]
fn each_time_that_power_went_is_told_while_they_are_few() {
    let lost = |later: &[&str]| {
        let later: Vec<Value> = later.iter().map(|after| json!(["torture", after])).collect();
        let kept = json!({"kind": "power-lost", "times": later.len() + 1, "phase": "fill", "after": "16s", "later": later});
        serde_json::from_value::<Warning>(kept).unwrap().to_string()
    };
    assert!(lost(&[]).contains("in fill, after 16.0 s of it: what"));
    assert!(
        lost(&["3s", "5s"])
            .contains("and again after 3.00 s of torture and after 5.00 s of torture")
    );
    assert!(
        lost(&["3s", "5s", "9s"]).contains(", and 3 times more, the last after 9.00 s of torture:")
    );
    let old = json!({"kind": "power-lost", "times": 2, "phase": "fill", "after": "16s"});
    let old = serde_json::from_value::<Warning>(old).unwrap().to_string();
    assert!(old.contains("for the first of 2 times"), "{old}");
}

#[test]
fn a_flush_that_is_free_is_doubted_by_who_sends_it() {
    let free = |more: Value| {
        let mut kept = json!({"kind": "flush-costs-nothing", "commit": "30 µs", "write": "29 µs"});
        kept.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value::<Warning>(kept).unwrap().to_string()
    };
    assert!(free(json!({"write_cache": "write through"})).contains("sends this drive none"));
    assert!(free(json!({"write_cache": "write back"})).contains("The kernel sends them"));
    assert!(free(json!({})).contains("and at `queue/write_cache` in sysfs"), "of old records");
}

#[test]
fn a_doubt_is_about_the_figures_that_it_speaks_of() {
    use Stage::{Fill, Fresh, Later};
    let stages = |doubt: &Warning| {
        let all = [Fill, Fresh, Later].into_iter();
        all.filter(|stage| doubt.is_of(*stage)).collect::<Vec<_>>()
    };
    for kept in kept() {
        let doubt: Warning = serde_json::from_value(kept.clone()).unwrap();
        let expected: &[Stage] = match kept["kind"].as_str().unwrap() {
            "not-fresh" => &[Fill, Fresh],
            "cliff-at-once" | "fresh-fell" => &[Fresh],
            "die-lost" | "not-steady" | "not-steady-within" | "too-few-writes" | "too-short" => {
                &[Later]
            }
            "no-trim" | "ended" | "no-random-writes" => &[],
            "no-cliff" | "incomplete" | "broken-off" | "at-spare" => &[Fresh, Later],
            _ => &[Fill, Fresh, Later],
        };
        assert_eq!(stages(&doubt), expected, "{doubt}");
    }
    let fell = Warning::from(MethodWarning::CliffAtOnce { seconds: 1, fresh: 9.0 });
    let fell = fell.at_spare(Some(25.0));
    let are_about = [
        (fell.clone(), Fresh, Some("25 % spare"), true),
        (fell.clone(), Later, Some("25 % spare"), false),
        (fell.clone(), Fresh, Some("10 % spare"), false),
        (fell, Fresh, None, true),
        (DriveWarning::FileNotDrive.into(), Fill, Some("10 % spare"), true),
    ];
    for (doubt, stage, part, expected) in are_about {
        assert_eq!(doubt.is_about(stage, part), expected, "{doubt} {stage:?} {part:?}");
    }
}

/// One that names its level is none of another.
#[test]
fn what_a_doubt_names_alone_is_in_doubt() {
    let behind = |drive_writes_per_day| {
        let doubt = MethodWarning::WritesFellBehind { drive_writes_per_day, asked: 9.0, done: 2.0 };
        let doubt = Warning::from(doubt);
        ["reads-beside-0.3-dwpd", "reads-beside-1-dwpd", "random-read-100"]
            .map(|phase| doubt.may_be_of(phase))
    };
    assert_eq!(behind(1.0), [false, true, false]);
    assert_eq!(behind(0.3), [true, false, false]);
    // What names a series names its phase, and says that it is about no other.
    let phases = vec!["random-read-100 reads".to_owned()];
    let held = Warning::from(HostWarning::HeldUp { span: Nanos::from_secs(1), phases });
    assert_eq!(
        ["random-read-100", "random-read-10"].map(|one| held.names_others(one)),
        [false, true]
    );
    let within = json!({
        "kind": "within-buffer", "part": "random-write-4KiB", "written": "1GiB", "buffer": "3GiB",
    });
    let within: Warning = serde_json::from_value(within).unwrap();
    assert!(within.may_be_of("random-write-4KiB") && !within.may_be_of("random-read-4KiB"));
    let of_all = Warning::from(DriveWarning::FileNotDrive);
    assert!(of_all.may_be_of("random-read-100") && !of_all.names("random-read-100"));
    let job = "load".to_owned();
    let uneven = Warning::from(JobWarning::Uneven {
        job,
        is_step: true,
        of_tenths: false,
        first: 9.0,
        last: 2.0,
    });
    let of = ["load", "other"].map(|step| uneven.may_be_of_step(step, "reads", true));
    assert_eq!(of, [true, false]);
}

#[test]
fn the_kind_comes_first_and_old_records_lack_what_came_later() {
    let ended = Warning::from(MethodWarning::Ended { phase: "fill".to_owned(), lasted: None });
    assert_eq!(serde_json::to_string(&ended).unwrap(), r#"{"kind":"ended","phase":"fill"}"#);
    let old = json!({"kind": "generator-busy", "percent": 95.0, "phase": "fill"});
    let phase = "fill".to_owned();
    let busy = HostWarning::GeneratorBusy { percent: 95.0, phase, threads: 1 };
    assert_eq!(serde_json::from_value::<Warning>(old).unwrap(), busy.into());
    let unknown = serde_json::from_value::<Warning>(json!({"kind": "of-tomorrow"})).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "a warning that this version of writecliff does not know, or that is damaged"
    );
}
