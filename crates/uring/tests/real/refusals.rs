//! Every reason to refuse, on a device that gives it; after each the device is as it was.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{Mode, OFlags};
use writecliff_device::{Bytes, Device, ErrorKind, Io, Nanos};
use writecliff_uring::{
    Access, ConsentKind, DestroyData, OpenError, Refusal, UringDevice, block_devices, inspect, open,
};

use crate::machine::{
    Loop, Mounted, OPTIONS, Swapped, assert_refused, eventually, needs, open_by_name,
    open_to_destroy, refusals, refusals_unwatched, run, scratch, skip, sparse_file, try_run,
};

const ONE_PARTITION: &str = "label: gpt\n,,L\n";
const TWO_PARTITIONS: &str = "label: gpt\n,32M,L\n,,L\n";

fn format_ext4(path: &Path) {
    let arguments = ["-q", "-F", path.to_str().unwrap()];
    eventually("formatting", || try_run("mkfs.ext4", &arguments).ok());
}

/// Removes the marks and lets the kernel know of no partition.
fn wipe(path: &Path) {
    let length = 2 << 20;
    let device = File::options().write(true).open(path).unwrap();
    device.write_all_at(&vec![0; length], 0).unwrap();
    device.sync_all().unwrap();
}

#[test]
fn an_empty_loop_device_is_fine() {
    needs!();
    let device = Loop::new(32);
    let opened = open_to_destroy(&device.path);
    assert!(opened.is_ok(), "{}", opened.unwrap_err());
}

#[test]
fn partitions_of_a_neighbour_that_come_and_go_speak_against_nobody() {
    needs!("sfdisk", "partx");
    let (device, neighbour) = (Loop::new(32), Loop::new(96));
    neighbour.partition(TWO_PARTITIONS, 2);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let _ = try_run("partx", &["--delete", neighbour.name()]);
                let _ = try_run("partx", &["--add", neighbour.name()]);
            }
        });
        let opened: Vec<_> = (0..8)
            .map(|_| open_to_destroy(&device.path).map(drop).map_err(|e| e.to_string()))
            .collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(opened, [const { Ok(()) }; 8]);
    });
}

#[test]
fn a_mounted_device() {
    needs!("mkfs.ext4");
    let device = Loop::new(32);
    format_ext4(&device.path);
    let mount = Mounted::new(&device.path, "ro,noload");
    let found = refusals(&device.path, &device.backing);
    let place = mount.path();
    assert_refused!(&found, Refusal::Mounted { mount_point, .. } if mount_point == place);
    assert_refused!(&found, Refusal::Signature { what, .. } if what.contains("ext"));
    let text = found[0].to_string();
    assert!(text.contains(&format!("umount {}", place.display())), "{text}");
}

#[test]
fn a_disk_whose_partition_is_mounted_and_the_partition_beside_it() {
    needs!("mkfs.ext4", "sfdisk", "partx");
    let disk = Loop::new(96);
    let partitions = disk.partition(TWO_PARTITIONS, 2);
    format_ext4(&partitions[0]);
    let _mount = Mounted::new(&partitions[0], "ro,noload");
    let mounted = partitions[0].to_str().unwrap();
    for path in [&disk.path, &partitions[0], &partitions[1]] {
        let found = refusals(path, &disk.backing);
        assert_refused!(&found, Refusal::Mounted { device, .. } if device == mounted);
    }
}

#[test]
fn a_partition_that_the_user_made_is_fine_and_its_disk_is_not() {
    needs!("sfdisk", "partx");
    let disk = Loop::new(96);
    let partitions = disk.partition(TWO_PARTITIONS, 2);
    let opened = open_to_destroy(&partitions[1]);
    assert!(opened.is_ok(), "{}", opened.unwrap_err());
    drop(opened);
    let found = refusals(&disk.path, &disk.backing);
    assert_refused!(&found, Refusal::Partitioned { partitions, .. } if partitions.len() == 2);
}

