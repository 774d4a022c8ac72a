//! Power and heat: energy by what the drive did, temperature by what that makes, and the throttle.

use writecliff_device::{Bytes, DeviceTime, Energy, Nanos, Power, Temperature};
use writecliff_profile::{PowerModel, SleepState};

use super::array::Counts;

/// The temperature moves on in steps of this length.
const STEP: Nanos = Nanos::from_millis(100);
/// After so many steps at constant power it is settled for good.
const STEPS_MAX: u64 = 100_000;

/// More degrees above the limit make no difference: a thousandth of the rate there is next to none.
const THROTTLED_DEGREES_MAX: u64 = 10;

/// The drive's meter.
#[derive(Debug, Clone)]
pub(super) struct PowerMeter {
    model: PowerModel,
    sleep: Vec<SleepState>,
    /// One program's and one erase's pages and blocks: a die works on all its planes.
    planes: u64,
    energy: Energy,
    /// Thousandths of a degree.
    temperature: Temperature,
    settled: DeviceTime,
    settled_energy: Energy,
    counts: Counts,
    is_throttled: bool,
    /// What throttling has added to commands.
    throttled: Nanos,
}

impl PowerMeter {
    pub(super) fn new(model: &PowerModel, sleep: &[SleepState], planes: u32) -> Self {
        Self {
            temperature: model.ambient,
            model: model.clone(),
            sleep: sleep.to_vec(),
            planes: u64::from(planes),
            energy: Energy::default(),
            settled: DeviceTime::default(),
            settled_energy: Energy::default(),
            counts: Counts::default(),
            is_throttled: false,
            throttled: Nanos::ZERO,
        }
    }

    /// Whether the profile says anything of power.
    pub(super) fn is_modelled(&self) -> bool {
        self.model.idle > Power(0)
    }

    /// Commands were in flight, or the drive worked for itself, for so long.
    pub(super) fn worked(&mut self, span: Nanos) {
        self.draw(Power(self.model.idle.0 + self.model.active.0), span);
    }

    /// Nothing was to do from `from` to `until` after the drive became idle: the link falls asleep
    /// in its turn.
    pub(super) fn rested(&mut self, from: Nanos, until: Nanos) {
        let starts = self.sleep.iter().map(|state| (state.after, state.power));
        let mut states = vec![(Nanos::ZERO, self.model.idle)];
        states.extend(starts);
        for (place, (start, power)) in states.iter().enumerate() {
            let end = states.get(place + 1).map_or(Nanos(u64::MAX), |(next, _)| *next);
            let (begin, end) = (from.max(*start), until.min(end));
            if begin < end {
                self.draw(*power, Nanos(end.0 - begin.0));
            }
        }
    }

    /// Data crossed the link.
    pub(super) fn transferred(&mut self, length: Bytes) {
        self.energy.0 += self.model.transfer.0 * length.0 / 4096;
    }

    fn draw(&mut self, power: Power, span: Nanos) {
        self.energy.0 += power.over(span).0;
    }

    /// Energy drawn since the drive was made, with NAND's `counts` up to now.
    pub(super) fn energy(&mut self, counts: Counts) -> Energy {
        let (model, before, planes) = (&self.model, self.counts, self.planes);
        self.energy.0 += model.read.0 * (counts.reads - before.reads)
            + model.program.0 * planes * (counts.programs - before.programs)
            + model.slc_program.0 * planes * (counts.slc_programs - before.slc_programs)
            + model.erase.0 * planes * (counts.erases - before.erases);
        self.counts = counts;
        self.energy
    }

    pub(super) fn temperature(&self) -> Option<Temperature> {
        (self.model.ambient.0 > 0).then_some(self.temperature)
    }

    /// What throttling has added to commands since the drive was made; `None` if it never throttles.
    pub(super) fn throttled(&self) -> Option<Nanos> {
        (self.model.throttle_at.0 > 0).then_some(self.throttled)
    }

    /// When the temperature has to be looked at again.
    pub(super) fn next_step(&self) -> DeviceTime {
        if self.model.ambient.0 == 0 { DeviceTime::MAX } else { self.settled + STEP }
    }

    /// Moves the temperature on to `now`: it goes to ambient + rise × power with the profile's
    /// time constant. Then decides whether the drive must slow down.
    pub(super) fn settle(&mut self, now: DeviceTime, counts: Counts) {
        let energy = self.energy(counts);
        let span = now.since(self.settled);
        let power = Energy(energy.0 - self.settled_energy.0).mean_over(span);
        let target = self.model.ambient.0 + self.model.rise_per_watt.0 * power.0 / 1_000_000;
        let steps = (span.0 / STEP.0).min(STEPS_MAX);
        let divisor = (self.model.time_constant.0 / STEP.0).max(1) as i64;
        // In millionths of a degree, so that small steps are not lost to rounding.
        let (mut fine, target) = (self.temperature.0 as i64 * 1000, target as i64 * 1000);
        for _ in 0..steps {
            let step = (target - fine) / divisor;
            if step == 0 {
                break;
            }
            fine += step;
        }
        self.temperature = Temperature((fine / 1000) as u64);
        // What is left of a step counts with the next.
        let left = Nanos(span.0 % STEP.0);
        self.settled = DeviceTime(now.0 - left.0);
        self.settled_energy = Energy(energy.0 - power.over(left).0);
        self.throttle();
    }

