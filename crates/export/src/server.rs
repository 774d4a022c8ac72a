//! Drives, and the sockets by which they are reached.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use writecliff::DriveName;
use writecliff_measure::RunDirectory;
use writecliff_output::check_directory;
use writecliff_suite::{Floor, RunRecord};
use writecliff_trace::Summary;

use crate::client::Stream;
use crate::clock::Speed;
use crate::connection;
use crate::control::{self, control_socket};
use crate::drive::{Drive, Flaws};
use crate::error::ExportError;
use crate::floor;
use crate::live::Live;
use crate::prepare::{GoOn, Prepared, prepare};
use crate::recording::{Recording, Scribe};
use crate::seconds::{Keeper, Seconds};
use crate::socket::Socket;
use crate::status::Status;
use crate::store::{Store, StoreAt};

/// More connections at once than this are turned away.
const CONNECTIONS_MAX: usize = 512;
/// How often somebody asks whether it is to end.
const BREATH: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// What is in flight at the end gets so long.
const FAREWELL: Duration = Duration::from_secs(2);
/// Other things that wait at a socket until somebody accepts them.
const REST: Duration = Duration::from_millis(10);

/// What is exported, and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The drives, each with the name that clients know it by. The first is the one without a name, too.
    pub drives: Vec<(String, DriveName)>,
    /// Where data are kept.
    pub store: StoreAt,
    /// What each drive has behind it.
    pub prepared: Prepared,
    /// Decides where a steady drive was written.
    pub seed: u64,
    /// How fast time passes.
    pub speed: Speed,
    /// A new file for what the one drive is asked, as a trace.
    pub trace: Option<PathBuf>,
    /// A new directory for the record of what was done to the drive; with several, one in it for each.
    pub out: Option<PathBuf>,
    /// What clients will do, in the words of whoever serves them: records of equal words are held against
    /// each other.
    pub load: Option<String>,
    /// Flushes and forced writes are answered as if they had been done: such drives are sold.
    pub lying_flush: bool,
    /// Of pages that a power cut loses, the first sectors may be new and the others old.
    pub shorn_writes: bool,
    /// A unix socket for clients; what controls the server has the same name with `.ctl` behind it.
    pub socket: PathBuf,
    /// An address to listen on instead; then only control has a socket.
    pub listen: Option<SocketAddr>,
    /// An address that others reach is meant so.
    pub listen_to_all: bool,
}

/// Drives that are ready to be served.
pub struct Server {
    drives: Vec<Arc<Live>>,
    scribe: Option<Scribe>,
    /// Of each drive, if they are recorded.
    keepers: Vec<Keeper>,
    door: Door,
    control: Socket,
}

/// Where clients come in.
enum Door {
    Unix(Socket),
    Tcp(TcpListener, SocketAddr),
}

/// What was served.
#[derive(Debug)]
#[non_exhaustive]
pub struct Served {
    /// How the drives were at the end.
    pub drives: Vec<Status>,
    /// The trace, if one was recorded, and what is in it.
    pub trace: Option<(PathBuf, Summary)>,
    /// The directories of the drives' records, if there are any, and what they say.
    pub records: Vec<(PathBuf, RunRecord)>,
}

/// Where a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A unix socket.
    Socket(PathBuf),
    /// An address.
    Tcp(SocketAddr),
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.drives.iter().map(|live| live.name()).collect();
        f.debug_struct("Server").field("drives", &names).finish_non_exhaustive()
    }
}

