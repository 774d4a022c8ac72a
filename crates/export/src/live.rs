//! A drive in real time: requests of any number of clients go to the one model at the moment they come,
//! and each answer goes out when the model says that it is due.
//!
//! One thread, the pacer, waits for the next moment at which something is due: it sleeps until shortly
//! before, and looks at the clock all the time from there on, since a sleep may end late. How late each
//! answer went out is counted. Where time is [free](Speed::Free) there is no pacer: whoever asks moves
//! the model's time on until he is answered.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use writecliff_device::{Bytes, DeviceError, DeviceTime};
use writecliff_measure::LatencyHistogram;
use writecliff_sim::{AtPowerCut, DieRefused};
use writecliff_suite::{Floor, ServedEnd};

use crate::answer::{Tag, send_all};
use crate::client::Client;
use crate::clock::{Clock, Speed};
use crate::drive::{Done, Drive, Request};
use crate::negotiate::Offer;
use crate::seconds::Seconds;
use crate::status::{Counts, PowerRefused, Quantiles, Status, doubts};

/// A sleep ends late by up to this much on a machine that is not busy: the clock is watched from so long
/// before.
const WATCHED: Duration = Duration::from_micros(150);
/// The model's time goes on at least so often, so that what a drive does for itself is never much at once.
const BREATH: Duration = Duration::from_millis(50);

/// A drive that is served.
pub(crate) struct Live {
    name: String,
    speed: Speed,
    floor: Option<Floor>,
    state: Mutex<State>,
    /// Something is due earlier than the pacer knows, or it is over.
    changed: Condvar,
    hurry: AtomicBool,
    /// What the pacer waits for, on the model's clock.
    awaited: AtomicU64,
    times: Arc<Mutex<Times>>,
    is_over: AtomicBool,
}

struct State {
    drive: Drive<Tag>,
    clock: Option<Clock>,
    has_power: bool,
    power_cuts: u64,
    clients: BTreeMap<u64, Arc<Client>>,
    clients_ever: u64,
    counts: Counts,
    /// Why the model cannot go on.
    broken: Option<DeviceError>,
    seconds: Option<Seconds>,
    times: Arc<Mutex<Times>>,
}

/// What was measured of answers.
#[derive(Default)]
struct Times {
    /// By the drive's clock.
    lateness: LatencyHistogram,
    service: LatencyHistogram,
    /// The lateness of this second alone.
    late_now: LatencyHistogram,
}

