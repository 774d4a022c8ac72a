//! What stands beside each other, and what does not.
use crate::common;

use common::{Place, own};
use writecliff::Overrides;
use writecliff::device::Nanos;
use writecliff_bench::catalogue::shipped;
use writecliff_bench::{BenchError, Better, Chosen, Comparison, Kind, Library};

#[test]
fn runs_under_the_same_conditions_stand_figure_by_figure() {
    let place = Place::new();
    let (a, b) = (place.consistency("a", 1), place.consistency("b", 2));
    let bench = Library::of(&[a.clone(), b.clone()]).unwrap().bench().unwrap();
    let [a, b] = [a, b].map(|path| bench.find(path.to_str().unwrap()).unwrap());
    let comparison = Comparison::of(&bench, &a, &b).unwrap();
    let run = own(&bench)[0];
    assert_eq!(comparison.rows.len(), run.figures.len());
    let lines = comparison.csv().lines().count();
    assert_eq!(lines, comparison.rows.len() + 1);
    assert!(comparison.markdown().contains("| steady mean |"), "{}", comparison.markdown());
    assert!(comparison.text().contains("steady floor"), "{}", comparison.text());
}

#[test]
fn what_is_too_short_is_told_and_never_the_better_one() {
    let place = Place::new();
    let (a, b) = (place.consistency("a", 1), place.consistency("b", 2));
    let bench = Library::of(&[a.clone(), b.clone()]).unwrap().bench().unwrap();
    let [a, b] = [a, b].map(|path| bench.find(path.to_str().unwrap()).unwrap());
    let comparison = Comparison::of(&bench, &a, &b).unwrap();
    for row in &comparison.rows {
        assert!(row.better.is_none() && row.undecided.is_some(), "{row:?}");
        // The fill was over by then.
        let is_fill = row.metric == "consistency.sequential-fill";
        assert_eq!((row.a.doubted, row.b.doubted), (!is_fill, !is_fill), "{row:?}");
    }
    for text in [comparison.text(), comparison.markdown()] {
        assert!(text.contains("Doubt about A: consistency: The run lasted"), "{text}");
        assert!(!text.contains("A ×") && !text.contains("B ×"), "{text}");
    }
    let drive = &bench.drives[own(&bench)[0].drive].id;
    let shown = bench.details(&bench.find(drive).unwrap()).text();
    assert!(shown.contains("Doubt: The run lasted"), "{shown}");
    let csv = comparison.csv();
    assert!(csv.lines().next().unwrap().ends_with("b_lowest,b_highest,b_runs,b_doubted"), "{csv}");
    let doubted = csv.lines().skip(1).filter(|line| !line.contains("sequential fill"));
    assert!(
        doubted.clone().count() > 10 && doubted.into_iter().all(|line| line.ends_with(",1,yes")),
        "{csv}"
    );
}

#[test]
fn drives_are_compared_with_the_doubts_of_their_runs_and_without_wins_by_nothing() {
    let bench = Library::of(&[]).unwrap().bench().unwrap();
    let doubtful =
        shipped().unwrap().drives().iter().map(|drive| bench.find(&drive.sheet.id).unwrap());
    let doubtful = doubtful.filter(|chosen| {
        let Chosen::Drive(drive) = chosen else { return false };
        let runs = bench.runs.iter().filter(|run| run.drive == *drive);
        runs.flat_map(|run| &run.doubts).any(|doubt| doubt.contains("fast buffer"))
    });
    let a = bench.find("samsung-840-evo-250gb").unwrap();
    let b = doubtful.into_iter().next().expect("a drive whose figures are its buffer's");
    let comparison = Comparison::of(&bench, &a, &b).unwrap();
    let decided = comparison.rows.iter().filter(|row| row.better.is_some()).count();
    assert!(decided > 10, "{decided} of {}", comparison.rows.len());
    for row in comparison.rows.iter().filter(|row| row.kind != Kind::Published) {
        let winner = match row.better {
            Some(Better::A) => &row.a,
            Some(Better::B) => &row.b,
            None => continue,
        };
        assert!(!winner.doubted, "{row:?}");
        assert!(row.ratio.is_none_or(|ratio| ratio > 1.05), "single runs: {row:?}");
    }
    for (side, chosen) in [(&comparison.a, &a), (&comparison.b, &b)] {
        let Chosen::Drive(drive) = chosen else { panic!("{chosen:?}") };
        let runs = bench.runs.iter().filter(|run| run.drive == *drive);
        for doubt in runs.flat_map(|run| &run.doubts) {
            assert!(side.doubts.iter().any(|told| told.ends_with(doubt)), "{doubt}: {side:?}");
        }
    }
    assert!(!comparison.b.doubts.is_empty(), "{:?}", comparison.b);
}

#[test]
fn other_plans_are_refused_with_what_differs() {
    let place = Place::new();
    let longer = Overrides { duration: Some(Nanos::from_secs(9)), ..Overrides::default() };
    let plan = writecliff::plan("consistency").unwrap().with(&longer).unwrap();
    let (a, b) = (place.consistency("a", 1), place.run("b", &plan));
    let bench = Library::of(&[a.clone(), b.clone()]).unwrap().bench().unwrap();
    let [a, b] = [a, b].map(|path| bench.find(path.to_str().unwrap()).unwrap());
    let refused = Comparison::of(&bench, &a, &b).unwrap_err();
    let text = refused.to_string();
    assert!(matches!(refused, BenchError::NothingInCommon { .. }));
    assert!(text.contains("duration 5s against 9s"), "{text}");
}

#[test]
fn names_are_found_by_any_part_that_only_one_has() {
    let place = Place::new();
    let bench = Library::of(&[place.consistency("a", 1)]).unwrap().bench().unwrap();
    let drive = |name: &str| match bench.find(name).unwrap() {
        Chosen::Drive(drive) => bench.drives[drive].id.clone(),
        Chosen::Runs(runs) => panic!("{name} is {runs:?}"),
    };
    let evo = "samsung-ssd-840-evo-250gb";
    for name in ["samsung-840-evo-250gb", "sim:samsung-840-evo-250gb", evo] {
        assert_eq!(drive(name), evo, "{name}");
    }
    assert_eq!(drive("s3700 800"), "intel-ssd-dc-s3700-800gb");
    assert_eq!(drive("840-evo-250gb"), evo, "and not those with more behind it");
    let unknown = bench.find("samsung-840-evo-255gb").unwrap_err().to_string();
    assert!(unknown.contains("did you mean samsung-840-evo-250gb"), "{unknown}");
    let several = bench.find("m500").unwrap_err().to_string();
    assert!(several.contains("crucial-m500-120gb"), "{several}");
    let run = &own(&bench)[0].id;
    assert!(matches!(bench.find(run), Ok(Chosen::Runs(runs)) if runs.len() == 1));
}
