//! `writecliff cipher`: how fast this machine encrypts, as two lines of a plan.

use writecliff::uring::cipher_throughput;
use writecliff_suite::Host;

use crate::error::CliError;
use crate::output::print;

/// What the plan of the test `encryption` says of the host, measured here.
pub(crate) fn cipher() -> Result<(), CliError> {
    let (cipher, processor) = (cipher_throughput().exact(), Host::here().processor);
    // Rust's way to write a text within quotes is one of TOML's.
    print(&format!("cipher = {cipher:?}\ncipher_of = {processor:?}\n"))
}
