//! I/Os per second of a server that waits for nothing, over a unix socket, by a client of our own in the same
//! process. Both take processor time, and so does the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use divan::Bencher;
use divan::counter::ItemsCount;
use writecliff::DriveName;
use writecliff_device::{Bytes, Operation};
use writecliff_export::{Caller, Prepared, Server, Settings, Speed, StoreAt};
use writecliff_workload::RandomUniform;

const IOS: usize = 20_000;
const PAGE: Bytes = Bytes::from_kib(4);
const DEPTHS: [usize; 2] = [1, 32];
/// So much is read and written: little enough that memory is not what takes the time.
const SPAN: Bytes = Bytes::from_mib(32);

fn main() {
    divan::main();
}

/// A server that ends with this.
struct Served {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    directory: tempfile::TempDir,
}

impl Served {
    fn begin(drive: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let settings = Settings {
            drives: vec![("drive".to_owned(), DriveName::from(drive))],
            store: StoreAt::Memory,
            prepared: Prepared::Purged,
            seed: 1,
            speed: Speed::Free,
            trace: None,
            out: None,
            load: None,
            lying_flush: false,
            shorn_writes: false,
            socket: directory.path().join("socket"),
            listen: None,
            listen_to_all: false,
        };
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        let server = Server::open(&settings, go_on).expect("it can be served");
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = thread::spawn(move || {
            server.run(&|| is_over.load(Ordering::Relaxed)).expect("it was served");
        });
        Self { over, thread: Some(thread), directory }
    }

    /// A client of it, with all of the span written once.
    fn caller(&self) -> Caller {
        let socket = self.directory.path().join("socket");
        let mut caller = Caller::connect(&socket, "drive").expect("a server");
        let pages = (SPAN.0 / PAGE.0) as usize;
        let fill = RandomUniform::new(Operation::Write, SPAN, PAGE, 1).take(pages);
        caller.run(fill, 32).expect("served");
        caller
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn measure(bencher: Bencher<'_, '_>, drive: &str, operation: Operation, depth: usize) {
    let served = Served::begin(drive);
    let mut caller = served.caller();
    let mut seed = 1;
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        seed += 1;
        let ios = RandomUniform::new(operation, SPAN, PAGE, seed).take(IOS);
        assert_eq!(caller.run(ios, depth).expect("served"), IOS as u64);
    });
}

#[divan::bench(args = DEPTHS, sample_count = 5, sample_size = 1)]
fn export_reads(bencher: Bencher<'_, '_>, depth: usize) {
    measure(bencher, "sim:samsung-840-evo-250gb@1/64", Operation::Read, depth);
}

#[divan::bench(args = DEPTHS, sample_count = 5, sample_size = 1)]
fn export_writes(bencher: Bencher<'_, '_>, depth: usize) {
    measure(bencher, "sim:samsung-840-evo-250gb@1/64", Operation::Write, depth);
}

/// Nothing has to be kept of what such a drive held before.
#[divan::bench(args = DEPTHS, sample_count = 5, sample_size = 1)]
fn export_writes_with_capacitors(bencher: Bencher<'_, '_>, depth: usize) {
    measure(bencher, "sim:intel-dc-s3700-200gb@1/64", Operation::Write, depth);
}
