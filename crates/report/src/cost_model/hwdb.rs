//! An entry of systemd's hardware database, which its udev rule `90-iocost.rules` applies to drives of this
//! model (iocost.conf(5)).

use super::iocost::{coefficients, qos};
use super::{Model, ModelError, ModelFormat};

pub(super) const FORMAT: ModelFormat = ModelFormat {
    name: "hwdb",
    what: "an entry of systemd's hardware database, which applies the same to drives of this model",
    write,
};

fn write(model: &Model<'_>) -> Result<String, ModelError> {
    let (rates, qos) = (model.rates()?, qos(model.limits()?));
    Ok(format!(
        "{}# /etc/udev/hwdb.d/91-iocost-writecliff.hwdb, then systemd-hwdb update and udevadm trigger\n\
         # By the name in /sys/block/*/device/model, which of SATA drives has 16 letters.\n\
         block:*:name:{}:fwrev:*:\n  IOCOST_SOLUTIONS=writecliff\n  IOCOST_MODEL_WRITECLIFF={}\n  \
         IOCOST_QOS_WRITECLIFF={qos}\n",
        model.preamble("Cost model for systemd"),
        pattern(model),
        coefficients(&rates),
    ))
}

/// What the entry is for: drives of this model, or none, if it was measured of a model of them.
fn pattern(model: &Model<'_>) -> String {
    let name = as_udev_has_it(&model.record.drive.model);
    if model.is_simulated() { format!("SIMULATED {name}") } else { name }
}

/// A drive's name as a pattern that means nothing but itself.
fn as_udev_has_it(name: &str) -> String {
    let is_special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\' | '#') || c.is_control();
    name.trim().chars().map(|c| if is_special(c) { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_pattern_of_others_by_accident() {
        assert_eq!(as_udev_has_it(" A*[1]#\n "), "A??1??");
        assert_eq!(as_udev_has_it("Samsung SSD 980 PRO 1TB"), "Samsung SSD 980 PRO 1TB");
    }
}
