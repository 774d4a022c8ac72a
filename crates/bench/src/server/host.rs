//! Who asks: a page of somebody else's must not read results through its reader's browser.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderValue};

/// Whether the name by which this server was called cannot be one that an attacker has in the public
/// DNS and has pointed here (DNS rebinding): an address, a name without a dot, or one of this
/// network's.
pub(super) fn is_ours(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next().map(HeaderValue::to_str), hosts.next()) {
        (Some(Ok(host)), None) => is_local(host),
        _ => false,
    }
}

fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => {
            return rest.split_once(']').is_some_and(|(ip, _)| ip.parse::<IpAddr>().is_ok());
        }
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let is_near = !name.contains('.') || name.ends_with(".local") || name.ends_with(".localhost");
    !name.is_empty() && is_plain && (name.parse::<IpAddr>().is_ok() || is_near)
}

/// Whether a browser says that another site's page wants something, other than to go here.
pub(super) fn is_for_another_site(headers: &HeaderMap) -> bool {
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|said| said == value);
    says("sec-fetch-site", "cross-site") && !says("sec-fetch-mode", "navigate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_public_dns_is_not_ours() {
        for ours in
            ["localhost:8080", "127.0.0.1", "[::1]:80", "192.168.1.7:1", "lab", "lab.local."]
        {
            assert!(is_local(ours), "{ours}");
        }
        for other in [
            "evil.example",
            "evil.example:8080",
            "",
            ":80",
            "[evil]:1",
            "127.0.0.1.evil.example",
            "a b",
        ] {
            assert!(!is_local(other), "{other}");
        }
        let mut two = HeaderMap::new();
        assert!(!is_ours(&two), "nobody says whom they ask");
        two.append(HOST, HeaderValue::from_static("localhost"));
        assert!(is_ours(&two));
        two.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!is_ours(&two));
    }
}
