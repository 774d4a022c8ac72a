//! The simulated drive keeps the contract of `Device`.

use writecliff_sim::{Ssd, load};

#[test]
fn a_simulated_drive_conforms() {
    for name in ["tiny", "crucial-m500-120gb"] {
        let mut ssd = Ssd::new(load(name).unwrap().into_ssd().unwrap(), &format!("sim:{name}"));
        writecliff_device::conformance::check(&mut ssd);
    }
}
