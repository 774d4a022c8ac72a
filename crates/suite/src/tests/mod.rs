//! The tests, a file or a folder each: a `Plan`, which says all that is asked of a test
//! ([`Test`](crate::method::test::Test)), `run`, `conclude`, `Outcome`.
//!
//! A test may build on another one; they are listed in `list.rs` and nowhere else.

pub mod commit;
pub mod consistency;
pub mod corners;
pub mod cost_model;
pub mod encryption;
pub mod fullness;
pub mod heat;
pub mod idle;
pub mod incompressible;
pub mod integrity;
pub mod latency_at_load;
pub mod mixed;
pub mod power;
pub mod queue_depth;
pub mod read_write_mix;
pub mod recovery;
pub mod skew;
pub mod spare_area;
pub mod steady_state;
pub mod storage_bench;
pub mod stutter;
pub mod suite;
pub mod transfer_size;
pub mod trim;
pub mod whole_drive;
pub mod working_set;
