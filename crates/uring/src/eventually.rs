//! Waiting in tests. A program that another test starts has copies of all that this process has open,
//! with their locks, and its parent's name, until it has become itself.

use std::thread;
use std::time::Duration;

/// Whether something is so within some seconds.
pub(crate) fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    (0..1000).any(|_| {
        let so = is_so();
        if !so {
            thread::sleep(Duration::from_millis(10));
        }
        so
    })
}
