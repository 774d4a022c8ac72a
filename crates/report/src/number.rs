//! Numbers for a person: thousands apart, no more digits than mean something, units.

use writecliff_device::{Bytes, Nanos};
use writecliff_suite::Unit;
pub use writecliff_suite::thousands;

/// What stands for something that the drive or the run does not give.
pub(crate) const NONE: &str = "–";

/// `66,667 IOPS`.
pub(crate) fn iops(value: f64) -> String {
    format!("{} IOPS", count(value))
}

/// `66,667`, and `4.05`, where a whole number would say too little.
pub(crate) fn count(value: f64) -> String {
    match value.abs() {
        0.005..99.95 => significant(value),
        _ => thousands(value),
    }
}

/// `273 MB/s`.
pub(crate) fn megabytes_per_second(value: f64) -> String {
    match value {
        0.0..0.005 if value > 0.0 => "under 0.01 MB/s".to_owned(),
        _ => format!("{} MB/s", significant(value)),
    }
}

/// `1,583.02 GB`, decimal, as the documents write it; less than that with its own unit.
pub(crate) fn gigabytes(bytes: u64) -> String {
    let hundredths = (bytes as f64 / 1e7).round();
    match bytes {
        999_500_000.. => {
            format!("{}.{:02.0} GB", thousands((hundredths / 100.0).floor()), hundredths % 100.0)
        }
        _ => Bytes(bytes).to_string(),
    }
}

/// `36.4 s`, `53 min 20 s`, `12 h 05 min`.
pub(crate) fn time_span(nanos: u64) -> String {
    let seconds = (nanos as f64 / 1e9).round() as u64;
    match seconds {
        0..120 => Nanos(nanos).to_string(),
        120..7200 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// `15.2 GB`, decimal.
pub(crate) fn bytes(value: f64) -> String {
    Bytes(value as u64).to_string()
}

/// `15.2 GiB`, beside sizes that are powers of two.
pub(crate) fn gibibytes(bytes: Bytes) -> String {
    format!("{} GiB", significant(bytes.0 as f64 / (1u64 << 30) as f64))
}

/// `32.4 ms`.
pub(crate) fn latency(nanos: u64) -> String {
    Nanos(nanos).to_string()
}

/// `2.31 W`, `5.00 mW`.
pub(crate) fn watts(watts: f64) -> String {
    match watts {
        ..0.1 => format!("{} mW", significant(watts * 1e3)),
        _ => format!("{watts:.2} W"),
    }
}

/// A service time, which is none where no I/O completed: nothing is done in no time.
pub(crate) fn service_time(nanos: u64) -> String {
    if nanos == 0 { NONE.to_owned() } else { latency(nanos) }
}

/// A service time that few I/Os may not tell.
pub(crate) fn service_time_if(nanos: Option<u64>) -> String {
    nanos.map_or_else(|| NONE.to_owned(), service_time)
}

/// `66 %`.
pub(crate) fn percent(share: f64) -> String {
    // Little is not nothing, and half of a percent not a whole one.
    match share {
        _ if share <= 0.0 => {}
        ..0.0005 => return "under 0.1 %".to_owned(),
        ..0.0095 => return format!("{:.1} %", share * 100.0),
        _ => {}
    }
    let percent = (share * 100.0).round();
    // Nearly all is not all.
    if share < 0.9995 && percent == 100.0 {
        return format!("{:.1} %", share * 100.0);
    }
    // There is no negative zero for a person.
    format!("{:.0} %", if percent == 0.0 { 0.0 } else { percent })
}

/// `66 %`, of what is at least that.
pub(crate) fn percent_or_more(share: f64) -> String {
    percent((share * 100.0).floor() / 100.0)
}

/// The same beside a limit: what is above it is not rounded to it.
pub(crate) fn percent_beside(share: f64, limit: f64) -> String {
    match percent(share) == percent(limit) && share > limit {
        true => {
            format!("{:.1} %", (share * 1000.0).round().max((limit * 1000.0).round() + 1.0) / 10.0)
        }
        false => percent(share),
    }
}

/// `8.86`.
pub(crate) fn ratio(value: f64) -> String {
    if value < 99.95 { format!("{value:.2}") } else { thousands(value) }
}

/// `160 MB/s in its first third, 16.6 MB/s in its last`, and the one between them where the mean is of neither.
pub(crate) fn thirds(mean: f64, [first, last]: [f64; 2], words: impl Fn(f64) -> String) -> String {
    let is_between = (first.min(last)..=first.max(last)).contains(&mean);
    let middle = match is_between {
        true => String::new(),
        false => format!(", {} in its second", words((3.0 * mean - first - last).max(0.0))),
    };
    format!("{} in its first third{middle}, {} in its last", words(first), words(last))
}

/// `3.5`, of times as many.
pub(crate) fn times(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}") } else { thousands(value) }
}

/// `67 s`, `1.5 s`, `33 min 20 s`.
pub fn seconds(value: f64) -> String {
    match value {
        120.0.. => time_span((value * 1e9) as u64),
        _ if value.fract() == 0.0 => format!("{} s", thousands(value)),
        _ => format!("{} s", significant(value)),
    }
}

/// `4 KiB`: the size of a block.
pub(crate) fn size(bytes: Bytes) -> String {
    spaced(&bytes.exact())
}

/// A quantity as plans have it, as a person writes it: `4KiB` to `4 KiB`, `2000s` to `33 min 20 s`.
/// What is none stays as it is.
pub(crate) fn spaced(exact: &str) -> String {
    let unit = exact.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = exact.strip_suffix(unit).and_then(|digits| digits.parse::<u64>().ok());
    match (number, unit) {
        (Some(number), "s") => seconds(number as f64),
        (Some(number), unit) if unit.chars().all(|c| c.is_ascii_alphabetic()) => {
            format!("{} {unit}", thousands(number as f64)).trim_end().to_owned()
        }
        _ => exact.to_owned(),
    }
}

/// A figure with its unit. A time of nothing is none: no I/O completed.
pub(crate) fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Iops => iops(value),
        Unit::MegabytesPerSecond => megabytes_per_second(value),
        Unit::Milliseconds => service_time((value * 1e6).round() as u64),
        Unit::Seconds => seconds(value),
        Unit::Percent => percent(value / 100.0),
        Unit::Bytes => bytes(value),
        Unit::Ratio => ratio(value),
        Unit::Count => thousands(value),
        Unit::Watts
        | Unit::WattHours
        | Unit::MegabytesPerSecondPerWatt
        | Unit::IopsPerWatt
        | Unit::Celsius
        | Unit::MebibytesPerSecond => format!("{} {unit}", significant(value)),
    }
}

