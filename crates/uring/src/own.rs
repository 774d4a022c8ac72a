//! A drive's own words, and the way to its commands.

use writecliff_admin::{Facts, UnfinishedPurge};

use crate::admin_port::{KernelPort, own_words};
use crate::firmware_purge::left_on;
use crate::found::Found;

/// A whole disk that answers to commands of its own.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) port: KernelPort,
    pub(crate) facts: Facts,
}

impl Own {
    /// `None` for what has no commands of its own, or does not let this user send any.
    pub(crate) fn of(found: &Found) -> Option<Self> {
        let facts = own_words(found)?.ok()?;
        Some(Self { port: KernelPort::to(found)?, facts })
    }

    /// The purge that somebody began on it and that is not over.
    pub(crate) fn unfinished_purge(&mut self) -> Option<UnfinishedPurge> {
        left_on(&mut self.port)
    }
}
