//! What a drive makes durable, one round after the other.

use writecliff_device::{DeviceTime, Nanos};

/// Rounds of flushes and forced writes: a drive makes data durable for one round at a time. Who asks
/// meanwhile waits until that is over, and then all who wait are served together: a group commit in the
/// drive. So two alternate and get no more done than one, and many get half as much done as if each were
/// alone with the drive. A round lasts as long as the first of those that wait for it needs; who needs longer
/// waits for that alone, since nobody knows of him when the first is told his time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds {
    /// The end of the round that is under way, or that was the last.
    end: DeviceTime,
    /// The end of the one after it; the same where nobody waits for it.
    next: DeviceTime,
}

impl Rounds {
    /// Takes one who asks at `now` for what takes `work` by itself; returns when he is served.
    pub(crate) fn serve(&mut self, now: DeviceTime, work: Nanos) -> DeviceTime {
        if now >= self.end {
            // Who waited is being served.
            self.end = self.next;
        }
        if now >= self.end {
            self.end = now + work;
            self.next = self.end;
            return self.end;
        }
        if self.next == self.end {
            self.next = self.end + work;
        }
        self.next.max(self.end + work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Nanos = Nanos(100);

    fn at(time: u64) -> DeviceTime {
        DeviceTime::default() + Nanos(time)
    }

    #[test]
    fn one_is_served_at_once_and_those_who_come_meanwhile_together_after_him() {
        let mut rounds = Rounds::default();
        assert_eq!(rounds.serve(at(50), WORK), at(150));
        assert_eq!(rounds.serve(at(60), WORK), at(250));
        assert_eq!(rounds.serve(at(149), WORK), at(250));
        // The second round has begun: who comes now waits for the third.
        assert_eq!(rounds.serve(at(150), WORK), at(350));
        assert_eq!(rounds.serve(at(250), WORK), at(450));
        assert_eq!(rounds.serve(at(450), WORK), at(550), "nobody is there any more");
    }

    #[test]
    fn who_needs_longer_waits_for_that_alone() {
        let mut rounds = Rounds::default();
        rounds.serve(at(0), WORK);
        assert_eq!(rounds.serve(at(10), WORK), at(200));
        assert_eq!(rounds.serve(at(20), WORK * 3), at(400));
        assert_eq!(rounds.serve(at(30), WORK), at(200));
        assert_eq!(rounds.serve(at(210), WORK), at(310), "nobody waited for the third");
    }

    /// Each asks again as soon as he was served: n of them do n in two rounds, but for the first ones.
    #[test]
    fn many_do_half_as_much_as_if_each_were_alone() {
        for (committers, done_in_a_round) in [(1, 1.0), (2, 1.0), (5, 2.5), (10, 5.0)] {
            let mut rounds = Rounds::default();
            let mut next = vec![at(0); committers];
            let end = at(WORK.0 * 10_000);
            let mut done = 0.0;
            while let Some(first) = next.iter_mut().min().filter(|time| **time < end) {
                *first = rounds.serve(*first, WORK);
                done += 1.0;
            }
            let rate = done / 10_000.0;
            assert!((rate / done_in_a_round - 1.0_f64).abs() < 0.01, "{committers}: {rate}");
        }
    }
}
