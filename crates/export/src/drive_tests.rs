//! What a drive gives back: in order, after trims, and after hundreds of power cuts in virtual time.

use std::collections::BTreeMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::Nanos;
use writecliff_sim::{Build, Profile, SsdProfile, TrimKind};
use writecliff_workload::RandomUniform;

use super::*;
use crate::prepare::{Prepared, prepare};

const PAGE: u64 = 4096;

fn ssd(name: &str) -> SsdProfile {
    match writecliff::profile(name).unwrap() {
        Profile::Ssd(profile) => *profile,
        Profile::Disk(_) => panic!("{name} is a disk"),
    }
}

fn drive(profile: SsdProfile, prepared: Prepared, lies: bool) -> Drive<u64> {
    let mut model = Profile::Ssd(Box::new(profile)).build("sim:under-test");
    let store = Store::in_memory(model.info().capacity).unwrap();
    let go_on = &mut |_| std::ops::ControlFlow::Continue(());
    prepare(&mut *model, &store, prepared, 1, go_on).unwrap();
    Drive::new(model, store, Flaws { lies, shears: false })
}

fn request(work: Work, offset: u64, length: u64) -> Request {
    Request { work, offset, length, forced: false }
}

/// What one request comes to, with nothing else under way.
fn ask(drive: &mut Drive<u64>, request: Request) -> Result<Answer, Errno> {
    let mut done = Vec::new();
    drive.submit(request, 0, &mut done).unwrap();
    while done.is_empty() {
        let next = drive.next_event().expect("something is under way");
        assert!(!drive.advance(next, &mut done).unwrap(), "a power cut that nobody planned");
    }
    assert_eq!(drive.requests(), 0);
    done.remove(0).answer
}

fn read(drive: &mut Drive<u64>, offset: u64, length: u64) -> Vec<u8> {
    match ask(drive, request(Work::Read, offset, length)) {
        Ok(Answer::Data(data)) => data[HEADROOM..].to_vec(),
        other => panic!("{other:?}"),
    }
}

fn write(drive: &mut Drive<u64>, offset: u64, data: &[u8]) {
    let work = Work::Write(data.to_vec());
    assert_eq!(ask(drive, request(work, offset, data.len() as u64)), Ok(Answer::Done));
}

fn cut(drive: &mut Drive<u64>) -> u64 {
    let before = drive.telemetry().lost_pages.unwrap();
    drive.cut_power();
    drive.telemetry().lost_pages.unwrap() - before
}

/// The way through an export changes nothing of a drive: each write takes what it takes, before the cliff and
/// behind it, and so the cliff comes after as many bytes.
#[test]
fn writes_take_what_the_model_takes_for_them_by_itself_to_the_nanosecond() {
    const WRITES: usize = 20_000;
    let profile = ssd("tiny");
    let mut drive = drive(profile.clone(), Prepared::Filled, false);
    let mut alone = Profile::Ssd(Box::new(profile)).build("sim:under-test");
    let store = Store::in_memory(alone.info().capacity).unwrap();
    let go_on = &mut |_| std::ops::ControlFlow::Continue(());
    prepare(&mut *alone, &store, Prepared::Filled, 1, go_on).unwrap();
    let capacity = alone.info().capacity;
    let ios = || RandomUniform::new(Operation::Write, capacity, Bytes(PAGE), 2).take(WRITES);
    let mut completions = Vec::new();
    let by_itself = ios().map(|io| {
        alone.submit(&[io]).unwrap();
        completions.clear();
        while completions.is_empty() {
            alone.reap(DeviceTime::MAX, &mut completions).unwrap();
        }
        completions[0].service_time()
    });
    let by_itself: Vec<Nanos> = by_itself.collect();
    let mut done = Vec::new();
    let exported = ios().map(|io| {
        let work = Work::Write(vec![7; PAGE as usize]);
        drive.submit(request(work, io.offset.0, PAGE), 0, &mut done).unwrap();
        while done.is_empty() {
            let next = drive.next_event().unwrap();
            drive.advance(next, &mut done).unwrap();
        }
        let Done { submitted, due, .. } = done.pop().unwrap();
        due.since(submitted)
    });
    let exported: Vec<Nanos> = exported.collect();
    assert!(exported == by_itself);
    let sum = |part: &[Nanos]| part.iter().map(|time| time.0).sum::<u64>();
    let (first, last) = (sum(&exported[..2000]), sum(&exported[WRITES - 2000..]));
    assert!(last > 3 * first, "there was a cliff between: {first}, {last}");
}

