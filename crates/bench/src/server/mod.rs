//! The pages on this machine, while they are wanted. It reads only: what it answers is made from
//! results, and no request changes anything.
//!
//! One thread serves everybody and another looks for new results. A client that says nothing, reads
//! nothing, or opens connection after connection, holds up nobody: each has its time, and where there
//! are too many the oldest goes.

mod answer;
mod host;
mod packed;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use writecliff::ErrorKind;

use crate::model::{Bench, Pictures};
use crate::pages::{Audience, Site};
use packed::Packed;

/// How long a client may take for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long one connection may last; a browser opens another.
const CONNECTION_TIME: Duration = Duration::from_secs(120);
/// More open connections than this, and the oldest is closed.
const CONNECTIONS_MAX: usize = 256;
/// The longest head of a request.
const HEAD_MAX: usize = 16 << 10;
/// How often somebody asks whether it is to end.
const BREATH: Duration = Duration::from_millis(100);
/// How often results are looked at anew, where that takes no more than a tenth of the time.
const LOOK: Duration = Duration::from_secs(1);

/// Where a server gets its results from.
pub trait Source: Pictures + Send + Sync + 'static {
    /// All results, if they are not what they were when this was asked last; the first time in any
    /// case. What cannot be read is among the problems.
    fn fresh(&self) -> Option<Bench>;
}

/// A server that has its address and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Somebody else has the port.
    #[error(
        "{address} is taken, perhaps by another Bench; choose another port, or 0 for any that is free"
    )]
    Taken {
        /// What was asked for.
        address: SocketAddr,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}; choose an address of this machine")]
    Listen {
        /// What was asked for.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The system gives no thread, no directory or no event queue.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

impl ServerError {
    /// What kind of "no" it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Taken { .. } | Self::Listen { .. } => ErrorKind::Usage,
            Self::System(_) => ErrorKind::Failed,
        }
    }
}

/// What answers need.
struct Shared {
    audience: Audience,
    site: RwLock<Arc<Site>>,
    source: Arc<dyn Source>,
    packed: Packed,
    /// Reports that somebody has asked for, in a directory that goes with the server.
    reports: tempfile::TempDir,
    /// One report is made at a time.
    one_report: tokio::sync::Mutex<()>,
}

impl Shared {
    fn site(&self) -> Arc<Site> {
        Arc::clone(&self.site.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn show(&self, bench: &Bench) {
        let site = Arc::new(Site::new(bench, self.audience));
        self.packed.forget_all_but(&site);
        *self.site.write().unwrap_or_else(PoisonError::into_inner) = site;
    }
}

impl Server {
    /// Takes an address; port 0 is any that is free.
    ///
    /// # Errors
    /// [`ServerError::Taken`], [`ServerError::Listen`].
    pub fn bind(address: SocketAddr) -> Result<Self, ServerError> {
        let listener = TcpListener::bind(address).map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ServerError::Taken { address },
            _ => ServerError::Listen { address, source },
        })?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `is_over` says so.
    ///
    /// # Errors
    /// [`ServerError::System`].
    pub fn run(
        self,
        source: Arc<dyn Source>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), ServerError> {
        let bench = source.fresh().unwrap_or_default();
        let is_here = self.address.ip().is_loopback();
        let audience = if is_here { Audience::Here } else { Audience::Network };
        let shared = Arc::new(Shared {
            audience,
            site: RwLock::new(Arc::new(Site::new(&bench, audience))),
            source,
            packed: Packed::default(),
            reports: tempfile::tempdir()?,
            one_report: tokio::sync::Mutex::new(()),
        });
        drop(bench);
        let ended = Arc::new(AtomicBool::new(false));
        watch(Arc::clone(&shared), Arc::clone(&ended))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let done = runtime.block_on(self.serve(&shared, is_over));
        ended.store(true, Ordering::Relaxed);
        runtime.shutdown_background();
        done
    }

    async fn serve(
        self,
        shared: &Arc<Shared>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), ServerError> {
        self.listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let mut open = VecDeque::new();
        while !is_over() {
            match tokio::time::timeout(BREATH, listener.accept()).await {
                Ok(Ok((stream, _))) => admit(&mut open, stream, shared),
                // Too many files are open, or the client has left again.
                Ok(Err(_)) => tokio::time::sleep(BREATH).await,
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// Begins a connection; the oldest makes room for it.
fn admit(open: &mut VecDeque<AbortHandle>, stream: TcpStream, shared: &Arc<Shared>) {
    open.retain(|connection| !connection.is_finished());
    if open.len() >= CONNECTIONS_MAX
        && let Some(oldest) = open.pop_front()
    {
        oldest.abort();
    }
    let shared = Arc::clone(shared);
    open.push_back(tokio::spawn(converse(stream, shared)).abort_handle());
}

/// Answers whatever one client asks, as long as it may stay.
async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer::answer(&shared, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // A client that breaks off, or talks nonsense, is no error of ours.
    let _ = tokio::time::timeout(CONNECTION_TIME, connection).await;
}

/// Looks for new results until the server has ended.
fn watch(shared: Arc<Shared>, ended: Arc<AtomicBool>) -> io::Result<()> {
    let look = move || {
        let mut pause = LOOK;
        while !ended.load(Ordering::Relaxed) {
            std::thread::sleep(pause);
            let begun = Instant::now();
            if let Some(bench) = shared.source.fresh() {
                shared.show(&bench);
            }
            pause = LOOK.max(begun.elapsed() * 10);
        }
    };
    std::thread::Builder::new().name("new results".to_owned()).spawn(look)?;
    Ok(())
}
