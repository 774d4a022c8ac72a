//! What a caller may do with a drive, and the consent that destroying its data takes.

/// Consent to lose everything on one drive, by the name that the user gave for it.
///
/// It is worth something only if the name is right: the drive's serial number, or its resolved
/// path where it has no serial. [`open`](crate::open) compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestroyData(String);

impl DestroyData {
    /// Consent for the drive that the user named, as typed or passed; never filled in by a program.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// What the user named.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// What may be done with a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Reading only: the drive may be mounted or in use, and cannot be changed.
    ReadOnly,
    /// Everything: the drive's data is lost.
    Destroy(DestroyData),
}