/// Pages whose second version was lost: how many first sectors of each have it all the same.
fn sectors_left_of_what_is_lost(shears: bool) -> BTreeMap<usize, usize> {
    let profile = ssd("tiny");
    let mut model = Profile::Ssd(Box::new(profile)).build("sim:under-test");
    let store = Store::in_memory(model.info().capacity).unwrap();
    let go_on = &mut |_| std::ops::ControlFlow::Continue(());
    prepare(&mut *model, &store, Prepared::Purged, 1, go_on).unwrap();
    let mut drive = Drive::new(model, store, Flaws { lies: false, shears });
    const PAGES: u64 = 64;
    for page in 0..PAGES {
        write(&mut drive, page * PAGE, &[1; PAGE as usize]);
    }
    assert_eq!(ask(&mut drive, request(Work::Flush, 0, 0)), Ok(Answer::Done));
    let mut left = BTreeMap::new();
    for _ in 0..20 {
        let mut lost = 0;
        while lost == 0 {
            for page in 0..PAGES {
                write(&mut drive, page * PAGE, &[2; PAGE as usize]);
            }
            lost = cut(&mut drive);
        }
        for page in 0..PAGES {
            let data = read(&mut drive, page * PAGE, PAGE);
            let new = data.iter().take_while(|byte| **byte == 2).count();
            assert!(data[new..].iter().all(|byte| *byte == 1), "new first, then old");
            assert_eq!(new % 512, 0, "whole sectors");
            *left.entry(new / 512).or_default() += 1;
            write(&mut drive, page * PAGE, &[1; PAGE as usize]);
        }
        assert_eq!(ask(&mut drive, request(Work::Flush, 0, 0)), Ok(Answer::Done));
    }
    left
}

#[test]
fn shorn_writes_are_pages_with_new_sectors_before_old_ones_and_only_where_they_were_asked_for() {
    let whole = sectors_left_of_what_is_lost(false);
    assert!(whole.keys().all(|sectors| [0, 8].contains(sectors)) && whole[&0] > 0, "{whole:?}");
    let shorn = sectors_left_of_what_is_lost(true);
    assert!((1..8).all(|sectors| shorn.contains_key(&sectors)), "{shorn:?}");
}

#[test]
fn what_was_written_is_read_and_what_was_not_is_zero() {
    let mut drive = drive(ssd("tiny"), Prepared::Purged, false);
    write(&mut drive, 512, &[7; 1024]);
    write(&mut drive, 1024, &[8; 512]);
    let expected = [[0; 512], [7; 512], [8; 512], [0; 512]].concat();
    assert_eq!(read(&mut drive, 0, 2048), expected);
    // Longer than a command of the drive, and not in whole pages.
    let long: Vec<u8> = (0..3 << 20).map(|byte: u32| (byte / 512 + 1) as u8).collect();
    write(&mut drive, 512, &long);
    assert_eq!(read(&mut drive, 512, 3 << 20), long);
}

#[test]
fn a_request_sees_what_came_before_it_and_nothing_of_what_came_later() {
    let mut drive = drive(ssd("tiny"), Prepared::Purged, false);
    let mut done = Vec::new();
    for version in 1..=3_u8 {
        let work = Work::Write(vec![version; 4096]);
        drive.submit(request(work, 0, PAGE), 0, &mut done).unwrap();
        drive.submit(request(Work::Read, 0, PAGE), u64::from(version), &mut done).unwrap();
    }
    while drive.requests() > 0 {
        let next = drive.next_event().unwrap();
        drive.advance(next, &mut done).unwrap();
    }
    for Done { tag, answer, .. } in done.into_iter().filter(|done| done.tag > 0) {
        let Ok(Answer::Data(data)) = answer else { panic!("a read that failed") };
        assert!(data[HEADROOM..].iter().all(|byte| u64::from(*byte) == tag));
    }
}

