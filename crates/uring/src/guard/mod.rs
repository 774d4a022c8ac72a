//! Whether a drive's data may be destroyed: finding what a path leads to (`found`), everything that
//! speaks against it (`judgment`), the user's consent, and the watch until the drive is closed again
//! (`sentry`). Any doubt refuses.

pub(crate) mod anew;
pub(crate) mod consent;
pub(crate) mod drive_marks;
pub(crate) mod erasing;
pub(crate) mod error;
pub(crate) mod existing_contents;
pub(crate) mod exports;
pub(crate) mod extent;
pub(crate) mod external_detectors;
pub(crate) mod family;
pub(crate) mod found;
pub(crate) mod holders;
pub(crate) mod in_use;
pub(crate) mod judgment;
pub(crate) mod ledger;
pub(crate) mod refusal;
pub(crate) mod sentry;
pub(crate) mod signatures;
pub(crate) mod survey;
pub(crate) mod test_file;
pub(crate) mod twins;
