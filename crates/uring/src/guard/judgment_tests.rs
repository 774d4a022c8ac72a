//! The guard on machines made of files: what no test machine has at hand.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::guard::consent::{ConsentKind, ConsentName};
use crate::host::fake_machine::{Machine, NODES, STACKED};

impl Machine {
    fn refusals(&self, number: &str) -> Vec<Refusal> {
        let node = self.host.node(number.parse().unwrap()).unwrap();
        judge_block(&self.host, &node, None, Bytes::from_mib(100)).refusals
    }

    fn texts(&self, number: &str) -> String {
        let refusals = self.refusals(number);
        let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        let dev = format!("{}/", self.host.dev.display());
        texts.join("\n").replace(&dev, "/dev/")
    }
}

const MOUNTS: &str = "\
1 0 253:0 / / rw - ext4 /dev/mapper/root rw
2 1 253:1 / /srv/data rw - xfs /dev/mapper/data rw
3 1 0:22 / /proc rw - proc proc rw
";

fn usual() -> Machine {
    Machine::new(NODES, STACKED, MOUNTS)
}

#[test]
fn the_system_drive_is_found_below_a_volume_and_from_every_partition() {
    let machine = usual();
    for number in ["8:0", "8:1", "8:2", "8:3", "253:0"] {
        let text = machine.texts(number);
        assert!(text.contains("carries the running system (/)"), "{number}: {text}");
        assert!(!text.contains("umount"), "{number}: {text}");
    }
}

#[test]
fn an_array_member_is_held_and_the_mount_on_top_is_named() {
    let machine = usual();
    for number in ["8:16", "8:32"] {
        let text = machine.texts(number);
        assert!(text.contains("is part of /dev/md0"), "{text}");
        assert!(text.contains("mounted at /srv/data"), "{text}");
    }
    assert!(machine.texts("9:0").contains("is part of /dev/dm-1"));
    assert!(machine.texts("253:1").contains("/dev/dm-1 is mounted at /srv/data"));
}

#[test]
fn a_drive_that_nobody_uses_has_nothing_against_it() {
    assert_eq!(usual().refusals("8:48"), []);
}

#[test]
fn a_volume_by_itself_may_be_tested_but_not_beside_the_system() {
    let stacked = [("dm-0", "sda2"), ("dm-1", "sdb")];
    let machine = Machine::new(NODES, &stacked, "1 0 253:0 / / rw - ext4 x rw\n");
    assert_eq!(machine.refusals("253:1"), []);
    let stacked = [("dm-0", "sda2"), ("dm-1", "sda2")];
    let machine = Machine::new(NODES, &stacked, "1 0 253:0 / / rw - ext4 x rw\n");
    assert!(machine.texts("253:1").contains("carries the running system"));
}

#[test]
fn every_device_of_a_btrfs_is_mounted() {
    let mounts = "5 1 0:44 /@ /pool rw - btrfs LABEL=pool rw\n";
    let machine = Machine::new(NODES, &[], mounts);
    let devices = machine.host.sys.join("fs/btrfs/1234-abcd/devices");
    fs::create_dir_all(&devices).unwrap();
    for name in ["sdb", "sdc"] {
        symlink(machine.place(name), devices.join(name)).unwrap();
        fs::create_dir_all(machine.host.sys.join("fs/btrfs/features")).unwrap();
    }
    assert!(machine.texts("8:16").contains("/dev/sdb is mounted at /pool"));
    assert!(machine.texts("8:32").contains("/dev/sdc is mounted at /pool"));
    assert_eq!(machine.refusals("8:48"), []);
}

#[test]
fn what_cannot_be_read_refuses() {
    type Spoil = fn(&Machine) -> io::Result<()>;
    let spoil: [(&str, Spoil); 5] = [
        ("mountinfo", |m| fs::remove_file(m.host.proc.join("self/mountinfo"))),
        ("mountinfo", |m| fs::write(m.host.proc.join("self/mountinfo"), "what?\n")),
        ("holders", |m| fs::remove_dir(m.place("sdd").join("holders"))),
        ("slaves", |m| fs::remove_dir(m.place("sdd").join("slaves"))),
        ("ro", |m| fs::write(m.place("sdd").join("ro"), "maybe")),
    ];
    for (what, spoil) in spoil {
        let machine = usual();
        spoil(&machine).unwrap();
        let text = machine.texts("8:48");
        assert!(text.contains("could not be read"), "{what}: {text}");
        assert!(text.contains(what), "{what}: {text}");
    }
}

