//! Figures in words, wherever they are not on a page.

use std::fmt;

/// `66,667`.
pub fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < -0.5 { format!("-{text}") } else { text }
}

/// `1 trim`, `1,234 trims`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    format!("{} {one}{}", thousands(count as f64), if count == 1 { "" } else { "s" })
}

/// `4,492 IOPS`, `7.968`, `0.0551 Wh`, `0`: as on a page, with a digit more, for what is held against a
/// bound or beside another.
pub fn in_words(value: f64, unit: impl fmt::Display) -> String {
    let number = match value.abs() {
        _ if value.fract() == 0.0 => thousands(value),
        1000.0.. => thousands(value),
        size @ 1.0.. => format!("{value:.*}", 3 - size.log10() as usize),
        size => format!("{value:.*}", (2.0 - size.max(1e-9).log10().floor()) as usize),
    };
    format!("{number} {unit}").trim_end().to_owned()
}

/// A value and the bound that it is held against, as [`in_words`]: what a hair decides is told to the hair.
pub fn beside_bound(value: f64, bound: f64, unit: impl fmt::Display) -> [String; 2] {
    let [got, asked] = [value, bound].map(|value| in_words(value, &unit));
    match got == asked && value != bound {
        true => [to_the_hair(value, unit), asked],
        false => [got, asked],
    }
}

/// `400.338406 ms`.
pub fn to_the_hair(value: f64, unit: impl fmt::Display) -> String {
    format!("{} {unit}", (value * 1e6).round() / 1e6).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_tell_them_apart() {
        let said = [4492.3, 1_234_567.0, 274.46, 13.03, 7.968, 0.829_01, 0.0551, 1.0, 0.0, -0.5];
        let said = said.map(|value| in_words(value, "W"));
        let expected = [
            "4,492 W",
            "1,234,567 W",
            "274.5 W",
            "13.03 W",
            "7.968 W",
            "0.829 W",
            "0.0551 W",
            "1 W",
            "0 W",
            "-0.500 W",
        ];
        assert_eq!(said, expected);
        assert_eq!(in_words(2.0, ""), "2");
        assert_eq!(beside_bound(4_999.6, 5_000.0, "IOPS"), ["4999.6 IOPS", "5,000 IOPS"]);
        assert_eq!(beside_bound(5_000.0, 5_000.0, "IOPS"), ["5,000 IOPS", "5,000 IOPS"]);
        assert_eq!(beside_bound(4_998.0, 5_000.0, "IOPS"), ["4,998 IOPS", "5,000 IOPS"]);
        assert_eq!(
            [0.4, 999.6, 1_234_567.0, -1_234.0].map(thousands),
            ["0", "1,000", "1,234,567", "-1,234"]
        );
        assert_eq!([0, 1, 1_234].map(|n| counted(n, "trim")), ["0 trims", "1 trim", "1,234 trims"]);
    }
}
