//! How much a page weighs: every second of whole reviews, in what a phone loads and shows at once.
#![allow(clippy::unwrap_used)]

mod drives;

use std::io::Write;

use drives::{four_of, page, whole_review};
use flate2::Compression;
use flate2::write::GzEncoder;

const NODES_MAX: usize = 15_000;

fn gzipped(text: &str) -> usize {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap().len()
}

fn assert_light(html: &str, megabytes: f64, megabytes_packed: f64) {
    let (bytes, packed) = (html.len() as f64 / 1e6, gzipped(html) as f64 / 1e6);
    assert!(bytes <= megabytes, "{bytes:.2} MB");
    assert!(packed <= megabytes_packed, "{packed:.2} MB packed");
    let nodes = html.matches('<').count() - html.matches("</").count();
    assert!(nodes < NODES_MAX, "{nodes} nodes");
}

#[test]
fn a_review_and_a_comparison_of_four_are_light() {
    let dir = tempfile::tempdir().unwrap();
    let one = whole_review(dir.path());
    assert_light(&page(std::slice::from_ref(&one), &dir.path().join("one")), 1.5, 0.6);
    let four = four_of(&one);
    assert_light(&page(&four, &dir.path().join("four")), 2.0, 1.0);
}
