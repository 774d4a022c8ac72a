//! What one drive is, says of itself and can do: its identity, the port to its controller, its gauges,
//! its purges, mappings over it. Whether any of that may be done to it is the guard's to say.

pub(crate) mod admin_port;
pub(crate) mod controller;
pub(crate) mod gauges;
pub(crate) mod health;
pub(crate) mod identity;
pub(crate) mod kernel_opal;
pub(crate) mod lane_totals;
pub(crate) mod mapping;
pub(crate) mod presence;
pub(crate) mod purge;
pub(crate) mod thermometer;
