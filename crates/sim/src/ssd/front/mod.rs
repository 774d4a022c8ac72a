//! What lies before the map and the array: the queue, the host's cache, TRIMs not done yet, what is
//! fetched ahead, the write buffer, what data shrink to, what is hot of them, the frontiers where pages are gathered
//! into programs, and the rounds in which what is there is made durable.

mod frontier;
mod host_cache;
mod in_flight;
mod read_ahead;
mod reduction;
mod rounds;
mod streams;
mod temperature;
mod trims;
mod volatile;
mod write_buffer;

pub(crate) use frontier::{Frontier, Program, Skipped};
pub(crate) use host_cache::HostCacheLines;
pub(crate) use in_flight::InFlight;
pub(crate) use read_ahead::ReadAhead;
pub(crate) use reduction::Reducer;
pub(crate) use rounds::Rounds;
pub(crate) use streams::{Stream, Streams};
pub(crate) use temperature::Temperature;
pub(crate) use trims::Trims;
pub(crate) use volatile::{LostWrite, Volatile};
pub(crate) use write_buffer::BufferSlots;
