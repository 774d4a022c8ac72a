//! The catalogue beside published figures, with and without what it was fitted to.
use writecliff::check::{Catalogue, LeftOut, compare_without};
use writecliff::profile;
use writecliff::suite::check::{
    Accuracy, Class, Comparison, Errors, Kind, PUBLISHED, Published, Role, compare, parse,
};

/// Two drives that were fitted by the same key to the same scenario, which is quick to measure.
const SCENARIO: &str = "as-ssd-4k-read-fresh";
const DRIVES: [&str; 2] = ["crucial-mx100-512gb", "sandisk-ultra-plus-256gb"];

fn figures() -> Vec<Published> {
    let all = parse("figures.csv", PUBLISHED).unwrap();
    let is_of = |f: &Published| DRIVES.contains(&&*f.drive) && f.scenario.name == SCENARIO;
    all.into_iter().filter(is_of).collect()
}

fn errors(compared: &[Comparison]) -> Vec<f64> {
    compared.iter().map(|comparison| comparison.error_factor).collect()
}

#[test]
fn what_was_fitted_is_met_and_without_it_a_drive_has_its_relatives_values() {
    let fitted = compare(&figures(), &Catalogue::default(), |_| {}).unwrap();
    assert_eq!(fitted.len(), 2);
    assert!(fitted.iter().all(|comparison| comparison.role == Role::Fitted));
    assert!(errors(&fitted).iter().all(|factor| *factor < 1.05), "{:?}", errors(&fitted));

    let without = compare_without(LeftOut::Test, &figures(), |_| {}).unwrap();
    assert_eq!(without.len(), 2);
    assert!(without.iter().all(|comparison| comparison.role == Role::Predicted));
    for (with, without) in fitted.iter().zip(&without) {
        assert_eq!(with.figure, without.figure);
        assert!(with.model != without.model, "{}", with.figure.drive);
    }
}

#[test]
fn relatives_are_those_of_the_catalogue_whichever_drives_are_compared() {
    let of_one: Vec<_> = figures().into_iter().filter(|f| f.drive == DRIVES[0]).collect();
    let alone = compare_without(LeftOut::Test, &of_one, |_| {}).unwrap();
    let both = compare_without(LeftOut::Test, &figures(), |_| {}).unwrap();
    assert_eq!(
        alone,
        both.iter().filter(|c| c.figure.drive == DRIVES[0]).cloned().collect::<Vec<_>>()
    );
    assert_eq!(alone.len(), 1);
}

#[test]
fn a_drive_left_out_is_compared_in_all_that_was_measured_of_it() {
    let all = parse("figures.csv", PUBLISHED).unwrap();
    let quick = ["as-ssd-4k-read-fresh", "as-ssd-4k-write-fresh", "as-ssd-sequential-read-fresh"];
    let is_of = |f: &Published| DRIVES.contains(&&*f.drive) && quick.contains(&f.scenario.name);
    let figures: Vec<_> = all.into_iter().filter(is_of).collect();
    let without = compare_without(LeftOut::Drive, &figures, |_| {}).unwrap();
    // What was set by hand to a figure stays, and the figure is no test of it.
    let by_hand = figures.iter().filter(|figure| figure.kind == Kind::Fitted).count();
    assert!(by_hand > 0, "no drive here has one");
    assert_eq!(without.len(), figures.len() - by_hand);
    assert!(without.iter().all(|comparison| comparison.role == Role::Predicted));
}

/// Of the smallest drive; of all at night.
#[test]
fn ratings_are_met() {
    let is_night = std::env::var_os("WRITECLIFF_NIGHTLY").is_some();
    let is_small = |drive: &str| profile(drive).unwrap().identity().capacity.0 < 40_000_000_000;
    let all = parse("figures.csv", PUBLISHED).unwrap();
    let is_asked = |f: &Published| f.kind == Kind::Rating && (is_night || is_small(&f.drive));
    let figures: Vec<_> = all.into_iter().filter(is_asked).collect();
    assert!(figures.len() >= 3, "{}", figures.len());
    let compared = compare(&figures, &Catalogue::default(), |_| {}).unwrap();
    let missed: Vec<_> = compared.iter().filter(|comparison| comparison.fails()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// What docs/model.md says of predictions is what the model gives.
#[test]
fn predictions_are_as_good_as_the_docs_say() {
    if std::env::var_os("WRITECLIFF_NIGHTLY").is_none() {
        return;
    }
    let figures = parse("figures.csv", PUBLISHED).unwrap();
    let compared = compare(&figures, &Catalogue::default(), |_| {}).unwrap();
    let accuracy = Accuracy::of(&compared);
    for (class, median, p90) in BOUNDS {
        let is_it = |e: &&Errors| e.role == Role::Predicted && e.class == Some(class);
        let errors = accuracy.errors.iter().find(is_it).unwrap();
        assert!(errors.median <= median && errors.p90 <= p90, "{errors:?}");
    }
    let orders = &accuracy.rank_orders;
    let right = orders.iter().filter(|order| order.wrong == 0).count();
    assert!(right * 5 >= orders.len() * 4, "{right} orders of {} are right", orders.len());
}

/// Error factors of predictions: the median, and what nine in ten are not above.
const BOUNDS: [(Class, f64, f64); 3] =
    [(Class::Rate, 1.1, 1.5), (Class::Used, 1.3, 2.5), (Class::Latency, 1.2, 1.8)];
