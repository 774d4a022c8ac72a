//! Simulated drives as network block devices (NBD): with data, in real time, and with a plug to pull.
//!
//! A [`Server`] has drives, each an export. What a client asks for goes to the model of the drive at the
//! moment it comes, and is answered when the model says that it is complete; what it writes is kept beside
//! the model, which moves no data. The [control socket](ask) tells how the drives are, and takes their
//! power away: what was flushed is there when it is back, and of the rest exactly what the model had not
//! brought to NAND is not.
//!
//! ```text
//! client ── connection: requests ─► Live::ask ─► Drive::submit ─► Model   when is it complete?
//!             ▲                      clock          └► Undo, Store        what was there, what is there
//!             └── Client::answer ◄─ pacer: Drive::advance ◄───┘
//! ```
//!
//! Held true: the model gets its commands in one order, and data change in that order;
//! a client that does not read, or says what it may not, holds nobody up but itself; what a client makes
//! the server keep is bounded.
//!
//! Left out: TLS, and block devices without a network in between (ublk).

mod answer;
mod caller;
mod client;
mod clock;
mod connection;
mod content;
mod control;
mod drive;
mod error;
mod floor;
mod live;
mod negotiate;
mod null;
mod places;
mod prepare;
mod recording;
mod seconds;
mod server;
mod socket;
mod status;
mod store;
mod undo;
pub mod wire;

pub use caller::Caller;
pub use clock::Speed;
pub use control::{ControlError, Order, ask, control_socket};
pub use error::ExportError;
pub use prepare::{GoOn, Prepared};
pub use server::{Address, Served, Server, Settings};
pub use status::{Counts, Quantiles, Status};
pub use store::StoreAt;
