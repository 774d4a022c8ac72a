//! Clients of other people: libnbd's, QEMU's, fio's, and the kernel's block layer above them.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::thread;
use std::time::Duration;

use writecliff_export::{Order, Prepared, ask};

use crate::served::{Served, has};

fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout + &stderr
}

#[test]
fn nbdinfo_sees_what_the_drive_is_and_what_it_holds() {
    if !has("nbdinfo") {
        return;
    }
    let served = Served::with(|settings| settings.prepared = Prepared::Filled);
    let told = run(Command::new("nbdinfo").arg(served.uri()));
    for expected in [
        "simulated Tiny (sim:tiny)",
        "export-size: 234881024",
        "base:allocation",
        "can_multi_conn: true",
        "can_fua: true",
        "can_fast_zero: true",
        "block_size_minimum: 512",
    ] {
        assert!(told.contains(expected), "{expected} is not in\n{told}");
    }
    let map = run(Command::new("nbdinfo").args(["--map", &served.uri()]));
    assert_eq!(map.split_whitespace().collect::<Vec<_>>(), ["0", "234881024", "2", "zero"]);
    let list = run(Command::new("nbdinfo").args(["--list", &served.uri()]));
    assert!(list.contains("export=\"tiny\""), "{list}");
}

#[test]
fn nbdcopy_brings_an_image_there_and_back() {
    if !has("nbdcopy") || !has("qemu-img") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let [there, back] = ["there", "back"].map(|name| directory.path().join(name));
    let image: Vec<u8> = (0..8 << 20).map(|byte: u32| (byte / 4096 % 5) as u8 * 41).collect();
    fs::write(&there, image).unwrap();
    fs::File::options().write(true).open(&there).unwrap().set_len(224 << 20).unwrap();
    let served = Served::tiny();
    let copy = |from: &Path, to: &Path| {
        run(Command::new("nbdcopy")
            .args(["--connections=4", "--requests=32", "--flush"])
            .args([from, to]));
    };
    let uri = served.uri();
    copy(&there, Path::new(&uri));
    copy(Path::new(&uri), &back);
    assert!(fs::read(&there).unwrap() == fs::read(&back).unwrap());
    let compared = run(Command::new("qemu-img")
        .args(["compare", "-f", "raw", "-F", "raw"])
        .arg(&there)
        .arg(&uri));
    assert!(compared.contains("identical"), "{compared}");
    let status = &ask(&served.socket, Order::Status, None).unwrap()[0];
    assert!(status.stored.0 < 8 << 20, "zeros take no room: {}", status.stored);
}

/// nbdkit's proxy in front of a server, which ends with this.
struct Encrypted {
    proxy: Child,
    directory: tempfile::TempDir,
}