/// Whole pages of a trimmed range read as zeros where the drive forgets, and take no room.
#[test]
fn trims_do_what_the_profile_says() {
    let trimmed = |kind: TrimKind| {
        let mut profile = ssd("tiny");
        profile.trim.kind = kind;
        profile.trim.share_percent = 50;
        profile.trim.after = Nanos::from_secs(3600);
        let mut drive = drive(profile, Prepared::Purged, false);
        write(&mut drive, 0, &[7; 64 * 4096]);
        ask(&mut drive, request(Work::Flush, 0, 0)).unwrap();
        ask(&mut drive, request(Work::Trim, 512, 63 * PAGE)).unwrap();
        let pages = read(&mut drive, 0, 64 * PAGE);
        let left = pages.chunks(4096).filter(|page| page[0] == 7 && page[4095] == 7).count();
        let stored = drive.store().used().0 / PAGE;
        cut(&mut drive);
        let pages = read(&mut drive, 0, 64 * PAGE);
        (left, stored, pages.chunks(4096).filter(|page| page[4095] == 7).count())
    };
    let (left, stored, after) = trimmed(TrimKind::Immediate);
    assert_eq!((left, stored), (2, 2), "the first and the last page were trimmed in part");
    assert_eq!(after, 2);
    let (left, stored, _) = trimmed(TrimKind::Partial);
    assert!((20..44).contains(&left) && stored == left as u64, "{left}");
    assert_eq!(trimmed(TrimKind::Ignored).0, 64);
    // What is to be forgotten later is hidden, and is there again when the power was gone.
    let (left, stored, after) = trimmed(TrimKind::Deferred);
    assert_eq!((left, stored, after), (2, 64, 64));
}

/// Others are served between the steps, and what is written again meanwhile stays.
#[test]
fn the_room_of_a_long_trim_is_given_back_in_steps() {
    for kind in [TrimKind::Immediate, TrimKind::Partial] {
        let mut profile = ssd("tiny");
        profile.trim.kind = kind;
        profile.trim.share_percent = 50;
        let mut drive = drive(profile, Prepared::Purged, false);
        let pages = 3 * GIVEN_BACK_AT_ONCE;
        (0..pages / 256).for_each(|at| write(&mut drive, at << 20, &vec![7; 1 << 20]));
        ask(&mut drive, request(Work::Trim, 0, pages * PAGE)).unwrap();
        assert!(drive.has_trimmed());
        write(&mut drive, (pages - 1) * PAGE, &[8; 4096]);
        let held = (0..pages).filter(|page| drive.model.holds(*page as u32)).count() as u64;
        drive.finish().unwrap();
        assert_eq!(drive.store().used().0, held * PAGE);
        assert_eq!(read(&mut drive, (pages - 1) * PAGE, PAGE), [8; 4096]);
    }
}

