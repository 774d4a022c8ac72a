//! A drive's own words, and the way to its commands.

use std::io;
use std::path::PathBuf;

use writecliff_admin::{Facts, UnfinishedPurge, ask};

use crate::Refusal;
use crate::admin_port::{KernelPort, is_whole_disk};
use crate::firmware_purge::left_on;
use crate::found::Found;
use crate::refusal::DriveLock;

/// A whole disk that answers to commands of its own.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) port: KernelPort,
    pub(crate) facts: Facts,
}

impl Own {
    /// `None` for what has no commands of its own, or does not let this user send any.
    pub(crate) fn of(found: &Found) -> Option<Self> {
        Self::ask(found)?.ok()
    }

    /// Asks a whole disk about itself, whoever else uses it; `None` for a file, a partition and what
    /// stands on other devices, an error where it does not tell. What it sends only reads.
    pub(crate) fn ask(found: &Found) -> Option<Result<Self, String>> {
        if !is_whole_disk(found) {
            return None;
        }
        let Some(mut port) = KernelPort::to(found) else {
            return Some(Err("it takes no commands of NVMe, ATA or SCSI".to_owned()));
        };
        let told = ask(&mut port).map(|mut facts| {
            facts.link = facts.link.or_else(|| port.pcie_link());
            Self { port, facts }
        });
        Some(told.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => "only root may ask the drive itself".to_owned(),
            _ => error.to_string(),
        }))
    }

    /// Its own lock, if that is closed.
    pub(crate) fn lock(&self) -> Option<DriveLock> {
        let Facts { security, encryption, .. } = &self.facts;
        let ata = security.is_some_and(|security| security.locked);
        let tcg = encryption.as_ref().and_then(|own| own.locking).is_some_and(|own| own.locked);
        match (ata, tcg) {
            (true, _) => Some(DriveLock::AtaSecurity),
            (_, true) => Some(DriveLock::Tcg),
            _ => None,
        }
    }

    /// Whether what is done to all of the drive would be done to other namespaces too, as far as is
    /// known.
    pub(crate) fn has_other_namespaces(&self) -> bool {
        self.port.is_nvme() && self.facts.namespaces != Some(1)
    }

    /// Why it cannot be tested as it is: a purge that is not over, or a lock.
    pub(crate) fn refusal(&mut self, device: PathBuf) -> Option<Refusal> {
        match self.unfinished_purge() {
            Some(purge) => Some(Refusal::UnfinishedPurge { device, purge }),
            None => self.lock().map(|lock| Refusal::DriveLocked { device, lock }),
        }
    }

    /// The purge that somebody began on it and that is not over.
    pub(crate) fn unfinished_purge(&mut self) -> Option<UnfinishedPurge> {
        left_on(&mut self.port)
    }
}
