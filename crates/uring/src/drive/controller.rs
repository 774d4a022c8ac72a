//! A drive's controller: what it says of itself, and the way to its commands.

use std::fs::File;
use std::io;

use writecliff_admin::{Facts, UnfinishedPurge, ask};

use crate::drive::admin_port::KernelPort;
use crate::drive::purge::firmware::left_on;
use crate::host::sysfs::Node;

/// Of a whole disk that answers to commands of its own.
#[derive(Debug)]
pub(crate) struct Controller {
    pub(crate) port: KernelPort,
    pub(crate) facts: Facts,
}

impl Controller {
    /// Asks a whole disk about itself, by a descriptor of it, if it could be opened at all. What it
    /// sends only reads.
    ///
    /// # Errors
    /// Why it does not tell.
    pub(crate) fn ask(node: &Node, drive: Option<File>) -> Result<Self, String> {
        let Some(mut port) = drive.and_then(|drive| KernelPort::to(node, drive)) else {
            return Err("it takes no commands of NVMe, ATA or SCSI".to_owned());
        };
        let told = ask(&mut port).map(|mut facts| {
            facts.link = facts.link.or_else(|| port.pcie_link());
            Self { port, facts }
        });
        told.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => "only root may ask the drive itself".to_owned(),
            _ => error.to_string(),
        })
    }

    /// Whether what is done to all of the drive would be done to other namespaces too, as far as is
    /// known.
    pub(crate) fn has_other_namespaces(&self) -> bool {
        self.port.is_nvme() && self.facts.namespaces != Some(1)
    }

    /// The purge that somebody began on it and that is not over.
    pub(crate) fn unfinished_purge(&mut self) -> Option<UnfinishedPurge> {
        left_on(&mut self.port)
    }
}