#[test]
fn zeros_are_made_by_forgetting_where_that_is_for_good_and_written_elsewhere() {
    for (kind, is_fast) in [(TrimKind::Immediate, true), (TrimKind::Ignored, false)] {
        let mut profile = ssd("tiny");
        profile.trim.kind = kind;
        let mut drive = drive(profile, Prepared::Purged, false);
        write(&mut drive, 0, &[7; 16 * 4096]);
        let zeroes = |may_be_hole, only_if_fast| Work::WriteZeroes { may_be_hole, only_if_fast };
        let mut zero = |work, offset, length| ask(&mut drive, request(work, offset, length));
        let fast = zero(zeroes(true, true), PAGE, PAGE);
        assert_eq!(fast, if is_fast { Ok(Answer::Done) } else { Err(Errno::NotSupported) });
        assert_eq!(zero(zeroes(false, true), PAGE, PAGE), Err(Errno::NotSupported));
        assert_eq!(zero(zeroes(true, false), 512, 3 * PAGE), Ok(Answer::Done));
        assert_eq!(zero(zeroes(false, false), 8 * PAGE, PAGE), Ok(Answer::Done));
        let data = read(&mut drive, 0, 16 * PAGE);
        let zeros = |range: Range<u64>| {
            data[range.start as usize..range.end as usize].iter().all(|b| *b == 0)
        };
        assert!(zeros(512..512 + 3 * PAGE) && zeros(8 * PAGE..9 * PAGE));
        assert_eq!((data[511], data[512 + 3 * 4096]), (7, 7));
    }
}

