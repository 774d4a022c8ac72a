//! Records that somebody else may have made.

use serde_json::Value;
use writecliff_device::printable;

/// The same with nothing in its texts that could steer a terminal or spoil a page: what a drive says
/// of itself stands in a record as it came, and a record can be written by hand.
pub(crate) fn printable_record(record: Value) -> Value {
    match record {
        Value::String(text) => Value::String(printable(&text)),
        Value::Array(values) => values.into_iter().map(printable_record).collect(),
        Value::Object(values) => {
            values.into_iter().map(|(key, value)| (key, printable_record(value))).collect()
        }
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_at_any_depth_lose_what_could_steer_a_terminal() {
        let record = json!({"drive": {"model": "M\u{1b}[2J"}, "all": [1, null, "\u{9b}m", "ok"]});
        let clean =
            json!({"drive": {"model": "M\u{fffd}[2J"}, "all": [1, null, "\u{fffd}m", "ok"]});
        assert_eq!(printable_record(record), clean);
    }
}
