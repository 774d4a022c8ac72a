//! What fio prints with `--output-format=json` or `json+`, as far as it is read here.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole of it. fio may say things before it and, with `--status-interval`, print it again and
/// again: the last is what it came to.
#[derive(Debug, Deserialize)]
pub(super) struct Output {
    #[serde(rename = "fio version")]
    pub(super) version: String,
    /// When it was printed, in milliseconds since 1970.
    #[serde(default)]
    pub(super) timestamp_ms: Option<i64>,
    #[serde(default)]
    pub(super) timestamp: Option<i64>,
    #[serde(default, rename = "global options")]
    pub(super) global: Options,
    /// The jobs; of a client of several machines all of theirs.
    #[serde(alias = "client_stats")]
    pub(super) jobs: Vec<JobOutput>,
    #[serde(default)]
    pub(super) disk_util: Vec<DiskUse>,
}

/// Options as a job file has them; flags without a value are not printed by fio.
pub(super) type Options = BTreeMap<String, String>;

#[derive(Debug, Deserialize)]
pub(super) struct DiskUse {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct JobOutput {
    pub(super) jobname: String,
    /// The machine that did it, if a client printed this.
    #[serde(default)]
    pub(super) hostname: Option<String>,
    #[serde(default)]
    pub(super) groupid: u32,
    #[serde(default)]
    pub(super) error: i64,
    /// Seconds since fio began.
    #[serde(default)]
    pub(super) elapsed: u64,
    #[serde(default, rename = "job options")]
    pub(super) options: Options,
    #[serde(default)]
    pub(super) read: Direction,
    #[serde(default)]
    pub(super) write: Direction,
    #[serde(default)]
    pub(super) trim: Direction,
    #[serde(default)]
    pub(super) sync: Direction,
}

/// The reads, writes, trims or flushes of a job.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Direction {
    pub(super) total_ios: u64,
    pub(super) io_bytes: u64,
    /// Milliseconds.
    pub(super) runtime: u64,
    /// From the end of the submission.
    pub(super) clat_ns: Times,
    /// From the beginning of the submission.
    pub(super) lat_ns: Times,
}

/// A latency in nanoseconds, as far as fio was asked for it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Times {
    #[serde(rename = "N")]
    pub(super) count: u64,
    pub(super) mean: f64,
    pub(super) max: f64,
    /// By the percentage, as a text.
    pub(super) percentile: BTreeMap<String, f64>,
    /// I/Os by their latency, of `json+`.
    pub(super) bins: BTreeMap<String, u64>,
}

impl Output {
    /// The last that a file's text has; what is wrong with it if there is none.
    pub(super) fn last_in(text: &str) -> Result<Self, String> {
        let begins = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
        let Some((start, _)) = text.match_indices('{').find(|(at, _)| begins(at)) else {
            let reason = "there is no JSON in it; fio prints that with --output-format=json";
            return Err(reason.to_owned());
        };
        let mut all = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Self>();
        let mut last = all.next().ok_or("it ends too early")?.map_err(|error| error.to_string())?;
        // What follows may be a line of fio's own.
        for later in all.map_while(Result::ok) {
            last = later;
        }
        Ok(last)
    }

    /// The first part of its version, `3` of `fio-3.33`.
    pub(super) fn major(&self) -> Option<u32> {
        self.version.strip_prefix("fio-")?.split('.').next()?.parse().ok()
    }
}

impl Times {
    /// The latency that `percent` of the I/Os did not exceed; none if fio was not asked for it.
    pub(super) fn percentile(&self, percent: f64) -> Option<u64> {
        let is_it = |text: &str| text.parse().is_ok_and(|told: f64| (told - percent).abs() < 1e-6);
        let told = self.percentile.iter().find(|(text, _)| is_it(text)).map(|(_, ns)| *ns as u64);
        told.or_else(|| self.of_bins(percent))
    }

    fn of_bins(&self, percent: f64) -> Option<u64> {
        let mut bins: Vec<(u64, u64)> =
            self.bins.iter().filter_map(|(ns, count)| Some((ns.parse().ok()?, *count))).collect();
        bins.sort_unstable();
        let all = bins.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        let wanted = (all as f64 * percent / 100.0).ceil() as u64;
        let mut seen = 0u64;
        let reaches = |(_, count): &&(u64, u64)| {
            seen = seen.saturating_add(*count);
            seen >= wanted.max(1)
        };
        bins.iter().find(reaches).map(|(ns, _)| *ns)
    }

    pub(super) fn has_percentiles(&self) -> bool {
        !(self.percentile.is_empty() && self.bins.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_told_or_those_of_the_bins() {
        let text =
            r#"{"N": 4, "percentile": {"50.000000": 7}, "bins": {"900": 1, "10": 2, "80": 1}}"#;
        let times: Times = serde_json::from_str(text).unwrap();
        assert_eq!(times.percentile(50.0), Some(7));
        assert_eq!((times.percentile(75.0), times.percentile(99.0)), (Some(80), Some(900)));
        assert_eq!(Times::default().percentile(99.0), None);
    }

    #[test]
    fn the_last_output_of_a_file_counts_whatever_stands_around_it() {
        let one = |ms: u32| {
            format!("{{\"fio version\": \"fio-3.33\", \"timestamp_ms\": {ms}, \"jobs\": []}}\n")
        };
        let text = format!("fio: {{ a note }}\n{}{}fio: pid=0\n", one(1), one(2));
        assert_eq!(Output::last_in(&text).unwrap().timestamp_ms, Some(2));
        assert!(Output::last_in("a: (groupid=0").unwrap_err().contains("--output-format=json"));
        assert!(Output::last_in("{\"fio version\"").unwrap_err().contains("EOF"));
    }
}
