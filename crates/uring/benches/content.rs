//! How fast write data is made, in GB/s, for the buffer sizes that the tests use.

use divan::counter::BytesCount;
use writecliff_uring::Content;

fn main() {
    divan::main();
}

#[divan::bench(args = [4 << 10, 128 << 10, 4 << 20])]
fn fill(bencher: divan::Bencher<'_, '_>, length: usize) {
    let mut content = Content::new(1);
    let mut buffer = vec![0; length];
    bencher
        .counter(BytesCount::new(length))
        .bench_local(|| content.fill(divan::black_box(&mut buffer)));
}
