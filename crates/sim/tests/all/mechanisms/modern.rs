//! What drives of today are known for, on the drives of the catalogue that stand for them.

use crate::mechanisms::*;

fn drive(name: &str) -> Drive {
    Drive::new(load(name).unwrap().into_ssd().unwrap())
}

/// MB/s of 1 MiB writes in order from one GiB to another, eight in flight.
fn written(drive: &mut Drive, gib: std::ops::Range<u64>) -> f64 {
    let mut mib = (gib.start * 1024)..(gib.end * 1024);
    let count = mib.clone().count();
    let span =
        kept_deep(drive, 8, count, || Io::write(Bytes(MIB * mib.next().unwrap()), Bytes(MIB)));
    rate(Bytes(MIB * count as u64), span) / 1e6
}

/// The buffer is 140 GB, 130.4 GiB; past it eight dies program 64 KiB in 2,185 us each.
#[test]
fn writes_to_a_qlc_drive_fall_past_its_buffer() {
    let mut drive = drive("generic-nvme-qlc-1tb");
    let fast = written(&mut drive, 0..130);
    written(&mut drive, 130..131);
    let slow = written(&mut drive, 131..133);
    assert_close(fast, 1800.0, 0.02);
    assert_close(slow, 8.0 * 65_536.0 / 2185.0, 0.02);
}

/// Service time of the mean 4 KiB read, one at a time, anywhere in the first `gib` of written data.
fn mean_read(drive: &mut Drive, gib: u64, random: &mut impl FnMut(u64) -> u64) -> f64 {
    let pages = gib * 1024 * PAGES_PER_MIB;
    // What of the map is in RAM when it begins is left from before.
    let mut mean = |count: u32| {
        (0..count).map(|_| drive.read(random(pages)).as_secs_f64()).sum::<f64>() / f64::from(count)
    };
    mean(20_000);
    mean(2_000)
}

/// 64 MiB of a map of four bytes for each 4 KiB reach 64 GiB.
#[test]
fn without_ram_reads_slow_down_where_the_hosts_memory_ends() {
    let [(near, far), (near_with, far_with)] =
        ["generic-nvme-gen4-dramless-1tb", "generic-nvme-gen4-tlc-1tb"].map(|name| {
            let (mut drive, mut random) = (drive(name), dice(1));
            written(&mut drive, 0..256);
            drive.idle(Nanos::from_secs(1000));
            (mean_read(&mut drive, 32, &mut random), mean_read(&mut drive, 256, &mut random))
        });
    assert_close(far_with, near_with, 0.01);
    // Three of four entries are fetched first: a page of 16 KiB from NAND and over its channel, in
    // place of a look into the host's memory.
    let profile = drive("generic-nvme-gen4-dramless-1tb").profile;
    let fetch = profile.nand.read_time + channel(&profile, profile.nand.page_size);
    let extra = fetch.as_secs_f64() - profile.mapping.cache_time.as_secs_f64();
    assert_close(far - near, 0.75 * extra, 0.03);
}

/// A drive that is three quarters full has a fraction of the buffer that it had when it was empty.
#[test]
fn the_buffer_of_a_full_drive_is_small() {
    let mut drive = drive("generic-nvme-qlc-1tb");
    written(&mut drive, 0..700);
    drive.idle(Nanos::from_secs(3600));
    let slow = 8.0 * 65_536.0 / 2185.0;
    let fast_gib = (700..860).take_while(|gib| written(&mut drive, *gib..gib + 1) > 2.0 * slow);
    let fast_gib = fast_gib.count();
    assert!((20..80).contains(&fast_gib), "{fast_gib} GiB of 130");
}
