//! Which requests must wait for which: those that change the same rows of a stripe, in the order in which
//! they came.

use std::ops::Range;

/// Rows of the members that requests work on, in the order in which these came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Claims(Vec<Claim>);

#[derive(Debug, Clone)]
struct Claim {
    owner: usize,
    rows: Range<u64>,
    changes: bool,
}

impl Claim {
    fn excludes(&self, other: &Self) -> bool {
        let overlap = self.rows.start < other.rows.end && other.rows.start < self.rows.end;
        overlap && (self.changes || other.changes)
    }
}

impl Claims {
    /// Claims rows; gives how many claims of others it must wait for.
    pub(crate) fn add(&mut self, owner: usize, rows: Range<u64>, changes: bool) -> usize {
        let claim = Claim { owner, rows, changes };
        let before = self.0.iter().filter(|earlier| earlier.excludes(&claim)).count();
        self.0.push(claim);
        before
    }

    /// Gives a claim back, if there is one; gives whose claims waited for it.
    pub(crate) fn release(&mut self, owner: usize) -> Vec<usize> {
        let Some(place) = self.0.iter().position(|claim| claim.owner == owner) else {
            return Vec::new();
        };
        let gone = self.0.remove(place);
        let waited = self.0[place..].iter().filter(|later| gone.excludes(later));
        waited.map(|later| later.owner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_wait_for_all_and_looks_for_changes() {
        let mut claims = Claims::default();
        assert_eq!(claims.add(1, 0..10, false), 0);
        assert_eq!(claims.add(2, 5..10, false), 0);
        assert_eq!(claims.add(3, 9..20, true), 2);
        assert_eq!(claims.add(4, 10..11, false), 1);
        assert_eq!(claims.add(5, 20..30, true), 0);
        assert_eq!(claims.release(2), [3]);
        assert_eq!(claims.release(1), [3]);
        assert_eq!(claims.release(1), [0; 0]);
        assert_eq!(claims.release(3), [4]);
    }
}
