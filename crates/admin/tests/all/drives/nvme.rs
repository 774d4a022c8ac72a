//! NVMe drives made of bytes: errors that they remember, firmware, power, memory of the host.

use std::time::Duration;

use writecliff_admin::{NvmeCommand, PowerTransitions, ask};
use writecliff_device::Bytes;

use super::{ALL, Given, nvme_drive, page, told};

/// A failed command: count, queue, status (type and code), LBA, namespace.
fn error(count: u64, queue: u16, status: u16, lba: u64, namespace: u32) -> Vec<u8> {
    page(
        64,
        &[
            (0, &count.to_le_bytes()),
            (8, &queue.to_le_bytes()),
            (12, &(status << 1 | 1).to_le_bytes()),
            (16, &lba.to_le_bytes()),
            (24, &namespace.to_le_bytes()),
        ],
    )
}

/// The drive of all tests, which remembers four errors and had seventy.
fn with_errors(errors: &[Vec<u8>; 4]) -> Given {
    let mut drive = nvme_drive();
    drive.nvme[0].1[262] = 3;
    drive.nvme[4].1[176] = 70;
    drive.nvme.push((NvmeCommand::log_page(0x01, ALL, 256), errors.concat(), 0));
    drive
}

#[test]
fn errors_are_the_newest_first_and_say_whose_they_are() {
    let mut drive = with_errors(&[
        error(68, 0, 0x002, u64::MAX, ALL),
        error(70, 3, 0x281, 0x12_3456, 1),
        error(69, 2, 0x280, 77, 2),
        vec![0; 64],
    ]);
    let facts = ask(&mut drive).unwrap();
    let errors: Vec<_> =
        facts.errors.iter().map(|e| (e.count, e.status, e.is_real, e.lba, e.namespace)).collect();
    assert_eq!(
        errors,
        [
            (70, 0x281, true, Some(0x12_3456), Some(1)),
            (69, 0x280, true, Some(77), Some(2)),
            (68, 0x002, false, None, None),
        ]
    );
    assert_eq!(facts.health.unwrap().logged_errors, Some(70));
    let words = told(drive);
    for said in [
        "error log: 70 in its life; of the last 3, 2 its own",
        "ERROR: no. 70: data that it could not read, LBA 1193046, namespace 1, status 0x281",
        "ERROR: no. 69: data that it could not write, LBA 77, namespace 2",
    ] {
        assert!(words.contains(said), "{said} in\n{words}");
    }
    assert_eq!(words.matches("ERROR").count(), 2, "{words}");
}

#[test]
fn commands_that_tools_try_are_no_errors_of_the_drive() {
    let refused = || error(5, 0, 0x109, 0, 0);
    let words = told(with_errors(&[refused(), refused(), refused(), refused()]));
    assert!(words.contains("error log: 70 in its life; the last 4 are commands"), "{words}");
    assert!(!words.contains("ERROR"), "{words}");
    let unknown = told(with_errors(&[
        error(9, 1, 0x2F0, 1, 1),
        error(8, 1, 0x7C1, 1, 1),
        error(7, 1, 0x0FF, 1, 1),
        error(6, 1, 0x1FF, 1, 1),
    ]));
    assert!(unknown.contains("ERROR: no. 9: an error of its data, LBA 1"), "{unknown}");
    assert!(unknown.contains("of the last 4, 1 its own"), "{unknown}");
}

#[test]
fn an_error_log_without_errors_is_empty() {
    assert!(told(nvme_drive()).contains("error log: empty"));
    let mut forgetful = nvme_drive();
    forgetful.nvme[4].1[176] = 2;
    assert!(told(forgetful).contains("error log: 2 in its life, none of which it remembers"));
}

/// Slot 1 has the maker's firmware, slot 3 runs, slot 2 will.
fn slots(info: u8) -> Vec<u8> {
    page(512, &[(0, &[info]), (8, b"FW00    "), (16, b"FW02    "), (24, b"FW01    ")])
}

#[test]
fn firmware_slots_say_what_runs_and_what_will() {
    let mut drive = nvme_drive();
    drive.nvme.push((NvmeCommand::log_page(0x03, ALL, 512), slots(0x23), 0));
    let slots_of = |drive: &mut Given| ask(drive).unwrap().firmware_slots;
    let found = slots_of(&mut drive).unwrap();
    assert_eq!((found.active, found.next), (3, Some(2)));
    let revisions: Vec<_> = found.slots.iter().map(|s| (s.number, s.revision.as_str())).collect();
    assert_eq!(revisions, [(1, "FW00"), (2, "FW02"), (3, "FW01")]);
    let words = "firmware slot: 3 runs (FW01), 2 after the next reset (FW02)";
    assert!(told(drive.clone()).contains(words));
    drive.nvme.last_mut().unwrap().1 = slots(0x33);
    assert_eq!(slots_of(&mut drive).unwrap().next, None, "the one that runs already");
    drive.nvme.last_mut().unwrap().1 = slots(0x00);
    assert_eq!(slots_of(&mut drive), None, "it does not say which runs");
}

