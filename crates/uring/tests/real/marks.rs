//! What a refusal advises, run as it is printed, leads to a drive that can be tested: for what the
//! installed tools make, on devices of several shapes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use writecliff_uring::{Refusal, advice};

use crate::machine::{
    Loop, assert_refused, eventually, installed, needs, open_to_destroy, refusals,
    refusals_unwatched, run, scratch, skip, sparse_file, try_run,
};

/// A program, and a script that uses it on the device `$1` in a directory with a file.
const MAKERS: &[(&str, &str)] = &[
    ("mkfs.ext4", "mkfs.ext4 -q -F $1"),
    ("mkfs.ext4", "mkfs.ext2 -q -F -b 1024 $1"),
    ("mkfs.xfs", "mkfs.xfs -q -f $1"),
    ("mkfs.btrfs", "mkfs.btrfs -q -f $1"),
    ("mkfs.vfat", "mkfs.vfat -F 32 $1"),
    ("mkfs.vfat", "mkfs.vfat -F 16 $1"),
    ("mkfs.vfat", "mkfs.vfat -F 32 --mbr=y $1"),
    ("mkfs.exfat", "mkfs.exfat $1"),
    ("mkfs.ntfs", "mkfs.ntfs -q -F -f $1"),
    ("mkfs.f2fs", "mkfs.f2fs -q -f $1"),
    ("mkudffs", "mkudffs $1"),
    ("mkudffs", "mkudffs --bootarea=mbr $1"),
    ("genisoimage", "genisoimage -quiet -udf -J -hfs . > $1"),
    ("mkfs.nilfs2", "mkfs.nilfs2 -q -f $1"),
    ("mkfs.jfs", "mkfs.jfs -q $1"),
    ("mkreiserfs", "mkreiserfs -q -ff $1"),
    ("mkfs.reiser4", "mkfs.reiser4 -y -f $1"),
    ("mkfs.gfs2", "mkfs.gfs2 -q -O -p lock_nolock -j 1 -J 16 $1"),
    ("mkfs.ocfs2", "mkfs.ocfs2 -q -M local -F $1 < /dev/null"),
    ("mkfs.erofs", "mkfs.erofs --quiet $1 ."),
    ("mksquashfs", "mksquashfs . $1 -quiet -no-progress -noappend"),
    ("mkfs.cramfs", "mkfs.cramfs . $1"),
    ("genromfs", "genromfs -f $1 -d ."),
    ("mkfs.minix", "mkfs.minix -1 $1 60000"),
    ("mkfs.minix", "mkfs.minix -3 $1"),
    ("mkfs.bfs", "mkfs.bfs $1"),
    ("mkswap", "mkswap $1"),
    ("pvcreate", "pvcreate -qq -ff -y $1"),
    (
        "cryptsetup",
        "echo key | cryptsetup luksFormat -q --type luks1 --pbkdf-force-iterations 1000 $1 -",
    ),
    (
        "cryptsetup",
        "echo key | cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $1 -",
    ),
    ("make-bcache", "make-bcache --wipe-bcache -C $1"),
    ("make-bcache", "make-bcache --wipe-bcache -B $1"),
    ("sfdisk", "echo label: dos | sfdisk -q $1"),
    ("sfdisk", "echo label: gpt | sfdisk -q $1"),
    ("sfdisk", "echo label: sun | sfdisk -q $1"),
    ("sfdisk", "echo label: sgi | sfdisk -q $1"),
    ("parted", "parted -s $1 mklabel mac"),
    ("parted", "parted -s $1 mklabel bsd"),
    ("parted", "parted -s $1 mklabel amiga"),
    ("parted", "parted -s $1 mklabel pc98"),
    ("parted", "parted -s $1 mklabel loop"),
];

fn make(script: &str, device: &Path) -> Result<String, String> {
    let directory = scratch();
    fs::write(directory.path().join("file"), "content").unwrap();
    let script = format!("cd {} && {script}", directory.path().display());
    try_run("sh", &["-c", &script, "sh", device.to_str().unwrap()])
}

/// The commands that a refusal prints, run by a shell.
fn run_advised(found: &[Refusal]) {
    let text = advice(found).unwrap_or_else(|| panic!("no advice: {found:#?}"));
    for command in text.lines().skip(1) {
        // A partition does not go while another test's guard looks at it.
        eventually(command, || try_run("sh", &["-c", command]).ok());
    }
}

/// What speaks against a device, once nobody has it open any more: programs that other tests start
/// have our descriptors until they run.
fn settled(path: &Path) -> Vec<Refusal> {
    eventually("a device that is not busy", || {
        let found = refusals_unwatched(path);
        (!found.contains(&Refusal::Busy)).then_some(found)
    })
}

