//! The array of flash: how it is cut into addresses, what each superblock holds and how worn it is,
//! and until when dies and channels are busy.

mod flash;
mod layout;
mod retries;
mod superblocks;
mod timeline;

pub(crate) use flash::{Counts, FlashArray};
pub(crate) use layout::{CellMode, Layout, Lpn, Ppa, SuperblockId};
pub(crate) use retries::Retries;
pub(crate) use superblocks::{Books, Lost, ReadOnly, State, Superblocks};
pub(crate) use timeline::{Bus, Die, Fifo, PlaneReads, Suspension};
