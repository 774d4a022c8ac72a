//! What a client sees of a drive that takes no time: less than that no export can show.
//!
//! It is measured before a drive is served, over the same kind of socket and by the same threads, with a
//! [drive that is none](crate::null) and a client in this process.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use writecliff_device::{Bytes, Io, Nanos};
use writecliff_measure::LatencyHistogram;
use writecliff_suite::Floor;

use crate::caller::Caller;
use crate::client::Stream;
use crate::clock::Speed;
use crate::connection;
use crate::drive::{Drive, Flaws};
use crate::error::ExportError;
use crate::live::Live;
use crate::null::Null;
use crate::store::Store;

/// Threads have to have run before they are as quick as they will be.
const WARM_UP: usize = 100;
const READS: usize = 2000;
/// A machine that takes longer is busy, and its first reads tell so.
const TIME_MAX: Duration = Duration::from_millis(200);
const PAGE: Bytes = Bytes::from_kib(4);

/// Reads of 4 KiB, one at a time.
pub(crate) fn measure(by_tcp: bool) -> Result<Floor, ExportError> {
    let store = Store::in_memory(Null::CAPACITY)?;
    let drive = Drive::new(Box::new(Null::new()), store, Flaws::default());
    let live = Arc::new(Live::new("null".to_owned(), drive, Speed::REAL, None, None));
    let (ours, theirs) = if by_tcp { tcp()? } else { unix()? };
    let pacer = live.begin()?;
    let serving = thread::Builder::new().name("floor".to_owned()).spawn({
        let live = Arc::clone(&live);
        move || connection::serve(theirs, &[live])
    })?;
    let measured = Caller::over(ours, "null").and_then(|mut caller| times(&mut caller));
    live.end(Duration::ZERO)?;
    for thread in pacer.into_iter().chain([serving]) {
        // One that panicked has told why.
        let _ = thread.join();
    }
    Ok(measured?)
}

fn unix() -> io::Result<(Stream, Stream)> {
    let (ours, theirs) = UnixStream::pair()?;
    Ok((Stream::Unix(ours), Stream::Unix(theirs)))
}

fn tcp() -> io::Result<(Stream, Stream)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let ours = TcpStream::connect(listener.local_addr()?)?;
    let (theirs, _) = listener.accept()?;
    ours.set_nodelay(true)?;
    theirs.set_nodelay(true)?;
    Ok((Stream::Tcp(ours), Stream::Tcp(theirs)))
}

fn times(caller: &mut Caller) -> io::Result<Floor> {
    let read = Io::read(Bytes::ZERO, PAGE);
    caller.run(std::iter::repeat_n(read, WARM_UP), 1)?;
    let (mut times, mut sum) = (LatencyHistogram::default(), Duration::ZERO);
    for _ in 0..READS {
        let begun = Instant::now();
        caller.run(std::iter::once(read), 1)?;
        let took = begun.elapsed();
        sum += took;
        times.record(Nanos(took.as_nanos() as u64));
        if sum > TIME_MAX {
            break;
        }
    }
    Ok(Floor {
        mean_ns: sum.as_nanos() as u64 / times.count().max(1),
        p50_ns: times.percentile(50.0).0,
        p99_ns: times.percentile(99.0).0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_no_time_is_answered_in_some_by_either_kind_of_socket() {
        for by_tcp in [false, true] {
            let floor = measure(by_tcp).unwrap();
            assert!(floor.p50_ns > 1000 && floor.p50_ns <= floor.p99_ns, "{floor:?}");
        }
    }
}
