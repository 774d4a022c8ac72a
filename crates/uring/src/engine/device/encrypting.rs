//! A mapping that encrypts, put between the ring and the drive and taken away again.

use std::fs::File;

use writecliff_device::{DeviceError, DeviceKind, Encryption};

use super::UringDevice;
use crate::engine::calls::Calls;
use crate::engine::encryption::{self, Encrypted};
use crate::host::sysfs::Host;

impl UringDevice {
    /// Puts a mapping that encrypts between the ring and the drive. Where none can be made, all is as
    /// before.
    pub(super) fn map(&mut self, with: &Encryption) -> Result<(), DeviceError> {
        if self.info.kind != DeviceKind::BlockDevice || self.sentry.is_none() {
            return Err(self.info.no_encryption());
        }
        let address = self.info.address.clone();
        if self.ring.is_polled() {
            let why = "completions are polled, and an encryption's cannot be; leave --poll out";
            return Err(DeviceError::NoEncryption { address, why: why.to_owned() });
        }
        let host = Host::this_machine();
        if let Some(why) = Encrypted::missing(&host) {
            return Err(DeviceError::NoEncryption { address, why });
        }
        let drive =
            self.stepping("giving its claim to an encryption", encryption::without_claim)?;
        let own = self.stepping("giving its claim to an encryption", |_| drive.try_clone())?;
        drop(self.exchange(own)?);
        self.stepping("locking it", encryption::lock_patiently)?;
        match Encrypted::over(&host, drive, with) {
            Ok((encrypted, file)) => {
                drop(self.exchange(file)?);
                self.encryption = Some(encrypted);
                self.ask_once_more()
            }
            Err((error, drive)) => {
                self.claim(drive)?;
                let why = format!("the kernel made no dm-crypt mapping of it ({error})");
                Err(DeviceError::NoEncryption { address, why })
            }
        }
    }

    /// Takes the mapping away, if there is one.
    pub(super) fn unmap(&mut self) -> Result<(), DeviceError> {
        let Some(encrypted) = self.encryption.take() else { return Ok(()) };
        let drive = self.stepping("closing its encryption", |_| encrypted.drive().try_clone())?;
        drop(self.exchange(drive)?);
        self.claim(encrypted.removed())
    }

    /// Claims the drive again, which is open without a claim.
    fn claim(&mut self, drive: File) -> Result<(), DeviceError> {
        let claimed = self.stepping("claiming it again", |_| encryption::with_claim(&drive))?;
        drop(self.exchange(claimed)?);
        drop(drive);
        self.stepping("locking it", encryption::lock_patiently)?;
        self.ask_once_more()
    }

    /// Has the ring, and everybody else, use another descriptor; gives the one that was used.
    fn exchange(&mut self, file: File) -> Result<File, DeviceError> {
        self.calls = Calls::default();
        let exchanged = self.ring.exchange(&file);
        exchanged.map_err(|error| self.lost("giving the ring another file", error))?;
        Ok(std::mem::replace(&mut self.file, file))
    }

    /// Who came in while the claim changed hands is found here.
    fn ask_once_more(&mut self) -> Result<(), DeviceError> {
        let found = self.sentry.as_ref().map(|sentry| sentry.ask_again()).unwrap_or_default();
        self.pauses.forget();
        self.in_use_unless_empty(&found)
    }
}
