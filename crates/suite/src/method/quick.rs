//! What a quick run keeps to.

use writecliff_device::{Bytes, Nanos};

/// A quick review's tortures last so long.
pub(crate) const QUICK_TORTURE: Nanos = Nanos::from_secs(15);
/// A quick review's short measurements last so long.
pub(crate) const QUICK_MEASUREMENT: Nanos = Nanos::from_secs(3);
/// A quick review touches no more of a drive than this.
pub(crate) const QUICK_SPAN: Bytes = Bytes::from_gib(2);

/// A quick run uses no more than the plan does.
pub(crate) fn quick_span(span: Option<Bytes>) -> Option<Bytes> {
    Some(span.map_or(QUICK_SPAN, |own| own.min(QUICK_SPAN)))
}

/// Those of a list that are enough for a quick run; all, if it has none of them.
pub(crate) fn few<T: PartialEq>(all: Vec<T>, enough: &[T]) -> Vec<T> {
    if !all.iter().any(|one| enough.contains(one)) {
        return all;
    }
    all.into_iter().filter(|one| enough.contains(one)).collect()
}