#[test]
fn what_is_allocated_is_told() {
    let mut drive = drive(ssd("tiny"), Prepared::Purged, false);
    write(&mut drive, 2 * PAGE, &[7; 4096]);
    write(&mut drive, 3 * PAGE, &[0; 4096]);
    let mut status =
        |only_first| match ask(&mut drive, request(Work::Status { only_first }, 0, 8 * PAGE)) {
            Ok(Answer::Extents(extents)) => {
                extents.iter().map(|e| (u64::from(e.length) / PAGE, e.state)).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
    let hole = STATE_HOLE | STATE_ZERO;
    assert_eq!(status(false), [(2, hole), (1, 0), (1, STATE_ZERO), (4, hole)]);
    assert_eq!(status(true), [(2, hole)]);
    let mut filled = super::tests::drive(ssd("tiny"), Prepared::Filled, false);
    let answer = ask(&mut filled, request(Work::Status { only_first: false }, 0, 8 * PAGE));
    let extent = Extent { length: 8 * 4096, state: STATE_ZERO };
    assert_eq!(answer, Ok(Answer::Extents(vec![extent])));
}

#[test]
fn a_drive_that_claims_more_than_it_has_gives_back_what_was_written_last() {
    let mut profile = ssd("tiny");
    let real = Bytes(profile.identity.capacity.0 / 2);
    profile.faults.real_capacity = Some(real);
    let mut drive = drive(profile, Prepared::Purged, false);
    write(&mut drive, 0, &[1; 4096]);
    write(&mut drive, real.0 - PAGE, &[2; 2 * 4096]);
    assert_eq!(read(&mut drive, 0, PAGE), [2; 4096]);
}

#[test]
fn a_worn_out_drive_takes_no_writes_and_keeps_what_it_has() {
    let mut profile = ssd("tiny");
    profile.wear.endurance = 2;
    let mut drive = drive(profile, Prepared::Purged, false);
    write(&mut drive, 0, &[1; 4096]);
    let block = vec![3; 1 << 20];
    let capacity = drive.info().capacity.0;
    let ended = (0..1000).flat_map(|_| 1..capacity >> 20).find_map(|megabyte| {
        let work = Work::Write(block.clone());
        ask(&mut drive, request(work, megabyte << 20, 1 << 20)).err()
    });
    assert_eq!(ended, Some(Errno::NotPermitted));
    let refused = ask(&mut drive, request(Work::Write(vec![9; 4096]), 0, PAGE));
    assert_eq!(refused, Err(Errno::NotPermitted));
    assert_eq!(read(&mut drive, 0, PAGE), [1; 4096]);
}

/// The drive of four dies, of which it can do without one.
fn roomy(parity: u32) -> SsdProfile {
    let mut profile = ssd("tiny");
    profile.identity.capacity = Bytes::from_mib(100);
    profile.parity.data = parity;
    profile
}

const ROOMY_PAGES: u64 = (100 << 20) / PAGE;

#[test]
fn what_is_lost_with_a_die_is_an_error_until_it_is_written_anew_and_never_other_data() {
    for parity in [0, 3] {
        let mut drive = drive(roomy(parity), Prepared::Purged, false);
        for page in 0..ROOMY_PAGES {
            write(&mut drive, page * PAGE, &stamped(page, 1));
        }
        ask(&mut drive, request(Work::Flush, 0, 0)).unwrap();
        let spare = |drive: &Drive<u64>| drive.spare().0.map(|spare| spare.blocks - spare.needed);
        let before = spare(&drive);
        drive.lose_die(1).unwrap();
        let lost = drive.telemetry().lost_pages.unwrap();
        assert_eq!(lost > 0, parity == 0);
        assert!(spare(&drive) < before, "fewer pages fit into a block");
        let unreadable: Vec<u64> = (0..ROOMY_PAGES)
            .filter(|page| match ask(&mut drive, request(Work::Read, page * PAGE, PAGE)) {
                Ok(Answer::Data(data)) => {
                    assert_eq!(version_of(*page, &data[HEADROOM..]), Some(1));
                    false
                }
                other => other == Err(Errno::InputOutput),
            })
            .collect();
        assert_eq!(unreadable.len() as u64, lost);
        let Some(page) = unreadable.first() else { continue };
        // A part of it cannot be put together with the rest.
        let part = request(Work::Write(vec![9; 512]), page * PAGE + 512, 512);
        assert_eq!(ask(&mut drive, part), Err(Errno::InputOutput));
        let again = ask(&mut drive, request(Work::Read, page * PAGE, PAGE));
        assert_eq!(again, Err(Errno::InputOutput));
        write(&mut drive, page * PAGE, &stamped(*page, 2));
        assert_eq!(version_of(*page, &read(&mut drive, page * PAGE, PAGE)), Some(2));
        assert_eq!(drive.lose_die(2), Err(DieRefused::LostAnother { die: 1 }));
    }
    let mut drive = drive(roomy(0), Prepared::Purged, false);
    assert_eq!(drive.lose_die(4), Err(DieRefused::NoSuchDie { die: 4, dies: 4 }));
}

#[test]
fn a_power_cut_after_a_die_brings_back_nothing_that_was_lost() {
    let mut drive = drive(roomy(0), Prepared::Purged, false);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for page in 0..1000 {
        write(&mut drive, page * PAGE, &stamped(page, 1));
    }
    ask(&mut drive, request(Work::Flush, 0, 0)).unwrap();
    for version in 2..40 {
        for _ in 0..100 {
            let page = random.next_u64() % 1000;
            write(&mut drive, page * PAGE, &stamped(page, version));
        }
        if version == 20 {
            drive.lose_die(3).unwrap();
        }
        cut(&mut drive);
        for page in 0..1000 {
            match ask(&mut drive, request(Work::Read, page * PAGE, PAGE)) {
                Ok(Answer::Data(data)) => {
                    let found = version_of(page, &data[HEADROOM..]);
                    assert!(found.is_some_and(|found| (1..=version).contains(&found)), "{found:?}");
                }
                other => assert_eq!((other, version >= 20), (Err(Errno::InputOutput), true)),
            }
        }
    }
}

#[test]
fn data_that_compress_reach_a_drive_that_compresses_as_such() {
    let mut nand = [[0_u8; 4096].map(|_| 7), random_page(1)].map(|page| {
        let mut profile = ssd("tiny");
        profile.reduction.compression = true;
        let mut drive = drive(profile, Prepared::Purged, false);
        (0..512).for_each(|number| write(&mut drive, number * PAGE, &page));
        drive.telemetry().nand_written.unwrap().0
    });
    nand.sort_unstable();
    assert!(nand[0] * 3 < nand[1], "{nand:?}");
}

fn random_page(seed: u64) -> [u8; 4096] {
    let mut page = [0; 4096];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut page);
    page
}

#[test]
fn older_versions_are_kept_only_while_they_may_come_back() {
    let mut drive = drive(ssd("tiny"), Prepared::Purged, false);
    let buffer = ssd("tiny").write_buffer.size.0;
    for number in 0..20_000_u64 {
        write(&mut drive, number % 4000 * PAGE, &[number as u8; 4096]);
    }
    let kept = drive.kept_for_undo();
    assert!(kept <= 2 * (buffer + 1024 * PAGE), "{kept} bytes beside a buffer of {buffer}");
}

/// A page that says what it is: its place and the number of its write, all over it.
fn stamped(page: u64, version: u64) -> Vec<u8> {
    let stamp = [page.to_le_bytes(), version.to_le_bytes()].concat();
    stamp.repeat(PAGE as usize / 16)
}

/// The version that a page holds; 0 if it holds zeros, `None` if it is nothing that was ever written.
fn version_of(page: u64, data: &[u8]) -> Option<u64> {
    let version = u64::from_le_bytes(data[8..16].try_into().unwrap());
    match data.iter().all(|byte| *byte == 0) {
        true => Some(0),
        false => (data == stamped(page, version)).then_some(version),
    }
}

/// What must be true of a page: what was done to it since it was looked at last, in the drive's order.
#[derive(Default)]
struct Page {
    /// The versions, and whether each was answered; a trim is version 0.
    done: Vec<(u64, bool)>,
    /// The first that may be the one that is there: all before it were overwritten for good.
    durable: usize,
}

/// Some programs that write, flush and trim a few hundred pages at once, and what they know.
struct Clients {
    random: Xoshiro256PlusPlus,
    /// Whether a page is a unit, which a trim forgets.
    trims: bool,
    pages: BTreeMap<u64, Page>,
    versions: u64,
    asked: BTreeMap<u64, Asked>,
    tags: u64,
}

enum Asked {
    Write {
        page: u64,
        place: usize,
        forced: bool,
    },
    /// Of each page how much of what was done to it was answered when the flush was asked for.
    Flush(Vec<(u64, usize)>),
}

/// What a look after a power cut found.
#[derive(Debug, Default, PartialEq)]
struct Found {
    /// Pages that hold less than was promised.
    missing: u64,
    /// Pages that hold what nobody wrote.
    foreign: u64,
    /// Pages that do not hold their last version.
    older: u64,
}

const PAGES: u64 = 300;

impl Clients {
    fn new(seed: u64, trims: bool) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, trims, pages: BTreeMap::new(), versions: 0, asked: BTreeMap::new(), tags: 0 }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    /// One request of one of them.
    fn ask(&mut self, drive: &mut Drive<u64>, done: &mut Vec<Done<u64>>) {
        self.tags += 1;
        let (page, kind) = (self.below(PAGES), self.below(100));
        let forced = kind < 3;
        let (request, asked) = match kind {
            0..90 => {
                self.versions += 1;
                let work = Work::Write(stamped(page, self.versions));
                let request = Request { work, offset: page * PAGE, length: PAGE, forced };
                (request, Some(self.versions))
            }
            90..96 if self.trims => (request(Work::Trim, page * PAGE, PAGE), Some(0)),
            _ => (request(Work::Flush, 0, 0), None),
        };
        let asked = match asked {
            Some(version) => {
                let known = self.pages.entry(page).or_default();
                known.done.push((version, false));
                Asked::Write { page, place: known.done.len() - 1, forced }
            }
            None => Asked::Flush(self.answered()),
        };
        self.asked.insert(self.tags, asked);
        drive.submit(request, self.tags, done).unwrap();
    }

    /// Of each page how much was answered, with all that came before that.
    fn answered(&self) -> Vec<(u64, usize)> {
        let last = |page: &Page| page.done.iter().rposition(|(_, is_answered)| *is_answered);
        self.pages.iter().filter_map(|(number, page)| Some((*number, last(page)?))).collect()
    }

    fn note(&mut self, done: &mut Vec<Done<u64>>) {
        for Done { tag, answer, .. } in done.drain(..) {
            assert_eq!(answer, Ok(Answer::Done));
            match self.asked.remove(&tag).expect("an answer to something asked") {
                Asked::Write { page, place, forced } => {
                    let known = self.pages.get_mut(&page).unwrap();
                    known.done[place].1 = true;
                    if forced {
                        known.durable = known.durable.max(place);
                    }
                }
                Asked::Flush(answered) => {
                    for (page, place) in answered {
                        let known = self.pages.get_mut(&page).unwrap();
                        known.durable = known.durable.max(place);
                    }
                }
            }
        }
    }

    /// Reads all pages after a power cut; `promised` is what a drive with capacitors keeps: everything.
    fn look(&mut self, drive: &mut Drive<u64>, capacitors: bool) -> Found {
        let mut found = Found::default();
        self.asked.clear();
        for (number, page) in &mut self.pages {
            let data = read(drive, number * PAGE, PAGE);
            let Some(version) = version_of(*number, &data) else {
                found.foreign += 1;
                continue;
            };
            let answered = page.done.iter().rposition(|(_, is_answered)| *is_answered);
            let least = if capacitors { answered.unwrap_or(page.durable) } else { page.durable };
            let is_there = page.done[least..].iter().any(|(done, _)| *done == version);
            found.missing += u64::from(!is_there);
            found.older += u64::from(page.done.last().unwrap().0 != version);
            page.done = vec![(version, true)];
            page.durable = 0;
        }
        found
    }
}