/// From a state, after so many milliseconds, into another.
fn step(from: usize, after_ms: u32, to: u32) -> (usize, [u8; 4]) {
    (8 * from, (after_ms << 8 | to << 3).to_le_bytes())
}

fn transitions(drive: &mut Given) -> PowerTransitions {
    ask(drive).unwrap().power_transitions.unwrap()
}

#[test]
fn power_transitions_are_told_as_the_way_that_an_idle_drive_goes() {
    let mut drive = nvme_drive();
    drive.nvme[0].1[265] = 1;
    let steps = [step(0, 100, 1), step(1, 100, 2), step(2, 0, 0)];
    let fields: Vec<_> = steps.iter().map(|(at, entry)| (*at, entry.as_slice())).collect();
    drive.nvme.push((NvmeCommand::feature(0x0C), page(256, &fields), 1));
    drive.nvme.push((NvmeCommand::feature(0x02), Vec::new(), 0b010_0001));
    let found = transitions(&mut drive);
    assert!(found.enabled);
    let steps: Vec<_> = found.steps.iter().map(|s| (s.from, s.after, s.to)).collect();
    let after = Duration::from_millis(100);
    assert_eq!(steps, [(0, after, 1), (1, after, 2)]);
    assert_eq!(ask(&mut drive).unwrap().power_state_now, Some(1), "without the workload hint");
    let words = "power now: state 1, by itself into state 1 after 100 ms idle, into state 2 after";
    assert!(told(drive.clone()).contains(words), "{}", told(drive));
    drive.nvme[7].2 = 0;
    assert!(!transitions(&mut drive).enabled);
    assert!(told(drive.clone()).contains("it changes it only when told to"));
    let json = serde_json::to_value(ask(&mut drive).unwrap()).unwrap();
    assert_eq!(json["power_transitions"]["steps"][0]["after_ms"], 100);
}

/// Steps that lead back, or to nowhere, do not make the words go round for ever.
#[test]
fn power_transitions_that_lead_back_come_to_an_end() {
    let mut drive = nvme_drive();
    drive.nvme[0].1[265] = 1;
    let steps = [step(0, 1, 2), step(2, 1, 0), step(1, 5, 1)];
    let fields: Vec<_> = steps.iter().map(|(at, entry)| (*at, entry.as_slice())).collect();
    drive.nvme.push((NvmeCommand::feature(0x0C), page(256, &fields), 1));
    assert!(told(drive).contains("power now: by itself into state 2 after 1 ms idle\n"));
}

#[test]
fn memory_of_the_host_is_told_where_a_drive_wants_it() {
    let mut drive = nvme_drive();
    let pages = |bytes: u32| (bytes / 4096).to_le_bytes();
    drive.nvme[0].1[272..276].copy_from_slice(&pages(64 << 20));
    drive.nvme[0].1[276..280].copy_from_slice(&pages(8 << 20));
    let memory = ask(&mut drive).unwrap().host_memory.unwrap();
    assert_eq!((memory.preferred, memory.least), (Bytes(64 << 20), Bytes(8 << 20)));
    assert_eq!(memory.lent, None, "it does not answer");
    drive.nvme.push((NvmeCommand::feature(0x0D), page(4096, &[(0, &pages(32 << 20))]), 1));
    assert_eq!(ask(&mut drive).unwrap().host_memory.unwrap().lent, Some(Bytes(32 << 20)));
    assert!(told(drive.clone()).contains("lent to it, of "), "{}", told(drive));
    drive.nvme[7].2 = 0;
    assert_eq!(ask(&mut drive).unwrap().host_memory.unwrap().lent, Some(Bytes::ZERO));
    assert!(told(drive.clone()).contains("host memory: none is lent to it"));
    let json = serde_json::to_value(ask(&mut drive).unwrap()).unwrap();
    assert_eq!(json["host_memory"]["preferred_bytes"], 64 << 20);
    assert_eq!(ask(&mut nvme_drive()).unwrap().host_memory, None, "it has memory of its own");
}