#[test]
fn a_mount_whose_source_has_no_node_here_is_known_by_its_name() {
    let machine = usual();
    let mount = |name: &str| {
        let source = machine.host.dev.join(name);
        let line = format!("9 1 0:50 / /pool rw - bcachefs {} rw\n", source.display());
        fs::write(machine.host.proc.join("self/mountinfo"), line).unwrap();
    };
    mount("sdd");
    assert!(machine.texts("8:48").contains("/dev/sdd is mounted at /pool"));
    // The kernel's claim keeps that one from being tested; all others may be.
    mount("gone");
    assert_eq!(machine.refusals("8:48"), []);
}

#[test]
fn a_swap_that_cannot_be_looked_at_refuses_what_it_may_be_and_nothing_else() {
    let machine = usual();
    let swap = |path: &str, kind: &str| {
        let swaps = format!("Filename Type\n{path} {kind} 1 0 -1\n");
        fs::write(machine.host.proc.join("swaps"), swaps).unwrap();
    };
    swap("/nowhere/swap\\040(deleted)", "file");
    assert_eq!(machine.refusals("8:48"), []);
    swap(machine.host.dev.join("sdd").to_str().unwrap(), "partition");
    assert!(machine.texts("8:48").contains("/dev/sdd is swap in use"));
    assert!(!machine.texts("8:32").contains("swap"));
    // A file of this name may be the one.
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("swap");
    let file = fs::File::create_new(&path).unwrap();
    let id = FileId::of(&file.metadata().unwrap());
    for (name, is_refused) in [("swap", true), ("swap\\040(deleted)", true), ("swap2", false)] {
        swap(&format!("/nowhere/{name}"), "file");
        let found = in_use::file_in_use(
            &machine.host,
            &Sought { files: vec![id], names: vec!["swap".into()], ..Sought::default() },
            &path,
        );
        let is_swap = |refusal: &Refusal| matches!(refusal, Refusal::Swap { .. });
        assert_eq!(found.unwrap().iter().any(is_swap), is_refused, "{name}");
    }
}

#[test]
fn partitions_and_write_protection_are_seen() {
    let machine = usual();
    assert!(machine.texts("8:0").contains("it has partitions: /dev/sda1, /dev/sda2, /dev/sda3"));
    fs::write(machine.place("sdd").join("ro"), "1\n").unwrap();
    assert!(machine.texts("8:48").contains("/dev/sdd is read-only"));
}

#[test]
fn a_drive_that_is_in_use_by_another_path_is_in_use() {
    let machine = usual();
    for name in ["sdb", "sdc", "sdd"] {
        machine.put(name, "device/wwid", &format!("naa.{name}\n"));
    }
    assert_eq!(machine.refusals("8:48"), []);
    // The array's member by another path.
    machine.put("sdd", "device/wwid", "naa.sdb\n");
    let text = machine.texts("8:48");
    assert!(text.contains("/dev/sdb is part of /dev/md0"), "{text}");
    assert!(text.contains("/dev/sdb leads to the same drive as /dev/sdd"), "{text}");
}

#[test]
fn a_mount_by_another_path_counts_and_an_idle_path_does_not() {
    let mounts = "1 0 8:1 / /data rw - ext4 /dev/sda1 rw\n";
    let machine = Machine::new(NODES, &[], mounts);
    machine.put("sda", "wwid", "eui.0025385b71b1\n");
    machine.put("sdb", "wwid", "eui.0025385b71b1\n");
    assert!(machine.texts("8:16").contains("/dev/sda1 is mounted at /data"));
    fs::write(machine.host.proc.join("self/mountinfo"), "").unwrap();
    assert_eq!(machine.refusals("8:16"), []);
}

#[test]
fn devices_on_the_same_blocks_are_seen_though_neither_is_built_on_the_other() {
    // What lies where is not known here, so that each lies anywhere.
    let stacked = [("dm-0", "sdd"), ("dm-1", "sdd")];
    let machine = Machine::new(NODES, &stacked, "1 0 253:1 / /data rw - ext4 x rw\n");
    let text = machine.texts("253:0");
    assert!(
        text.contains("/dev/dm-1 lies on the same blocks of /dev/sdd, mounted at /data"),
        "{text}"
    );
    let alone = Machine::new(NODES, &[("dm-0", "sdd"), ("dm-1", "sdc")], "");
    assert_eq!(alone.refusals("253:0"), []);
}

