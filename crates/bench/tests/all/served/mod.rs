//! A server for as long as a test.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use writecliff_bench::{Bench, Server};

use crate::made::Given;

pub(crate) struct Served {
    address: SocketAddr,
    given: Arc<Given>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    pub(crate) fn start(bench: Bench) -> Self {
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let given = Arc::new(Given::default());
        let is_over = Arc::new(AtomicBool::new(false));
        let (address, source, over) = (server.address(), Arc::clone(&given), Arc::clone(&is_over));
        *given.0.lock().unwrap() = Some(bench);
        let run = move || server.run(source, &|| over.load(Ordering::Relaxed)).unwrap();
        Self { address, given, is_over, thread: Some(std::thread::spawn(run)) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Gives it other results.
    pub(crate) fn show(&self, bench: Bench) {
        *self.given.0.lock().unwrap() = Some(bench);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let done = self.thread.take().unwrap().join();
        assert!(done.is_ok() || std::thread::panicking(), "it ends when it is told to");
    }
}
