//! Numbers, sizes and times as fio writes them.

use writecliff_device::{Bytes, Nanos};

use super::{Judged, wrong};

/// A value that is followed, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) line: usize,
    /// The option's name, for messages.
    pub(super) option: &'static str,
    pub(super) text: String,
    /// Whether `k` is 1024 (fio's default) or 1000 (`kb_base=1000`).
    pub(super) binary: bool,
}

impl Value {
    pub(super) fn refuse<T>(&self, what: impl AsRef<str>) -> Judged<T> {
        wrong(self.line, format!("{}={}: {}", self.option, self.text, what.as_ref()))
    }

    /// The same option with a part of its value.
    pub(super) fn part(&self, text: &str) -> Self {
        Self { text: text.trim().to_owned(), ..self.clone() }
    }

    /// Parts between commas.
    pub(super) fn parts(&self) -> Vec<Self> {
        self.text.split(',').map(|part| self.part(part)).collect()
    }

    /// A whole number, or one in the dialect of sizes, as fio also reads plain counts.
    pub(super) fn count(&self) -> Judged<u64> {
        self.size().map(|bytes| bytes.0)
    }

    /// A count that fits where it goes.
    pub(super) fn small<T: TryFrom<u64>>(&self) -> Judged<T> {
        let count = self.count()?;
        T::try_from(count).or_else(|_| self.refuse("the number is too large"))
    }

    pub(super) fn percent(&self) -> Judged<u8> {
        let number = self.text.trim_end_matches('%');
        match number.parse() {
            Ok(percent @ 0..=100) => Ok(percent),
            _ => self.refuse("percent from 0 to 100 are needed"),
        }
    }

    pub(super) fn fraction(&self) -> Judged<f64> {
        let parsed = self.text.parse().ok().filter(|number: &f64| number.is_finite());
        parsed.map_or_else(|| self.refuse("a number such as 1.2 is needed"), Ok)
    }

    /// Options without a value are on.
    pub(super) fn flag(&self) -> Judged<bool> {
        match self.text.as_str() {
            "" | "1" => Ok(true),
            "0" => Ok(false),
            _ => self.refuse("it is on (1) or off (0)"),
        }
    }

    /// Bytes. With fio's default of kb_base=1024, `4k`, `4kb` and `4KB` are 4096, and `4KiB` is
    /// 4000: the prefixes are the wrong way round, for the sake of old files.
    pub(super) fn size(&self) -> Judged<Bytes> {
        let Some((number, suffix)) = self.number() else {
            return self.refuse("a size such as 4k or 10g is needed");
        };
        let suffix = suffix.to_ascii_lowercase();
        let suffix = if suffix == "b" { "" } else { suffix.as_str() };
        let (prefix, is_iec) = match (suffix.strip_suffix("ib"), suffix.strip_suffix('b')) {
            (Some(prefix), _) => (prefix, true),
            (None, Some(prefix)) => (prefix, false),
            (None, None) => (suffix, false),
        };
        let Some(power) = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == prefix)
        else {
            return self.refuse("a size such as 4k or 10g is needed");
        };
        let step: u64 = if self.binary != is_iec { 1024 } else { 1000 };
        let bytes = step.checked_pow(power as u32).and_then(|unit| number.checked_mul(unit));
        bytes.map_or_else(|| self.refuse("the size is too large"), |bytes| Ok(Bytes(bytes)))
    }

    /// A time; a number alone is in `unit`.
    pub(super) fn time(&self, unit: Nanos) -> Judged<Nanos> {
        let known = |suffix: &str| match suffix.to_ascii_lowercase().as_str() {
            "" => Some(unit),
            "d" => Some(Nanos::from_secs(86_400)),
            "h" => Some(Nanos::from_secs(3600)),
            "m" => Some(Nanos::from_secs(60)),
            "s" => Some(Nanos::from_secs(1)),
            "ms" | "msec" => Some(Nanos::from_millis(1)),
            "us" | "usec" => Some(Nanos::from_micros(1)),
            _ => None,
        };
        let parsed = self.number().and_then(|(number, suffix)| Some((number, known(suffix)?)));
        let nanos = parsed.and_then(|(number, unit)| number.checked_mul(unit.0)).map(Nanos);
        nanos.map_or_else(|| self.refuse("a time such as 60s, 500ms or 20us is needed"), Ok)
    }

    /// A whole number, also in hexadecimal, and what stands behind it.
    fn number(&self) -> Option<(u64, &str)> {
        if let Some(digits) = self.text.strip_prefix("0x") {
            return Some((u64::from_str_radix(digits, 16).ok()?, ""));
        }
        let end = self.text.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.text.len());
        Some((self.text[..end].parse().ok()?, self.text[end..].trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, binary: bool) -> Value {
        Value { line: 7, option: "bs", text: text.to_owned(), binary }
    }

    #[test]
    fn sizes_are_fios() {
        let cases = [
            ("4096", 4096),
            ("4096b", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4KB", 4096),
            ("4KiB", 4000),
            ("1MiB", 1_000_000),
            ("1m", 1 << 20),
            ("2g", 2 << 30),
            ("0x1000", 4096),
        ];
        for (text, bytes) in cases {
            assert_eq!(value(text, true).size().unwrap(), Bytes(bytes), "{text}");
        }
        assert_eq!(value("4k", false).size().unwrap(), Bytes(4000));
        assert_eq!(value("4KiB", false).size().unwrap(), Bytes(4096));
        for text in ["", "k", "4x", "1.5k", "(4*1024)", "-1", "4ki", "0xk", "99999999p"] {
            let wrong = value(text, true).size().expect_err(text);
            assert_eq!(wrong.line, 7);
            assert!(wrong.message.starts_with(&format!("bs={text}: ")), "{}", wrong.message);
        }
    }

    #[test]
    fn times_are_fios() {
        let time = |text| value(text, true).time(Nanos::from_secs(1));
        assert_eq!(time("90").unwrap(), Nanos::from_secs(90));
        assert_eq!(time("2m").unwrap(), Nanos::from_secs(120));
        assert_eq!(time("1h").unwrap(), Nanos::from_secs(3600));
        assert_eq!(time("20ms").unwrap(), Nanos::from_millis(20));
        assert_eq!(value("20", true).time(Nanos::from_micros(1)).unwrap(), Nanos(20_000));
        for text in ["", "s", "2 parsecs", "1.5s", "99999999999999d"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
