//! What fio measured becomes a run that says what fio said.

use std::fs;
use std::path::Path;

use writecliff::device::DeviceKind;
use writecliff::suite::{Outcome, Status, mixed, open_anew};
use writecliff::{ErrorKind, Imported, import_fio, open};

/// As fio 3.33 prints it, cut down to what matters: a job of reads and writes, then two copies of one
/// that flushes.
fn output() -> serde_json::Value {
    let times = |mean: f64| {
        serde_json::json!({"min": 5, "max": 9000, "mean": mean, "stddev": 1.0, "N": 1000,
            "percentile": {"50.000000": 70, "99.000000": 990, "99.900000": 999, "99.990000": 8999}})
    };
    let mean = |mean: f64| serde_json::json!({"max": 9100, "mean": mean, "N": 1000});
    let direction = |ios: u64| {
        serde_json::json!({"io_bytes": ios * 4096, "total_ios": ios, "runtime": 2000,
            "clat_ns": times(80.0), "lat_ns": mean(85.0)})
    };
    let nothing = serde_json::json!({"io_bytes": 0, "total_ios": 0, "runtime": 0});
    // Some tell no number of flushes but in their times.
    let second = |flushes: u64, told: u64| {
        let mut times = times(50.0);
        times["N"] = flushes.into();
        serde_json::json!({"jobname": "b", "groupid": 1, "error": 0, "elapsed": 5,
            "job options": {"rw": "write", "numjobs": "2", "fsync": "16", "exec_prerun": "rm x"},
            "read": nothing, "write": direction(500), "trim": nothing,
            "sync": {"total_ios": told, "lat_ns": times}})
    };
    serde_json::json!({"fio version": "fio-3.33", "timestamp_ms": 1_795_403_135_000_i64,
        "global options": {"bs": "4k", "runtime": "2", "filename": "/dev/nvme0n1"},
        "jobs": [
            {"jobname": "a", "groupid": 0, "error": 0, "elapsed": 3,
             "job options": {"rw": "randrw", "rwmixread": "70", "iodepth": "4",
                 "write_iops_log": "logs/a", "write_lat_log": "logs/a", "log_avg_msec": "1000"},
             "read": direction(1400), "write": direction(600), "trim": nothing,
             "sync": {"total_ios": 0, "lat_ns": {"max": 0, "mean": 0.0, "N": 0}}},
            second(31, 31), second(30, 0)],
        "disk_util": [{"name": "nvme0n1"}]})
}

fn import(
    dir: &Path,
    output: &serde_json::Value,
) -> Result<writecliff::RunRecord, writecliff::ImportError> {
    let json = dir.join("old.json");
    fs::write(&json, format!("note: a line before\n{output:#}\n")).expect("a temporary file");
    import_fio(&json, &Imported::default(), &dir.join("run"))
}

fn outcome(record: &writecliff::RunRecord) -> &mixed::Outcome {
    match record.outcome.as_ref() {
        Some(Outcome::Mixed(outcome)) => outcome,
        other => panic!("{other:?}"),
    }
}

/// fio names the disk beneath the files of a directory, and the ends of its buckets as percentiles.
#[test]
fn files_are_no_block_device_and_nothing_is_longer_than_the_longest() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = output();
    told["global options"] = serde_json::json!({"bs": "4k", "directory": "/srv/data"});
    told["jobs"][0]["read"]["clat_ns"]["max"] = 995.into();
    let record = import(dir.path(), &told).unwrap();
    assert_eq!(
        (record.drive.kind, record.drive.address.as_str()),
        (DeviceKind::File, "a file of fio's")
    );
    let latency = outcome(&record).jobs[0].reads.unwrap().latency;
    assert_eq!(
        (latency.p99_ns, latency.p999_ns, latency.max_ns),
        (Some(990), Some(995), Some(995))
    );
}

#[test]
fn figures_are_fios_and_stay_so_whoever_reads_them() {
    let dir = tempfile::tempdir().unwrap();
    let record = import(dir.path(), &output()).unwrap();
    let jobs = &outcome(&record).jobs;
    let names: Vec<(&str, u32)> = jobs.iter().map(|job| (job.name.as_str(), job.group)).collect();
    assert_eq!(names, [("a", 0), ("b 1", 1), ("b 2", 1)]);
    let reads = jobs[0].reads.unwrap();
    assert_eq!((reads.ios, reads.iops, reads.mean_ns), (1400, 700.0, Some(80)));
    assert_eq!((reads.latency.p999_ns, reads.latency.max_ns), (Some(999), Some(9000)));
    let writes = jobs[0].writes.unwrap().latency;
    assert_eq!((writes.p99_ns, writes.p999_ns), (Some(990), None), "600 make no 99.9 %");
    assert_eq!((reads.latency.p9999_ns, jobs[1].flushes.unwrap().latency.p99_ns), (None, None));
    assert_eq!(jobs[1].flushes.unwrap().iops, 15.5);
    let flushes = jobs[2].flushes.unwrap();
    assert_eq!((flushes.ios, flushes.mean_ns), (30, Some(50)));
    assert!(jobs[0].trims.is_none() && jobs[1].reads.is_none());
    assert_eq!(record.started, "2026-11-23T03:05:30Z");
    assert_eq!(
        (record.drive.model.as_str(), record.status.clone()),
        ("/dev/nvme0n1", Status::Complete)
    );
    let program = outcome(&record).imported_from.as_ref().unwrap();
    assert!(program.without_submission && program.beside == ["exec_prerun=rm x"], "{program:?}");
    assert_eq!(record.warnings.len(), 1);
    // Nothing of that is in the seconds, and nothing makes it anew of them.
    let (again, recording) = open_anew(&dir.path().join("run")).unwrap();
    assert_eq!((again, recording.samples.len()), (record, 0));
}