#[test]
fn a_partition_of_a_disk_that_is_marked_as_a_whole() {
    needs!("sfdisk", "partx");
    let disk = Loop::new(96);
    let partitions = disk.partition(ONE_PARTITION, 1);
    let raw = File::options().write(true).open(&disk.path).unwrap();
    let raid_at_the_end = (96 << 20) - 8192;
    raw.write_all_at(&[0xFC, 0x4E, 0x2B, 0xA9], raid_at_the_end).unwrap();
    raw.sync_all().unwrap();
    let name = disk.name();
    assert_refused!(
        &refusals(&partitions[0], &disk.backing),
        Refusal::Signature { device, what, .. } if device == name && what.contains("RAID")
    );
}

#[test]
fn swap_on_a_device_and_on_its_partition() {
    needs!("mkswap", "swapon", "sfdisk", "partx");
    let device = Loop::new(32);
    let swap = Swapped::on(&device.path);
    let found = refusals_unwatched(&device.path);
    assert_refused!(&found, Refusal::Swap { .. });
    drop(swap);
    let found = refusals(&device.path, &device.backing);
    assert_refused!(&found, Refusal::Signature { what: "swap space", .. });

    let disk = Loop::new(64);
    let partitions = disk.partition(ONE_PARTITION, 1);
    let _swap = Swapped::on(&partitions[0]);
    assert_refused!(&refusals_unwatched(&disk.path), Refusal::Swap { .. });
}

#[test]
fn a_gpt_whole_and_with_only_its_backup_left() {
    needs!("sfdisk", "partx");
    let disk = Loop::new(64);
    disk.partition("label: gpt\n", 0);
    let gpt = |refusal: &Refusal| matches!(refusal, Refusal::Signature { what, .. } if what.contains("GPT"));
    assert!(refusals(&disk.path, &disk.backing).iter().any(gpt));
    wipe(&disk.path);
    let found = refusals(&disk.path, &disk.backing);
    assert_refused!(&found, Refusal::Signature { what: "a GPT partition table", offset, .. } if *offset == (64 << 20) - 512);
}

#[test]
fn an_mbr_with_partitions_and_an_empty_one() {
    needs!("sfdisk", "partx");
    for (script, count) in [("label: dos\n,,L\n", 1), ("label: dos\n", 0)] {
        let disk = Loop::new(32);
        disk.partition(script, count);
        assert_refused!(
            &refusals(&disk.path, &disk.backing),
            Refusal::Signature { what: "an MBR partition table or boot record", offset: 510, .. }
        );
    }
}

#[test]
fn an_ext4_filesystem_and_a_file_that_holds_one() {
    needs!("mkfs.ext4");
    let device = Loop::new(32);
    format_ext4(&device.path);
    assert_refused!(
        &refusals(&device.path, &device.backing),
        Refusal::Signature { what: "an ext2/3/4 filesystem", .. }
    );
    let directory = scratch();
    let image = sparse_file(&directory.path().join("image"), 32);
    format_ext4(&image);
    assert_refused!(&refusals(&image, &image), Refusal::Signature { .. });
}

#[test]
fn everything_that_the_installed_tools_can_format() {
    needs!();
    let formats: &[(&str, &[&str])] = &[
        ("mkfs.xfs", &["-q", "-f"]),
        ("mkfs.btrfs", &["-q", "-f"]),
        ("mkfs.vfat", &[]),
        ("mkfs.exfat", &[]),
        ("mkfs.f2fs", &["-q", "-f"]),
        ("mkfs.ntfs", &["-q", "-F"]),
        ("mkfs.minix", &[]),
        ("mkswap", &[]),
        ("pvcreate", &["-ff", "-y"]),
    ];
    for (tool, arguments) in formats {
        let device = Loop::new(320);
        let mut all = arguments.to_vec();
        all.push(device.name());
        if try_run(tool, &all).is_ok() && *tool != "mkfs.minix" {
            let found = refusals(&device.path, &device.backing);
            assert_refused!(&found, Refusal::Signature { .. });
        }
    }
}

#[test]
fn a_read_only_device() {
    needs!();
    let device = Loop::with(32, &["--read-only"]);
    assert_refused!(&refusals(&device.path, &device.backing), Refusal::ReadOnly { .. });
}

