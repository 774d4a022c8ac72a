//! I/O at full speed on what was opened: the ring and its buffers, lanes for further
//! threads, software encryption in between, and no drive at all (`null`).

pub(crate) mod arena;
pub(crate) mod calls;
pub(crate) mod cipher;
pub(crate) mod device;
pub(crate) mod directory;
pub(crate) mod encryption;
pub(crate) mod lanes;
pub(crate) mod null;
pub(crate) mod options;
pub(crate) mod pauses;
pub(crate) mod ring;
