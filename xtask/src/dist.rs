//! `cargo xtask dist`: what people install, tried where nothing else is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::packages;
use crate::{run, target_directory};

const NAME: &str = "writecliff";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Documents that come with the program.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
/// What shells ask for completions, and the file that each looks for.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/writecliff"),
    ("zsh", "usr/share/zsh/vendor-completions/_writecliff"),
    ("fish", "usr/share/fish/vendor_completions.d/writecliff.fish"),
];

/// Reviews a simulated drive with the directory `$1` as the root of all files.
const IN_BARE: &str = "mount --rbind /dev \"$1/dev\" && mount --rbind /proc \"$1/proc\" && \
                       exec chroot \"$1\" /usr/bin/writecliff review sim:tiny --quick --out /review";

/// Builds the static program, an archive, a Debian package and what a container image is made of,
/// and tries each in a directory that holds nothing else.
pub(crate) fn dist() -> Result<(), String> {
    packages::install(packages::FOR_DIST)?;
    let out = target_directory()?.join("dist");
    empty(&out)?;
    let program = static_program()?;
    let root = out.join("root");
    stage(&program, &root)?;
    let epoch = last_commit()?;
    let archive = archive(&root, &out, &epoch)?;
    let package = debian_package(&root, &out, &epoch)?;
    copy(&program, &out.join(NAME))?;
    try_bare(&out, "the archive", |into| {
        run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(into))
    })?;
    try_bare(&out, "the package", |into| {
        run(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(into))
    })?;
    fs::remove_dir_all(&root).map_err(told(&root))?;
    println!("xtask: {} and {}", archive.display(), package.display());
    println!("xtask: an image: podman build --file Containerfile {}", out.display());
    Ok(())
}

/// The program with everything that it needs in it, the C library as well.
fn static_program() -> Result<PathBuf, String> {
    let host = host()?;
    let mut command = Command::new("cargo");
    command.args(["build", "--profile", "dist", "--locked", "--package", "writecliff-cli"]);
    // With a target, what runs while building is not meant.
    command.args(["--target", &host]);
    command.env("RUSTFLAGS", "-C target-feature=+crt-static");
    command.env("CARGO_PROFILE_DIST_STRIP", "symbols");
    println!("xtask: {command:?}");
    run(&mut command)?;
    Ok(target_directory()?.join(host).join("dist").join(NAME))
}

/// What this compiler builds for if it is told nothing: `x86_64-unknown-linux-gnu`.
fn host() -> Result<String, String> {
    let about = stdout(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// Puts the program and all that belongs to it where a system keeps it.
fn stage(program: &Path, root: &Path) -> Result<(), String> {
    copy(program, &root.join("usr/bin").join(NAME))?;
    for (shell, place) in COMPLETIONS {
        let text = stdout(Command::new(program).args(["completions", shell]))?;
        write(&root.join(place), &text)?;
    }
    let manuals = root.join("usr/share/man/man1");
    fs::create_dir_all(&manuals).map_err(told(&manuals))?;
    run(Command::new(program).arg("manual").arg(&manuals).stdout(Stdio::null()))?;
    for document in DOCUMENTS {
        copy(Path::new(document), &root.join("usr/share/doc").join(NAME).join(document))?;
    }
    Ok(())
}

/// The same tree of files as `writecliff-0.1.0-x86_64.tar.gz`.
fn archive(root: &Path, out: &Path, epoch: &str) -> Result<PathBuf, String> {
    let path = out.join(format!("{NAME}-{VERSION}-{}.tar.gz", std::env::consts::ARCH));
    let mut command = Command::new("tar");
    command.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    command.arg(format!("--mtime=@{epoch}")).args(["--use-compress-program", "gzip -9n"]);
    run(command.arg("-cf").arg(&path).arg("-C").arg(root).arg("usr"))?;
    Ok(path)
}

/// `writecliff_0.1.0_amd64.deb`.
fn debian_package(root: &Path, out: &Path, epoch: &str) -> Result<PathBuf, String> {
    let architecture = stdout(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    let control = format!(
        "Package: {NAME}\nVersion: {VERSION}\nArchitecture: {architecture}\n\
         Maintainer: The Writecliff developers <writecliff@localhost>\nSection: admin\n\
         Priority: optional\nRecommends: util-linux\n\
         Description: finds a drive's write cliff before its users do\n \
         Runs the complete consistency review of an SSD, real or simulated, and\n \
         shows on one page whether the drive is steady once it is full.\n"
    );
    write(&root.join("DEBIAN/control"), &control)?;
    let path = out.join(format!("{NAME}_{VERSION}_{architecture}.deb"));
    let mut command = Command::new("dpkg-deb");
    command.args(["--root-owner-group", "--build"]).arg(root).arg(&path);
    run(command.env("SOURCE_DATE_EPOCH", epoch))?;
    Ok(path)
}

/// Unpacks into an empty directory and reviews a simulated drive there, with that directory as the
/// root of all files: what the program needs and does not bring is not there.
fn try_bare(
    out: &Path,
    what: &str,
    unpack: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let bare = out.join("bare");
    empty(&bare)?;
    unpack(&bare)?;
    // Every container has these two.
    for place in ["dev", "proc"] {
        empty(&bare.join(place))?;
    }
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-ec", IN_BARE, "sh"]).arg(&bare);
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{what} does not run where nothing else is: {said}"));
    }
    let page = bare.join("review/report/index.html");
    fs::metadata(&page).map_err(told(&page))?;
    println!("xtask: {what} reviews a drive where nothing else is installed");
    fs::remove_dir_all(&bare).map_err(told(&bare))
}

/// When the last commit was made: the date of everything in the archives.
fn last_commit() -> Result<String, String> {
    let seconds = stdout(Command::new("git").args(["log", "-1", "--format=%ct"]))?;
    Ok(seconds.trim().to_owned())
}

fn empty(directory: &Path) -> Result<(), String> {
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(told(directory))?;
    }
    fs::create_dir_all(directory).map_err(told(directory))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_parent(to)?;
    fs::copy(from, to).map(|_| ()).map_err(told(from))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    make_parent(path)?;
    fs::write(path, text).map_err(told(path))
}

fn make_parent(path: &Path) -> Result<(), String> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(told(parent))
}

fn told(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

fn stdout(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