#[test]
fn a_zoned_drive_is_none_to_write_at_random() {
    let machine = usual();
    machine.put("sdd", "queue/zoned", "none\n");
    assert_eq!(machine.refusals("8:48"), []);
    for model in ["host-managed", "host-aware"] {
        machine.put("sdd", "queue/zoned", model);
        let text = machine.texts("8:48");
        assert!(text.contains("/dev/sdd is a zoned drive") && text.contains(model), "{text}");
    }
}

#[test]
fn an_export_of_a_partition_is_a_use_of_the_drive() {
    let machine = usual();
    let namespace = machine.host.sys.join("kernel/config/nvmet/subsystems/nqn/namespaces/1");
    fs::create_dir_all(&namespace).unwrap();
    // No block device of this machine of files has a node, but each has a name.
    fs::write(namespace.join("enable"), "1\n").unwrap();
    let exported = |name: &str| {
        let device = machine.host.dev.join(name);
        fs::write(namespace.join("device_path"), device.to_str().unwrap()).unwrap();
        machine.texts("8:48")
    };
    assert!(exported("sdd").contains("/dev/sdd is exported to other machines"));
    assert_eq!(exported("sdc"), "");
    assert!(exported("of-then").contains("it may be this drive by a name that it had"));
    fs::remove_dir_all(machine.host.sys.join("kernel/config/nvmet")).unwrap();
    fs::create_dir_all(machine.host.sys.join("module/nvmet")).unwrap();
    assert!(machine.texts("8:48").contains("kernel/config/nvmet could not be read"));
}

fn consent(machine: &Machine, number: &str) -> Vec<(String, ConsentKind)> {
    let node = machine.host.node(number.parse().unwrap()).unwrap();
    let path = machine.host.path_of(&node);
    let identity = crate::drive::identity::block_device(&node, &path).unwrap();
    let names = ConsentName::of_block_device(&machine.host, &node, &identity, &path).unwrap();
    let text = |name: &ConsentName| name.name.to_str().unwrap().to_owned();
    names.iter().map(|name| (text(name), name.kind)).collect()
}

#[test]
fn consent_is_a_name_that_no_other_drive_has() {
    let machine = Machine::new(NODES, &[], "");
    let queue = [
        ("queue/logical_block_size", "512"),
        ("queue/physical_block_size", "512"),
        ("queue/rotational", "0"),
        ("queue/discard_max_bytes", "0"),
    ];
    for (name, _) in NODES {
        machine.put(name, "device/wwid", "");
        queue.iter().for_each(|(attribute, value)| machine.put(name, attribute, value));
    }
    machine.put("sdb", "device/serial", "ALONE\n");
    machine.put("sdc", "device/serial", "TWICE\n");
    machine.put("sdd", "device/serial", "TWICE\n");
    machine.put("sdc", "wwid", "eui.1\n");
    assert_eq!(consent(&machine, "8:16"), [("ALONE".to_owned(), ConsentKind::Serial)]);
    assert_eq!(consent(&machine, "8:32"), [("eui.1".to_owned(), ConsentKind::WorldWide)]);
    let path = |name: &str| machine.host.dev.join(name).to_str().unwrap().to_owned();
    assert_eq!(consent(&machine, "8:48"), [(path("sdd"), ConsentKind::Path)]);
    // The same drive by two paths, or two that pretend to be one: nobody can tell.
    machine.put("sdd", "wwid", "eui.1\n");
    assert_eq!(consent(&machine, "8:32"), [(path("sdc"), ConsentKind::Path)]);
}

#[test]
fn names_that_steer_a_terminal_or_break_out_of_quotes_are_harmless() {
    let node = "8:48".parse().unwrap();
    let machine = usual();
    machine.put("sdd", "device/serial", "E\u{1b}[31mR\u{7}D\u{202e}x\n");
    let serial = machine.host.node(node).unwrap().attribute("device/serial").unwrap();
    assert_eq!(serial.as_deref(), Some("E?[31mR?D?x"));
    let name = ConsentName::new("it's a b", ConsentKind::Serial);
    assert_eq!(name.quoted(), r"'it'\''s a b'");
}