    /// The limit has one degree of play.
    fn throttle(&mut self) {
        let limit = self.model.throttle_at;
        let release = if self.is_throttled { 1000 } else { 0 };
        self.is_throttled = limit.0 > 0 && self.temperature.0 + release >= limit.0;
    }

    /// What throttling adds to a command that moves `length`: at the limit as much as the profile's
    /// rate takes, with every degree above it twice as much, and in proportion between two degrees. At
    /// one rate a drive that copies much for each byte of the host's would get ever hotter.
    pub(super) fn throttle_time(&mut self, length: Bytes) -> Nanos {
        let Some(rate) = self.model.throttled_throughput.filter(|_| self.is_throttled) else {
            return Nanos::ZERO;
        };
        let above = self.temperature.0.saturating_sub(self.model.throttle_at.0);
        let (degrees, thousandths) = ((above / 1000).min(THROTTLED_DEGREES_MAX), above % 1000);
        let added = Nanos(rate.time_for(length).0 * ((1000 + thousandths) << degrees) / 1000);
        self.throttled += added;
        added
    }

    /// What the link takes to come back after so long an idle time.
    pub(super) fn exit_time(&self, idle: Nanos) -> Nanos {
        let deepest = self.sleep.iter().rev().find(|state| idle >= state.after);
        deepest.map_or(Nanos::ZERO, |state| state.exit_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> PowerModel {
        PowerModel {
            idle: Power(1_000_000),
            active: Power(2_000_000),
            ambient: Temperature(25_000),
            rise_per_watt: Temperature(10_000),
            time_constant: Nanos::from_secs(10),
            throttle_at: Temperature(50_000),
            throttled_throughput: Some(writecliff_device::Throughput(1_000_000)),
            ..PowerModel::default()
        }
    }

    #[test]
    fn an_idle_link_falls_from_state_to_state() {
        let state = |name: &str, after, power| SleepState {
            name: name.to_owned(),
            after: Nanos::from_secs(after),
            exit_time: Nanos::from_micros(after * 100),
            power: Power(power),
        };
        let sleep = [state("slumber", 2, 100_000), state("DevSleep", 5, 5_000)];
        let mut meter = PowerMeter::new(&model(), &sleep, 1);
        meter.rested(Nanos::from_secs(1), Nanos::from_secs(10));
        // One second idle, three in slumber, five in DevSleep.
        assert_eq!(meter.energy(Counts::default()), Energy(1_325_000_000));
        assert_eq!(meter.exit_time(Nanos::from_secs(1)), Nanos::ZERO);
        assert_eq!(meter.exit_time(Nanos::from_secs(3)), Nanos::from_micros(200));
        assert_eq!(meter.exit_time(Nanos::from_secs(9)), Nanos::from_micros(500));
    }

    #[test]
    fn temperature_settles_at_power_times_rise_and_the_throttle_follows_it() {
        let mut meter = PowerMeter::new(&model(), &[], 1);
        let run = |meter: &mut PowerMeter, from: u64, to: u64, busy: bool| {
            for tenth in from * 10..to * 10 {
                match busy {
                    true => meter.worked(STEP),
                    false => meter.rested(Nanos::ZERO, STEP),
                }
                meter.settle(DeviceTime((tenth + 1) * STEP.0), Counts::default());
            }
        };
        run(&mut meter, 0, 10, true);
        // 63 % of the way from 25 to 55 degrees after one time constant.
        assert!((43_700..44_300).contains(&meter.temperature.0), "{}", meter.temperature);
        assert_eq!(meter.throttle_time(Bytes(1000)), Nanos::ZERO);
        assert_eq!(meter.throttled(), Some(Nanos::ZERO));
        run(&mut meter, 10, 100, true);
        assert!((54_900..=55_000).contains(&meter.temperature.0), "{}", meter.temperature);
        for (temperature, micros) in
            [(49_500, 1000), (50_000, 1000), (50_500, 1500), (52_250, 5000)]
        {
            meter.temperature = Temperature(temperature);
            assert_eq!(meter.throttle_time(Bytes(1000)), Nanos::from_micros(micros));
        }
        assert_eq!(meter.throttled(), Some(Nanos::from_micros(8500)));
        meter.temperature = Temperature(55_000);
        run(&mut meter, 100, 200, false);
        assert!((35_000..35_100).contains(&meter.temperature.0), "{}", meter.temperature);
        assert_eq!(meter.throttle_time(Bytes(1000)), Nanos::ZERO);
    }

    /// A load that would bring the drive to 125 degrees, the limit being 50.
    #[test]
    fn the_throttle_holds_any_load_near_the_limit() {
        let page = Bytes::from_kib(4);
        // 1.5 W and, unthrottled, a hundred pages of 85 mJ a second.
        let active = Power(500_000);
        let model = PowerModel { active, transfer: Energy(85_000_000), ..model() };
        let mut meter = PowerMeter::new(&model, &[], 1);
        let (mut hottest, mut now) = (0, Nanos::ZERO);
        for tenth in 1..=3000 {
            while now < STEP * tenth {
                meter.transferred(page);
                now += Nanos::from_micros(10_000).max(meter.throttle_time(page));
            }
            meter.worked(STEP);
            meter.settle(DeviceTime(STEP.0 * tenth), Counts::default());
            hottest = hottest.max(meter.temperature.0);
        }
        assert!((50_000..56_500).contains(&hottest), "{hottest}");
    }
}
