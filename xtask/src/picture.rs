//! `cargo xtask picture`: the README's picture, made by the tool itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use headless_chrome::protocol::cdp::Page::CaptureScreenshotFormatOption;
use headless_chrome::{Browser, LaunchOptions};

use crate::packages;
use crate::{cargo, run};

const PICTURE: &str = "docs/cliff.png";
const WINDOW: (u32, u32) = (1100, 900);

/// Runs the README's first command and takes the first picture of its report.
pub(crate) fn picture() -> Result<(), String> {
    packages::install(packages::FOR_TESTS)?;
    cargo(&["build", "--release", "--package", "writecliff-cli"])?;
    let out = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = out.path().join("run");
    run(Command::new("target/release/writecliff").arg("review").arg("--out").arg(&path))?;
    let png = screenshot(&path.join("report/index.html"))
        .map_err(|error| format!("cannot take a picture of the report: {error}"))?;
    std::fs::write(PICTURE, png).map_err(|error| format!("cannot write {PICTURE}: {error}"))?;
    println!("xtask: {PICTURE} is new");
    Ok(())
}

fn screenshot(page: &Path) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let options = LaunchOptions::default_builder()
        .path(Some(chromium()?))
        .sandbox(!rustix::process::geteuid().is_root())
        .window_size(Some(WINDOW))
        .args(vec![OsStr::new("--force-device-scale-factor=2")])
        .build()?;
    let browser = Browser::new(options)?;
    let tab = browser.new_tab()?;
    tab.navigate_to(&format!("file://{}", page.display()))?.wait_until_navigated()?;
    let picture = tab.wait_for_element(".js-plotly-plot")?;
    tab.wait_for_element(".js-plotly-plot .scatterlayer .point, .js-plotly-plot .gl-canvas")?;
    Ok(picture.capture_screenshot(CaptureScreenshotFormatOption::Png)?)
}

fn chromium() -> Result<PathBuf, String> {
    packages::find("chromium").ok_or_else(|| "chromium is not installed".to_owned())
}