/// Three significant digits, thousands apart.
pub(crate) fn significant(value: f64) -> String {
    match value.abs() {
        small @ 0.0..0.0995 if small > 0.0 => {
            format!("{value:.*}", (1.0 - small.max(1e-9).log10().floor()) as usize)
        }
        0.0..9.995 => format!("{value:.2}"),
        9.995..99.95 => format!("{value:.1}"),
        _ => thousands(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_a_person_writes_them() {
        assert_eq!(iops(66_666.7), "66,667 IOPS");
        assert_eq!([percent(0.9375), percent_or_more(0.9375)], ["94 %", "93 %"]);
        assert_eq!(megabytes_per_second(273.07), "273 MB/s");
        assert_eq!(megabytes_per_second(1_273.07), "1,273 MB/s");
        assert_eq!(megabytes_per_second(9.876), "9.88 MB/s");
        assert_eq!(latency(32_385_000), "32.4 ms");
        assert_eq!([32_385_000, 0].map(service_time), ["32.4 ms", NONE]);
        assert_eq!(gigabytes(1_583_020_000_000), "1,583.02 GB");
        assert_eq!(gigabytes(999_996_000), "1.00 GB");
        assert_eq!([999_000_000, 4096, 0].map(gigabytes), ["999 MB", "4.10 kB", "0 B"]);
        let spans = [36_400_000_000, 3_200_000_000_000, 43_500_000_000_000].map(time_span);
        assert_eq!(spans, ["36.4 s", "53 min 20 s", "12 h 05 min"]);
        assert_eq!([0.659, 0.012, 0.0].map(percent), ["66 %", "1 %", "0 %"]);
        let beside = [0.1, 0.1001, 0.1044, 0.12].map(|share| percent_beside(share, 0.1));
        assert_eq!(beside, ["10 %", "10.1 %", "10.4 %", "12 %"]);
        let thirds = |mean| thirds(mean, [60.0, 90.0], thousands);
        assert_eq!(thirds(80.0), "60 in its first third, 90 in its last");
        assert_eq!(thirds(120.0), "60 in its first third, 210 in its second, 90 in its last");
        assert_eq!([0.0054, 0.001, 0.0001].map(percent), ["0.5 %", "0.1 %", "under 0.1 %"]);
        assert_eq!([2000.0, 67.0, 0.5].map(seconds), ["33 min 20 s", "67 s", "0.50 s"]);
        let exact = ["4KiB", "1024B", "2000s", "32", "scale", "light-2011"];
        let spaced_out = ["4 KiB", "1,024 B", "33 min 20 s", "32", "scale", "light-2011"];
        assert_eq!(exact.map(spaced), spaced_out);
    }
}
