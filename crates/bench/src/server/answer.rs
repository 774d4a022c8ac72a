//! One request, one answer.

use std::path::PathBuf;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use sha2::{Digest, Sha256};

use super::{Shared, host};
use crate::pages::{FOLDER, PAGE, POLICY, allowed};

/// Where a page asks whether there is something new.
const LIVE: &str = "live.json";
/// A name that changes with its content may be kept for ever.
const FOR_EVER: &str = "private, max-age=31536000, immutable";
/// What keeps its name is asked for again.
const ASK_AGAIN: &str = "no-cache";

/// A file to answer with.
struct File {
    path: String,
    content: Bytes,
    cache: &'static str,
    is_report: bool,
}

pub(super) async fn answer(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let headers = request.headers();
    if !host::is_ours(headers) {
        return refusal(
            StatusCode::MISDIRECTED_REQUEST,
            "Open Bench by this machine's address, or by localhost.\n",
        );
    }
    if host::is_for_another_site(headers) {
        return refusal(StatusCode::FORBIDDEN, "Bench answers its own pages only.\n");
    }
    let is_head = request.method() == Method::HEAD;
    if !is_head && request.method() != Method::GET {
        let mut answer =
            refusal(StatusCode::METHOD_NOT_ALLOWED, "Bench can be read, and nothing else.\n");
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    let path = request.uri().path().trim_start_matches('/');
    match find(shared, path).await {
        Some(file) => give(shared, file, headers, is_head),
        None => refusal(StatusCode::NOT_FOUND, "There is no such page here.\n"),
    }
}

async fn find(shared: &Arc<Shared>, path: &str) -> Option<File> {
    let site = shared.site();
    let path = if path.is_empty() { PAGE } else { path };
    let file = |content: Bytes, cache| {
        Some(File { path: path.to_owned(), content, cache, is_report: false })
    };
    if path == LIVE {
        let live = serde_json::json!({ "index": site.index }).to_string();
        return file(live.into(), ASK_AGAIN);
    }
    if let Some(content) = site.files.get(path) {
        let cache = if path == PAGE { ASK_AGAIN } else { FOR_EVER };
        return file(Bytes::from_owner(Arc::clone(content)), cache);
    }
    if let Some(below) = path.strip_prefix(FOLDER).and_then(|rest| rest.strip_prefix('/')) {
        let content = report(shared, below).await?;
        return Some(File { path: path.to_owned(), content, cache: ASK_AGAIN, is_report: true });
    }
    // Reading a run's seconds takes a moment, in which others are to be served.
    let (source, asked) = (Arc::clone(&shared.source), path.to_owned());
    let course = move || site.course(&asked, source.as_ref());
    let content = tokio::task::spawn_blocking(course).await.ok()??;
    file(content.into(), FOR_EVER)
}

/// A file of a report, which is made when it is first asked for.
async fn report(shared: &Arc<Shared>, below: &str) -> Option<Bytes> {
    let (key, file) = below.split_once('/')?;
    let site = shared.site();
    let report = site.reports.iter().find(|report| report.key == key)?.clone();
    let folder: PathBuf = shared.reports.path().join(&report.key);
    if !allowed(file) {
        return None;
    }
    let path = folder.join(file);
    let _one = shared.one_report.lock().await;
    let made = tokio::task::spawn_blocking(move || {
        if !folder.join(PAGE).is_file() {
            report.write(&folder).ok()?;
        }
        std::fs::read(path).ok()
    });
    made.await.ok()?.map(Bytes::from)
}

fn give(shared: &Shared, file: File, headers: &HeaderMap, is_head: bool) -> Response<Full<Bytes>> {
    let packs = accepts_gzip(headers) && !file.is_report && file.cache == FOR_EVER;
    let packed = packs.then(|| shared.packed.get(&file.path, &file.content)).flatten();
    let is_packed = packed.is_some();
    let tag = tag(&file.content, is_packed);
    let content = packed.unwrap_or(file.content);
    let is_known = headers.get_all(IF_NONE_MATCH).iter().any(|known| names(known, &tag));
    let length = content.len();
    let (status, body) = match (is_known, is_head) {
        (true, _) => (StatusCode::NOT_MODIFIED, Bytes::new()),
        (false, true) => (StatusCode::OK, Bytes::new()),
        (false, false) => (StatusCode::OK, content),
    };
    let mut answer = with_rules(status, body, file.is_report);
    let own = answer.headers_mut();
    own.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(&file.path)));
    own.insert(CACHE_CONTROL, HeaderValue::from_static(file.cache));
    own.insert(VARY, HeaderValue::from_static("accept-encoding"));
    own.insert(ACCEPT_RANGES, HeaderValue::from_static("none"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        own.insert(ETAG, tag);
    }
    if is_packed {
        own.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if is_head {
        own.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    answer
}

fn refusal(status: StatusCode, words: &'static str) -> Response<Full<Bytes>> {
    let mut answer = with_rules(status, Bytes::from_static(words.as_bytes()), false);
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// An answer with what holds for all: nothing is guessed, nobody frames it or takes it elsewhere. A
/// report is as if from nowhere: its script reaches nothing but its own page.
fn with_rules(status: StatusCode, body: Bytes, is_report: bool) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    let policy = match is_report {
        true => "sandbox allow-scripts allow-downloads; frame-ancestors 'none'".to_owned(),
        false => format!("{POLICY}; frame-ancestors 'none'"),
    };
    let headers = answer.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    let only_here = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(only_here, HeaderValue::from_static("same-origin"));
    answer
}

/// Names the content, and the form in which it is sent.
fn tag(content: &[u8], is_packed: bool) -> String {
    let digest = Sha256::digest(content);
    let hex: String = digest[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}{}\"", if is_packed { "-gzip" } else { "" })
}

fn names(header: &HeaderValue, tag: &str) -> bool {
    let Ok(text) = header.to_str() else { return false };
    text.split(',').map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == tag)
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let said = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = said.flat_map(|value| value.split(',')).map(str::trim);
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_refused = weight.replace(' ', "").trim_start_matches("q=").parse() == Ok(0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, kind)| kind) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("csv") => "text/csv; charset=utf-8",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}
