//! How fast write data is made, in GB/s, for the buffer sizes that the tests use.

use divan::counter::BytesCount;
use writecliff_content::ContentStream;
use writecliff_device::{Bytes, Content, Io};

fn main() {
    divan::main();
}

const LENGTHS: [usize; 3] = [4 << 10, 128 << 10, 4 << 20];

#[divan::bench(args = LENGTHS)]
fn incompressible(bencher: divan::Bencher<'_, '_>, length: usize) {
    fill(bencher, length, Content::INCOMPRESSIBLE);
}

#[divan::bench(args = LENGTHS)]
fn compressible(bencher: divan::Bencher<'_, '_>, length: usize) {
    fill(bencher, length, Content { compressible_percent: 50, duplicate_percent: 0 });
}

#[divan::bench(args = LENGTHS)]
fn duplicate(bencher: divan::Bencher<'_, '_>, length: usize) {
    fill(bencher, length, Content { compressible_percent: 0, duplicate_percent: 50 });
}

fn fill(bencher: divan::Bencher<'_, '_>, length: usize, content: Content) {
    let io = Io::write(Bytes::ZERO, Bytes(length as u64)).with_content(content);
    let mut stream = ContentStream::new(1);
    let mut buffer = vec![0; length];
    bencher
        .counter(BytesCount::new(length))
        .bench_local(|| stream.fill(divan::black_box(&io), divan::black_box(&mut buffer)));
}
