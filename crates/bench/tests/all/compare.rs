//! What stands beside each other, and what does not.
use crate::common;

use common::{Place, own};
use writecliff::Overrides;
use writecliff::device::Nanos;
use writecliff::suite::Good;
use writecliff_bench::{BenchError, Better, Chosen, Comparison, Library};

#[test]
fn runs_under_the_same_conditions_stand_figure_by_figure() {
    let place = Place::new();
    let (a, b) = (place.consistency("a", 1), place.consistency("b", 2));
    let bench = Library::of(&[a.clone(), b.clone()]).unwrap().bench().unwrap();
    let [a, b] = [a, b].map(|path| bench.find(path.to_str().unwrap()).unwrap());
    let comparison = Comparison::of(&bench, &a, &b).unwrap();
    let run = own(&bench)[0];
    assert_eq!(comparison.rows.len(), run.figures.len());
    for row in &comparison.rows {
        let is_a_better = match row.good {
            Good::AtLeast => row.a.median > row.b.median,
            Good::AtMost => row.a.median < row.b.median,
        };
        let expected = match (row.a.median == row.b.median, is_a_better) {
            (true, _) => None,
            (_, true) => Some(Better::A),
            _ => Some(Better::B),
        };
        assert_eq!(row.better, expected, "{row:?}");
    }
    let lines = comparison.csv().lines().count();
    assert_eq!(lines, comparison.rows.len() + 1);
    assert!(comparison.markdown().contains("| steady mean |"), "{}", comparison.markdown());
    assert!(comparison.text().contains("steady floor"), "{}", comparison.text());
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
