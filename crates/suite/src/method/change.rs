//! Whether what was to be one rate changed while it was measured.

/// A rate has changed if in the last third of the seconds it is more than so many times what it is in the
/// first, or less than one part in as many.
const CHANGED: f64 = 1.5;
/// Fewer seconds have no thirds to speak of.
const SECONDS_MIN: usize = 6;

/// What the rates of successive seconds are on average in the first and in the last third, if that
/// differs.
pub(crate) fn changed(rates: &[f64]) -> Option<(f64, f64)> {
    if rates.len() < SECONDS_MIN {
        return None;
    }
    let third = rates.len() / 3;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&rates[..third]), mean(&rates[rates.len() - third..]));
    (first.max(last) > CHANGED * first.min(last)).then_some((first, last))
}
