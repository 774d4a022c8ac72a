//! The library under every face.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod again;
mod arrays;
mod check;
mod import;
mod library;
mod on_a_drive;
mod repeat;
