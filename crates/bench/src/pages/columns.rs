//! Tables as columns: a page of hundreds of drives in as few bytes as JSON allows.

use serde::Serialize;
use serde_json::{Value, json};

/// A column as pages read it: its values, or, if most occur more than once, the different ones and
/// where each row's is.
pub(super) fn column<T: Serialize>(values: impl Iterator<Item = T>) -> Value {
    let values: Vec<Value> = values.map(|value| json!(value)).collect();
    let mut different: Vec<&Value> = Vec::new();
    let mut places = Vec::with_capacity(values.len());
    for value in &values {
        if value.is_null() {
            places.push(None);
            continue;
        }
        let known = different.iter().position(|other| *other == value);
        let place = known.unwrap_or_else(|| {
            different.push(value);
            different.len() - 1
        });
        places.push(Some(place));
        // A search through so many would take longer than the bytes are worth.
        if different.len() > DIFFERENT_MAX {
            return json!(values);
        }
    }
    match different.len() * 2 <= values.len() {
        true => json!({ "of": different, "at": places }),
        false => json!(values),
    }
}

const DIFFERENT_MAX: usize = 200;

/// A column that is left out where every row has the same, usual value.
pub(super) fn unless_all<T: Serialize + PartialEq>(usual: &T, values: Vec<T>) -> Option<Vec<T>> {
    values.iter().any(|value| value != usual).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_is_there_once() {
        let makers = ["Intel", "Samsung", "Intel", "Intel"].map(Some).into_iter().chain([None]);
        assert_eq!(column(makers), json!({ "of": ["Intel", "Samsung"], "at": [0, 1, 0, 0, null] }));
        assert_eq!(column(["a", "b", "c"].into_iter()), json!(["a", "b", "c"]));
        assert_eq!(unless_all(&1, vec![1, 1]), None);
        assert_eq!(unless_all(&1, vec![1, 2]), Some(vec![1, 2]));
    }
}
