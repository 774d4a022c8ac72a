//! Requests that are in order, and requests that are not, byte by byte.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use writecliff::DriveName;
use writecliff_export::{ExportError, Order, Server, Settings, Speed, Status, StoreAt, ask};

use crate::served::{ERROR, Raw, Served, greeted, option, request, settings};

const READ: u16 = 0;
const WRITE: u16 = 1;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const CACHE: u16 = 5;
const ZEROES: u16 = 6;
const STATUS: u16 = 7;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;
/// Bytes of `sim:tiny`.
const CAPACITY: u64 = 224 << 20;

#[test]
fn every_bad_request_has_its_error_and_the_next_one_is_served() {
    let served = Served::tiny();
    let mut client = Raw::go(&served.socket);
    let large = (33_u32 << 20, vec![1; 33 << 20]);
    let cases = [
        (READ, 0, CAPACITY, 512, b"".as_slice(), EINVAL),
        (READ, 0, u64::MAX - 511, 512, b"", EINVAL),
        (READ, 0, 0, 33 << 20, b"", EINVAL),
        (READ, 0, 0, 0, b"", EINVAL),
        (READ, 0, 100, 512, b"", EINVAL),
        (READ, 1 << 7, 0, 512, b"", EINVAL),
        (WRITE, 0, CAPACITY - 512, 1024, &[1; 1024], ENOSPC),
        (WRITE, 1 << 2, 0, 512, &[1; 512], EINVAL),
        (WRITE, 0, 0, 100, &[1; 100], EINVAL),
        (WRITE, 0, 0, large.0, &large.1, EINVAL),
        (FLUSH, 0, 4096, 0, b"", EINVAL),
        (TRIM, 0, CAPACITY, 512, b"", EINVAL),
        (ZEROES, 0, CAPACITY, 512, b"", ENOSPC),
        (STATUS, 0, 0, 0, b"", EINVAL),
        (9, 0, 0, 512, b"", EINVAL),
        (u16::MAX, u16::MAX, u64::MAX, 0, b"", EINVAL),
    ];
    for (kind, flags, offset, length, data, expected) in cases {
        assert_eq!(client.ask(kind, flags, offset, length, data), expected, "{kind} {flags}");
        assert_eq!(client.ask(READ, 0, 0, 512, b""), 0, "after {kind} {flags}");
    }
    assert_eq!(client.read(0, 4096).unwrap(), [0; 4096], "nothing of all that was written");
}

#[test]
fn commands_do_what_they_say_and_any_of_them_may_be_forced() {
    let served = Served::tiny();
    let mut client = Raw::go(&served.socket);
    for (kind, flags, offset, length) in [
        (WRITE, 1, 0, 4096),
        (WRITE, 0, 8192, 4096),
        (FLUSH, 1, 0, 0),
        (TRIM, 1, 8192, 4096),
        (CACHE, 1, 0, 4096),
        (ZEROES, 1 | 1 << 4, 16384, 4096),
        (READ, 1, 0, 4096),
    ] {
        let data = vec![9; if kind == WRITE { length as usize } else { 0 }];
        assert_eq!(client.ask(kind, flags, offset, length, &data), 0, "{kind}");
    }
    client.send(READ, 0, 0, 16384, b"");
    let chunks: Vec<_> = client.answer().unwrap().into_iter().map(|c| (c.0, c.2.len())).collect();
    assert_eq!(chunks, [(1, 8 + 4096), (2, 12)], "data, and the rest a hole");
    client.send(STATUS, 0, 0, 16384, b"");
    let status = client.answer().unwrap();
    let expected = [[0, 0, 0, 1], [0, 0, 0x10, 0], [0; 4], [0, 0, 0x30, 0], [0, 0, 0, 3]];
    assert_eq!(status[0].2, expected.concat());
}

#[test]
fn a_client_that_does_not_read_holds_nobody_up() {
    let mut served = Served::tiny();
    let mut deaf = Raw::go(&served.socket);
    deaf.0.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    // Until nothing more is taken from it: what it asks for is bounded. The server may have read 64 KiB of
    // requests at once, which are some 2,300.
    let asked = (0..10_000).take_while(|_| deaf.try_send(READ, 4, 0, 8 << 20, b"").is_ok()).count();
    assert!(asked < 10_000, "{asked} times 8 MiB wait for a client that does not read");
    let mut other = Raw::go(&served.socket);
    assert_eq!(other.ask(WRITE, 0, 0, 4096, &[1; 4096]), 0);
    assert_eq!(other.read(0, 4096).unwrap(), [1; 4096]);
    let begun = Instant::now();
    served.end();
    assert!(begun.elapsed() < Duration::from_secs(10), "it ends all the same");
}

