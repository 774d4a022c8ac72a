//! `io.cost.model` and `io.cost.qos` of the Linux kernel (Documentation/admin-guide/cgroup-v2.rst).

use writecliff_suite::cost_model::{Coefficient, Coefficients, Limits};

use super::{Model, ModelError, ModelFormat};

pub(super) const FORMAT: ModelFormat = ModelFormat {
    name: "iocost",
    what: "lines for the kernel's io.cost.model and io.cost.qos",
    write,
};

fn write(model: &Model<'_>) -> Result<String, ModelError> {
    let (rates, qos) = (model.rates()?, qos(model.limits()?));
    let (number, note) = match model.options.device_number {
        Some((major, minor)) => (format!("{major}:{minor}"), ""),
        None => {
            let note =
                "# MAJ:MIN stands for the drive's numbers: lsblk --nodeps --output NAME,MAJ:MIN\n";
            ("MAJ:MIN".to_owned(), note)
        }
    };
    Ok(format!(
        "{}{note}# /sys/fs/cgroup/io.cost.model\n{number} ctrl=user model=linear {}\n\
         # /sys/fs/cgroup/io.cost.qos\n{number} enable=1 ctrl=user {qos}\n",
        model.preamble("Cost model for io.cost"),
        coefficients(&rates),
    ))
}

/// `rbps=… … wrandiops=…`
pub(super) fn coefficients(rates: &Coefficients) -> String {
    let one = |one: &Coefficient| format!("{}={:.0}", one.name(), rates.get(*one).floor().max(1.0));
    Coefficient::ALL.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// `rpct=95.00 rlat=… wpct=95.00 wlat=… min=… max=…`
pub(super) fn qos(limits: &Limits) -> String {
    let micros = |nanos: u64| nanos.div_ceil(1000);
    let Limits { percent, percentile, read, write, .. } = limits;
    format!(
        "rpct={percentile:.2} rlat={} wpct={percentile:.2} wlat={} min={:.2} max={:.2}",
        micros(read.0),
        micros(write.0),
        limits.least_percent(),
        f64::from(*percent),
    )
}
