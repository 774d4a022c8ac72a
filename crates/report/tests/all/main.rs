//! Pages, pictures and tables, as files and in a browser.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod browser;
mod comparisons;
mod drives;
mod encryption;
mod files;
mod in_a_browser;
mod incomplete;
mod older;
mod page;
mod power_and_heat;
mod trace;
mod weight;
