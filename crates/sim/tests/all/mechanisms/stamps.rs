//! What stamped blocks hold is what the model says of its pages, whatever befalls them.

use writecliff_device::{Held, Pass, Stamping};

use crate::mechanisms::*;

const BLOCK: Bytes = PAGE;

fn stamped(profile: SsdProfile) -> Drive {
    let mut drive = Drive::new(profile);
    assert!(drive.ssd.stamp(Stamping { run: 1, block: BLOCK }));
    drive
}

fn pass(number: u16) -> Pass {
    Pass::new(number).unwrap()
}

impl Drive {
    fn stamp(&mut self, blocks: std::ops::Range<u64>, number: u16) {
        for block in blocks {
            self.together(&[Io::write(BLOCK * block, BLOCK).with_stamp(pass(number))]);
        }
    }

    fn held(&mut self, block: u64) -> Held {
        self.together(&[Io::read(BLOCK * block, BLOCK).with_stamp(Pass::FIRST)]);
        let mut held = Vec::new();
        self.ssd.take_held(&mut held);
        held[0]
    }

    /// How many of the blocks do not hold what was written in this pass.
    fn missing(&mut self, blocks: std::ops::Range<u64>, number: u16) -> u64 {
        blocks.filter(|block| self.held(*block) != whole(*block, number)).count() as u64
    }
}

fn whole(block: u64, number: u16) -> Held {
    Held::Stamped { offset: BLOCK * block, pass: pass(number) }
}

#[test]
fn a_power_cut_takes_back_exactly_the_pages_that_the_model_counts() {
    let mut profile = tiny();
    profile.faults.power_cuts = vec![Nanos::from_secs(2)];
    let mut drive = stamped(profile);
    drive.stamp(0..500, 1);
    drive.flush();
    drive.stamp(0..103, 2);
    drive.stamp(500..601, 3);
    drive.stamp(50..103, 4);
    drive.idle_until(DeviceTime::default() + Nanos::from_secs(4));
    let lost = drive.ssd.telemetry().lost_pages.unwrap();
    assert!(lost > 0);
    let older = (0..103).filter(|block| {
        let latest = if *block < 50 { 2 } else { 4 };
        match drive.held(*block) {
            held if held == whole(*block, latest) => false,
            Held::Stamped { pass, .. } => {
                assert!(pass.get() < latest);
                true
            }
            other => panic!("block {block}: {other:?}"),
        }
    });
    let older = older.count() as u64;
    let gone = (500..601).filter(|block| drive.held(*block) == Held::Zeros).count() as u64;
    assert_eq!(older + gone, lost);
    assert_eq!(drive.missing(103..500, 1), 0, "what was flushed is there");
}

#[test]
fn a_block_of_several_pages_is_torn_where_one_of_them_is_lost() {
    let mut profile = tiny();
    profile.mapping.unit = Bytes(2048);
    profile.faults.power_cuts = vec![Nanos::from_secs(2)];
    let mut drive = stamped(profile);
    drive.stamp(0..100, 1);
    drive.flush();
    // One page more than whole programs: half of the last block waits for the rest of its program.
    let half = Io::write(Bytes::ZERO, Bytes(2048));
    drive.together(&[half]);
    drive.flush();
    assert_eq!(drive.held(0), Held::Damaged { sector: 0 }, "half of it has no stamp any more");
    drive.stamp(0..1, 2);
    assert_eq!(drive.held(0), whole(0, 2));
}

#[test]
fn a_partly_written_page_keeps_the_rest_and_a_trimmed_one_does_not() {
    let mut profile = tiny();
    profile.mapping.unit = Bytes(8192);
    let mut drive = stamped(profile);
    drive.stamp(0..4, 1);
    drive.stamp(1..2, 2);
    assert_eq!([drive.held(0), drive.held(1)], [whole(0, 1), whole(1, 2)]);
    drive.together(&[Io::trim(Bytes::ZERO, BLOCK * 2)]);
    assert_eq!([drive.held(0), drive.held(1)], [Held::Zeros; 2]);
    drive.stamp(1..2, 3);
    assert_eq!([drive.held(0), drive.held(1)], [Held::Unstamped, whole(1, 3)]);
}

#[test]
fn a_drive_that_claims_more_than_it_has_gives_back_what_was_written_elsewhere() {
    let mut profile = tiny();
    let real = Bytes::from_mib(20);
    profile.faults.real_capacity = Some(real);
    let mut drive = stamped(profile);
    let blocks = real.0 / BLOCK.0;
    drive.stamp(0..4, 1);
    drive.stamp(blocks + 2..blocks + 3, 2);
    assert_eq!(drive.held(1), whole(1, 1));
    assert_eq!(drive.held(2), whole(blocks + 2, 2), "written behind the end");
    assert_eq!(drive.held(2 * blocks + 3), whole(3, 1), "never written by that name");
    let across = Io::write(BLOCK * (blocks - 1), BLOCK * 2).with_stamp(pass(3));
    drive.together(&[across]);
    assert_eq!([drive.held(blocks - 1), drive.held(0)], [whole(blocks - 1, 3), whole(blocks, 3)]);
}

#[test]
fn looking_takes_no_time_and_changes_nothing() {
    let run = |is_stamped: bool| {
        let mut drive = Drive::new(tiny());
        if is_stamped {
            drive.ssd.stamp(Stamping { run: 1, block: BLOCK });
        }
        let mark = |io: Io| if is_stamped { io.with_stamp(Pass::FIRST) } else { io };
        let mut random = dice(7);
        let mut ends = Vec::new();
        for _ in 0..3000 {
            let offset = BLOCK * random(drive.pages());
            let io =
                if random(3) == 0 { Io::read(offset, BLOCK) } else { Io::write(offset, BLOCK) };
            ends.extend(drive.together(&[mark(io)]).iter().map(|done| done.completed));
        }
        ends
    };
    assert_eq!(run(false), run(true));
}
