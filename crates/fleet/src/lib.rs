//! Fleets: many simulated drives under one service, and the tail of the whole.
//!
//! A [`Fleet`] is what the user writes: kinds of drives, how data are kept on them (copies or an
//! erasure code), what is asked of them, and variants of all that. It is made of placement groups,
//! each with drives and a part of the requests to itself. [`Task::perform`] runs a group of a variant,
//! wherever that is, and gives its [`GroupRow`]; [`Service`] is the sum of a variant's rows. Groups
//! have nothing in common, so that the sum does not depend on where, when or beside what they ran;
//! inside a group everything happens in exact order of time, so that one drive's pause is met by a
//! hedged read as it would be. [`FleetRun`] does all of them on this machine, into a directory that it
//! goes on in after it was broken off.
//!
//! Left out: the network, processors and caches of the hosts; repair of lost drives; drives that are
//! in several groups.

mod aged;
mod error;
mod group;
mod member;
mod page;
mod plan;
mod requests;
mod run;
mod service;
mod table;
mod tally;
mod total;
mod variants;

pub use error::FleetError;
pub use page::{summary, write_page};
pub use plan::{Fleet, Kind, Load, Spread};
pub use run::{DRIVES, FLEET, FleetRun, MINUTES};
pub use service::{Task, serve};
pub use tally::{DriveRow, GroupRow, Minute};
pub use total::{KindTotal, Service, SlowDrive};
pub use variants::Variant;
