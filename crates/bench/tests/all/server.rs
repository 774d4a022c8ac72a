//! What the server answers, to browsers and to others.
use crate::made;
use crate::served;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use made::bench;
use served::Served;
use writecliff::ErrorKind;
use writecliff_bench::Server;

/// Sends lines of a request, and reads the answer until its end or for some seconds.
fn ask(served: &Served, lines: &[&str]) -> String {
    let mut stream = TcpStream::connect(served.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all((lines.join("\r\n") + "\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(served: &Served, path: &str) -> String {
    ask(served, &[&format!("GET {path} HTTP/1.1"), "Host: localhost"])
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = answer.split("\r\n\r\n").next().unwrap().lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

/// The path of the index.
fn index(served: &Served) -> String {
    let live: serde_json::Value = serde_json::from_str(body(&get(served, "/live.json"))).unwrap();
    format!("/data/{}.js", live["index"].as_str().unwrap())
}

#[test]
fn files_are_kept_by_whoever_has_them_and_packed_for_whoever_can_unpack() {
    let served = Served::start(bench(30, 1));
    let path = index(&served);
    let plain = get(&served, &path);
    assert_eq!(status(&plain), 200);
    assert!(header(&plain, "cache-control").unwrap().contains("immutable"));
    assert_eq!(header(&plain, "content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(header(&plain, "x-content-type-options"), Some("nosniff"));
    let request = format!("GET {path} HTTP/1.1");
    let packed = ask(&served, &[&request, "Host: localhost", "Accept-Encoding: br, gzip"]);
    assert_eq!(header(&packed, "content-encoding"), Some("gzip"));
    assert_eq!(header(&packed, "vary"), Some("accept-encoding"));
    let length = |answer: &str| header(answer, "content-length").unwrap().parse::<usize>().unwrap();
    assert!(length(&packed) * 2 < length(&plain));
    let refused = ask(&served, &[&request, "Host: localhost", "Accept-Encoding: gzip;q=0"]);
    assert_eq!(header(&refused, "content-encoding"), None);

    let tag = header(&plain, "etag").unwrap();
    let known =
        ask(&served, &[&request, "Host: localhost", &format!("If-None-Match: \"x\", {tag}")]);
    assert_eq!((status(&known), body(&known)), (304, ""));
    let head = ask(&served, &[&format!("HEAD {path} HTTP/1.1"), "Host: localhost"]);
    assert_eq!((status(&head), body(&head), length(&head)), (200, "", length(&plain)));
    let part = ask(&served, &[&request, "Host: localhost", "Range: bytes=0-9"]);
    assert_eq!(
        (status(&part), length(&part)),
        (200, length(&plain)),
        "whole, as is always allowed"
    );
    let page = get(&served, "/");
    assert_eq!(header(&page, "cache-control"), Some("no-cache"));
    assert!(header(&page, "content-security-policy").unwrap().starts_with("default-src 'none'"));
}

#[test]
fn it_reads_only_and_nothing_but_its_own_files() {
    let served = Served::start(bench(3, 1));
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = ask(
            &served,
            &[&format!("{method} / HTTP/1.1"), "Host: localhost", "Content-Length: 0"],
        );
        assert_eq!(
            (status(&answer), header(&answer, "allow")),
            (405, Some("GET, HEAD")),
            "{method}"
        );
    }
    let elsewhere = [
        "/../../../../etc/passwd",
        "/data/../../etc/passwd",
        "/data/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/reports/x/../../../etc/passwd",
        "/reports/../index.html",
        "/data/",
        "/data/run-nobody.js",
        "/reports/0123/index.html",
        "/data/index-0.js",
        "/INDEX.HTML",
    ];
    for path in elsewhere {
        assert_eq!(status(&get(&served, path)), 404, "{path}");
    }
    assert_eq!(status(&get(&served, &index(&served))), 200, "and goes on");
}

#[test]
fn pages_of_other_sites_learn_nothing() {
    let served = Served::start(bench(3, 1));
    let host = |host: &str| status(&ask(&served, &["GET / HTTP/1.1", &format!("Host: {host}")]));
    assert_eq!(host("127.0.0.1:1"), 200);
    assert_eq!(host("evil.example"), 421, "a name that points here by DNS rebinding");
    assert_eq!(status(&ask(&served, &["GET / HTTP/1.1"])), 421, "no name");
    let path = index(&served);
    let script = |site: &str, mode: &str| {
        let lines = [
            format!("GET {path} HTTP/1.1"),
            "Host: localhost".to_owned(),
            format!("Sec-Fetch-Site: {site}"),
            format!("Sec-Fetch-Mode: {mode}"),
        ];
        ask(&served, &lines.each_ref().map(String::as_str))
    };
    assert_eq!(status(&script("cross-site", "no-cors")), 403);
    assert_eq!(status(&script("cross-site", "navigate")), 200, "a link to Bench works");
    let own = script("same-origin", "no-cors");
    assert_eq!(
        (status(&own), header(&own, "cross-origin-resource-policy")),
        (200, Some("same-origin"))
    );
}

#[test]
fn slow_and_rude_clients_hold_up_nobody() {
    let served = Served::start(bench(30, 1));
    let path = index(&served);
    // Many that say nothing or half a word, ask and do not read, or talk nonsense.
    let mut rude: Vec<TcpStream> =
        (0..400).filter_map(|_| TcpStream::connect(served.address()).ok()).collect();
    for (at, stream) in rude.iter_mut().enumerate() {
        let words = match at % 4 {
            0 => String::new(),
            1 => "GET / HT".to_owned(),
            2 => format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").repeat(20),
            _ => "\u{1}\u{2}nonsense\r\n\r\n".repeat(100),
        };
        let _ = stream.write_all(words.as_bytes());
    }
    let long = format!("GET /{} HTTP/1.1", "x".repeat(100_000));
    let refused = ask(&served, &[&long, "Host: localhost"]);
    assert_ne!(status(&refused), 200);
    let begun = Instant::now();
    assert_eq!(status(&get(&served, &path)), 200);
    assert!(begun.elapsed() < Duration::from_secs(15), "a polite one is answered");
}

#[test]
fn a_taken_port_is_said_to_be_taken() {
    let served = Served::start(bench(1, 1));
    let error = Server::bind(served.address()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("is taken"), "{error}");
    let nowhere = Server::bind("192.0.2.1:0".parse().unwrap()).unwrap_err();
    assert_eq!(nowhere.kind(), ErrorKind::Usage);
}

#[test]
fn two_servers_show_the_same() {
    let [one, two] = [0, 1].map(|_| Served::start(bench(3, 1)));
    assert_eq!(get(&one, "/live.json").lines().last(), get(&two, "/live.json").lines().last());
}
