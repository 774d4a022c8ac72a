//! The drive's own encryption: no time unless it says so; a new key forgets everything at once.

use writecliff_sim::{Engine, Security};

use crate::mechanisms::*;

fn encrypting(page_time: Nanos) -> SsdProfile {
    let mut profile = counting(tiny());
    profile.power.read = COUNT;
    profile.security =
        Security { engine: Engine::Always, crypto_erase: true, page_time, ..Security::default() };
    profile
}

#[test]
fn an_engine_takes_its_time_for_every_page_and_none_if_it_has_none() {
    let times = |profile: SsdProfile| {
        let mut drive = Drive::new(profile);
        let write = drive.time(write(0, 4));
        drive.flush();
        [write, drive.time(read(0, 4))]
    };
    let plain = times(tiny());
    assert_eq!(times(encrypting(Nanos::ZERO)), plain);
    let slow = Nanos::from_micros(3);
    assert_eq!(times(encrypting(slow)), plain.map(|time| time + slow * 4));
}

#[test]
fn a_slow_engine_bounds_the_rate() {
    let page_time = Nanos::from_millis(1);
    let mut drive = Drive::new(encrypting(page_time));
    let mut page = 0;
    let took = kept_deep(&mut drive, 32, 1000, || {
        page += 1;
        write(page, 1)
    });
    assert_close(took.0 as f64, (page_time * 1000).0 as f64, 0.01);
}

fn change_key(drive: &mut Drive) -> Result<Nanos, writecliff_device::DeviceError> {
    let start = drive.ssd.now();
    drive.ssd.purge(Purge::SanitizeCrypto, &mut |_| ControlFlow::Continue(()))?;
    Ok(drive.ssd.now() - start)
}

#[test]
fn a_new_key_forgets_all_data_in_no_time_and_blocks_are_erased_when_they_are_needed() {
    let mut drive = Drive::new(encrypting(Nanos::ZERO));
    let pages = drive.pages();
    drive.fill(0..pages);
    drive.flush();
    let (erases, reads) = (drive.erases(), drive.counted());
    assert_eq!(change_key(&mut drive).unwrap(), Nanos::ZERO);
    (0..pages).step_by(97).for_each(|page| assert!(drive.read(page) > Nanos::ZERO));
    assert_eq!((drive.erases(), drive.counted()), (erases, reads), "nothing is there to be read");
    let amplification = drive.amplification(|drive| drive.fill(0..pages));
    assert_close(amplification, 1.0, 0.01);
    // What was full before was erased for it, but for the spare area.
    assert!(drive.erases() - erases > 150, "{}", drive.erases() - erases);
}

#[test]
fn a_drive_without_a_key_cannot_change_it() {
    let refused = change_key(&mut Drive::new(tiny())).unwrap_err().to_string();
    assert!(refused.contains("no purge called sanitize-crypto"), "{refused}");
}
