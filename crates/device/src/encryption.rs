//! Encryption by software, between a host and a drive.

use crate::Throughput;

/// AES-256 in XTS mode on every sector, as dm-crypt has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encryption {
    /// Whether trims reach the drive; else they are done at once, and it never hears of them.
    pub passes_trims: bool,
    /// What a processor encrypts or decrypts, where the host is a model as well; a real host takes
    /// the time that it takes.
    pub cipher: Throughput,
    /// Decides the key. It protects nothing.
    pub seed: u64,
}