/// Power cuts at random moments, until something is not as promised or `cuts` were survived.
fn survive(profile: SsdProfile, lies: bool, cuts: u64, seed: u64) -> Found {
    let (unit, capacitors) = (profile.mapping.unit.0, profile.write_buffer.protected);
    let mut drive = drive(profile, Prepared::Purged, lies);
    let mut clients = Clients::new(seed, unit == PAGE);
    // So that every page has something to come back.
    for page in 0..PAGES {
        write(&mut drive, page * PAGE, &stamped(page, u64::MAX - page));
        clients.pages.entry(page).or_default().done.push((u64::MAX - page, true));
    }
    ask(&mut drive, request(Work::Flush, 0, 0)).unwrap();
    let mut sum = Found::default();
    for _ in 0..cuts {
        let mut done = Vec::new();
        let requests = 1 + clients.below(400);
        for _ in 0..requests {
            clients.ask(&mut drive, &mut done);
            clients.note(&mut done);
            // What waits for room in its queue the drive never had, and cannot have lost.
            while drive.requests() >= 16 || clients.below(3) == 0 {
                let to = drive.now() + Nanos(clients.below(60_000));
                assert!(!drive.advance(to, &mut done).unwrap());
                clients.note(&mut done);
            }
        }
        let lost = cut(&mut drive);
        let found = clients.look(&mut drive, capacitors);
        // Of small pages exactly those went back that the model has lost.
        if unit == PAGE {
            assert_eq!(found.older, lost, "seed {seed}");
        }
        sum.missing += found.missing;
        sum.foreign += found.foreign;
        sum.older += found.older;
    }
    sum
}

