//! Keeps watch over a drive from its judgment to the end of its use.
//!
//! The judgment takes time, and so does what comes after it: consent, memory, the ring. Right before
//! the first write everybody is asked for once more ([`Sentry::ask_again`]). Besides, the kernel tells
//! whenever somebody opens the drive, and a thread looks who has it open for writing: the device
//! gives up then. Linux has no way to keep others from opening a device, so that between the last
//! question and the first write some microseconds remain; who comes in them is found a moment later.
//! Who opens it in a way of which nobody is told shows by what he writes: the [`Ledger`] has that each
//! second. Those who claim a drive exclusively (mounts, arrays, other runs) are kept out by the claims
//! held here.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify;

use crate::guard::holders::Sought;
use crate::guard::in_use;
use crate::guard::ledger::{Asked, Ledger};
use crate::guard::refusal::{self, Refusal};
use crate::host::descriptor::path_of_descriptor;
use crate::host::io_counts::IoCounts;
use crate::host::lease;
use crate::host::sysfs::{Host, readable_text};

/// Somebody who opened the drive only to look at it is given so long to go away again.
const PATIENCE: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(20);
/// The kernel tells of an opening before the process has the descriptor, and on a busy machine it may
/// take its time between the two: after each opening it is looked for so often, after [`STEP`] for
/// the first time and each time after twice as long, five seconds together.
const LOOKS: u32 = 8;
/// So long after an opening who opened it has his descriptor, but for a machine that stands still.
const QUIET: Duration = Duration::from_millis(100);

/// Who holds the drive in a way of which the kernel tells nothing is looked for so often, and at most
/// for this share of the time: it takes a look at every process.
const PERIOD: Duration = Duration::from_secs(60);
const SHARE: u32 = 1000;

/// The watch over one drive. Ends with it.
#[derive(Debug)]
pub(crate) struct Sentry {
    host: Host,
    sought: Sought,
    /// What is written to it, and by whom; none for a file, and for what stands on a drive that has one.
    ledger: Option<Ledger>,
    /// Whether somebody else's writes were looked for.
    is_begun: AtomicBool,
    hidden: Mutex<Hidden>,
    /// Claims on the other paths to the drive.
    _claims: Vec<File>,
    seen: Arc<Seen>,
    /// `None` where the system has no more watches or threads to give.
    watch: Option<Watch>,
}

/// Somebody who has a file open by the kernel's own count, and whom no process shows.
#[derive(Debug, Default)]
struct Hidden {
    /// From when on he is looked for; `None` while nobody has it open.
    due: Option<Instant>,
    /// In how many looks in turn nobody was seen, before and after which the file was open.
    looks: u32,
}

/// A thread that is told of every opening.
#[derive(Debug)]
struct Watch {
    openings: Arc<OwnedFd>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// What it has seen.
#[derive(Debug, Default)]
struct Seen {
    /// How often it was told of openings.
    times: AtomicU64,
    /// When it was told of the last.
    last: Mutex<Option<Instant>>,
    /// Whether somebody has opened it for writing, and who.
    is_intruded: AtomicBool,
    intruders: Mutex<Vec<Refusal>>,
}

impl Sentry {
    /// Watches who opens these nodes, looks for the users of `sought`, compares the `ledger`, and holds
    /// `claims`.
    pub(crate) fn post(
        host: &Host,
        nodes: &[PathBuf],
        sought: Sought,
        ledger: Option<Ledger>,
        claims: Vec<File>,
    ) -> Self {
        let seen = Arc::<Seen>::default();
        let watch = Watch::begin(host, nodes, &sought, Arc::clone(&seen)).ok();
        Self {
            host: host.clone(),
            sought,
            ledger,
            is_begun: AtomicBool::new(false),
            hidden: Mutex::default(),
            _claims: claims,
            seen,
            watch,
        }
    }

    /// For one more way into the drive: what it asks for.
    pub(crate) fn account(&self) -> Arc<Asked> {
        self.ledger.as_ref().map_or_else(Arc::default, Ledger::account)
    }