#[test]
fn logs_beside_it_are_its_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a_iops.1.log"), "1000, 700, 0, 0, 0\n1000, 300, 1, 0, 0\n1600, 500, 0, 0, 0\n")
        .unwrap();
    fs::write(at("a_lat.1.log"), "1000, 80, 0, 0, 0\n1600, 90, 0, 0, 0\n").unwrap();
    fs::write(at("a_clat.1.log"), "1000, 1, 0, 0, 0\n").unwrap();
    fs::write(at("b_lat.1.log"), "1000, 1, 0, 0, 0\n").unwrap();
    import(dir.path(), &output()).unwrap();
    let (_, recording) = open(&dir.path().join("run")).unwrap();
    let told = |name| {
        let samples =
            recording.series(name).map(|s| (s.second, s.span_ns, s.ios(), s.latency_mean_ns));
        samples.collect::<Vec<_>>()
    };
    assert_eq!(told("a reads"), [(0, 1_000_000_000, 700, 80), (1, 600_000_000, 300, 90)]);
    assert_eq!(told("a writes"), [(0, 1_000_000_000, 300, 0)]);
    assert_eq!(recording.samples.len(), 3, "b asked for no log");
}

/// fio writes a log of each kind for itself: what one leaves out follows from the other where I/Os are of one size,
/// and is not told where they are not. How much of all the logs have is said.
#[test]
fn one_kind_of_log_is_enough_for_ios_of_one_size() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = output();
    told["jobs"][0]["job options"]["write_bw_log"] = "logs/a".into();
    told["jobs"][0]["job options"].as_object_mut().unwrap().remove("write_iops_log");
    // 1,400 reads of 4 KiB and 600 writes, of which the log has 90 %.
    fs::write(
        dir.path().join("a_bw.1.log"),
        "1000, 2520, 0, 0, 0\n2000, 2520, 0, 0, 0\n1000, 1080, 1, 0, 0\n2000, 1080, 1, 0, 0\n",
    )
    .unwrap();
    let seconds = |told: &serde_json::Value, out: &str| {
        fs::create_dir_all(dir.path().join(out)).unwrap();
        fs::copy(dir.path().join("a_bw.1.log"), dir.path().join(out).join("a_bw.1.log")).unwrap();
        let record = import(&dir.path().join(out), told).unwrap();
        let (_, recording) = open(&dir.path().join(out).join("run")).unwrap();
        let ios: Vec<u64> = recording.series("a reads").map(|second| second.ios()).collect();
        let logged = outcome(&record).imported_from.as_ref().unwrap().logged_percent;
        (ios, logged, record.warnings[0].to_string())
    };
    // The log of latencies goes on for longer: what was not counted is no second.
    fs::write(dir.path().join("a_lat.1.log"), "1000, 80, 0\n2000, 80, 0\n2600, 80, 0\n").unwrap();
    let (ios, logged, said) = seconds(&told, "one");
    assert_eq!((ios, logged), (vec![630, 630], Some(90)));
    assert!(said.contains("have 90 % of the bytes"), "{said}");
    told["global options"]["bssplit"] = "4k/50:8k/50".into();
    assert_eq!(seconds(&told, "several").0, [0, 0]);
}

#[test]
fn the_plan_is_that_of_the_job_file() {
    let dir = tempfile::tempdir().unwrap();
    let record = import(dir.path(), &output()).unwrap();
    let text = "[global]\nbs=4k\nruntime=2\n[a]\nrw=randrw\nrwmixread=70\niodepth=4\n[b]\nstonewall\n\
                rw=write\nnumjobs=2\nfsync=16\n";
    let file = dir.path().join("jobs.fio");
    fs::write(&file, text).unwrap();
    let (plan, _) = writecliff::read_plan("mixed", &file).unwrap();
    assert_eq!(record.plan.asked(), plan.asked());
}

