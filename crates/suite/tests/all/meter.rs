//! A meter's log changes what a run concludes.
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, Nanos};
use writecliff_measure::MeterOptions;
use writecliff_suite::{
    AddMeterError, MethodWarning, Outcome, Plan, PowerSource, RunOptions, RunRecord, Warning,
    add_meter, open, power, run,
};

const SECONDS: u64 = 10;

/// A run of the power test on a drive that does not tell what it draws.
fn power_run(path: &Path) -> RunRecord {
    let mut drive = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_millis(1));
    let part = Nanos::from_secs(SECONDS);
    let plan = power::Plan { idle: part, load: part, settle: part, ..power::Plan::default() };
    let plan = Plan::Power(plan);
    let options = RunOptions::default();
    run(&plan, &mut drive, path, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Makes a recording believe that its drive was a real one.
fn call_it_real(path: &Path) {
    let file = path.join("run.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"simulated\"", "\"block-device\"", 1)).unwrap();
}

/// A reading a second: 1 W at rest, 3 W in the seconds of a load.
fn log(record: &RunRecord) -> String {
    let mut log = "elapsed,watts\n".to_owned();
    for phase in &record.phases {
        let watts =
            if phase.name.ends_with("write") && !phase.name.starts_with("after") { 3 } else { 1 };
        for second in 0..SECONDS {
            let middle = phase.start.as_secs_f64() + second as f64 + 0.5;
            log.push_str(&format!("{middle},{watts}\n"));
        }
    }
    log
}

#[test]
fn with_a_meter_s_log_the_power_test_has_its_answer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let before = power_run(&path);
    assert_eq!(before.outcome, None);
    assert!(
        before.warnings.contains(&Warning::Method(MethodWarning::NoPower)),
        "{:?}",
        before.warnings
    );
    call_it_real(&path);
    let kept = open(&path).unwrap().0.warnings.len() - 1;

    let options = MeterOptions::default();
    for _ in 0..2 {
        let metered = add_meter(&path, log(&before).as_bytes(), &options).unwrap();
        assert_eq!(metered.with_power, metered.samples);
        let (record, _) = open(&path).unwrap();
        assert_eq!(record, metered.record);
        assert_eq!(record.power_source, PowerSource::Meter(options));
        assert!(
            !record.warnings.contains(&Warning::Method(MethodWarning::NoPower)),
            "{:?}",
            record.warnings
        );
        assert_eq!(record.warnings.len(), kept);
        let Some(Outcome::Power(outcome)) = &record.outcome else { panic!("no outcome") };
        let means: Vec<f64> = outcome.phases.iter().map(|phase| phase.mean).collect();
        assert_eq!(means, [1.0, 3.0, 1.0, 3.0, 1.0]);
    }
}

#[test]
fn a_log_that_does_not_do_leaves_the_run_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let record = power_run(&path);
    let add = |text: &str| add_meter(&path, text.as_bytes(), &MeterOptions::default());
    let files = || ["run.json", "series.parquet"].map(|file| fs::read(path.join(file)).unwrap());
    assert!(matches!(add(&log(&record)), Err(AddMeterError::Simulated { .. })));
    call_it_real(&path);
    let was = files();
    for wrong in ["elapsed,watts\n900,1\n", "elapsed,watts\n0,1\n1,?\n", "when,watts\n0,1\n"] {
        assert!(matches!(add(wrong), Err(AddMeterError::Meter(_))), "{wrong}");
        assert_eq!(files(), was, "{wrong}");
    }
}