    /// Whether anybody uses the drive by now; gives all who do. To be called right before the first
    /// write: who opens it for writing after that is one of the [`intruders`](Self::intruders).
    pub(crate) fn ask_again(&self) -> Vec<Refusal> {
        // First: whoever comes while this waits is asked for after it.
        if let Some(ledger) = self.ledger.as_ref().filter(|_| !self.is_begun.load(Ordering::SeqCst))
        {
            ledger.wait_for_quiet();
        }
        let mut waited = Duration::ZERO;
        loop {
            let before = self.openings();
            let found = match in_use::used_by(&self.host, &self.sought) {
                Ok((found, _)) => found,
                Err(doubt) => return vec![doubt.into()],
            };
            // Who opened it meanwhile, or just before, may not have been there yet when his processes
            // were looked at.
            let is_settled = before.is_some() && self.openings() == before && self.is_quiet();
            let patience = PATIENCE.max(refusal::patience(&found));
            if waited >= patience || (found.is_empty() && is_settled) {
                return match found.is_empty() {
                    true => self.written_before(),
                    false => found,
                };
            }
            thread::sleep(STEP);
            waited += STEP;
        }
    }

    /// Who has written to it just before the first write.
    fn written_before(&self) -> Vec<Refusal> {
        match &self.ledger {
            Some(ledger) if !self.is_begun.swap(true, Ordering::SeqCst) => {
                ledger.look_before_the_first_write()
            }
            _ => Vec::new(),
        }
    }

    /// Compares what the kernel has counted of the drive's writes, a moment ago, with what was asked for.
    pub(crate) fn compare(&self, counts: IoCounts) {
        if let Some(ledger) = self.ledger.as_ref().filter(|_| self.is_begun.load(Ordering::SeqCst))
        {
            self.found(ledger.beyond(counts));
        }
    }

    /// Looks whether anybody else has a file open, in a way that no process shows.
    pub(crate) fn look_at(&self, file: &File) {
        let is_shared = || lease::is_shared(file) == Some(true);
        let is_shown = || self.sought.users(&self.host).is_ok_and(|users| !users.found.is_empty());
        let mut hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        if hidden.is_found(Instant::now(), is_shared, is_shown) {
            let device = readable_text(self.name_of(file).as_os_str().as_encoded_bytes());
            self.found(vec![Refusal::HeldUnseen { device: device.unwrap_or_default() }]);
        }
    }

    fn name_of(&self, file: &File) -> PathBuf {
        fs::read_link(path_of_descriptor(file)).unwrap_or_default()
    }

    /// Notes who has written to the drive, and everybody who can be seen to have it.
    fn found(&self, mut found: Vec<Refusal>) {
        if found.is_empty() {
            return;
        }
        if let Ok(users) = self.sought.users(&self.host) {
            let writers = users.found.into_iter().filter(|user| !user.holding.is_reading());
            found.extend(writers.map(Refusal::InUse));
        }
        self.seen.intrude(found);
    }

    /// Whether nobody has just opened it.
    fn is_quiet(&self) -> bool {
        let last = *self.seen.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|last| last.elapsed() >= QUIET)
    }

    /// Who has opened the drive for writing since it was judged; empty while nobody has.
    pub(crate) fn intruders(&self) -> Vec<Refusal> {
        match self.seen.is_intruded.load(Ordering::Relaxed) {
            true => self.seen.intruders.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            false => Vec::new(),
        }
    }

    /// How often the drive was opened, by a number that every opening raises; `None` while there is
    /// one that the thread has not come to.
    fn openings(&self) -> Option<u64> {
        let Some(Watch { openings, .. }) = &self.watch else {
            return Some(0);
        };
        let is_waiting = wait(openings, None, Some(Duration::ZERO)) == Told::Opening;
        (!is_waiting).then(|| self.seen.times.load(Ordering::SeqCst))
    }
}

