//! Files as they go over the network: packed once, when somebody first asks for them.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;

use crate::pages::Site;

/// Shorter files are not worth it.
const PACKED_MIN: usize = 1 << 10;
/// What is made when it is asked for is kept up to so many bytes.
const MADE_MAX: usize = 64 << 20;

/// Packed files by their path.
#[derive(Default)]
pub(super) struct Packed {
    files: Mutex<HashMap<String, Bytes>>,
}

impl Packed {
    fn files(&self) -> MutexGuard<'_, HashMap<String, Bytes>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The content packed; `None` if that is not worth it.
    pub(super) fn get(&self, path: &str, content: &[u8]) -> Option<Bytes> {
        if content.len() < PACKED_MIN {
            return None;
        }
        if let Some(found) = self.files().get(path) {
            return Some(found.clone());
        }
        let packed = pack(content)?;
        let mut files = self.files();
        let size: usize = files.values().map(Bytes::len).sum();
        if size + packed.len() > MADE_MAX {
            files.clear();
        }
        files.insert(path.to_owned(), packed.clone());
        Some(packed)
    }

    /// Drops what a new site does not have, and the page, whose name stays.
    pub(super) fn forget_all_but(&self, site: &Arc<Site>) {
        let page = crate::pages::PAGE;
        self.files().retain(|path, _| path != page && site.files.contains_key(path));
    }
}

fn pack(content: &[u8]) -> Option<Bytes> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::new(6));
    packer.write_all(content).ok()?;
    packer.finish().ok().map(Bytes::from)
}
