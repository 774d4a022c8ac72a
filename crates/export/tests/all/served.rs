//! A server in this process, and a client that says every byte itself.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use writecliff::DriveName;
use writecliff_export::{Prepared, Server, Settings, Speed, StoreAt};

/// A server that ends with this.
pub(crate) struct Served {
    pub(crate) socket: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<writecliff_export::Served>>,
    directory: Option<tempfile::TempDir>,
}

impl Served {
    /// `sim:tiny` in memory, as fast as it goes.
    pub(crate) fn tiny() -> Self {
        Self::with(|_| {})
    }

    /// The same but for what `change` changes.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = settings(directory.path());
        change(&mut settings);
        let mut served = Self::begin(settings);
        served.directory = Some(directory);
        served
    }

    pub(crate) fn begin(settings: Settings) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        let server = Server::open(&settings, go_on).unwrap();
        let is_over = Arc::clone(&over);
        let thread =
            thread::spawn(move || server.run(&|| is_over.load(Ordering::Relaxed)).unwrap());
        Self { socket: settings.socket, over, thread: Some(thread), directory: None }
    }

    pub(crate) fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }

    /// Ends it; what was served.
    pub(crate) fn end(&mut self) -> writecliff_export::Served {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            assert!(thread.join().is_ok() || thread::panicking());
        }
    }
}

pub(crate) fn settings(directory: &Path) -> Settings {
    Settings {
        drives: vec![("tiny".to_owned(), DriveName::from("sim:tiny"))],
        store: StoreAt::Memory,
        prepared: Prepared::Purged,
        seed: 1,
        speed: Speed::Free,
        lying_flush: false,
        shorn_writes: false,
        trace: None,
        out: None,
        load: None,
        socket: directory.join("nbd.sock"),
        listen: None,
        listen_to_all: false,
    }
}

/// A client after `GO`, with structured replies and `base:allocation`.
pub(crate) struct Raw(pub(crate) UnixStream);

/// An answer: each chunk's type, error (0: none) and payload.
pub(crate) type Chunk = (u16, u32, Vec<u8>);

pub(crate) const ERROR: u16 = 0x8001;

impl Raw {
    pub(crate) fn go(socket: &Path) -> Self {
        let mut stream = greeted(socket);
        let export: &[u8] = &[0, 0, 0, 0];
        let context = [export, &[0, 0, 0, 1, 0, 0, 0, 15], b"base:allocation"].concat();
        assert_eq!(option(&mut stream, 8, b""), [1]);
        assert_eq!(option(&mut stream, 10, &context), [4, 1]);
        assert_eq!(option(&mut stream, 7, &[export, &[0, 0]].concat()), [3, 3, 3, 3, 1]);
        Self(stream)
    }

    /// Sends a request and does not wait.
    pub(crate) fn send(&mut self, kind: u16, flags: u16, offset: u64, length: u32, data: &[u8]) {
        self.try_send(kind, flags, offset, length, data).unwrap();
    }

    pub(crate) fn try_send(
        &mut self,
        kind: u16,
        flags: u16,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> io::Result<()> {
        self.0.write_all(&request(kind, flags, offset, length, data))
    }

    /// The next answer; `None` if the connection has ended.
    pub(crate) fn answer(&mut self) -> Option<Vec<Chunk>> {
        let mut chunks = Vec::new();
        loop {
            let mut head = [0; 16];
            self.0.read_exact(&mut head).ok()?;
            if head[..4] == [0x67, 0x44, 0x66, 0x98] {
                let error = u32::from_be_bytes(head[4..8].try_into().unwrap());
                chunks.push((0, error, Vec::new()));
                return Some(chunks);
            }
            assert_eq!(head[..4], [0x66, 0x8e, 0x33, 0xef], "the magic of a chunk");
            let mut length = [0; 4];
            self.0.read_exact(&mut length).ok()?;
            let mut payload = vec![0; u32::from_be_bytes(length) as usize];
            self.0.read_exact(&mut payload).ok()?;
            let kind = u16::from_be_bytes([head[6], head[7]]);
            let error = match kind {
                ERROR => u32::from_be_bytes(payload[..4].try_into().unwrap()),
                _ => 0,
            };
            chunks.push((kind, error, payload));
            if head[5] & 1 == 1 {
                return Some(chunks);
            }
        }
    }

    /// What a request comes to: the error, 0 for none.
    pub(crate) fn ask(
        &mut self,
        kind: u16,
        flags: u16,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> u32 {
        self.send(kind, flags, offset, length, data);
        let answer = self.answer().expect("an answer");
        answer.iter().map(|(_, error, _)| *error).find(|error| *error != 0).unwrap_or(0)
    }

    /// Reads in one piece; `None` if the connection has ended.
    pub(crate) fn read(&mut self, offset: u64, length: u32) -> Option<Vec<u8>> {
        self.try_send(0, 4, offset, length, b"").ok()?;
        let chunks = self.answer()?;
        assert_eq!((chunks.len(), chunks[0].0, chunks[0].1), (1, 1, 0));
        Some(chunks[0].2[8..].to_vec())
    }
}

pub(crate) fn request(kind: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(7_u64.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(data);
    bytes
}

/// A connection after both have greeted each other.
pub(crate) fn greeted(socket: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(&greeting, b"NBDMAGICIHAVEOPT\0\x03");
    stream.write_all(&[0, 0, 0, 3]).unwrap();
    stream
}

/// What the replies to an option say, by their numbers, up to the last one.
pub(crate) fn option(stream: &mut UnixStream, option: u32, data: &[u8]) -> Vec<u32> {
    stream.write_all(b"IHAVEOPT").unwrap();
    stream.write_all(&option.to_be_bytes()).unwrap();
    stream.write_all(&(data.len() as u32).to_be_bytes()).unwrap();
    stream.write_all(data).unwrap();
    let mut said = Vec::new();
    while said.last().is_none_or(|last| *last != 1 && *last < 1 << 31) {
        let mut head = [0; 20];
        stream.read_exact(&mut head).unwrap();
        let number = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        said.push(number(12));
        stream.read_exact(&mut vec![0; number(16) as usize]).unwrap();
    }
    said
}

/// Whether a program is here; says that its test is skipped if it is not.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        let _ = writeln!(io::stderr(), "SKIPPED: it needs the program {program}");
    }
    found
}