impl Hidden {
    /// Whether it is certain by now; to be asked about once a second, or several times at once after
    /// a second that took longer.
    fn is_found(
        &mut self,
        now: Instant,
        is_shared: impl Fn() -> bool,
        is_shown: impl FnOnce() -> bool,
    ) -> bool {
        /// A process that opened it to read it may be gone before it is looked for.
        const LINGERS: Duration = Duration::from_secs(2);
        /// Somebody who is seen to read it is not looked for again so soon: that takes the measuring
        /// thread's time.
        const RESTS: Duration = Duration::from_secs(60);
        /// One reader may have gone and another come while the processes were looked through.
        const IN_TURN: u32 = 3;
        if !is_shared() {
            *self = Self::default();
            return false;
        }
        let due = *self.due.get_or_insert(now + LINGERS);
        if now < due {
            return false;
        }
        if is_shown() {
            *self = Self { due: Some(now + RESTS), looks: 0 };
        } else if !is_shared() {
            *self = Self::default();
        } else {
            *self = Self { due: Some(now + LINGERS), looks: self.looks + 1 };
        }
        self.looks == IN_TURN
    }
}

impl Watch {
    fn begin(
        host: &Host,
        nodes: &[PathBuf],
        sought: &Sought,
        noted: Arc<Seen>,
    ) -> io::Result<Self> {
        let openings = Arc::new(watch_openings(nodes)?);
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let (told, stopped) = (Arc::clone(&openings), Arc::clone(&stop));
        let (host, sought) = (host.clone(), sought.clone());
        let look_out = move || {
            let mut looks = LOOKS;
            let mut period = PERIOD;
            loop {
                let patience = match looks < LOOKS {
                    true => STEP * 2_u32.pow(looks),
                    false => period,
                };
                match wait(&told, Some(&stopped), Some(patience)) {
                    Told::Stop => return,
                    Told::Opening => {
                        *noted.last.lock().unwrap_or_else(PoisonError::into_inner) =
                            Some(Instant::now());
                        noted.times.fetch_add(1, Ordering::SeqCst);
                        drain(&told);
                        looks = 0;
                    }
                    Told::Nothing => looks = LOOKS.min(looks + 1),
                }
                let begun = Instant::now();
                noted.look(&host, &sought);
                period = PERIOD.max(begun.elapsed() * SHARE);
            }
        };
        let thread = thread::Builder::new().name("sentry".to_owned()).spawn(look_out)?;
        Ok(Self { openings, stop, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Seen {
    /// Notes who has the drive open for writing. Who only reads it is in the record as other load.
    fn look(&self, host: &Host, sought: &Sought) {
        let writers = || {
            let found = sought.users(host).map(|users| users.found).unwrap_or_default();
            found.into_iter().filter(|user| !user.holding.is_reading()).collect::<Vec<_>>()
        };
        let mut found = writers();
        if !found.is_empty() {
            // A child of this process has its descriptors until it has begun its own program.
            thread::sleep(STEP);
            let still = writers();
            found.retain(|user| still.iter().any(|other| other.process == user.process));
        }
        self.intrude(found.into_iter().map(Refusal::InUse).collect());
    }

    fn intrude(&self, found: Vec<Refusal>) {
        if !found.is_empty() {
            *self.intruders.lock().unwrap_or_else(PoisonError::into_inner) = found;
            self.is_intruded.store(true, Ordering::Relaxed);
        }
    }
}

fn watch_openings(nodes: &[PathBuf]) -> io::Result<OwnedFd> {
    let openings = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    for node in nodes {
        inotify::add_watch(&openings, node, inotify::WatchFlags::OPEN)?;
    }
    Ok(openings)
}

/// What the kernel told.
#[derive(PartialEq, Eq)]
enum Told {
    Opening,
    Stop,
    /// Nothing in the time that was waited.
    Nothing,
}

/// Waits for an opening or for the end, so long or without end.
fn wait(openings: &OwnedFd, stop: Option<&OwnedFd>, patience: Option<Duration>) -> Told {
    let mut watched = vec![PollFd::new(openings, PollFlags::IN)];
    watched.extend(stop.map(|stop| PollFd::new(stop, PollFlags::IN)));
    let patience = patience.map(|time| Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: i64::from(time.subsec_nanos()),
    });
    while let Err(error) = poll(&mut watched, patience.as_ref()) {
        if error != rustix::io::Errno::INTR {
            return Told::Stop;
        }
    }
    let [opening, stop] =
        [0, 1].map(|at| watched.get(at).is_some_and(|fd| !fd.revents().is_empty()));
    match (stop, opening) {
        (true, _) => Told::Stop,
        (false, true) => Told::Opening,
        (false, false) => Told::Nothing,
    }
}

fn drain(openings: &OwnedFd) {
    let mut events = [0; 4096];
    while rustix::io::read(openings, &mut events).is_ok_and(|length| length > 0) {}
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use std::path::Path;

    use super::*;
    use crate::guard::holders::{FileId, Holding};

    fn posted(path: &Path) -> Sentry {
        let files = vec![FileId::of(&std::fs::metadata(path).unwrap())];
        let host = Host::this_machine();
        let sought = Sought { files, ..Sought::default() };
        Sentry::post(&host, &[path.to_owned()], sought, None, Vec::new())
    }

    #[test]
    fn who_opens_it_later_for_writing_is_noticed_and_a_reader_is_not() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("file");
        File::create(&path).unwrap();
        let sentry = posted(&path);
        assert_eq!(sentry.ask_again(), []);
        let script = |redirection: &str| format!("exec {redirection} \"$0\"; exec sleep 600");
        let start = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).arg(&path).stdin(Stdio::null()).spawn().unwrap()
        };
        let mut reader = start(&script("7<"));
        thread::sleep(Duration::from_millis(300));
        assert_eq!(sentry.intruders(), []);
        let mut writer = start(&script("7<>"));
        let mut found = Vec::new();
        for _ in 0..500 {
            found = sentry.intruders();
            if !found.is_empty() {
                break;
            }
            thread::sleep(STEP);
        }
        let is_writer = |refusal: &Refusal| {
            matches!(refusal, Refusal::InUse(user)
                if (user.process, user.holding) == (writer.id(), Holding::Writing))
        };
        assert!(found.iter().any(is_writer), "{found:?}");
        for child in [&mut reader, &mut writer] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// What is told of him who has a file open at these seconds, and by whom he is shown.
    fn found_at(seconds: &[u64], is_shared: impl Fn() -> bool, is_shown: bool) -> Vec<u64> {
        let begun = Instant::now();
        let mut hidden = Hidden::default();
        let at = |second: &u64| begun + Duration::from_secs(*second);
        let is_found = |second: &&u64| hidden.is_found(at(second), &is_shared, || is_shown);
        seconds.iter().filter(is_found).copied().collect()
    }

    #[test]
    fn who_holds_a_file_unseen_is_told_when_he_stays_and_no_reader_ever_is() {
        let seconds = Vec::from_iter(0..300);
        assert_eq!(found_at(&seconds, || true, false), [6]);
        assert_eq!(found_at(&seconds, || true, true), [0; 0]);
        // Seconds that are caught up with all at once are no time in which he stayed.
        assert_eq!(found_at(&[9; 300], || true, false), [0; 0]);
        // Who is gone after the look may have been a reader who is shown no more.
        let asked = std::cell::Cell::new(0);
        let goes = || asked.replace(asked.get() + 1) % 4 != 3;
        assert_eq!(found_at(&seconds, goes, false), [0; 0]);
    }

    #[test]
    fn who_has_it_open_is_found_before_the_first_write() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("file");
        let file = File::create(&path).unwrap();
        let sentry = posted(&path);
        let mut other = Command::new("sleep").arg("600").stdin(Stdio::from(file)).spawn().unwrap();
        let found = sentry.ask_again();
        let is_other = |refusal: &Refusal| matches!(refusal, Refusal::InUse(user) if user.process == other.id());
        assert!(found.iter().any(is_other), "{found:?}");
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(sentry.ask_again(), []);
    }
}
