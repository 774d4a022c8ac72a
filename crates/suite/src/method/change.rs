//! Whether what was to be one rate changed while it was measured.

use crate::method::levels::FALL;

/// Fewer seconds have no thirds to speak of.
const SECONDS_MIN: usize = 3;

/// What the rates of successive seconds are on average in the first and in the last third, if these differ as
/// two levels of a write do.
pub(crate) fn changed(rates: &[f64]) -> Option<(f64, f64)> {
    if rates.len() < SECONDS_MIN {
        return None;
    }
    let third = rates.len() / 3;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&rates[..third]), mean(&rates[rates.len() - third..]));
    (first.min(last) < FALL * first.max(last)).then_some((first, last))
}

/// What the first of these seconds was and what the last third is on average, if that is less than half: what
/// falls so soon is over before thirds can tell.
pub(crate) fn fell_at_once(rates: &[f64]) -> Option<(f64, f64)> {
    if rates.len() < SECONDS_MIN {
        return None;
    }
    let last = &rates[rates.len() - rates.len() / 3..];
    let last = last.iter().sum::<f64>() / last.len() as f64;
    (2.0 * last < rates[0]).then_some((rates[0], last))
}

/// Numbers of I/Os that lie apart by less than so many of their standard deviations do so by chance, where
/// arrivals are drawn.
const CHANCE: f64 = 3.0;

/// Whether as many I/Os as were done in the first and in the last third of these seconds may differ by chance alone.
pub(crate) fn may_be_chance(ios: &[u64]) -> bool {
    let third = ios.len() / 3;
    let [first, last] =
        [&ios[..third], &ios[ios.len() - third..]].map(|part| part.iter().sum::<u64>() as f64);
    (first - last).abs() <= by_chance(first + last)
}

/// So many more or fewer I/Os there may be by chance where about so many arrivals are drawn.
pub(crate) fn by_chance(ios: f64) -> f64 {
    CHANCE * ios.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_that_thirds_do_not_show_is_seen_in_the_first_second() {
        let rates = [&[7_616.0, 1_590.0][..], &[2_200.0; 28]].concat();
        assert_eq!((changed(&rates), fell_at_once(&rates)), (None, Some((7_616.0, 2_200.0))));
        assert_eq!(fell_at_once(&[&[3_000.0][..], &[2_200.0; 29]].concat()), None);
        assert_eq!(fell_at_once(&[5_000.0, 1_000.0]), None, "too few to say");
    }
}
