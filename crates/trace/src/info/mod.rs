//! What a trace is like: the figures by which the documents describe theirs.

mod sequential;

pub use sequential::SequentialDetector;
