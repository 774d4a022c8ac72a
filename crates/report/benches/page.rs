//! How long Chromium takes to show a page from disk, and to answer a click.
#![allow(clippy::unwrap_used)]

#[path = "../tests/all/browser/mod.rs"]
mod browser;
#[path = "../tests/all/drives/mod.rs"]
mod drives;

use browser::{Browser, chromium};
use divan::Bencher;
use drives::{four_of, page, whole_review};
use writecliff_report::PAGE;

/// Drives on the page.
const DRIVES: [usize; 2] = [1, 4];
/// Hides a spare area or a drive, or shows it again, and lays the page out.
const CLICK: &str = "(() => { const all = document.querySelectorAll('button[data-value=\"1\"]'); \
                     all[0].click(); return document.body.offsetHeight; })()";

fn main() {
    divan::main();
}

/// From the address to everything being laid out.
#[divan::bench(args = DRIVES, sample_count = 10, sample_size = 1)]
fn opening(bencher: Bencher<'_, '_>, drives: usize) {
    with_page(drives, |browser, address| {
        bencher.bench_local(|| {
            browser.go(address);
            browser.evaluate("document.body.offsetHeight")
        });
    });
}

#[divan::bench(args = DRIVES, sample_count = 20, sample_size = 1)]
fn click(bencher: Bencher<'_, '_>, drives: usize) {
    with_page(drives, |browser, address| {
        browser.go(address);
        bencher.bench_local(|| browser.evaluate(CLICK));
    });
}

/// A page of whole reviews, in a browser that has shown nothing yet.
fn with_page(drives: usize, measure: impl FnOnce(&mut Browser, &str)) {
    let Some(chromium) = chromium() else { return };
    let directory = tempfile::tempdir().unwrap();
    let one = whole_review(directory.path());
    let subjects = if drives == 1 { vec![one] } else { four_of(&one) };
    let out = directory.path().join("page");
    page(&subjects, &out);
    let address = format!("file://{}", out.join(PAGE).display());
    let mut browser = Browser::start(&chromium);
    browser.resize(1440);
    measure(&mut browser, &address);
}
