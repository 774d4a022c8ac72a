//! Where results go: files that are whole or absent, and never a block device.
//!
//! One mistyped name destroys somebody's data, so what is written besides the drive under test is
//! written through here. [`WholeFile`] takes its name when it is finished; [`write_text`] is that for
//! a text at hand; [`send_text`] also serves pipes, terminals and /dev/null; [`check_directory`]
//! refuses a place below a device before anything is done. Left out: what grows second by second
//! while a test runs (the journals of the `measure` crate), which only new files are used for.

mod block_device;
mod error;
mod text;
mod whole;

pub use block_device::{check_directory, check_file};
pub use error::OutputError;
pub use text::{send_text, write_bytes, write_text};
pub use whole::{Existing, WholeFile, is_unfinished};
