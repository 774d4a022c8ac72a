//! Shows a page in whatever this system shows pages with.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::output::say;

/// The programs that open a file as the user would, the usual one first.
const OPENERS: [&str; 2] = ["xdg-open", "wslview"];

/// Opens the page; that there is nothing to open it with is told, and no more.
pub(crate) fn open(page: &Path) {
    show(page.as_os_str());
}

/// Opens a page that is served.
pub(crate) fn open_address(address: &str) {
    show(address.as_ref());
}

fn show(page: &OsStr) {
    let opened = OPENERS.iter().any(|opener| {
        let nothing = || Stdio::null();
        let mut command = Command::new(opener);
        command.arg(page).stdin(nothing()).stdout(nothing()).stderr(nothing());
        command.spawn().is_ok()
    });
    if !opened {
        say(&format!("nothing here to open the page with: no {}", OPENERS.join(", no ")));
    }
}
