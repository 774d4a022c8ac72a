//! The results library: taken in, compared, shown, served.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod axe;
#[path = "../../../report/tests/all/browser/mod.rs"]
mod browser;
mod catalogue;
mod common;
mod compare;
mod export;
mod fio;
mod import;
mod in_a_browser;
mod library;
mod made;
mod served;
mod server;