/// Drives of every kind that keeps a map of pages.
fn kinds() -> Vec<(&'static str, SsdProfile)> {
    let changed = |change: &dyn Fn(&mut SsdProfile)| {
        let mut profile = ssd("tiny");
        change(&mut profile);
        profile
    };
    vec![
        ("tiny", ssd("tiny")),
        ("with capacitors", changed(&|profile| profile.write_buffer.protected = true)),
        ("without a buffer", changed(&|profile| profile.write_buffer.size = Bytes::ZERO)),
        ("that compresses", changed(&|profile| profile.reduction.compression = true)),
        ("with hot pages apart", changed(&|profile| profile.gc.separate_hot = true)),
        ("with an SLC buffer", ssd("samsung-840-evo-250gb@1/64")),
        ("with large units", changed(&|profile| profile.mapping.unit = Bytes::from_kib(8))),
    ]
}

#[test]
fn nothing_that_was_flushed_is_missing_after_hundreds_of_power_cuts() {
    for (kind, profile) in kinds() {
        let capacitors = profile.write_buffer.protected;
        let seeds = if std::env::var_os("WRITECLIFF_NIGHTLY").is_some() { 50 } else { 1 };
        for seed in 1..=seeds {
            let found = survive(profile.clone(), false, 40, seed);
            assert_eq!((found.missing, found.foreign), (0, 0), "a drive {kind}, seed {seed}");
            assert_eq!(found.older == 0, capacitors, "a drive {kind}: {found:?}");
        }
    }
}

