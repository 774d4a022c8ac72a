//! Ten thousand results: how long until they are pages, until Chromium shows the first one from a
//! disk, and until it shows another ranking.
#![allow(clippy::unwrap_used)]

#[path = "../../report/tests/all/browser/mod.rs"]
mod browser;
#[path = "../tests/all/made/mod.rs"]
mod made;

use std::cell::Cell;

use browser::{Browser, chromium};
use divan::Bencher;
use made::{Cliffs, bench};
use writecliff_bench::{Audience, Site, export};

const DRIVES: usize = 500;
const SEEDS: usize = 20;

const SHOWN: &str = "document.querySelector('main')?.getAttribute('aria-busy') === 'false' \
                     && document.querySelectorAll('.ranks li').length > 0";

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn pages_of_ten_thousand_results(bencher: Bencher<'_, '_>) {
    let bench = bench(DRIVES, SEEDS);
    bencher.bench_local(|| Site::new(&bench, Audience::Everybody));
}

/// From the address to a ranking of all drives.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn first_page_of_bench(bencher: Bencher<'_, '_>) {
    with_pages(|browser, address| {
        bencher.bench_local(|| {
            browser.go(address);
            browser.wait_for(SHOWN);
        });
    });
}

/// From a choice of another figure to its ranking.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn other_ranking(bencher: Bencher<'_, '_>) {
    with_pages(|browser, address| {
        browser.go(address);
        browser.wait_for(SHOWN);
        let turn = Cell::new(0);
        bencher.bench_local(|| {
            let figure = ["consistency.fresh", "consistency.longest-write"][turn.get() % 2];
            turn.set(turn.get() + 1);
            browser.evaluate(&format!("location.hash = '#ranking?figure={figure}'"));
            browser.wait_for(&format!(
                "{SHOWN} && document.title.startsWith('{}')",
                if figure.ends_with("fresh") { "Fresh" } else { "Longest" }
            ));
        });
    });
}

fn with_pages(measure: impl FnOnce(&mut Browser, &str)) {
    let Some(chromium) = chromium() else { return };
    let directory = tempfile::tempdir().unwrap();
    let done = export(&bench(DRIVES, SEEDS), &Cliffs, directory.path()).unwrap();
    let mut browser = Browser::start(&chromium);
    browser.resize(1440);
    measure(&mut browser, &format!("file://{}", done.page.display()));
}
