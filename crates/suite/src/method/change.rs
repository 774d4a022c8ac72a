//! Whether what was to be one rate changed while it was measured.

use crate::method::levels::FALL;

/// Fewer seconds have no thirds to speak of.
const SECONDS_MIN: usize = 6;

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

/// Numbers of I/Os that lie apart by less than so many of their standard deviations do so by chance, where
/// arrivals are drawn.
const CHANCE: f64 = 3.0;

/// Whether as many I/Os as were done in the first and in the last third of these seconds may differ by chance alone.
pub(crate) fn may_be_chance(ios: &[u64]) -> bool {
    let third = ios.len() / 3;
    let [first, last] =
        [&ios[..third], &ios[ios.len() - third..]].map(|part| part.iter().sum::<u64>() as f64);
    (first - last).abs() <= CHANCE * (first + last).sqrt()
}
