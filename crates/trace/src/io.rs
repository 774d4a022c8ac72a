//! One operation of a trace.

use writecliff_device::{Bytes, Content, Io, Nanos, Operation};

/// Longer reads and writes are damage: no system lets them through, and what is kept of their
/// blocks would take all memory.
pub(crate) const TRANSFER_MAX: Bytes = Bytes(1 << 32);

/// One operation as it was recorded, or made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceIo {
    /// When it was given to the drive, since the trace's beginning.
    pub issued: Nanos,
    /// When the drive had done it, by the same clock; `None` if the source does not tell.
    pub completed: Option<Nanos>,
    /// What was done.
    pub operation: Operation,
    /// Where the range begins; zero for a flush.
    pub offset: Bytes,
    /// How long the range is; zero for a flush.
    pub length: Bytes,
    /// Operations in flight at its issue, itself included, so at least 1; `None` if not known.
    pub queue_depth: Option<u32>,
    /// What the data of a write are like; `None` if not known, and for all that is not a write.
    pub content: Option<Content>,
    /// Whose it is: a process, a volume, a scenario; an index into
    /// [`Header::streams`](crate::Header::streams), which may be empty.
    pub stream: u16,
}

impl TraceIo {
    /// An operation of which no more is known than this.
    pub const fn new(issued: Nanos, operation: Operation, offset: Bytes, length: Bytes) -> Self {
        let (completed, queue_depth, content) = (None, None, None);
        Self { issued, completed, operation, offset, length, queue_depth, content, stream: 0 }
    }

    /// The first byte behind its range.
    pub const fn end(&self) -> Bytes {
        Bytes(self.offset.0.saturating_add(self.length.0))
    }

    /// Whether it is a read or write longer than any.
    pub(crate) fn is_oversized(&self) -> bool {
        let is_transfer = matches!(self.operation, Operation::Read | Operation::Write);
        is_transfer && self.length > TRANSFER_MAX
    }

    /// Issue to completion, if known.
    pub fn service_time(&self) -> Option<Nanos> {
        self.completed.map(|completed| Nanos(completed.0.saturating_sub(self.issued.0)))
    }

    /// What to ask of a drive to do it again; data that nobody knows are incompressible.
    pub fn io(&self) -> Io {
        let io = Io::new(self.operation, self.offset, self.length);
        io.with_content(self.content.unwrap_or(Content::INCOMPRESSIBLE))
    }
}
