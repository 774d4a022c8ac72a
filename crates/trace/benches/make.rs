//! How fast traces are made: the Destroyer's 49.8 million operations should take some ten seconds.

use divan::Bencher;
use divan::counter::ItemsCount;
use writecliff_trace::{Maker, Plan};

const IOS: usize = 1_000_000;

fn main() {
    divan::main();
}

#[divan::bench(args = ["heavy-2011", "destroyer-2013"])]
fn operations(bencher: Bencher<'_, '_>, name: &str) {
    let plan = Plan::shipped(name).expect("it ships");
    let mut maker = Maker::new(&plan, 1).expect("it is possible").cycle();
    bencher
        .counter(ItemsCount::new(IOS))
        .bench_local(|| maker.by_ref().take(IOS).map(|io| io.offset.0).fold(0, u64::wrapping_add));
}

#[divan::bench(args = ["heavy-2011", "destroyer-2013"])]
fn planning(bencher: Bencher<'_, '_>, name: &str) {
    let plan = Plan::shipped(name).expect("it ships");
    bencher.bench_local(|| Maker::new(&plan, 1));
}
