//! How fast space is won back: how many pages are copied for each page of the host, and on how many
//! dies at once.

use writecliff_device::DeviceTime;
use writecliff_profile::{Gc, Pacing};

/// Whether copies are paid for with `free` superblocks free: from low water on, up to high water; with
/// proportional pacing from where the profile says. `was` says whether they were before.
pub(crate) fn is_short_of_space(gc: &Gc, was: bool, free: u32) -> bool {
    let begins_at = match (gc.pacing, gc.free_start) {
        (Pacing::Proportional | Pacing::Smooth, None) => gc.free_high.saturating_sub(1),
        (Pacing::Proportional | Pacing::Smooth, Some(start)) => start,
        (Pacing::Eager | Pacing::Lazy, _) => gc.free_low,
    };
    free <= begins_at || (was && free < gc.free_high)
}

/// The pacing policy, and what the host owes by it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pacer {
    /// Pages to copy for each page that the victim under way wins, in [`ONE`]ths.
    price: u64,
    /// The victim under way holds so much that the host is held to the share that the profile leaves it.
    is_urgent: bool,
    /// Pages of victims that were taken for their wear and are not in the price yet.
    for_wear: Cost,
    /// What the host has paid for and that was not copied yet, in [`ONE`]ths of a page.
    owed: u64,
}

/// What emptying a superblock takes, and what it wins, in pages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    valid: u64,
    won: u64,
}

/// A whole page of what [`Pacer`] counts in parts of, and a whole superblock of [`Free`].
pub(crate) const ONE: u64 = 1 << 10;
/// Smooth pacing: the price is the mean of about so many victims.
const VICTIMS: u64 = 16;

/// Free space: whole superblocks, and what is left of those that are open, in [`ONE`]ths of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Free {
    pub(crate) superblocks: u32,
    pub(crate) parts: u64,
}

impl Cost {
    /// Of a superblock of `pages`, of which `valid` are to be copied.
    pub(crate) fn of(valid: u32, pages: u32) -> Self {
        Self { valid: valid.into(), won: pages.saturating_sub(valid).into() }
    }

    fn and(self, other: Self) -> Self {
        Self { valid: self.valid + other.valid, won: self.won + other.won }
    }
}

impl Pacer {
    /// A superblock is to be emptied. What costs nothing is paid for a little all the same, or it would never be
    /// begun; one that is taken for its wear may win nothing, and is paid for with the next that is taken for space.
    pub(crate) fn begins(&mut self, gc: &Gc, victim: Cost, is_for_wear: bool) {
        let Cost { valid, won } = self.for_wear.and(victim);
        if is_for_wear {
            self.for_wear = Cost { valid, won };
            return;
        }
        self.for_wear = Cost::default();
        let price = (valid * ONE / won.max(1)).max(ONE / 16);
        self.is_urgent =
            gc.urgent_percent.is_some_and(|most| valid * 100 >= (valid + won) * u64::from(most));
        self.price = match (gc.pacing, self.price) {
            (Pacing::Smooth, before @ 1..) => (before * (VICTIMS - 1) + price) / VICTIMS,
            _ => price,
        };
    }

    /// Pages to copy for `pages` pages of the host with so much space free; none before there are `batch` of
    /// them.
    ///
    /// Eager: a quantum above what the steady state needs makes the drive alternate between full
    /// speed and collection; one below it lets free superblocks settle where copying just keeps
    /// up, since the number grows with the square of what is missing below low water.
    ///
    /// Proportional: at low water as many as win back just what the host takes, which is the
    /// steady state whatever the load; nothing at high water, twice as many as far below low
    /// water as that is above it, and never more than the profile's most. Smooth: the same, and parts of
    /// superblocks count.
    pub(crate) fn copies_for(&mut self, gc: &Gc, pages: u32, space: Free, batch: u32) -> u32 {
        let free = space.superblocks;
        let (pages, low) = (u64::from(pages), u64::from(gc.free_low));
        let due = match gc.pacing {
            Pacing::Lazy => pages * u64::from(gc.quantum) * ONE,
            Pacing::Eager => {
                let free = u64::from(free.max(1)).min(low);
                pages * u64::from(gc.quantum) * low * low / (free * free) * ONE
            }
            Pacing::Proportional | Pacing::Smooth => {
                let parts = if gc.pacing == Pacing::Smooth { space.parts } else { 0 };
                let [free, high] = [free, gc.free_high].map(|whole| u64::from(whole) * ONE);
                let missing = high.saturating_sub(free + parts);
                let range = u64::from(gc.free_high - gc.free_low) * ONE;
                let price = self.price.max(ONE / 16);
                let due = pages * price * missing / range;
                gc.copies_max.map_or(due, |most| due.min(pages * u64::from(most) * ONE))
            }
        };
        self.owed += due;
        let copies = self.owed / ONE;
        if copies < u64::from(batch) {
            return 0;
        }
        self.owed %= ONE;
        u32::try_from(copies).unwrap_or(u32::MAX)
    }

