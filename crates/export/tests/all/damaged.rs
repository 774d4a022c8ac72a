//! Whatever bytes come: an answer or an end, never a panic.

use std::io::{Read, Write};
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_export::wire::{option, request};

use crate::served::{Raw, Served, greeted, request};

/// One to three of: a bit turned, a byte made the largest, bytes gone, bytes doubled.
fn damaged(random: &mut Xoshiro256PlusPlus, whole: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let mut below = |limit: usize| (random.next_u64() % limit.max(1) as u64) as usize;
    for _ in 0..=below(3) {
        let at = below(bytes.len());
        let end = (at + below(9)).min(bytes.len());
        match below(4) {
            0 if at < bytes.len() => bytes[at] ^= 1 << below(8),
            1 if at < bytes.len() => bytes[at] = 0xff,
            2 => drop(bytes.drain(at..end)),
            _ => {
                let twice = bytes[at..end].to_vec();
                bytes.splice(at..at, twice);
            }
        }
    }
    bytes
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
}

#[test]
fn options_with_any_data_are_read_or_refused() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let context = [string("tiny"), vec![0, 0, 0, 1], string("base:allocation")].concat();
    let wholes = [context, [string("tiny"), vec![0, 1, 0, 3]].concat(), b"tiny".to_vec()];
    for round in 0..100_000 {
        let data = damaged(&mut random, &wholes[round % wholes.len()]);
        let _ = option::parse(random.next_u32() % 13, &data);
        let head: Vec<u8> = damaged(&mut random, b"IHAVEOPT\0\0\0\x07\0\0\0\x05");
        if let Some(head) = head.first_chunk() {
            let _ = option::head(head);
        }
    }
}

#[test]
fn requests_with_any_numbers_are_commands_within_the_export_or_errors() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let agreed = request::Agreed {
        capacity: 224 << 20,
        block_min: 512,
        trims: true,
        structured: true,
        block_status: true,
    };
    let mut commands = 0;
    for round in 0..100_000_u32 {
        let whole = request((round % 8) as u16, 0, 4096, 4096, b"");
        let bytes = damaged(&mut random, &whole);
        let Some(Ok(head)) = bytes.first_chunk().map(request::Head::parse) else { continue };
        if let Ok(command) = head.command(&agreed) {
            commands += 1;
            let end = head.offset + u64::from(head.length);
            assert!(end <= agreed.capacity || command == request::Command::Disconnect);
        }
    }
    assert!(commands > 10_000, "{commands}");
}

#[test]
fn a_server_outlives_whatever_it_is_sent() {
    let served = Served::tiny();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let requests: Vec<u8> = (0..8)
        .flat_map(|kind| {
            let data = vec![1; if kind == 1 { 1024 } else { 0 }];
            request(kind, 0, 0, if kind == 3 { 0 } else { 1024 }, &data)
        })
        .collect();
    for round in 0..300 {
        let mut stream = match round % 2 {
            0 => greeted(&served.socket),
            _ => Raw::go(&served.socket).0,
        };
        // The server may end it, and what it says does not matter.
        let _ = stream.write_all(&damaged(&mut random, &requests));
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut rest = Vec::new();
        if let Err(error) = stream.read_to_end(&mut rest) {
            let is_over = error.kind() == std::io::ErrorKind::ConnectionReset;
            assert!(is_over, "round {round}: {error}");
        }
    }
    assert_eq!(Raw::go(&served.socket).read(1 << 20, 512).unwrap(), [0; 512]);
}