#[test]
fn a_drive_that_lies_about_flushes_is_caught() {
    let found = survive(ssd("tiny"), true, 20, 1);
    assert!(found.missing > 0 && found.foreign == 0, "{found:?}");
}

#[test]
fn the_same_requests_at_the_same_moments_come_to_the_same() {
    let [once, again] = [(); 2].map(|()| survive(ssd("tiny"), false, 5, 3));
    assert_eq!(once, again);
}

#[test]
fn a_power_cut_that_the_profile_plans_is_one_like_any_other() {
    let mut profile = ssd("tiny");
    profile.faults.power_cuts = vec![Nanos::from_secs(5)];
    let mut drive = drive(profile, Prepared::Purged, false);
    write(&mut drive, 0, &[1; 4096]);
    ask(&mut drive, request(Work::Flush, 0, 0)).unwrap();
    let mut done = Vec::new();
    let shortly_before = DeviceTime(4_999_990_000);
    assert!(!drive.advance(shortly_before, &mut done).unwrap());
    drive.submit(request(Work::Write(vec![2; 4096]), 0, PAGE), 0, &mut done).unwrap();
    assert!(drive.advance(DeviceTime(6_000_000_000), &mut done).unwrap());
    assert_eq!((drive.now(), drive.requests(), done.len()), (DeviceTime(5_000_000_000), 0, 0));
    assert_eq!(read(&mut drive, 0, PAGE), [1; 4096]);
}

/// Whatever is missing or being rebuilt, a drive that keeps what was written to it in a vector says the same.
#[test]
fn an_array_gives_back_what_was_written_to_it() {
    for (seed, name) in [
        "array:raid0:3:sim:tiny,chunk=16KiB",
        "array:raid1:2:sim:tiny,rebuild=1",
        "array:raid10:4:sim:tiny,dead=2",
        "array:raid5:4:sim:tiny,chunk=4KiB,dead=0",
        "array:raid5:3:sim:tiny,rebuild=2",
        "array:raid6:5:sim:tiny,chunk=64KiB,dead=1,dead=4",
        "array:2+2:sim:tiny,dead=1,rebuild=0",
    ]
    .iter()
    .enumerate()
    {
        let drive = writecliff::DriveName::from(*name);
        let model = drive.simulated().unwrap().build(name).unwrap();
        let store = Store::in_memory(model.info().capacity).unwrap();
        let trims = model.info().trim;
        let mut drive = Drive::new(model, store, Flaws::default());
        assert_eq!(drive.at_power_cut(), AtPowerCut::NotModelled);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed as u64);
        let sectors = 4096;
        let mut expected = vec![0; sectors as usize * 512];
        for turn in 0..400_u32 {
            let at = random.next_u64() % sectors;
            let count = 1 + random.next_u64() % (sectors - at).min(300);
            let bytes = (at * 512) as usize..((at + count) * 512) as usize;
            let (offset, length) = (at * 512, count * 512);
            match random.next_u64() % 8 {
                0..3 => {
                    expected[bytes.clone()].fill(turn as u8);
                    write(&mut drive, offset, &expected[bytes]);
                }
                3 if trims => {
                    let work = Work::WriteZeroes { may_be_hole: true, only_if_fast: false };
                    ask(&mut drive, request(work, offset, length)).unwrap();
                    expected[bytes].fill(0);
                }
                4 => drop(ask(&mut drive, request(Work::Flush, 0, 0)).unwrap()),
                _ => assert!(read(&mut drive, offset, length) == expected[bytes], "{name}"),
            }
        }
        assert!(read(&mut drive, 0, sectors * 512) == expected, "{name}");
    }
}
