//! Names that were mistyped, and which of the known ones may have been meant.

/// A name that is less alike than this is no correction.
const LIKENESS_MIN: f64 = 0.8;
/// So many corrections are offered at most.
const OFFERED_MAX: usize = 3;

/// A part of a name, between its dashes and blanks, that is less alike than this to every part of
/// another is not that part mistyped: `9999` is no `840`.
const PART_LIKENESS_MIN: f64 = 0.5;

/// Those of the `known` names that are spelled like `name`, part for part, or contain it, the nearest
/// first; three at most.
///
/// ```
/// use writecliff_device::nearest;
///
/// assert_eq!(nearest("tinny", ["tiny", "huge"]), ["tiny"]);
/// assert!(nearest("nope", ["tiny", "huge"]).is_empty());
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let contains = |known: &str| name.len() >= 3 && known.contains(name);
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(name, known), known));
    let is_near = |likeness: f64, known: &str| likeness >= LIKENESS_MIN && has_parts(name, known);
    let mut scored: Vec<_> =
        scored.filter(|(likeness, known)| is_near(*likeness, known) || contains(known)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut nearest = Vec::new();
    for (_, known) in scored {
        if nearest.len() < OFFERED_MAX && !nearest.contains(&known) {
            nearest.push(known);
        }
    }
    nearest
}

/// Whether every part of a name may be meant for a part of the other.
fn has_parts(name: &str, known: &str) -> bool {
    let is_end = |c: char| !c.is_alphanumeric();
    name.split(is_end).all(|part| {
        let is_it = |other: &str| {
            other.contains(part)
                || part.contains(other)
                || strsim::jaro_winkler(part, other) >= PART_LIKENESS_MIN
        };
        known.split(is_end).filter(|other| !other.is_empty()).any(is_it)
    })
}

/// `; did you mean a or b?`, to go on with a sentence about an unknown name; empty where none of the
/// `known` names is like it.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, known)[..] {
        [] => String::new(),
        [only] => format!("; did you mean {only}?"),
        [ref others @ .., last] => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

/// What a parser said, with the nearest of the names that it expected in place of a long list:
/// "unknown field `quantm`, expected one of `quantum`, ..." becomes "unknown field `quantm`; did you
/// mean quantum?". Other messages, and those of which nothing is near, stay as they are.
pub fn with_nearest(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let is_unknown = ["unknown field", "unknown variant"].iter().any(|u| message.starts_with(u));
    match (is_unknown, quoted.next()) {
        (true, Some(name)) => match did_you_mean(name, quoted) {
            hint if hint.is_empty() => message.to_owned(),
            hint => {
                let end = message.find(", expected").unwrap_or(message.len());
                format!("{}{hint}", &message[..end])
            }
        },
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_offered_and_strangers_are_not() {
        let known = ["light-2011", "heavy-2011", "destroyer-2013"];
        assert_eq!(did_you_mean("light-2012", known), "; did you mean light-2011?");
        assert_eq!(did_you_mean("-2011", known), "; did you mean light-2011 or heavy-2011?");
        assert_eq!(did_you_mean("x", known), "");
        assert_eq!(did_you_mean("", known), "");
        let twice = ["p99.9", "p99.99", "p99.9"];
        assert_eq!(did_you_mean("p99.", twice), "; did you mean p99.9 or p99.99?");
    }

    #[test]
    fn a_beginning_in_common_is_not_enough() {
        let known = ["samsung-840-evo-250gb", "samsung-830-256gb", "intel-x25-m-80gb"];
        assert_eq!(did_you_mean("samsung-9999", known), "");
        assert_eq!(nearest("samsung-840-evo-256gb", known)[0], "samsung-840-evo-250gb");
        assert_eq!(nearest("samsung-840evo-250-gb", known)[0], "samsung-840-evo-250gb");
    }

    #[test]
    fn a_parser_s_list_becomes_a_correction() {
        let message = "unknown field `quantm`, expected one of `quantum`, `low_water`";
        assert_eq!(with_nearest(message), "unknown field `quantm`; did you mean quantum?");
        let strange = "unknown field `zzz`, expected `quantum` or `low_water`";
        assert_eq!(with_nearest(strange), strange);
        assert_eq!(with_nearest("missing field `identity`"), "missing field `identity`");
    }
}