fn assert_usable(path: &Path, before: &str) {
    let opened = open_to_destroy(path);
    assert!(opened.is_ok(), "after {before}: {}", opened.unwrap_err());
}

#[test]
fn what_the_installed_tools_make_is_refused_and_the_advice_leads_to_a_usable_drive() {
    needs!();
    // An end that is no multiple of 4096.
    let mut made = 0;
    for (tool, script) in MAKERS {
        if !installed(tool) {
            skip(&format!("the program {tool}"));
            continue;
        }
        let mib = if *tool == "mkfs.xfs" { 320 } else { 144 };
        let directory = scratch();
        let backing = directory.path().join("backing");
        File::create(&backing).unwrap().set_len((mib << 20) + 512).unwrap();
        let device = Loop::on(&backing, &[]);
        if let Err(error) = make(script, &device.path) {
            skip(&format!("a {tool} that does `{script}` here ({error})"));
            continue;
        }
        let found = settled(&device.path);
        assert_refused!(&found, Refusal::Signature { .. });
        assert!(!found.iter().any(|one| matches!(one, Refusal::OtherTool { .. })), "{found:#?}");
        run_advised(&found);
        assert_usable(&device.path, script);
        made += 1;
    }
    assert!(made > 0);
}

#[test]
fn the_advice_works_with_lbas_of_4096_bytes_and_on_a_file() {
    needs!("mkfs.ext4");
    let device = Loop::with(64, &["--sector-size", "4096"]);
    make("mkfs.ext4 -q -F $1", &device.path).unwrap();
    run_advised(&settled(&device.path));
    assert_usable(&device.path, "ext4 on 4096");

    let directory = scratch();
    let file = sparse_file(&directory.path().join("it's an image"), 64);
    make("mkfs.ext4 -q -F \"$1\"", &file).unwrap();
    run_advised(&settled(&file));
    let left = writecliff_uring::inspect(&file).unwrap().refusals;
    assert!(!left.iter().any(|one| matches!(one, Refusal::Signature { .. })), "{left:#?}");
    assert_eq!(fs::metadata(&file).unwrap().len(), 64 << 20);
}

#[test]
fn the_advice_for_a_partitioned_disk_forgets_its_partitions_first() {
    needs!("mkfs.ext4", "sfdisk", "partx");
    for label in ["gpt", "dos"] {
        let disk = Loop::new(96);
        let partitions = disk.partition(&format!("label: {label}\n,32M,L\n,,L\n"), 2);
        let name = partitions[1].to_str().unwrap();
        eventually("formatting", || try_run("mkfs.ext4", &["-q", "-F", name]).ok());
        let found = settled(&disk.path);
        assert_refused!(&found, Refusal::Partitioned { .. });
        run_advised(&found);
        assert_usable(&disk.path, label);
        assert!(!partitions[1].exists());
    }
}

#[test]
fn a_mark_of_the_whole_disk_is_not_advised_to_be_erased_for_a_partition() {
    needs!("sfdisk", "partx");
    let disk = Loop::new(96);
    let partitions = disk.partition("label: gpt\n,,L\n", 1);
    let raw = File::options().write(true).open(&disk.path).unwrap();
    raw.write_all_at(&[0xFC, 0x4E, 0x2B, 0xA9], (96 << 20) - 8192).unwrap();
    raw.sync_all().unwrap();
    let found = refusals(&partitions[0], &disk.backing);
    assert_eq!(advice(&found), None, "{found:#?}");
}

#[test]
fn blocks_that_cannot_be_read_are_told_with_what_else_is_there_and_can_be_zeroed() {
    needs!("mkfs.ext4");
    let device = Loop::new(64);
    make("mkfs.ext4 -q -F $1", &device.path).unwrap();
    run("sync", &[]);
    // What a loop device's file does not have any more cannot be read.
    let backing = File::options().write(true).open(&device.backing).unwrap();
    backing.set_len(32 << 20).unwrap();
    let found = settled(&device.path);
    if !found.iter().any(|one| matches!(one, Refusal::BadBlock { .. })) {
        skip("a kernel whose loop devices fail beyond the end of their file");
        return;
    }
    assert_refused!(&found, Refusal::Signature { what: "an ext2/3/4 filesystem", .. });
    let name = device.name();
    assert_refused!(&found, Refusal::BadBlock { device, offset, .. } if device == name && *offset >= 32 << 20);
    let text = open_to_destroy(&device.path).unwrap_err().to_string();
    assert!(text.contains("cannot be read (Input/output error"), "{text}");
    assert!(!text.contains("/proc"), "{text}");
    run_advised(&found);
    assert_usable(&device.path, "bad blocks");
}