impl Encrypted {
    fn before(served: &Served) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        fs::write(at("keys"), format!("alice:{}\n", "5e".repeat(32))).unwrap();
        let proxy = Command::new("nbdkit")
            .args(["--foreground", "--exit-with-parent", "--unix", &at("socket")])
            .args(["--pidfile", &at("pid"), "--tls=require", "--tls-psk", &at("keys"), "nbd"])
            .arg(format!("socket={}", served.socket.display()))
            .arg("export=tiny")
            .spawn()
            .unwrap();
        let mut proxy = Self { proxy, directory };
        // It is written when clients may come.
        while !proxy.directory.path().join("pid").exists() {
            assert!(proxy.proxy.try_wait().unwrap().is_none(), "it has ended");
            thread::sleep(Duration::from_millis(5));
        }
        proxy
    }

    fn uri(&self) -> String {
        let at = |name: &str| self.directory.path().join(name).display().to_string();
        format!("nbds+unix://alice@/tiny?socket={}&tls-psk-file={}", at("socket"), at("keys"))
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

/// As docs/export.md has it: TLS is nbdkit's, and nothing that the drive can is lost behind it.
#[test]
fn behind_a_proxy_with_tls_the_drive_is_the_same_and_nobody_comes_in_without() {
    if !has("nbdkit") || !has("nbdcopy") || !has("nbdinfo") {
        return;
    }
    let served = Served::tiny();
    let encrypted = Encrypted::before(&served);
    let told = run(Command::new("nbdinfo").arg(encrypted.uri()));
    for expected in [
        "with TLS",
        "simulated Tiny (sim:tiny)",
        "base:allocation",
        "can_multi_conn: true",
        "can_fua: true",
        "can_fast_zero: true",
        "can_trim: true",
        "block_size_minimum: 512",
    ] {
        assert!(told.contains(expected), "{expected} is not in\n{told}");
    }
    let [there, back] = ["there", "back"].map(|name| encrypted.directory.path().join(name));
    let image: Vec<u8> = (0..4 << 20).map(|byte: u32| (byte / 4096 % 5) as u8 * 41).collect();
    fs::write(&there, image).unwrap();
    fs::File::options().write(true).open(&there).unwrap().set_len(224 << 20).unwrap();
    let copy = |from: &Path, to: &Path| {
        run(Command::new("nbdcopy").args(["--connections=2", "--flush"]).args([from, to]));
    };
    copy(&there, Path::new(&encrypted.uri()));
    copy(Path::new(&encrypted.uri()), &back);
    assert!(fs::read(&there).unwrap() == fs::read(&back).unwrap());
    let plain = encrypted.uri().replace("nbds", "nbd");
    let refused = Command::new("nbdinfo").arg(plain).output().unwrap();
    assert!(!refused.status.success(), "without TLS: {refused:?}");
}

#[test]
fn qemu_io_reads_what_it_wrote_trimmed_and_zeroed() {
    if !has("qemu-io") {
        return;
    }
    let served = Served::tiny();
    let commands = [
        "write -P 0x55 4k 64k",
        "read -P 0x55 4k 64k",
        "write -z 8k 8k",
        "read -P 0 8k 8k",
        "write -z -u 32k 8k",
        "read -P 0 32k 8k",
        "write -f -P 7 512 512",
        "read -P 7 512 512",
        "discard 16k 4k",
        "read -P 0 16k 4k",
        "aio_write -P 9 1M 16M",
        "aio_flush",
        "read -P 9 1M 16M",
        "flush",
    ];
    let arguments = commands.iter().flat_map(|command| ["-c", command]);
    let told = run(Command::new("qemu-io").args(["-f", "raw"]).args(arguments).arg(served.uri()));
    assert!(!told.contains("verification failed") && !told.contains("error"), "{told}");
}

#[test]
fn fio_verifies_what_it_wrote() {
    if !has("fio") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let served = Served::with(|settings| settings.prepared = Prepared::Filled);
    let told = run(Command::new("fio").current_dir(directory.path()).args([
        "--name=job",
        "--ioengine=nbd",
        &format!("--uri={}", served.uri()),
        "--rw=randwrite",
        "--bsrange=4k-64k",
        "--iodepth=32",
        "--size=32m",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--fsync=50",
    ]));
    assert!(told.contains("err= 0"), "{told}");
}

/// libnbd checks what it sends; not in this mode.
#[test]
fn libnbd_gets_the_right_error_for_what_it_must_not_send() {
    let served = Served::tiny();
    let script = format!(
        r#"
import errno, nbd
h = nbd.NBD()
h.set_strict_mode(0)
h.add_meta_context("base:allocation")
h.connect_uri("{}")
size = h.get_size()
def refused(call, expected):
    try:
        call()
    except nbd.Error as error:
        assert error.errno == expected, (error.errno, expected)
    else:
        raise AssertionError("it was not refused")
refused(lambda: h.pread(512, size), "EINVAL")
refused(lambda: h.pread(100, 0), "EINVAL")
refused(lambda: h.pwrite(b"x" * 512, size), "ENOSPC")
refused(lambda: h.pwrite(b"x" * 100, 0), "EINVAL")
refused(lambda: h.pwrite(b"x" * 512, 0, 1 << 9), "EINVAL")
refused(lambda: h.trim(512, size), "EINVAL")
refused(lambda: h.zero(512, size), "ENOSPC")
refused(lambda: h.zero(512, 0, nbd.CMD_FLAG_NO_HOLE | nbd.CMD_FLAG_FAST_ZERO), "ENOTSUP")
refused(lambda: h.block_status(512, size, lambda *a: 0), "EINVAL")
h.pwrite(b"x" * 4096, 0, nbd.CMD_FLAG_FUA)
assert h.pread(4096, 0) == b"x" * 4096
h.shutdown()
"#,
        served.uri()
    );
    let told = Command::new("python3").args(["-c", &script]).output();
    match told
        .map(|told| (told.status.success(), String::from_utf8_lossy(&told.stderr).into_owned()))
    {
        Ok((true, _)) => {}
        Ok((false, text)) if text.contains("No module named 'nbd'") => {
            eprintln!("SKIPPED: it needs the program python3-libnbd");
        }
        Ok((false, text)) => panic!("{text}"),
        Err(_) => eprintln!("SKIPPED: it needs the program python3"),
    }
}

/// A file that `nbdfuse` makes of an export, with a loop device on it.
struct Attached {
    fuse: Child,
    file: std::path::PathBuf,
    device: String,
}

impl Attached {
    /// `None`, loudly, where that cannot be had.
    fn of(served: &Served, directory: &Path) -> Option<Self> {
        let skip = |what: &str| {
            eprintln!(
                "SKIPPED: it needs the program nbdfuse, losetup, root and /dev/fuse ({what})"
            );
            None
        };
        if !has("nbdfuse") || !has("losetup") || !Path::new("/dev/fuse").exists() {
            return skip("not here");
        }
        let file = directory.join("disk");
        fs::write(&file, b"").unwrap();
        let mut fuse = Command::new("nbdfuse").arg(&file).arg(served.uri()).spawn().unwrap();
        while fs::metadata(&file).map_or(0, |metadata| metadata.len()) == 0 {
            if fuse.try_wait().unwrap().is_some() {
                return skip("nbdfuse does not go on");
            }
            thread::sleep(Duration::from_millis(20));
        }
        let losetup = ["--find", "--show", "--direct-io=on"];
        let output = Command::new("losetup").args(losetup).arg(&file).output().unwrap();
        let device = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let attached = Self { fuse, file, device };
        match output.status.success() {
            true => Some(attached),
            false => skip("no loop device"),
        }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if !self.device.is_empty() {
            let _ = Command::new("losetup").args(["--detach", &self.device]).status();
        }
        let _ = Command::new("fusermount3").arg("-u").arg(&self.file).output();
        let _ = Command::new("umount").arg(&self.file).output();
        let _ = self.fuse.wait();
    }
}

#[test]
fn a_file_system_on_a_block_device_is_made_used_and_checked() {
    if !has("mkfs.ext4") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let served = Served::tiny();
    let Some(attached) = Attached::of(&served, directory.path()) else { return };
    run(Command::new("mkfs.ext4").args(["-q", "-F", &attached.device]));
    let image = directory.path().join("fs");
    fs::create_dir(&image).unwrap();
    run(Command::new("mount").arg(&attached.device).arg(&image));
    let data = vec![0x5a; 5 << 20];
    fs::write(image.join("file"), &data).unwrap();
    run(Command::new("umount").arg(&image));
    run(Command::new("mount").arg(&attached.device).arg(&image));
    assert!(fs::read(image.join("file")).unwrap() == data);
    run(Command::new("umount").arg(&image));
    run(Command::new("fsck.ext4").args(["-f", "-n", &attached.device]));
}
