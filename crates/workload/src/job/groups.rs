//! How unevenly a distribution treats the places of a span.

use writecliff_device::Bytes;

use super::{Distribution, Zone};

/// Of distributions that go from hot to cold by degrees, so many groups stand for them.
const GROUPS: u32 = 64;

impl Distribution {
    /// Places that are hit alike, or nearly so, in groups: each with its share of the places of `span`,
    /// which begin every `align` bytes, and its share of the I/Os.
    pub fn groups(&self, span: Bytes, align: Bytes) -> Vec<(f64, f64)> {
        let count = (span.0 / align.0.max(1)).max(1) as f64;
        let edge = |number: u32| f64::from(number) / f64::from(GROUPS);
        let geometric = |lowest: f64| (0..=GROUPS).map(move |n| lowest.powf(1.0 - edge(n)));
        match self {
            Self::Uniform => vec![(1.0, 1.0)],
            Self::Zipf(theta) => {
                between(geometric(1.0 / count), |share| up_to_rank(share * count, *theta))
            }
            Self::Pareto(h) => {
                let power = (1.0 - h).ln() / h.ln();
                between(geometric(1.0 / count), |share| share.powf(power))
            }
            Self::Normal(percent) => {
                let deviation = percent / 100.0;
                let height = |number: u32| {
                    let away = f64::from(number) + 0.5 - f64::from(GROUPS) / 2.0;
                    let away = away / f64::from(GROUPS) / deviation;
                    (-away * away / 2.0).exp()
                };
                shares(&(0..GROUPS).map(|number| (1.0, height(number))).collect::<Vec<_>>())
            }
            Self::Zoned(zones) | Self::Shuffled(zones) => {
                let zone = |zone: &Zone| (zone.span.of(span).0 as f64, f64::from(zone.ios));
                shares(&zones.iter().map(zone).collect::<Vec<_>>())
            }
        }
    }
}

/// The sum of `rank^-theta` over the ranks from 1 on: one by one, and behind the steep part as the area
/// below the curve.
fn up_to_rank(rank: f64, theta: f64) -> f64 {
    const STEEP: u32 = 100;
    let one = |number: u32| {
        let part = (rank - f64::from(number) + 1.0).clamp(0.0, 1.0);
        part * f64::from(number).powf(-theta)
    };
    let steep: f64 = (1..=STEEP).map(one).sum();
    let (from, to) = (f64::from(STEEP) + 0.5, (rank + 0.5).max(f64::from(STEEP) + 0.5));
    let power = 1.0 - theta;
    let area = match power.abs() < 1e-9 {
        true => (to / from).ln(),
        false => (to.powf(power) - from.powf(power)) / power,
    };
    steep + area
}

/// Groups between these shares of the places, the hottest first, by what comes to the places below one.
fn between(edges: impl Iterator<Item = f64>, below: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let edges: Vec<f64> = std::iter::once(0.0).chain(edges).collect();
    let group = |ends: &[f64]| (ends[1] - ends[0], below(ends[1]) - below(ends[0]));
    shares(&edges.windows(2).map(group).collect::<Vec<_>>())
}

/// Parts of the sum of all.
fn shares(groups: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let sum = |of: fn(&(f64, f64)) -> f64| groups.iter().map(of).sum::<f64>();
    let (places, ios) = (sum(|group| group.0), sum(|group| group.1));
    groups.iter().map(|group| (group.0 / places, group.1 / ios)).collect()
}

#[cfg(test)]
mod tests {
    use writecliff_device::Operation;

    use super::*;
    use crate::{Amount, Blocks, Job, Mix, Order, Sizes};

    const PLACES: u64 = 4096;

    /// How often each place is hit, the most hit first, as shares.
    fn hits(distribution: &Distribution) -> Vec<f64> {
        let block = Bytes::from_kib(4);
        let job = Job {
            name: "drawn".to_owned(),
            mix: Mix::only(Operation::Write),
            order: Order::Random,
            block: Blocks::Same(Sizes::One(block)),
            distribution: distribution.clone(),
            once_each: false,
            number_ios: Some(1_000_000),
            time_based: true,
            runtime: Some(writecliff_device::Nanos(u64::MAX)),
            ..Job::default()
        };
        let mut hits = vec![0.0; PLACES as usize];
        let ios = job.ios(block, Bytes(block.0 * PLACES));
        ios.for_each(|io| hits[(io.offset.0 / block.0) as usize] += 1e-6);
        hits.sort_by(|one: &f64, other| other.total_cmp(one));
        hits
    }

    #[test]
    fn the_groups_are_those_of_the_ios_that_are_drawn() {
        let zone = |ios, percent| Zone { ios, span: Amount::Percent(percent) };
        let zones = vec![zone(80, 20), zone(15, 30), zone(5, 50)];
        for distribution in [
            Distribution::Uniform,
            Distribution::Zipf(0.8),
            Distribution::Zipf(1.0),
            Distribution::Zipf(1.2),
            Distribution::Pareto(0.2),
            Distribution::Normal(15.0),
            Distribution::Zoned(zones.clone()),
            Distribution::Zoned(vec![
                Zone { ios: 80, span: Amount::Bytes(Bytes(4096 * PLACES / 4)) },
                zone(20, 75),
            ]),
            Distribution::Shuffled(zones),
        ] {
            let mut groups = distribution.groups(Bytes(4096 * PLACES), Bytes(4096));
            groups.sort_by(|one, other| (other.1 / other.0).total_cmp(&(one.1 / one.0)));
            let hits = hits(&distribution);
            let (mut places, mut ios) = (0.0, 0.0);
            for group in &groups {
                (places, ios) = (places + group.0, ios + group.1);
                let hit = |(place, hits): (usize, &f64)| {
                    (places * PLACES as f64 - place as f64).clamp(0.0, 1.0) * hits
                };
                let hit: f64 = hits.iter().enumerate().map(hit).sum();
                // What is hit most by chance goes first as well.
                assert!((hit - ios).abs() < 0.04, "{distribution:?} at {places}: {hit}, {ios}");
            }
            assert!((places - 1.0).abs() < 1e-9 && (ios - 1.0).abs() < 1e-9, "{distribution:?}");
        }
    }
}
