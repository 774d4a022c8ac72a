//! The sign that Writecliff leaves on a file which its user gave up for tests, so that the next
//! test on it need not ask again what it holds.
//!
//! An extended attribute with the file's size: a file that was replaced or has grown since is not
//! what the user agreed to. Where a filesystem has no such attributes the user is asked again.

use std::fs::File;

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};

const ATTRIBUTE: &str = "user.writecliff.test-file";

/// Marks a file as one for tests; call it once its user has agreed to lose what it holds. Whether
/// the filesystem could keep that.
pub(crate) fn mark(file: &File) -> bool {
    let size = file.metadata().map(|facts| facts.len().to_string());
    size.is_ok_and(|size| fsetxattr(file, ATTRIBUTE, size.as_bytes(), XattrFlags::empty()).is_ok())
}

/// Whether a file was marked, and has kept its size since.
pub(crate) fn is_marked(file: &File) -> bool {
    let mut value = [0; 20];
    let length = fgetxattr(file, ATTRIBUTE, &mut value);
    let size = file.metadata().map(|facts| facts.len().to_string());
    match (length, size) {
        (Ok(length), Ok(size)) => value.get(..length) == Some(size.as_bytes()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_lasts_as_long_as_the_file_has_its_size() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("file");
        let file = File::create_new(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        assert!(!is_marked(&file));
        if !mark(&file) {
            return;
        }
        assert!(is_marked(&File::open(&path).unwrap()));
        file.set_len(2 << 20).unwrap();
        assert!(!is_marked(&file));
    }
}