impl Live {
    /// A drive of this name, whose time begins now.
    pub(crate) fn new(
        name: String,
        drive: Drive<Tag>,
        speed: Speed,
        floor: Option<Floor>,
        seconds: Option<Seconds>,
    ) -> Self {
        let times = Arc::<Mutex<Times>>::default();
        let clock = match speed {
            Speed::Times(speed) => Some(Clock::begin(speed, drive.now())),
            Speed::Free => None,
        };
        let state = State {
            drive,
            clock,
            has_power: true,
            power_cuts: 0,
            clients: BTreeMap::new(),
            clients_ever: 0,
            counts: Counts::default(),
            broken: None,
            seconds,
            times: Arc::clone(&times),
        };
        Self {
            name,
            speed,
            floor,
            state: Mutex::new(state),
            changed: Condvar::new(),
            hurry: AtomicBool::new(false),
            awaited: AtomicU64::new(u64::MAX),
            times,
            is_over: AtomicBool::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What a client is told of it.
    pub(crate) fn offer(&self) -> Offer {
        let state = self.state();
        let info = state.drive.info();
        Offer {
            name: self.name.clone(),
            description: format!("simulated {} ({})", info.model, info.address),
            capacity: info.capacity.0,
            block_min: info.lba_size.0 as u32,
            block_preferred: (info.physical_block_size.0.max(4096) as u32).next_power_of_two(),
            rotational: info.rotational,
            trims: info.trim,
            has_power: state.has_power && state.broken.is_none(),
        }
    }

    /// Takes a client; gives the number it goes by. `None` if the drive has no power by now.
    pub(crate) fn join(&self, client: &Arc<Client>) -> Option<u64> {
        let mut state = self.state();
        if !state.has_power || state.broken.is_some() || self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        let number = state.clients_ever;
        state.clients_ever += 1;
        state.clients.insert(number, Arc::clone(client));
        Some(number)
    }

    pub(crate) fn leave(&self, client: u64) {
        self.state().clients.remove(&client);
    }

    /// Takes requests of one client that came together.
    pub(crate) fn ask(&self, requests: Vec<(Request, Tag)>) {
        let mut done = Vec::new();
        let mut state = self.state();
        if !state.has_power || self.is_over.load(Ordering::Relaxed) {
            // Its connection was closed, and nobody waits.
            return;
        }
        let asked = state.ask(requests, &mut done);
        let next = state.drive.next_event();
        if let Err(error) = asked {
            state.give_up(error);
        }
        let clock = state.clock;
        drop(state);
        if clock.is_some() && next.is_some_and(|next| next.0 < self.awaited.load(Ordering::Relaxed))
        {
            self.hurry.store(true, Ordering::Relaxed);
            self.changed.notify_one();
        }
        self.deliver(done, clock);
    }

    /// Waits for what is due, until it is [over](Self::end).
    fn pace(&self) {
        let mut done = Vec::new();
        let mut state = self.state();
        while !self.is_over.load(Ordering::Relaxed) {
            self.hurry.store(false, Ordering::Relaxed);
            if let Err(error) = state.go_on(&mut done) {
                state.give_up(error);
            }
            let clock = state.clock;
            if !done.is_empty() {
                drop(state);
                self.deliver(std::mem::take(&mut done), clock);
                state = self.state();
                continue;
            }
            if state.give_back() {
                // Others may come in between.
                drop(state);
                thread::yield_now();
                state = self.state();
                continue;
            }
            let next =
                state.drive.next_event().filter(|_| state.has_power && state.broken.is_none());
            self.awaited.store(next.map_or(u64::MAX, |next| next.0), Ordering::Relaxed);
            let due = clock.zip(next).map(|(clock, next)| clock.wall_at(next));
            let rest = due.map_or(BREATH, |due| due.saturating_duration_since(Instant::now()));
            if rest > WATCHED {
                let sleep = (rest - WATCHED).min(BREATH);
                let woken = self.changed.wait_timeout(state, sleep);
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                drop(state);
                self.watch_until(due);
                state = self.state();
            }
        }
    }

    /// Looks at the clock until `due`, or until something else is due earlier.
    fn watch_until(&self, due: Option<Instant>) {
        while due.is_some_and(|due| Instant::now() < due) && !self.hurry.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }

    /// Sends answers, and counts how late they were.
    fn deliver(&self, done: Vec<Done<Tag>>, clock: Option<Clock>) {
        if done.is_empty() {
            return;
        }
        let moments: Vec<_> = done.iter().map(|done| (done.submitted, done.due)).collect();
        send_all(done);
        let now = Instant::now();
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        for (submitted, due) in moments {
            times.service.record(due.since(submitted));
            if let Some(clock) = &clock {
                let late = clock.at(now).since(due);
                times.lateness.record(late);
                times.late_now.record(late);
            }
        }
    }

    /// Pulls the plug: everybody's connection ends, and what was volatile is lost.
    ///
    /// # Errors
    /// If there is no power to take, or the model does not tell what that does.
    pub(crate) fn cut_power(&self) -> Result<(), PowerRefused> {
        let mut done = Vec::new();
        let mut state = self.state();
        if state.drive.at_power_cut() == AtPowerCut::NotModelled {
            return Err(PowerRefused::NotModelled);
        }
        // What is due by now was answered in time.
        if let Err(error) = state.go_on(&mut done) {
            state.give_up(error);
        }
        if !state.has_power {
            return Err(PowerRefused::IsOff);
        }
        state.drive.cut_power();
        state.has_power = false;
        state.power_cuts += 1;
        let clock = state.clock;
        // In this order: what was answered before the cut may arrive.
        self.deliver(done, clock);
        state.lose_clients();
        Ok(())
    }

    /// Has a die of it stop working: what the model loses with it are errors from now on.
    ///
    /// # Errors
    /// If the model has no such die, or cannot lose it.
    pub(crate) fn lose_die(&self, die: u32) -> Result<(), DieRefused> {
        let mut done = Vec::new();
        let mut state = self.state();
        if let Err(error) = state.go_on(&mut done) {
            state.give_up(error);
        }
        let lost = state.drive.lose_die(die);
        let clock = state.clock;
        drop(state);
        self.deliver(done, clock);
        lost
    }

    /// Gives the power back: the drive's time goes on, and it answers when it has recovered.
    ///
    /// # Errors
    /// If there is power.
    pub(crate) fn give_power(&self) -> Result<(), PowerRefused> {
        let mut state = self.state();
        if state.has_power {
            return Err(PowerRefused::IsOn);
        }
        state.has_power = true;
        if let Speed::Times(speed) = self.speed {
            state.clock = Some(Clock::begin(speed, state.drive.now()));
        }
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// What there is to know of it now.
    pub(crate) fn status(&self) -> Status {
        let mut state = self.state();
        let telemetry = state.drive.telemetry();
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let (spare, takes_writes) = state.drive.spare();
        let info = state.drive.info();
        let mut status = Status {
            export: self.name.clone(),
            drive: info.address.clone(),
            model: info.model.clone(),
            simulated: true,
            capacity: info.capacity,
            has_power: state.has_power,
            power_cuts: state.power_cuts,
            lost_units: telemetry.lost_pages.unwrap_or(0),
            drive_time: state.drive.now().since(DeviceTime::default()),
            clients: state.clients.len(),
            clients_ever: state.clients_ever,
            counts: state.counts,
            in_flight: state.drive.requests(),
            stored: state.drive.store().used(),
            kept_for_power_cuts: Bytes(state.drive.kept_for_undo()),
            service: Quantiles::of(&times.service),
            lateness: state.clock.is_some().then(|| Quantiles::of(&times.lateness)),
            floor: self.floor,
            telemetry,
            spare,
            takes_writes,
            doubts: Vec::new(),
        };
        status.doubts = doubts(&status, state.drive.store_error(), state.broken.as_ref());
        if state.seconds.as_ref().is_some_and(Seconds::is_cut_off) {
            status
                .doubts
                .push("the record cannot be written any more; its end tells why".to_owned());
        }
        status
    }

    /// Begins the thread that waits for what is due; there is none where time is free.
    pub(crate) fn begin(self: &Arc<Self>) -> io::Result<Option<JoinHandle<()>>> {
        if self.speed == Speed::Free {
            return Ok(None);
        }
        let live = Arc::clone(self);
        thread::Builder::new().name("pacer".to_owned()).spawn(move || live.pace()).map(Some)
    }

    /// Ends it: clients that wait for an answer get it if it comes within `patience`.
    ///
    /// Gives what there is to say of it at the end of its record, if it has one.
    ///
    /// # Errors
    /// If the data cannot be brought to the disk.
    pub(crate) fn end(&self, patience: Duration) -> io::Result<Option<ServedEnd>> {
        let begun = Instant::now();
        loop {
            let is_idle = self.state().clients.values().all(|client| client.is_idle());
            if is_idle || begun.elapsed() >= patience {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.is_over.store(true, Ordering::Relaxed);
        self.hurry.store(true, Ordering::Relaxed);
        self.changed.notify_all();
        let mut state = self.state();
        state.lose_clients();
        state.drive.end_recording();
        let ended = state.end_seconds();
        state.drive.finish()?;
        Ok(ended)
    }
}

impl State {
    /// Takes requests, now; where time is free it goes on until they are done.
    fn ask(
        &mut self,
        requests: Vec<(Request, Tag)>,
        done: &mut Vec<Done<Tag>>,
    ) -> Result<(), DeviceError> {
        self.go_on(done)?;
        for (request, tag) in requests {
            if tag.client.is_closed() {
                continue;
            }
            self.counts.count(&request);
            let first = done.len();
            self.drive.submit(request, tag, done)?;
            self.count(&done[first..]);
        }
        // Where nobody waits for the clock, whoever asks does a step of it.
        if self.clock.is_none() && self.drive.has_trimmed() {
            self.drive.give_back_noting();
        }
        while self.clock.is_none()
            && self.drive.requests() > 0
            && let Some(next) = self.drive.next_event()
        {
            self.go_to(next, done)?;
        }
        Ok(())
    }

    /// Brings the model to the present moment, if it has one.
    fn go_on(&mut self, done: &mut Vec<Done<Tag>>) -> Result<(), DeviceError> {
        match self.clock.filter(|_| self.has_power && self.broken.is_none()) {
            Some(clock) => self.go_to(clock.now(), done),
            None => Ok(()),
        }
    }

    /// Moves the model's time on; each second of a record ends by it.
    fn go_to(&mut self, to: DeviceTime, done: &mut Vec<Done<Tag>>) -> Result<(), DeviceError> {
        while let Some(end) = self.seconds.as_ref().map(Seconds::ends).filter(|end| *end <= to) {
            self.go_within_a_second(end, done)?;
            self.end_second(end);
        }
        self.go_within_a_second(to, done)
    }

    /// A power cut that the profile plans is over at once.
    fn go_within_a_second(
        &mut self,
        to: DeviceTime,
        done: &mut Vec<Done<Tag>>,
    ) -> Result<(), DeviceError> {
        loop {
            let first = done.len();
            let was_cut = self.drive.advance(to, done);
            self.count(&done[first..]);
            if !was_cut? {
                return Ok(());
            }
            self.power_cuts += 1;
            self.lose_clients();
        }
    }

    /// A step of giving back what was trimmed, if nothing is due before that; whether there may be more.
    fn give_back(&mut self) -> bool {
        let is_due = |clock: Clock| self.drive.next_event().is_some_and(|next| next <= clock.now());
        if !self.drive.has_trimmed() || self.clock.is_some_and(is_due) {
            return false;
        }
        self.drive.give_back_noting();
        true
    }

    fn count(&mut self, done: &[Done<Tag>]) {
        if let Some(seconds) = &mut self.seconds {
            done.iter().for_each(|done| seconds.count(done));
        }
    }

    fn end_second(&mut self, now: DeviceTime) {
        let (telemetry, under_way) = (self.drive.telemetry(), self.drive.requests());
        if let Some(seconds) = &mut self.seconds {
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            let late = std::mem::take(&mut times.late_now);
            drop(times);
            seconds.end(now, telemetry, under_way, &late);
        }
    }

    /// The record's last second, and what else is to be said at its end.
    fn end_seconds(&mut self) -> Option<ServedEnd> {
        let now = self.drive.now();
        self.end_second(now);
        let (begun, failed) = self.seconds.take()?.told();
        Some(ServedEnd {
            length: now.since(begun),
            telemetry: self.drive.telemetry(),
            power_cuts: self.power_cuts,
            failed,
            broken: self.broken.as_ref().map(ToString::to_string),
        })
    }

    /// The power went, or the export ends.
    fn lose_clients(&mut self) {
        for client in std::mem::take(&mut self.clients).into_values() {
            client.close();
        }
    }

    /// The model cannot go on, and answers nobody.
    fn give_up(&mut self, error: DeviceError) {
        self.broken.get_or_insert(error);
        self.lose_clients();
    }
}