impl Server {
    /// Makes the drives and brings each to its state, which is told to `go_on`; clients that come already
    /// wait.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn open(settings: &Settings, go_on: GoOn<'_>) -> Result<Self, ExportError> {
        let names: Vec<&String> = settings.drives.iter().map(|(name, _)| name).collect();
        for (place, name) in names.iter().enumerate() {
            if names[..place].contains(name) {
                return Err(ExportError::SameName { name: (*name).clone() });
            }
        }
        if settings.trace.is_some() && names.len() > 1 {
            return Err(ExportError::OneTrace { drives: names.len() });
        }
        settings.check_places()?;
        let control = Socket::bind(&control_socket(&settings.socket))?;
        let door = Door::open(settings)?;
        let floor = match settings.speed {
            Speed::Times(_) => Some(floor::measure(settings.listen.is_some())?),
            Speed::Free => None,
        };
        let (mut drives, mut scribe, mut keepers) = (Vec::new(), None, Vec::new());
        let all = settings.drives.len() as f64;
        for (name, drive) in &settings.drives {
            let done = drives.len() as f64;
            let mut drive =
                prepared(name, drive, settings, &mut |share| go_on((done + share) / all))?;
            if let Some(path) = &settings.trace {
                let (recording, writes) = Recording::begin(path, drive.info(), drive.now())?;
                drive.record(recording);
                scribe = Some(writes);
            }
            let mut seconds = None;
            if let Some(place) = settings.place_of(name) {
                let now = (drive.now(), drive.telemetry());
                let (info, served) = (drive.info(), settings.served(floor));
                let (counts, keeper) = Seconds::begin(&place, info, now, served, settings.seed)?;
                seconds = Some(counts);
                keepers.push(keeper);
            }
            let live = Live::new(name.clone(), drive, settings.speed, floor, seconds);
            drives.push(Arc::new(live));
        }
        Ok(Self { drives, scribe, keepers, door, control })
    }

    /// Where clients reach it.
    pub fn address(&self) -> Address {
        match &self.door {
            Door::Unix(socket) => Address::Socket(socket.path().to_owned()),
            Door::Tcp(_, address) => Address::Tcp(*address),
        }
    }

    /// How its drives are.
    pub fn status(&self) -> Vec<Status> {
        self.drives.iter().map(|live| live.status()).collect()
    }

    /// Serves until `is_over` says so.
    ///
    /// # Errors
    /// [`ExportError::System`] if the system gives no thread, or data cannot be brought to the disk;
    /// [`ExportError::Trace`] or [`ExportError::Record`] if the trace or a record could not be written to
    /// its end.
    pub fn run(self, is_over: &dyn Fn() -> bool) -> Result<Served, ExportError> {
        let mut pacers = Vec::new();
        for live in &self.drives {
            pacers.extend(live.begin()?);
        }
        let connections = Arc::new(AtomicUsize::new(0));
        while !is_over() {
            let doors = [self.door.as_fd(), self.control.listener.as_fd()];
            let mut waiting = doors.map(|door| PollFd::from_borrowed_fd(door, PollFlags::IN));
            if let Ok(0) | Err(_) = poll(&mut waiting, Some(&BREATH)) {
                continue;
            }
            self.let_in(&connections);
            if let Ok((stream, _)) = self.control.listener.accept() {
                let drives = self.drives.clone();
                // Who asked in vain asks again.
                let _ = named("control").spawn(move || control::answer(stream, &drives));
            }
        }
        let drives = self.status();
        let mut ends = Vec::new();
        for live in &self.drives {
            ends.extend(live.end(FAREWELL)?);
        }
        for pacer in pacers {
            // One that panicked has told why.
            let _ = pacer.join();
        }
        let trace = self.scribe.map(Scribe::finish).transpose()?;
        let kept = self.keepers.into_iter().zip(ends).map(|(keeper, end)| keeper.finish(end));
        let records = kept.collect::<Result<_, _>>()?;
        Ok(Served { drives, trace, records })
    }

    /// Takes a client that waits, if one does.
    fn let_in(&self, connections: &Arc<AtomicUsize>) {
        let stream = match self.door.accept() {
            Ok(stream) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            // No descriptor is left, say: others will end theirs.
            Err(_) => return thread::sleep(REST),
        };
        if connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            connections.fetch_sub(1, Ordering::Relaxed);
            return stream.shut_down();
        }
        let (drives, count) = (self.drives.clone(), Arc::clone(connections));
        let begun = named("client").spawn(move || {
            connection::serve(stream, &drives);
            count.fetch_sub(1, Ordering::Relaxed);
        });
        if begun.is_err() {
            connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Settings {
    /// Where the record of the drive of this name goes, if it has one.
    fn place_of(&self, name: &str) -> Option<PathBuf> {
        let out = self.out.as_ref()?;
        Some(if self.drives.len() > 1 { out.join(name) } else { out.clone() })
    }

    /// Before anything takes long.
    fn check_places(&self) -> Result<(), ExportError> {
        for place in self.drives.iter().filter_map(|(name, _)| self.place_of(name)) {
            check_directory(&place)?;
            RunDirectory::check_place(&place)?;
        }
        Ok(())
    }

    /// What a record says of how its drive was served.
    fn served(&self, floor: Option<Floor>) -> writecliff_suite::Served {
        writecliff_suite::Served {
            load: self.load.clone(),
            state: self.prepared.in_words(self.seed),
            speed: self.speed.times(),
            lying_flush: self.lying_flush,
            power_cuts: 0,
            floor,
            lateness: None,
        }
    }
}

impl Door {
    fn open(settings: &Settings) -> Result<Self, ExportError> {
        let Some(address) = settings.listen else {
            return Ok(Self::Unix(Socket::bind(&settings.socket)?));
        };
        if !address.ip().is_loopback() && !settings.listen_to_all {
            return Err(ExportError::NotLoopback { address });
        }
        let failed = |source| ExportError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self::Tcp(listener, address))
    }

    fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Unix(socket) => {
                let (stream, _) = socket.listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok(Stream::Unix(stream))
            }
            Self::Tcp(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        match self {
            Self::Unix(socket) => socket.listener.as_fd(),
            Self::Tcp(listener, _) => listener.as_fd(),
        }
    }
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned())
}

/// A drive as it is first served.
fn prepared<T>(
    name: &str,
    drive: &DriveName,
    settings: &Settings,
    go_on: GoOn<'_>,
) -> Result<Drive<T>, ExportError> {
    if !drive.is_simulated() {
        return Err(ExportError::NotSimulated { name: drive.to_string() });
    }
    let built = drive.simulated()?.build(&drive.to_string());
    let mut model = built.map_err(writecliff::Error::from)?;
    let store = match &settings.store {
        StoreAt::Memory => Store::in_memory(model.info().capacity)?,
        StoreAt::File(path) if path.is_dir() => {
            Store::at(&path.join(format!("{name}.store")), model.info())?
        }
        StoreAt::File(_) if settings.drives.len() > 1 => {
            return Err(ExportError::OneStore { drives: settings.drives.len() });
        }
        StoreAt::File(path) => Store::at(path, model.info())?,
    };
    prepare(&mut *model, &store, settings.prepared, settings.seed, go_on)?;
    let flaws = Flaws { lies: settings.lying_flush, shears: settings.shorn_writes };
    let drive = Drive::new(model, store, flaws);
    if flaws.shears && !drive.loses_what_is_volatile() {
        return Err(ExportError::NothingToShear { name: name.to_owned() });
    }
    Ok(drive)
}
