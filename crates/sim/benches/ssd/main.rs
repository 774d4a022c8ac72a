//! The simulated drive's own speed, one I/O after the other at a queue depth of 32, beside that of a bare map.

mod bare;

use std::ops::ControlFlow;

use bare::BareMap;
use divan::Bencher;
use divan::counter::ItemsCount;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Completion, Device, DeviceTime, Io, Purge};
use writecliff_sim::{Profile, Ssd, load};

const PAGE: Bytes = Bytes::from_kib(4);
const IOS: u64 = 200_000;
const DRIVES: [&str; 2] = ["samsung-840-evo-250gb", "samsung-840-evo-1tb"];

fn main() {
    divan::main();
}

/// Completes `count` I/Os, 32 in flight, announced in groups as the recording loop does.
fn perform(ssd: &mut Ssd, count: u64, mut next: impl FnMut() -> Io) {
    let mut done: Vec<Completion> = Vec::with_capacity(32);
    let mut ahead: Vec<Io> = Vec::with_capacity(64);
    let (mut taken, mut submitted, mut completed) = (0, 0, 0);
    while completed < count {
        let mut room = (32 - (submitted - completed)).min(count - submitted) as usize;
        while room > 0 {
            if taken == ahead.len() {
                ahead.clear();
                ahead.extend((0..64).map(|_| next()));
                ssd.announce(&ahead);
                taken = 0;
            }
            let batch = &ahead[taken..ahead.len().min(taken + room)];
            ssd.submit(batch).expect("in range");
            (taken, room) = (taken + batch.len(), room - batch.len());
            submitted += batch.len() as u64;
        }
        done.clear();
        ssd.reap(DeviceTime::MAX, &mut done).expect("simulated drives do not fail");
        completed += done.len() as u64;
    }
}

fn fill(ssd: &mut Ssd) {
    let chunk = Bytes::from_kib(128);
    let count = ssd.info().capacity.0 / chunk.0;
    let mut index = 0;
    perform(ssd, count, || {
        index += 1;
        Io::write(chunk * ((index - 1) % count), chunk)
    });
}

fn random(ssd: &Ssd) -> impl FnMut() -> Bytes + use<> {
    let pages = ssd.info().capacity.0 / PAGE.0;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    move || PAGE * (random.next_u64() % pages)
}

/// Full and overwritten until garbage collection has settled.
fn steady(name: &str) -> Ssd {
    let mut ssd = Ssd::new(load(name).ok().and_then(Profile::into_ssd).expect("ships"), name);
    fill(&mut ssd);
    let mut offset = random(&ssd);
    let settle = ssd.info().capacity.0 / PAGE.0 / 2;
    perform(&mut ssd, settle, || Io::write(offset(), PAGE));
    ssd
}

#[divan::bench(args = DRIVES, sample_count = 10, sample_size = 1)]
fn random_writes_in_steady_state(bencher: Bencher<'_, '_>, name: &str) {
    let mut ssd = steady(name);
    let mut offset = random(&ssd);
    bencher
        .counter(ItemsCount::new(IOS))
        .bench_local(|| perform(&mut ssd, IOS, || Io::write(offset(), PAGE)));
}

/// What the former cannot be quicker than.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn random_writes_of_a_bare_map(bencher: Bencher<'_, '_>) {
    let pages = 250_059_350_016 / PAGE.0;
    let mut map = BareMap::filled(pages as usize);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut write = |count: u64| {
        let mut ahead = [0; 64];
        for _ in 0..count / 64 {
            ahead.fill_with(|| (random.next_u64() % pages) as usize);
            ahead.into_iter().for_each(|page| map.write(page));
        }
    };
    write(pages / 2);
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| write(IOS));
}

#[divan::bench(args = DRIVES, sample_count = 10, sample_size = 1)]
fn random_reads(bencher: Bencher<'_, '_>, name: &str) {
    let mut ssd = Ssd::new(load(name).ok().and_then(Profile::into_ssd).expect("ships"), name);
    fill(&mut ssd);
    let mut offset = random(&ssd);
    bencher
        .counter(ItemsCount::new(IOS))
        .bench_local(|| perform(&mut ssd, IOS, || Io::read(offset(), PAGE)));
}

#[divan::bench(args = DRIVES, sample_count = 3, sample_size = 1)]
fn sequential_fill_in_pages(bencher: Bencher<'_, '_>, name: &str) {
    let mut ssd = Ssd::new(load(name).ok().and_then(Profile::into_ssd).expect("ships"), name);
    let pages = ssd.info().capacity.0 / PAGE.0;
    bencher.counter(ItemsCount::new(pages)).bench_local(|| {
        ssd.purge(Purge::SecureErase, &mut |_| ControlFlow::Continue(())).expect("listed");
        fill(&mut ssd);
    });
}