    /// The time of so many copies a program of the host takes at least: of as many as the profile lets, while
    /// the victim is urgent.
    pub(crate) fn held_for(&self, gc: &Gc, pages: u32) -> u32 {
        if self.is_urgent { gc.copies_max.map_or(0, |most| pages * most) } else { 0 }
    }
}

/// The copies under way: at most as many as dies may copy at once. In idle time a drive without
/// such a limit copies on all dies, and no faster.
#[derive(Debug, Clone)]
pub(crate) struct CopyWindow {
    ends: Vec<DeviceTime>,
    oldest: usize,
    is_limited: bool,
}

impl CopyWindow {
    /// A limit of zero is none.
    pub(crate) fn new(limit: u32, dies: u32) -> Self {
        let width = if limit == 0 { dies } else { limit };
        let ends = vec![DeviceTime::default(); width as usize];
        Self { ends, oldest: 0, is_limited: limit > 0 }
    }

    /// When the next copy may start in idle time.
    pub(crate) fn opens_at(&self) -> DeviceTime {
        self.ends[self.oldest]
    }

    /// When a copy that is due at `now` may start.
    pub(crate) fn admit(&self, now: DeviceTime) -> DeviceTime {
        if self.is_limited { now.max(self.opens_at()) } else { now }
    }

    pub(crate) fn push(&mut self, end: DeviceTime) {
        self.ends[self.oldest] = end;
        self.oldest = (self.oldest + 1) % self.ends.len();
    }