#[test]
fn a_job_that_was_held_back_says_by_what() {
    let dir = tempfile::tempdir().unwrap();
    let mut output = output();
    output["jobs"][0]["job options"]["rw"] = "randread".into();
    output["jobs"][0]["job options"]["rate_iops"] = "200".into();
    let both = ["jobs"; 2].into_iter().zip([1, 2]);
    both.for_each(|(jobs, at)| output[jobs][at]["job options"]["thinktime"] = "10000".into());
    let record = import(dir.path(), &output).unwrap();
    let held: Vec<Option<&str>> =
        outcome(&record).jobs.iter().map(|job| job.held.as_deref()).collect();
    let rests = Some("with 10.0 ms of rest after each");
    assert_eq!(held, [Some("200 IOPS asked for"), rests, rests]);
}

/// fio takes `[/dev/sda]` for the drive if nothing else names one; a run here has no more than one.
#[test]
fn jobs_that_are_called_after_drives_are_imported() {
    let dir = tempfile::tempdir().unwrap();
    let mut output = output();
    output["global options"].as_object_mut().unwrap().remove("filename");
    for (job, name) in [(0, "/dev/sda"), (1, "/dev/sdb"), (2, "/dev/sdb")] {
        output["jobs"][job]["jobname"] = name.into();
    }
    let record = import(dir.path(), &output).unwrap();
    let names: Vec<&str> = outcome(&record).jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["/dev/sda", "/dev/sdb 1", "/dev/sdb 2"]);
}

#[test]
fn what_is_no_result_of_fios_says_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut old = output();
    old["fio version"] = "fio-2.21".into();
    let mut idle = output();
    for job in idle["jobs"].as_array_mut().unwrap() {
        for direction in ["read", "write", "sync"] {
            job[direction]["total_ios"] = 0.into();
        }
        job["sync"]["lat_ns"]["N"] = 0.into();
    }
    let mut of_no_drive = output();
    of_no_drive["jobs"][1]["job options"]["ioengine"] = "null".into();
    for (output, word) in [
        (old, "before 3.0"),
        (of_no_drive, "ioengine=null asks no drive"),
        (idle, "no job did any I/O"),
        (serde_json::json!({"fio version": "fio-3.1"}), "missing field `jobs`"),
        (serde_json::json!("text"), "no JSON"),
    ] {
        let refused = import(dir.path(), &output).unwrap_err();
        assert!(refused.to_string().contains(word), "{refused}");
        assert_eq!(refused.kind(), ErrorKind::Usage);
        assert!(!dir.path().join("run").exists(), "nothing is left behind");
    }
    fs::write(dir.path().join("a_iops.1.log"), "1000, 700, 0\nwhat\n").unwrap();
    let refused = import(dir.path(), &output()).unwrap_err().to_string();
    assert!(refused.contains("a_iops.1.log:2:"), "{refused}");
    let refused =
        import_fio(dir.path(), &Imported::default(), &dir.path().join("run")).unwrap_err();
    assert!(refused.to_string().contains("no file"), "{refused}");
    let mut failed = output();
    failed["jobs"][0]["error"] = 5.into();
    fs::remove_file(dir.path().join("a_iops.1.log")).unwrap();
    let record = import(dir.path(), &failed).unwrap();
    assert!(
        matches!(record.status, Status::Failed { error } if error.contains("'a' failed with error 5"))
    );
}

/// fio itself, with a line for every I/O in its logs: totals and seconds agree.
#[test]
fn what_fio_prints_today_is_read_with_its_logs() {
    let dir = tempfile::tempdir().unwrap();
    let mut fio = std::process::Command::new("fio");
    fio.current_dir(dir.path()).args(["--name=x", "--filename=file", "--size=1m", "--bs=4k"]);
    fio.args(["--rw=randrw", "--output-format=json+", "--output=old.json", "--write_lat_log=x"]);
    let Ok(status) = fio.status() else {
        println!("SKIPPED: fio is not installed");
        return;
    };
    assert!(status.success());
    let known = Imported { model: Some("Test drive".to_owned()), ..Imported::default() };
    let record = import_fio(&dir.path().join("old.json"), &known, &dir.path().join("run")).unwrap();
    assert_eq!(record.drive.model, "Test drive");
    let job = &outcome(&record).jobs[0];
    let (reads, writes) = (job.reads.unwrap(), job.writes.unwrap());
    assert_eq!((reads.bytes + writes.bytes).0, 1 << 20);
    assert!(reads.latency.p99_ns >= reads.latency.p50_ns && reads.latency.p50_ns > Some(0));
    let (_, recording) = open(&dir.path().join("run")).unwrap();
    let in_seconds =
        |name| recording.series(name).map(writecliff::measure::Sample::ios).sum::<u64>();
    assert_eq!((in_seconds("x reads"), in_seconds("x writes")), (reads.ios, writes.ios));
}
