//! Reading and working at once.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use crate::{ReadError, TraceIo};

/// Operations handed over at a time: few enough to stay in the processor's cache.
const CHUNK: usize = 2048;
/// Chunks that the reader may be ahead.
const CHUNKS_AHEAD: usize = 4;

/// Operations, and the error that came behind them.
#[derive(Debug, Default)]
struct Chunk {
    ios: Vec<TraceIo>,
    error: Option<ReadError>,
}

/// Lets `consume` take what `ios` gives while a thread of its own reads ahead of it, some ten
/// thousand operations at most. What was read and not taken is lost.
pub fn read_ahead<T>(
    ios: &mut (impl Iterator<Item = Result<TraceIo, ReadError>> + Send),
    consume: impl FnOnce(ReadAhead) -> T,
) -> T {
    let (full, filled) = sync_channel(CHUNKS_AHEAD);
    let (empty, emptied) = channel();
    thread::scope(|scope| {
        scope.spawn(move || read(ios, &full, &emptied));
        consume(ReadAhead { filled, empty, chunk: Chunk::default(), next: 0 })
    })
}

/// Until the end, or until nobody takes any more.
fn read(
    ios: &mut dyn Iterator<Item = Result<TraceIo, ReadError>>,
    full: &SyncSender<Chunk>,
    emptied: &Receiver<Vec<TraceIo>>,
) {
    let mut is_over = false;
    while !is_over {
        let mut chunk = Chunk { ios: emptied.try_recv().unwrap_or_default(), error: None };
        while chunk.ios.len() < CHUNK && chunk.error.is_none() && !is_over {
            match ios.next() {
                Some(Ok(io)) => chunk.ios.push(io),
                Some(Err(error)) => chunk.error = Some(error),
                None => is_over = true,
            }
        }
        if full.send(chunk).is_err() {
            return;
        }
    }
}

/// What [`read_ahead`] gives: the same operations and errors in the same order.
#[derive(Debug)]
pub struct ReadAhead {
    filled: Receiver<Chunk>,
    empty: Sender<Vec<TraceIo>>,
    chunk: Chunk,
    next: usize,
}

impl Iterator for ReadAhead {
    type Item = Result<TraceIo, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.next == self.chunk.ios.len() {
            if let Some(error) = self.chunk.error.take() {
                return Some(Err(error));
            }
            let mut used = std::mem::replace(&mut self.chunk, self.filled.recv().ok()?).ios;
            used.clear();
            // At the end there is nobody to fill it again.
            let _ = self.empty.send(used);
            self.next = 0;
        }
        self.next += 1;
        Some(Ok(self.chunk.ios[self.next - 1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::{Bytes, Nanos, Operation};

    fn io(index: u64) -> TraceIo {
        TraceIo::new(Nanos(index), Operation::Read, Bytes(index), Bytes(1))
    }

    #[test]
    fn everything_comes_through_in_its_order() {
        for count in [0, 1, CHUNK as u64 - 1, CHUNK as u64, 5 * CHUNK as u64, 100_001] {
            let mut ios = (0..count).map(|index| Ok(io(index)));
            let taken: Vec<u64> =
                read_ahead(&mut ios, |ios| ios.map(|io| io.unwrap().issued.0).collect());
            assert!(taken.into_iter().eq(0..count), "{count}");
        }
    }

    #[test]
    fn errors_stay_where_they_are() {
        let broken = || ReadError::Format { path: "a".into(), reason: "broken".into() };
        let mut ios =
            (0..10_000).map(|index| if index % 3000 == 7 { Err(broken()) } else { Ok(io(index)) });
        let is_error: Vec<bool> = read_ahead(&mut ios, |ios| ios.map(|io| io.is_err()).collect());
        assert!((0..10_000).map(|index| index % 3000 == 7).eq(is_error));
    }

    #[test]
    fn who_takes_no_more_ends_the_reading() {
        let mut ios = (0u64..).map(|index| Ok(io(index)));
        let first = read_ahead(&mut ios, |mut ios| ios.next());
        assert_eq!(first.unwrap().unwrap(), io(0));
    }
}
