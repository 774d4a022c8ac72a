//! Where a supply's I/Os come from, drawn many at a time, by one thread or by several.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use writecliff_device::Io;
use writecliff_workload::JobIos;

/// I/Os in their order; any iterator of them is one.
pub trait Source: Send {
    /// Appends the next `most` to `to`, fewer if there are no more for now, none if it has ended.
    fn draw(&mut self, to: &mut Vec<Io>, most: usize);
}

impl<I: Iterator<Item = Io> + Send> Source for I {
    fn draw(&mut self, to: &mut Vec<Io>, most: usize) {
        to.extend(self.take(most));
    }
}

/// I/Os of a source until somebody says that it is over.
#[derive(Debug)]
pub struct Until<S> {
    source: S,
    is_over: Arc<AtomicBool>,
}

impl<S: Source> Until<S> {
    /// Those of `source` until `is_over`.
    pub fn new(source: S, is_over: Arc<AtomicBool>) -> Self {
        Self { source, is_over }
    }
}

impl<S: Source> Source for Until<S> {
    fn draw(&mut self, to: &mut Vec<Io>, most: usize) {
        if !self.is_over.load(Ordering::Relaxed) {
            self.source.draw(to, most);
        }
    }
}

/// The I/Os of a job, which draws many at once faster than one by one.
#[derive(Debug)]
pub struct OfJob(pub JobIos);

impl Source for OfJob {
    fn draw(&mut self, to: &mut Vec<Io>, most: usize) {
        self.0.append(to, most);
    }
}

/// A source that several supplies draw from: together they have its I/Os, each once, and whoever draws
/// first has the first of them.
#[derive(Clone)]
pub(crate) struct Shared<'a> {
    source: Arc<Mutex<Box<dyn Source + 'a>>>,
    /// No more than one of them has in flight, so that the order in which a drive gets them is off by
    /// no more than what is in flight together.
    at_once: usize,
}

impl<'a> Shared<'a> {
    /// Of supplies that have so many in flight each.
    pub(crate) fn new(source: Box<dyn Source + 'a>, depths: &[usize]) -> Self {
        let at_once = depths.iter().copied().max().unwrap_or(1);
        Self { source: Arc::new(Mutex::new(source)), at_once }
    }
}

impl Source for Shared<'_> {
    fn draw(&mut self, to: &mut Vec<Io>, most: usize) {
        // Who panicked while he drew has ended the run.
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        source.draw(to, most.min(self.at_once));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::Bytes;

    fn reads(count: u64) -> impl Iterator<Item = Io> + Send {
        (0..count).map(|index| Io::read(Bytes(index * 4096), Bytes(4096)))
    }

    #[test]
    fn those_who_share_a_source_have_each_io_once_and_in_order() {
        let mut first = Shared::new(Box::new(reads(10)), &[3, 2]);
        let mut second = first.clone();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        first.draw(&mut one, 64);
        second.draw(&mut other, 2);
        first.draw(&mut one, 64);
        assert_eq!(
            (one.len(), other.len()),
            (6, 2),
            "three at once, and two where two are asked for"
        );
        second.draw(&mut other, 64);
        second.draw(&mut other, 64);
        assert!(one.is_sorted_by_key(|io| io.offset) && other.is_sorted_by_key(|io| io.offset));
        one.append(&mut other);
        one.sort_by_key(|io| io.offset);
        assert!(one.into_iter().eq(reads(10)));
    }
}
