//! The bytes that are written to real drives, made faster than any drive takes them.
//!
//! [`ContentStream`] makes data that a drive can compress and recognise as far as asked; [`Stamper`]
//! makes blocks that say what they are and where they belong, and examines what came back.

mod stamper;
mod stream;

pub use stamper::Stamper;
pub use stream::{ContentStream, SECTOR};
