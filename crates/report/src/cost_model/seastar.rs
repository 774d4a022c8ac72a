//! `io_properties.yaml` of Seastar, which ScyllaDB and Redpanda read (doc/io-properties-file.md there).

use super::{Model, ModelError, ModelFormat};

pub(super) const FORMAT: ModelFormat = ModelFormat {
    name: "seastar",
    what: "io_properties.yaml of Seastar, as ScyllaDB and Redpanda read it",
    write,
};

/// Where nobody says where the drive is mounted: Seastar refuses a place that is not there.
const NOWHERE: &str = "/mount/point/of/the/drive";

fn write(model: &Model<'_>) -> Result<String, ModelError> {
    let rates = model.rates()?;
    let place = model.options.mount_point.as_deref().unwrap_or(NOWHERE);
    Ok(format!(
        "{}disks:\n  - mountpoint: {}\n    read_iops: {:.0}\n    read_bandwidth: {:.0}\n    write_iops: {:.0}\n    \
         write_bandwidth: {:.0}\n",
        model.preamble("io_properties.yaml"),
        quoted(place),
        rates.rrandiops.floor(),
        rates.rbps.floor(),
        rates.wrandiops.floor(),
        rates.wbps.floor(),
    ))
}

/// A path as YAML's double-quoted string, whatever is in it.
fn quoted(path: &str) -> String {
    // Every JSON string is one of YAML.
    serde_json::Value::from(path).to_string()
}
