//! What a skewed load costs by theory: on a drive that treats all pages alike, and on one that keeps
//! pages of each temperature apart and divides its spare area among them in the best way.
//!
//! Of pages that are all written alike, a block is collected when a share `u` of it is still valid. Each
//! write of the host then costs `1 / (1 - u)`, and the room for the pages over what they take is
//! `ln u / (u - 1)` (Desnoyers, SYSTOR 2012; exact for FIFO, and for greedy collection with large
//! blocks). Of several such groups the best division has the same gain everywhere for a little more
//! room (Stoica and Ailamaki, VLDB 2013): `writes / data = gain * (ln u + 1 / u - 1)` for each.

/// Steps of a bisection: more bits than a number has.
const STEPS: u32 = 100;

/// The write amplification at best, of a drive that has `uniform` when all pages are written alike.
/// Each group of pages has a share of the data and a share of the writes. `None` if `uniform` tells no
/// spare area, being 1 or no number.
pub(crate) fn best_write_amplification(uniform: f64, groups: &[(f64, f64)]) -> Option<f64> {
    let valid = 1.0 - 1.0 / uniform;
    if !(valid > 0.0 && valid < 1.0) {
        return None;
    }
    let all = room(valid);
    let valid_at = |gain: f64, (data, writes): (f64, f64)| valid_where(writes / data / gain);
    let taken = |gain: f64| -> f64 {
        groups.iter().map(|group| group.0 * room(valid_at(gain, *group))).sum()
    };
    // The more a little room gains, the less of it there is.
    let gain = bisect(1e-12, 1e12, |gain| taken(gain) > all);
    let cost = |group: &(f64, f64)| match group.1 > 0.0 {
        true => group.1 / (1.0 - valid_at(gain, *group)),
        false => 0.0,
    };
    Some(groups.iter().map(cost).sum())
}

/// The write amplification of a drive that collects its blocks in the order in which it wrote them
/// (FIFO), hot and cold pages side by side. A page is written again when the host does it, or copied when
/// its block's turn comes: the room is what all pages are written in one turn (Desnoyers, SYSTOR 2012).
pub(crate) fn mixed_write_amplification(uniform: f64, groups: &[(f64, f64)]) -> Option<f64> {
    let valid = 1.0 - 1.0 / uniform;
    if !(valid > 0.0 && valid < 1.0) {
        return None;
    }
    let all = room(valid);
    // Of pages that the host writes so often in a turn: how often they are written with their copies.
    let with_copies = |times: f64| if times < 1e-9 { 1.0 } else { times / -(-times).exp_m1() };
    let in_a_turn = |written: f64| -> f64 {
        groups.iter().map(|(data, writes)| data * with_copies(writes / data * written)).sum()
    };
    let written = bisect(1e-12, all, |written| in_a_turn(written) < all);
    Some(all / written)
}

/// Room for pages over what they take, if their blocks are collected with this share still valid.
fn room(valid: f64) -> f64 {
    // The quotient's limit where both sides of it vanish.
    if valid > 1.0 - 1e-9 { 1.0 } else { valid.ln() / (valid - 1.0) }
}

/// The share at which `ln u + 1 / u - 1` is so much.
fn valid_where(height: f64) -> f64 {
    bisect(1e-12, 1.0, |valid| valid.ln() + 1.0 / valid - 1.0 > height)
}

/// Where a condition that holds below no longer does, to the last bit; halves ratios.
fn bisect(low: f64, high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..STEPS {
        let middle = (low * high).sqrt();
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a drive that is 85 % full.
    fn at_best(groups: &[(f64, f64)]) -> f64 {
        let valid = bisect(1e-9, 1.0, |valid| 1.0 / room(valid) < 0.85);
        best_write_amplification(1.0 / (1.0 - valid), groups).unwrap()
    }

    #[test]
    fn it_is_the_published_one_of_hot_and_cold_data() {
        // docs/model.md, by a division of its own (crates/sim/tests/all/theory.rs).
        for (hot, writes, published) in [(0.05, 0.95, 1.33), (0.1, 0.9, 1.76), (0.2, 0.8, 2.52)] {
            let best = at_best(&[(hot, writes), (1.0 - hot, 1.0 - writes)]);
            assert!((best - published).abs() < 0.006, "{writes}: {best}");
        }
    }

    #[test]
    fn of_a_uniform_load_in_parts_it_is_that_of_the_whole() {
        for uniform in [1.2, 3.0, 10.0] {
            let best = best_write_amplification(uniform, &[(0.3, 0.3), (0.7, 0.7)]).unwrap();
            assert!((best / uniform - 1.0).abs() < 1e-9, "{uniform}: {best}");
            let mixed = mixed_write_amplification(uniform, &[(0.3, 0.3), (0.7, 0.7)]).unwrap();
            assert!((mixed / uniform - 1.0).abs() < 1e-9, "{uniform}: {mixed}");
        }
        assert_eq!(best_write_amplification(1.0, &[(1.0, 1.0)]), None);
        assert_eq!(best_write_amplification(f64::NAN, &[(1.0, 1.0)]), None);
    }

    #[test]
    fn data_at_rest_takes_no_spare_area() {
        // A tenth of the data gets all writes: its spare area is ten times as large a share.
        let uniform = 5.0;
        let spare = room(1.0 - 1.0 / uniform) - 1.0;
        let valid = bisect(1e-12, 1.0, |valid| room(valid) > 1.0 + 10.0 * spare);
        let best = best_write_amplification(uniform, &[(0.1, 1.0), (0.9, 0.0)]).unwrap();
        assert!((best * (1.0 - valid) - 1.0).abs() < 1e-6, "{best}");
    }
}