#[test]
fn thousands_of_connections_come_and_go() {
    let served = Served::tiny();
    for number in 0..2000_u64 {
        match number % 4 {
            0 => drop(UnixStream::connect(&served.socket).unwrap()),
            1 => drop(greeted(&served.socket)),
            2 => drop(Raw::go(&served.socket)),
            // Gone in the middle of a write.
            _ => {
                let mut client = Raw::go(&served.socket);
                let half = &request(WRITE, 0, 0, 4096, &[1; 4096])[..2000];
                client.0.write_all(half).unwrap();
            }
        }
    }
    assert_eq!(Raw::go(&served.socket).read(0, 4096).unwrap(), [0; 4096]);
    let status = ask(&served.socket, Order::Status, None).unwrap();
    assert!(status[0].clients_ever > 900, "{}", status[0].clients_ever);
}

#[test]
fn a_flush_on_one_connection_is_of_all() {
    let served = Served::tiny();
    let (mut writer, mut flusher) = (Raw::go(&served.socket), Raw::go(&served.socket));
    for page in 0..64 {
        assert_eq!(writer.ask(WRITE, 0, page * 4096, 4096, &[page as u8 + 1; 4096]), 0);
    }
    assert_eq!(flusher.ask(FLUSH, 0, 0, 0, b""), 0);
    ask(&served.socket, Order::PowerCut, None).unwrap();
    ask(&served.socket, Order::PowerOn, None).unwrap();
    let mut reader = Raw::go(&served.socket);
    for page in 0..64 {
        assert_eq!(reader.read(page * 4096, 4096).unwrap(), [page as u8 + 1; 4096]);
    }
}

#[test]
fn what_is_no_option_ends_or_is_declined() {
    let served = Served::tiny();
    let mut stream = greeted(&served.socket);
    assert_eq!(option(&mut stream, 5, b""), [(1 << 31) + 1], "no TLS");
    assert_eq!(option(&mut stream, 3, b"x"), [(1 << 31) + 3]);
    assert_eq!(option(&mut stream, 3, b""), [2, 1]);
    assert_eq!(
        option(&mut stream, 7, &[0, 0, 0, 4, b'n', b'o', b'n', b'e', 0, 0]),
        [(1 << 31) + 6]
    );
    assert_eq!(option(&mut stream, 2, b""), [1]);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the server has ended it");
    for no_option in [b"IHAVEOPS\0\0\0\x03\0\0\0\0".as_slice(), b"IHAVEOPT\0\0\0\x03\xff\0\0\0"] {
        let mut stream = greeted(&served.socket);
        stream.write_all(no_option).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
    }
}

#[test]
fn several_drives_are_several_exports() {
    let served = Served::with(|settings| {
        settings.drives.push(("other".to_owned(), DriveName::from("sim:tiny@1/4")));
    });
    let mut stream = greeted(&served.socket);
    assert_eq!(option(&mut stream, 3, b""), [2, 2, 1]);
    assert_eq!(option(&mut stream, 7, b"\0\0\0\x05other\0\0"), [3, 3, 3, 3, 1]);
    ask(&served.socket, Order::PowerCut, Some("other")).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "its drive has lost its power");
    assert_eq!(Raw::go(&served.socket).read(0, 512).unwrap(), [0; 512], "the first has not");
    let mut again = greeted(&served.socket);
    assert_eq!(option(&mut again, 7, b"\0\0\0\x05other\0\0"), [(1 << 31) + 7]);
    let off = ask(&served.socket, Order::PowerCut, Some("other")).unwrap_err();
    assert!(off.to_string().contains("has no power"), "{off}");
    let unknown = ask(&served.socket, Order::Status, Some("x")).unwrap_err();
    assert!(unknown.to_string().contains("tiny, other"), "{unknown}");
}

#[test]
fn a_disk_is_served_and_has_no_plug_to_pull() {
    let served = Served::with(|settings| {
        settings.drives = vec![("disk".to_owned(), DriveName::from("sim:wd-velociraptor-300gb"))];
    });
    let mut client = Raw::go(&served.socket);
    assert_eq!(client.ask(WRITE, 0, 4096, 4096, &[5; 4096]), 0);
    assert_eq!(client.read(4096, 4096).unwrap(), [5; 4096]);
    assert_eq!(client.ask(TRIM, 0, 0, 4096, b""), EINVAL, "it was not offered");
    let refused = ask(&served.socket, Order::PowerCut, None).unwrap_err();
    assert!(refused.to_string().contains("disk"), "{refused}");
    assert_eq!(client.ask(READ, 0, 0, 512, b""), 0);
}

