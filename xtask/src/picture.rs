//! `cargo xtask picture`: the README's pictures, one drawn by the tool itself and two of Bench as a
//! browser shows it, those of the fleets' worked examples, and a picture of every simulated drive beside published figures.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{cargo, run, target_directory};

/// A nightly test of the command line holds it against what is drawn today.
const PICTURE: &str = "docs/cliff.svg";
/// What a page calls it.
const DRAWN_AS: &str = "report/pictures/consistency-whole.svg";

/// Pictures of Bench: the file, its height, the address of the page.
const BENCH: [(&str, u32, &str); 2] = [
    (
        "bench-ranking.png",
        820,
        "#ranking?mark=samsung-ssd-840-evo-250gb,intel-ssd-dc-s3700-200gb&interface=SATA+6+Gb%2Fs",
    ),
    ("bench-compare.png", 1090, "#compare?drives=samsung-ssd-840-evo-250gb,crucial-m500-240gb"),
];

/// Plans of fleets, and the pictures of each that the document shows.
const FLEETS: [(&str, &[&str]); 2] =
    [("spare-area", &["tail", "minutes", "cost"]), ("layouts", &["tail"])];

/// Runs the README's drive and takes the picture of the whole run from its report.
pub(crate) fn picture() -> Result<(), String> {
    cargo(&["build", "--release", "--package", "writecliff-cli"])?;
    let out = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = out.path().join("run");
    let program = target_directory()?.join("release/writecliff");
    let drive = "sim:samsung-840-evo-250gb";
    run(Command::new(&program).args(["run", "consistency", drive, "--out"]).arg(&path))?;
    fs::copy(path.join(DRAWN_AS), PICTURE).map_err(|error| format!("{PICTURE}: {error}"))?;
    println!("xtask: {PICTURE} is new");
    fleets(&program, out.path())?;
    bench(&program, out.path())?;
    models(&program)
}

/// The worked examples of docs/fleets.md, from the plans beside their pictures.
fn fleets(program: &Path, out: &Path) -> Result<(), String> {
    for (plan, pictures) in FLEETS {
        let (file, path) = (format!("docs/fleets/{plan}.toml"), out.join(plan));
        run(Command::new(program).args(["fleet", &file, "--out"]).arg(&path))?;
        for picture in pictures {
            let drawn = path.join("report/pictures").join(format!("{picture}.svg"));
            let shown = format!("docs/fleets/{plan}-{picture}.svg");
            fs::copy(drawn, &shown).map_err(|error| format!("{shown}: {error}"))?;
            println!("xtask: {shown} is new");
        }
    }
    Ok(())
}

/// Pages of Bench with what ships and nothing else, as a browser shows them.
fn bench(program: &Path, out: &Path) -> Result<(), String> {
    let pages = out.join("pages");
    let mut export = Command::new(program);
    run(export.env("WRITECLIFF_BENCH", out.join("library")).args(["bench", "export"]).arg(&pages))?;
    for (name, height, address) in BENCH {
        let picture = Path::new("docs").join(name);
        let mut browser = Command::new("chromium");
        browser.args(["--headless", "--disable-gpu", "--hide-scrollbars", "--no-sandbox"]);
        browser.args(["--virtual-time-budget=10000", &format!("--window-size=1200,{height}")]);
        browser.arg(format!("--screenshot={}", picture.display()));
        run(browser.arg(format!("file://{}/index.html{address}", pages.display())))?;
        println!("xtask: {} is new; look at it", picture.display());
    }
    Ok(())
}

/// Draws every simulated drive beside what was published of the real one, to be looked at.
fn models(program: &Path) -> Result<(), String> {
    let directory = target_directory()?.join("models");
    let check = ["drives", "--check", "--pictures"];
    run(Command::new(program).args(check).arg(&directory))?;
    println!("xtask: look at {}", directory.display());
    Ok(())
}
