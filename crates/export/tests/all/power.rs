//! The plug is pulled while several clients write, in real threads and over real sockets.

use std::thread;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_export::{Order, Speed, ask};

use crate::served::{Raw, Served};

const WRITE: u16 = 1;
const FLUSH: u16 = 3;
const CLIENTS: u64 = 4;
/// Pages of each client.
const PAGES: u64 = 64;

/// What a client knows of its pages: the last version of each that was written, and the last that was flushed.
#[derive(Clone)]
struct Known {
    written: Vec<u64>,
    flushed: Vec<u64>,
}

fn stamped(page: u64, version: u64) -> Vec<u8> {
    [page.to_le_bytes(), version.to_le_bytes()].concat().repeat(4096 / 16)
}

/// Writes and flushes until the connection ends.
fn write_until_it_ends(mut connection: Raw, client: u64, mut known: Known, seed: u64) -> Known {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut answered = known.flushed.clone();
    loop {
        if random.next_u64() % 16 == 0 {
            let sent = connection.try_send(FLUSH, 0, 0, 0, b"").is_ok();
            if !sent || connection.answer().is_none() {
                return known;
            }
            known.flushed.clone_from(&answered);
            continue;
        }
        let page = random.next_u64() % PAGES;
        let version = known.written[page as usize] + 1;
        let place = (client * PAGES + page) * 4096;
        known.written[page as usize] = version;
        let sent = connection.try_send(WRITE, 0, place, 4096, &stamped(place, version)).is_ok();
        if !sent || connection.answer().is_none() {
            return known;
        }
        answered[page as usize] = version;
    }
}

fn cuts(lies: bool, speed: f64, rounds: u64) -> u64 {
    let served = Served::with(|settings| {
        settings.lying_flush = lies;
        settings.speed = Speed::Times(speed);
    });
    let nothing = Known { written: vec![0; PAGES as usize], flushed: vec![0; PAGES as usize] };
    let mut known = vec![nothing; CLIENTS as usize];
    let mut missing = 0;
    for round in 0..rounds {
        let writers: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (connection, known) = (Raw::go(&served.socket), known[client as usize].clone());
                let seed = round * CLIENTS + client;
                thread::spawn(move || write_until_it_ends(connection, client, known, seed))
            })
            .collect();
        thread::sleep(Duration::from_millis(10 + round % 7));
        ask(&served.socket, Order::PowerCut, None).unwrap();
        known = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        ask(&served.socket, Order::PowerOn, None).unwrap();
        let mut reader = Raw::go(&served.socket);
        for (client, known) in known.iter_mut().enumerate() {
            for page in 0..PAGES {
                let place = (client as u64 * PAGES + page) * 4096;
                let data = reader.read(place, 4096).unwrap();
                let version = u64::from_le_bytes(data[8..16].try_into().unwrap());
                let is_whole = version == 0 || data == stamped(place, version);
                let page = page as usize;
                assert!(is_whole && version <= known.written[page], "never written: {version}");
                missing += u64::from(version < known.flushed[page]);
                known.flushed[page] = version;
                // Versions go on from what was ever written, so that none is taken for another.
            }
        }
    }
    missing
}

#[test]
fn nothing_flushed_is_missing_whenever_the_plug_is_pulled() {
    assert_eq!(cuts(false, 1.0, 25), 0);
}

#[test]
fn a_drive_that_lies_is_caught_by_its_clients() {
    // Slowly, so that much is volatile whenever that is.
    assert!(cuts(true, 0.1, 10) > 0);
}

#[test]
fn the_drive_is_away_for_its_recovery_when_the_power_is_back() {
    let served = Served::with(|settings| settings.speed = Speed::Times(0.01));
    ask(&served.socket, Order::PowerCut, None).unwrap();
    ask(&served.socket, Order::PowerOn, None).unwrap();
    let begun = std::time::Instant::now();
    Raw::go(&served.socket).read(0, 512).unwrap();
    // 256 superblocks, a page of each, on four dies at once: 3.2 ms, a hundred times as slow.
    assert!(begun.elapsed() >= Duration::from_millis(300), "{:?}", begun.elapsed());
}
