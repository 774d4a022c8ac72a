//! Everything, for programs.

use serde_json::json;

use super::{Model, ModelError, ModelFormat, lie};

pub(super) const FORMAT: ModelFormat = ModelFormat {
    name: "json",
    what: "everything: both states, every share of the model, the doubts",
    write,
};

fn write(model: &Model<'_>) -> Result<String, ModelError> {
    let drive = &model.record.drive;
    let doubts: Vec<String> = model.record.warnings.iter().map(ToString::to_string).collect();
    let limits = model.outcome.limits.as_ref().map(|limits| {
        json!({
            "kept_percent": limits.percent,
            "least_percent": limits.least_percent(),
            "percentile": limits.percentile,
            "read_ns": limits.read.0,
            "write_ns": limits.write.0,
            "held_once_more": limits.hold(),
        })
    });
    let told = json!({
        "drive": { "model": drive.model, "firmware": drive.firmware, "serial": drive.serial },
        "simulated": model.is_simulated(),
        "started": model.record.started,
        "block": model.outcome.block,
        "mixed": model.options.mixed,
        "steady": model.rates()?,
        "fresh": model.fresh,
        "promise": model.outcome.promise,
        "in_words": lie(model.outcome),
        "limits": limits,
        "shares": model.outcome.rungs,
        "doubts": doubts,
    });
    Ok(format!("{told:#}\n"))
}
