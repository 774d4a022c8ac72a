//! How much a page weighs: every second of whole reviews, in what a phone loads and shows at once.
use crate::drives;

use std::io::Write;

use drives::{four_of, page, usual_review, whole_review};
use flate2::Compression;
use flate2::write::GzEncoder;

fn gzipped(text: &str) -> usize {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap().len()
}

fn assert_light(html: &str, megabytes: f64, megabytes_packed: f64, nodes_max: usize) {
    let (bytes, packed) = (html.len() as f64 / 1e6, gzipped(html) as f64 / 1e6);
    assert!(bytes <= megabytes, "{bytes:.2} MB");
    assert!(packed <= megabytes_packed, "{packed:.2} MB packed");
    let nodes = html.matches('<').count() - html.matches("</").count();
    assert!(nodes < nodes_max, "{nodes} nodes");
}

#[test]
fn a_review_and_a_comparison_of_four_are_light() {
    let dir = tempfile::tempdir().unwrap();
    let one = usual_review(dir.path());
    assert_light(&page(std::slice::from_ref(&one), &dir.path().join("one")), 1.5, 0.6, 15_000);
    let four = four_of(&one);
    assert_light(&page(&four, &dir.path().join("four")), 2.0, 1.0, 15_000);
}

#[test]
fn every_test_on_one_page_is_not_twice_as_heavy() {
    let dir = tempfile::tempdir().unwrap();
    let one = whole_review(dir.path());
    assert_light(&page(std::slice::from_ref(&one), &dir.path().join("one")), 3.0, 1.0, 30_000);
}
