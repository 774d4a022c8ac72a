//! Which drive it was: what a review goes on with, and with no other.

use std::fmt;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo};

/// What tells a drive from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveIdentity {
    /// The maker's model name.
    pub model: String,
    /// Serial number, if it has one.
    pub serial: Option<String>,
    /// The name that it has by whatever path and whatever number, if it has one.
    #[serde(default)]
    pub world_wide_name: Option<String>,
    /// Bytes that a host can address.
    pub capacity: Bytes,
    /// The hash of its profile, if it is simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_sha256: Option<String>,
}

impl DriveIdentity {
    /// Of a drive as it is now.
    pub fn of(drive: &DeviceInfo) -> Self {
        let DeviceInfo { model, serial, world_wide_name, capacity, profile, .. } = drive.clone();
        let profile_sha256 = profile.map(|profile| profile.sha256);
        Self { model, serial, world_wide_name, capacity, profile_sha256 }
    }

    /// Whether both are of one drive. Simulated drives are one if they are built alike. Namespaces
    /// of one controller, and cheap drives, share model and serial: where both have a world-wide
    /// name, that decides.
    pub fn is_same_drive(&self, other: &Self) -> bool {
        let names = (&self.world_wide_name, &other.world_wide_name);
        let named = match names {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => (&self.model, &self.serial) == (&other.model, &other.serial),
        };
        let built = match (&self.profile_sha256, &other.profile_sha256) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => true,
        };
        named && built && self.capacity == other.capacity
    }
}

impl fmt::Display for DriveIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let serial = self.serial.as_ref().map_or_else(String::new, |s| format!(", serial {s}"));
        write!(f, "{}{serial}, {} bytes", self.model, self.capacity.0)?;
        match &self.profile_sha256 {
            Some(hash) => write!(f, ", profile {}", hash.get(..8).unwrap_or(hash)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(serial: Option<&str>, name: Option<&str>) -> DriveIdentity {
        DriveIdentity {
            model: "WD Blue".to_owned(),
            serial: serial.map(str::to_owned),
            world_wide_name: name.map(str::to_owned),
            capacity: Bytes::from_gib(1),
            profile_sha256: None,
        }
    }

    #[test]
    fn a_simulated_drive_is_another_when_its_profile_is() {
        let built = |hash: &str| DriveIdentity {
            profile_sha256: Some(hash.to_owned()),
            ..drive(None, None)
        };
        assert!(built("aa").is_same_drive(&built("aa")));
        assert!(!built("aa").is_same_drive(&built("bb")));
        assert!(built("aa").is_same_drive(&drive(None, None)), "as an earlier version kept it");
    }

    #[test]
    fn a_drive_is_known_by_its_world_wide_name_and_else_by_model_and_serial() {
        let first = drive(Some("S1"), Some("eui.1"));
        assert!(first.is_same_drive(&first));
        assert!(!first.is_same_drive(&drive(Some("S1"), Some("eui.2"))), "another namespace");
        assert!(first.is_same_drive(&drive(None, Some("eui.1"))), "behind another bridge");
        // A review of an earlier version has no such name.
        assert!(first.is_same_drive(&drive(Some("S1"), None)));
        assert!(!first.is_same_drive(&drive(Some("S2"), None)));
        let larger = DriveIdentity { capacity: Bytes::from_gib(2), ..first.clone() };
        assert!(!first.is_same_drive(&larger));
    }
}
