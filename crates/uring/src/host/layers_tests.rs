//! On machines made of files: mappings, arrays and filesystems that no test machine has at hand.

use std::path::Path;

use super::*;
use crate::host::fake_machine::{Machine, NODES, STACKED};
use crate::host::ioctl::LoopBacking;

const MOUNTS: &str = "\
1 0 253:0 / / rw - ext4 /dev/mapper/root rw
2 1 253:1 / /srv/data rw - xfs /dev/mapper/data rw
3 1 0:22 / /dev/shm rw - tmpfs tmpfs rw
4 1 8:48 / /mnt rw - ext4 /dev/sdd rw
5 4 8:1 / /mnt rw - ext4 /dev/sda1 rw
6 1 0:23 / /merged rw - overlay overlay rw,lowerdir=/a,upperdir=/b
7 1 7:0 / /image rw - ext4 /dev/loop0 rw
8 1 7:1 / /copy rw - ext4 /dev/loop1 rw
";

fn names(machine: &Machine, loops: Vec<AttachedLoop>, path: &str) -> Result<Vec<String>, String> {
    let mounts = located_mounts(&machine.host).unwrap();
    let layers = Layers { host: &machine.host, mounts, loops };
    match layers.below(Path::new(path)).unwrap() {
        Below::Nodes(nodes) => {
            let mut names: Vec<String> = nodes.into_iter().map(|node| node.name).collect();
            names.sort();
            Ok(names)
        }
        Below::Unknown(filesystem) => Err(filesystem),
    }
}

fn machine() -> Machine {
    let nodes = [NODES, &[("loop0", "7:0"), ("loop1", "7:1")]].concat();
    Machine::new(&nodes, STACKED, MOUNTS)
}

fn is(names: &[&str]) -> Result<Vec<String>, String> {
    Ok(names.iter().map(ToString::to_string).collect())
}

#[test]
fn mappings_arrays_and_partitions_are_followed_to_their_disks() {
    let machine = machine();
    let below = |path| names(&machine, Vec::new(), path);
    assert_eq!(below("/home/me"), is(&["dm-0", "sda", "sda2"]));
    assert_eq!(below("/srv/data/traces"), is(&["dm-1", "md0", "sdb", "sdc"]));
    // Only in name below that place.
    assert_eq!(below("/srv/database"), below("/"));
}

#[test]
fn what_is_mounted_last_at_a_place_counts() {
    assert_eq!(names(&machine(), Vec::new(), "/mnt/x"), is(&["sda", "sda1"]));
}

#[test]
fn memory_is_on_no_disk_and_an_overlay_on_one_that_nobody_tells() {
    let machine = machine();
    assert_eq!(names(&machine, Vec::new(), "/dev/shm"), is(&[]));
    assert_eq!(names(&machine, Vec::new(), "/merged/x"), Err("overlay".to_owned()));
}

#[test]
fn a_loop_device_is_followed_to_the_disk_of_its_file_or_to_its_device() {
    let machine = machine();
    let node = |number: &str| machine.host.node(number.parse().unwrap()).unwrap();
    let number = |text: &str| text.parse().unwrap();
    let on_file =
        |filesystem| LoopBacking { file: (number(filesystem), 12), block_device: None, offset: 0 };
    let on_device =
        LoopBacking { file: (number("0:5"), 9), block_device: Some(number("8:3")), offset: 0 };

    let loops = vec![(node("7:0"), on_file("253:1")), (node("7:1"), on_device)];
    let below = |path| names(&machine, loops.clone(), path);
    assert_eq!(below("/image"), is(&["dm-1", "loop0", "md0", "sdb", "sdc"]));
    assert_eq!(below("/copy"), is(&["loop1", "sda", "sda3"]));

    let in_memory = vec![(node("7:0"), on_file("0:22")), (node("7:1"), on_file("0:99"))];
    assert_eq!(names(&machine, in_memory.clone(), "/image"), is(&["loop0"]));
    assert!(names(&machine, in_memory, "/copy").is_err(), "a filesystem that is not mounted here");
}