#[test]
fn paths_that_are_no_drive() {
    let directory = scratch();
    let missing = directory.path().join("missing");
    let below_a_file = sparse_file(&directory.path().join("file"), 1).join("below");
    let pipe = directory.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
    let cases: [(&Path, Refusal); 5] = [
        (&missing, Refusal::Missing),
        (&below_a_file, Refusal::Missing),
        (directory.path(), Refusal::Directory),
        (Path::new("/dev/null"), Refusal::CharacterDevice),
        (&pipe, Refusal::NotADrive),
    ];
    for (path, expected) in cases {
        let readers = open(path, &Access::ReadOnly, &OPTIONS).unwrap_err();
        for error in [open_to_destroy(path).unwrap_err(), readers, inspect(path).unwrap_err()] {
            assert!(error.kind() == ErrorKind::Usage);
            match error {
                OpenError::Refused { refusals, .. } => {
                    assert_eq!(refusals, std::slice::from_ref(&expected));
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn consent_that_names_another_drive() {
    needs!();
    let device = Loop::new(32);
    let wrong_names = ["", "SERIAL123", "/dev/sda", "loop", &format!("{} ", device.name())];
    for wrong in wrong_names {
        let before = fs::read(&device.backing).unwrap();
        let access = Access::Destroy(Some(DestroyData::named(wrong)));
        let error = open(&device.path, &access, &OPTIONS).unwrap_err();
        assert!(error.kind() == ErrorKind::Refused);
        let text = error.to_string();
        assert!(
            matches!(&error, OpenError::Consent { expected, .. } if expected.kind == ConsentKind::Path)
        );
        assert!(text.contains(&format!("Consent names it '{}'", device.name())), "{text}");
        assert!(before == fs::read(&device.backing).unwrap());
    }
}

#[test]
fn a_file_that_holds_data_needs_more_than_its_path_until_it_is_a_test_file() {
    let directory = tempfile::TempDir::new_in(".").unwrap();
    let path = fs::canonicalize(directory.path()).unwrap().join("app.db");
    let mut database = vec![0x11; 16 << 20];
    database[..16].copy_from_slice(b"SQLite format 3\0");
    fs::write(&path, &database).unwrap();
    let error = open_by_name(&path, &path).unwrap_err();
    let text = error.to_string();
    let OpenError::Consent { expected, .. } = error else { panic!("{text}") };
    assert_eq!(expected.kind, ConsentKind::Contents);
    assert!(text.contains("SQLite") && text.contains("it is no empty file"), "{text}");
    assert!(fs::read(&path).unwrap() == database, "the refusal changed the file");
    // Consent for another kind of content is none.
    let mut wrong = path.clone().into_os_string();
    wrong.push(": a tar archive");
    assert!(open_by_name(&path, wrong).unwrap_err().kind() == ErrorKind::Refused);
    let mut opened = open_by_name(&path, expected.name).unwrap();
    write_noise(&mut opened);
    drop(opened);
    if rustix::fs::fgetxattr(File::open(&path).unwrap(), "user.writecliff.test-file", &mut [0; 64])
        .is_err()
    {
        skip("a filesystem with extended attributes for users");
        return;
    }
    // What is in it now is the test's own.
    let again = open_by_name(&path, &path);
    assert!(again.is_ok(), "{}", again.unwrap_err());
}

/// Overwrites the beginning.
fn write_noise(device: &mut UringDevice) {
    let mut done = Vec::new();
    device.submit(&[Io::write(Bytes::ZERO, Bytes::from_kib(128))]).unwrap();
    while done.is_empty() {
        let until = device.now() + Nanos::from_secs(1);
        device.reap(until, &mut done).unwrap();
    }
}

#[test]
fn one_consent_covers_all_runs_on_a_file_whose_filesystem_keeps_no_marks() {
    let directory = scratch();
    let path = sparse_file(&directory.path().join("file"), 32);
    let access = Access::Destroy(Some(DestroyData::named(&path)));
    write_noise(&mut open(&path, &access, &OPTIONS).unwrap());
    let file = File::open(&path).unwrap();
    let _ = rustix::fs::fremovexattr(&file, "user.writecliff.test-file");
    drop(file);
    assert!(open_by_name(&path, &path).unwrap_err().kind() == ErrorKind::Refused);
    assert!(open(&path, &access, &OPTIONS).is_ok());
}

#[test]
fn a_path_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let directory = scratch();
    let name = std::ffi::OsStr::from_bytes(b"drive-\xFF.img");
    let path = sparse_file(&directory.path().join(name), 32);
    assert!(open_by_name(&path, path.to_string_lossy().into_owned()).is_err());
    assert!(open_by_name(&path, &path).is_ok());
}

#[test]
fn a_symlink_is_followed_and_does_not_name_the_drive() {
    needs!("mkfs.ext4");
    let directory = scratch();
    let link = directory.path().join("link");
    let device = Loop::new(32);
    symlink(&device.path, &link).unwrap();
    let by_own_name = Access::Destroy(Some(DestroyData::named(link.to_str().unwrap())));
    let error = open(&link, &by_own_name, &OPTIONS).unwrap_err();
    assert!(
        matches!(&error, OpenError::Consent { expected, .. } if expected.name == device.name())
    );
    let opened = open_to_destroy(&link).unwrap();
    drop(opened);

    format_ext4(&device.path);
    let _mount = Mounted::new(&device.path, "ro,noload");
    assert_refused!(&refusals(&link, &device.backing), Refusal::Mounted { .. });
}

#[test]
fn a_device_that_a_loop_device_stands_on() {
    needs!();
    let lower = Loop::new(32);
    let upper = Loop::on(&lower.path, &[]);
    let name = upper.name();
    assert_refused!(
        &refusals(&lower.path, &lower.backing),
        Refusal::BacksLoop { loop_device, .. } if loop_device == name
    );
    let opened = open_to_destroy(&upper.path);
    assert!(opened.is_ok(), "{}", opened.unwrap_err());
}

#[test]
fn a_loop_device_on_a_device_that_is_mounted() {
    needs!("mkfs.ext4");
    let lower = Loop::new(64);
    format_ext4(&lower.path);
    let _mount = Mounted::new(&lower.path, "ro,noload");
    // Beyond the filesystem's marks, so that the device by itself looks empty.
    let upper = Loop::on(&lower.path, &["--offset", "33554432", "--read-only"]);
    let name = lower.name();
    assert_refused!(
        &refusals(&upper.path, &lower.backing),
        Refusal::Mounted { device, .. } if device == name
    );
}

#[test]
fn the_file_of_a_loop_device_and_two_loop_devices_on_one_file() {
    needs!();
    let one = Loop::new(32);
    assert_refused!(&refusals(&one.backing, &one.backing), Refusal::BacksLoop { .. });
    let hard_link = one.directory.as_ref().unwrap().path().join("other name");
    fs::hard_link(&one.backing, &hard_link).unwrap();
    assert_refused!(&refusals(&hard_link, &one.backing), Refusal::BacksLoop { .. });
    let _other = Loop::on(&one.backing, &[]);
    assert_refused!(&refusals(&one.path, &one.backing), Refusal::BacksLoop { .. });
}

#[test]
fn a_swap_file() {
    needs!("mkswap", "swapon");
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("swap");
    fs::write(&path, vec![0; 32 << 20]).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let name = path.to_str().unwrap();
    run("mkswap", &[name]);
    if let Err(error) = try_run("swapon", &[name]) {
        skip(&format!("a filesystem for swap files ({error})"));
        return;
    }
    let _off = Swapped(name.to_owned());
    assert_refused!(&refusals_unwatched(&path), Refusal::Swap { .. });
}

#[test]
fn a_device_mapper_volume_holds_its_device() {
    needs!("dmsetup");
    if try_run("dmsetup", &["version"]).is_err() {
        skip("a kernel with device mapper (the guard's unit tests have a copy of its sysfs)");
        return;
    }
    struct Mapping(String);
    impl Drop for Mapping {
        fn drop(&mut self) {
            let _ = try_run("dmsetup", &["remove", "--retry", &self.0]);
        }
    }
    let device = Loop::new(32);
    let name = format!("writecliff-test-{}", std::process::id());
    let table = format!("0 65536 linear {} 0", device.name());
    run("dmsetup", &["create", &name, "--table", &table]);
    let _mapping = Mapping(name);
    assert_refused!(&refusals(&device.path, &device.backing), Refusal::Held { .. });
}

#[test]
fn a_device_that_another_process_has_open_exclusively() {
    needs!();
    let device = Loop::new(32);
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    let other = rustix::fs::open(&device.path, flags, Mode::empty()).unwrap();
    assert_eq!(refusals(&device.path, &device.backing), [Refusal::Busy]);
    assert_eq!(inspect(&device.path).unwrap().refusals, [Refusal::Busy]);
    drop(other);
    eventually("its release", || {
        let refusals = inspect(&device.path).unwrap().refusals;
        refusals.is_empty().then_some(())
    });
}

#[test]
fn two_runs_on_one_drive_or_file() {
    needs!();
    let device = Loop::new(32);
    let _first = open_to_destroy(&device.path).unwrap();
    assert_eq!(refusals(&device.path, &device.backing), [Refusal::Busy]);
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 32);
    let _first = open_to_destroy(&file).unwrap();
    assert_eq!(refusals(&file, &file), [Refusal::Locked]);
}

#[test]
fn a_device_and_a_file_too_small_to_mean_anything() {
    needs!();
    let device = Loop::new(8);
    assert_refused!(&refusals(&device.path, &device.backing), Refusal::TooSmall { .. });
    let directory = scratch();
    for mib in [0, 15] {
        let file = sparse_file(&directory.path().join("file"), mib);
        assert_refused!(&refusals(&file, &file), Refusal::TooSmall { .. });
    }
}

#[test]
fn the_disk_of_the_running_system() {
    needs!("findmnt");
    let Ok(source) = try_run("findmnt", &["-n", "-o", "SOURCE", "/"]) else {
        skip("a root filesystem");
        return;
    };
    if !source.starts_with("/dev/") {
        skip("a root filesystem on a block device");
        return;
    }
    // Only looked at: a mistake here must not cost the machine.
    let refusals = inspect(Path::new(&source)).unwrap().refusals;
    assert_refused!(&refusals, Refusal::SystemDrive { mount_point, .. } if mount_point == Path::new("/"));
    assert!(refusals.iter().all(|refusal| !refusal.to_string().contains("umount / ")));
}

#[test]
fn everything_found_is_said_in_one_message() {
    needs!("mkfs.ext4", "sfdisk", "partx");
    let disk = Loop::new(64);
    let partitions = disk.partition(ONE_PARTITION, 1);
    format_ext4(&partitions[0]);
    let mount = Mounted::new(&partitions[0], "ro,noload");
    let text = open_to_destroy(&disk.path).unwrap_err().to_string();
    let place = mount.path().display().to_string();
    for expected in ["is mounted at", &place, "it has partitions", "GPT"] {
        assert!(text.contains(expected), "no '{expected}' in: {text}");
    }
    assert!(!text.contains("dd if="), "{text}");
}

#[test]
fn reading_a_mounted_device_is_allowed() {
    needs!("mkfs.ext4");
    let device = Loop::new(32);
    format_ext4(&device.path);
    let _mount = Mounted::new(&device.path, "ro,noload");
    let opened = open(&device.path, &Access::ReadOnly, &OPTIONS);
    assert!(opened.is_ok(), "{}", opened.unwrap_err());
}

#[test]
fn the_list_has_the_device_with_its_verdict() {
    needs!("mkfs.ext4");
    let fine = Loop::new(32);
    let formatted = Loop::new(32);
    format_ext4(&formatted.path);
    let list = block_devices();
    let verdict = |path: &Path| {
        let found = list.iter().find(|inspection| inspection.identity.path == path);
        found.unwrap_or_else(|| panic!("{} not listed", path.display()))
    };
    assert_eq!(verdict(&fine.path).refusals, []);
    assert_eq!(verdict(&fine.path).consent.name, fine.name());
    assert_eq!(verdict(&fine.path).identity.capacity.0, 32 << 20);
    assert_refused!(&verdict(&formatted.path).refusals, Refusal::Signature { .. });
    // Tests beside this one take devices down.
    let is_there = |inspection: &writecliff_uring::Inspection| inspection.identity.capacity.0 > 0;
    eventually("a list of what has a capacity", || {
        block_devices().iter().all(is_there).then_some(())
    });
}