    pub(crate) fn clear(&mut self) {
        self.ends.fill(DeviceTime::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(superblocks: u32) -> Free {
        Free { superblocks, parts: 0 }
    }

    #[test]
    fn eager_pacing_grows_as_space_gets_scarce_and_lazy_does_not() {
        let mut gc = crate::load("tiny").unwrap().into_ssd().unwrap().gc;
        (gc.quantum, gc.free_low, gc.pacing) = (4, 8, Pacing::Eager);
        let mut pacer = Pacer::default();
        let copies: Vec<_> =
            [9, 8, 5, 4, 1].map(|free| pacer.copies_for(&gc, 10, whole(free), gc.batch)).into();
        assert_eq!(copies, [40, 40, 102, 160, 2560]);
        gc.pacing = Pacing::Lazy;
        assert_eq!(pacer.copies_for(&gc, 10, whole(1), gc.batch), 40);
    }

    #[test]
    fn proportional_pacing_asks_for_what_the_victim_makes_necessary() {
        let mut gc = crate::load("tiny").unwrap().into_ssd().unwrap().gc;
        (gc.pacing, gc.free_low, gc.free_high) = (Pacing::Proportional, 8, 16);
        let mut pacer = Pacer::default();
        pacer.begins(&gc, Cost::of(75, 100), false); // three copies for each page won
        let copies: Vec<_> =
            [16, 14, 12, 8, 4].map(|free| pacer.copies_for(&gc, 100, whole(free), gc.batch)).into();
        assert_eq!(copies, [0, 75, 150, 300, 450]);
        // Parts of a page are owed: 3/8 of one for each page of the host.
        let single: u32 = (0..800).map(|_| pacer.copies_for(&gc, 1, whole(15), gc.batch)).sum();
        assert_eq!(single, 300);
        pacer.begins(&gc, Cost::of(0, 100), false);
        assert_eq!(
            pacer.copies_for(&gc, 160, whole(8), gc.batch),
            10,
            "what costs nothing is begun all the same"
        );
    }

    #[test]
    fn proportional_pacing_begins_where_it_is_told_and_takes_no_more_than_its_most() {
        let mut gc = crate::load("tiny").unwrap().into_ssd().unwrap().gc;
        (gc.pacing, gc.free_low, gc.free_high) = (Pacing::Proportional, 8, 16);
        let at = |gc: &Gc, was| [15, 6, 4].map(|free| is_short_of_space(gc, was, free));
        assert_eq!(at(&gc, false), [true, true, true], "below high water");
        gc.free_start = Some(4);
        assert_eq!(at(&gc, false), [false, false, true]);
        assert_eq!(at(&gc, true), [true, true, true], "and goes on up to high water");
        gc.copies_max = Some(3);
        let mut pacer = Pacer::default();
        pacer.begins(&gc, Cost::of(75, 100), false); // three copies for each page won
        let copies: Vec<_> =
            [14, 8, 4].map(|free| pacer.copies_for(&gc, 100, whole(free), gc.batch)).into();
        assert_eq!(copies, [75, 300, 300]);

        gc.urgent_percent = Some(75);
        let mut held_beside = |valid| {
            pacer.begins(&gc, Cost::of(valid, 100), false);
            pacer.held_for(&gc, 100)
        };
        assert_eq!([held_beside(74), held_beside(75)], [0, 300]);
    }

    #[test]
    fn copies_wait_until_there_is_a_batch_of_them() {
        let mut gc = crate::load("tiny").unwrap().into_ssd().unwrap().gc;
        (gc.quantum, gc.pacing, gc.batch) = (3, Pacing::Lazy, 100);
        let mut pacer = Pacer::default();
        let copies: Vec<_> =
            (0..8).map(|_| pacer.copies_for(&gc, 10, whole(1), gc.batch)).collect();
        assert_eq!(copies, [0, 0, 0, 120, 0, 0, 0, 120]);
    }

    #[test]
    fn smooth_pacing_counts_parts_and_takes_the_mean_price() {
        let mut gc = crate::load("tiny").unwrap().into_ssd().unwrap().gc;
        (gc.pacing, gc.free_low, gc.free_high) = (Pacing::Smooth, 8, 16);
        let mut pacer = Pacer::default();
        pacer.begins(&gc, Cost::of(75, 100), false); // three copies for each page won
        let half = Free { superblocks: 12, parts: ONE / 2 };
        assert_eq!(
            pacer.copies_for(&gc, 1600, half, gc.batch),
            2100,
            "3.5 of 8 superblocks are missing"
        );
        pacer.begins(&gc, Cost::of(95, 100), false); // nineteen: one in sixteen of what counts
        assert_eq!(pacer.copies_for(&gc, 1600, whole(8), gc.batch), 1600 * 4);
    }

    #[test]
    fn collection_goes_on_from_low_water_to_high_water() {
        let mut gc = crate::load("tiny").unwrap().into_ssd().unwrap().gc;
        (gc.free_low, gc.free_high) = (4, 7);
        let starts: Vec<_> = (3..9).map(|free| is_short_of_space(&gc, false, free)).collect();
        assert_eq!(starts, [true, true, false, false, false, false]);
        let goes_on: Vec<_> = (3..9).map(|free| is_short_of_space(&gc, true, free)).collect();
        assert_eq!(goes_on, [true, true, true, true, false, false]);
    }

    #[test]
    fn a_copy_window_opens_when_the_oldest_copy_has_ended() {
        let mut window = CopyWindow::new(2, 8);
        window.push(DeviceTime(100));
        assert_eq!(window.opens_at(), DeviceTime(0));
        window.push(DeviceTime(70));
        assert_eq!(window.opens_at(), DeviceTime(100));
        assert_eq!(window.admit(DeviceTime(20)), DeviceTime(100));
        assert_eq!(CopyWindow::new(0, 8).admit(DeviceTime(20)), DeviceTime(20));
    }
}