#[test]
fn data_in_a_file_are_there_for_the_next_export() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = settings(directory.path());
    settings.store = StoreAt::File(directory.path().join("tiny.store"));
    let mut served = Served::begin(settings.clone());
    let mut client = Raw::go(&served.socket);
    assert_eq!(client.ask(WRITE, 0, 1 << 20, 8192, &[7; 8192]), 0);
    served.end();
    assert!(!settings.socket.exists(), "the socket is gone");
    let served = Served::begin(settings);
    let mut client = Raw::go(&served.socket);
    assert_eq!(client.read(1 << 20, 8192).unwrap(), [7; 8192]);
    client.send(STATUS, 0, 0, 4 << 20, b"");
    let status = client.answer().unwrap();
    assert_eq!(status[0].2.len(), 4 + 3 * 8, "a hole, the data, a hole: the drive holds no more");
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("nbd.sock");
    std::fs::write(&socket, b"mine").unwrap();
    let open = |settings| Server::open(&settings, &mut |_| std::ops::ControlFlow::Continue(()));
    let refused = open(settings(directory.path())).unwrap_err();
    assert!(matches!(refused, ExportError::NoSocket { .. }), "{refused}");
    assert_eq!(std::fs::read(&socket).unwrap(), b"mine");
    std::fs::remove_file(&socket).unwrap();
    let mut public = settings(directory.path());
    public.listen = Some("0.0.0.0:0".parse().unwrap());
    assert!(matches!(open(public).unwrap_err(), ExportError::NotLoopback { .. }));
    let mut real = settings(directory.path());
    real.drives = vec![("sda".to_owned(), DriveName::from("/dev/sda"))];
    assert!(matches!(open(real).unwrap_err(), ExportError::NotSimulated { .. }));
    let first = open(settings(directory.path())).unwrap();
    let second = open(settings(directory.path())).unwrap_err();
    assert!(matches!(second, ExportError::SocketTaken { .. }), "{second}");
    drop(first);
    // A socket that somebody has left behind.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    open(settings(directory.path())).unwrap();
}

#[test]
fn writes_are_shorn_only_where_a_power_cut_loses_some() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |drive: &str| {
        let drives = vec![("one".to_owned(), DriveName::from(drive))];
        let settings = Settings { drives, shorn_writes: true, ..settings(directory.path()) };
        Server::open(&settings, &mut |_| std::ops::ControlFlow::Continue(())).err()
    };
    for drive in
        ["sim:intel-dc-s3700-200gb@1/64", "sim:wd-velociraptor-300gb", "array:raid1:2:sim:tiny"]
    {
        assert!(matches!(refused(drive), Some(ExportError::NothingToShear { .. })), "{drive}");
    }
    assert!(refused("sim:tiny").is_none());
}

/// 600 µs of a program and 50 µs of a read are more than any machine adds by itself.
#[test]
fn in_real_time_an_answer_comes_when_the_drive_is_done_and_not_before() {
    let served = Served::with(|settings| settings.speed = Speed::Times(0.1));
    let mut client = Raw::go(&served.socket);
    let begun = Instant::now();
    for page in 0..4 {
        assert_eq!(client.ask(WRITE, 1, page * 4096, 4096, &[1; 4096]), 0);
    }
    // Four programs, one after the other, ten times as slow.
    assert!(begun.elapsed() >= Duration::from_millis(24), "{:?}", begun.elapsed());
    let answered = |status: &Status| status.lateness.unwrap().count == 4;
    let status = loop {
        let status = ask(&served.socket, Order::Status, None).unwrap().remove(0);
        // An answer is counted when it has gone out.
        if answered(&status) {
            break status;
        }
    };
    assert_eq!(status.counts.forced, 4);
    assert!(status.simulated && status.service.p50.0 > 600_000, "{status:?}");
}

#[test]
fn errors_of_a_structured_answer_have_words() {
    let served = Served::tiny();
    let mut client = Raw::go(&served.socket);
    client.send(READ, 0, CAPACITY, 512, b"");
    let answer = client.answer().unwrap();
    assert_eq!((answer[0].0, answer[0].1), (ERROR, EINVAL));
    assert!(String::from_utf8_lossy(&answer[0].2[6..]).contains("not in order"));
}

#[test]
fn what_the_drive_was_asked_is_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("asked.trace");
    let mut served = Served::with(|settings| settings.trace = Some(path.clone()));
    let mut client = Raw::go(&served.socket);
    assert_eq!(client.ask(WRITE, 1, 4096, 4096, &[7; 4096]), 0);
    // More than a drive gets at once.
    assert_eq!(client.ask(READ, 0, 0, 2 << 20, b""), 0);
    assert_eq!(client.ask(TRIM, 0, 4096, 4096, b""), 0);
    assert_eq!(client.ask(FLUSH, 0, 0, 0, b""), 0);
    let (trace, summary) = served.end().trace.unwrap();
    assert_eq!((&trace, summary.ios()), (&path, 5));
    let file = writecliff_trace::TraceFile::open(&path).unwrap();
    assert_eq!(file.header().source, "sim:tiny (simulated Tiny)");
    let ios: Vec<_> = file.map(Result::unwrap).collect();
    let asked: Vec<_> =
        ios.iter().map(|io| (io.operation as u8, io.offset.0, io.length.0)).collect();
    let (first, rest) = (1280 << 10, (2 << 20) - (1280 << 10));
    assert_eq!(
        asked,
        [(1, 4096, 4096), (0, 0, first), (0, first, rest), (2, 4096, 4096), (3, 0, 0)]
    );
    assert!(ios.iter().all(|io| io.service_time().is_some_and(|time| time.0 > 0)), "{ios:?}");
    assert_eq!(ios[2].queue_depth, Some(2));
}
