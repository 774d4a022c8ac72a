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
