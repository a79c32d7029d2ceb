//! Who is let in, and what a browser may do with a page of ours.

use super::refusal::Refusal;
use crate::secret::are_same;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, REFERRER_POLICY,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::net::IpAddr;
use std::sync::Arc;

/// Whom the server answers.
pub(crate) struct Gate {
    /// The names that this machine may be called by, besides its addresses and `localhost`.
    names: Vec<String>,
    /// What everybody has to know; nobody has to know anything without.
    token: Option<String>,
}

/// Everything comes from here, nothing runs but our scripts, and no page of others shows ours.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// What every answer has, unless it says otherwise itself.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// What a browser asks its user for; any name will do.
const CHALLENGE: HeaderValue =
    HeaderValue::from_static("Basic realm=\"fullclock\", charset=\"UTF-8\"");

impl Gate {
    /// A gate that lets in who calls this machine by an address, `localhost` or one of these names, and knows the token if there
    /// is one.
    pub(crate) fn new(names: &[String], token: Option<String>) -> Gate {
        Gate { names: names.iter().map(|it| it.to_ascii_lowercase()).collect(), token }
    }

    fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|it| it.to_str().ok());
        let (Some(host), None) = (host, hosts.next()) else {
            let why = "a request names the host it is for, once";
            return Err(Refusal::of(StatusCode::BAD_REQUEST, why));
        };
        let asked = [Some(host), uri.authority().map(Authority::as_str)];
        for name in asked.into_iter().flatten() {
            if !self.is_ours(name) {
                let why = format!(
                    "{name} is no name of this server, which a page of somebody else could give it; \
                     `fullclock serve --host-name NAME` allows one"
                );
                return Err(Refusal::of(StatusCode::MISDIRECTED_REQUEST, why));
            }
        }
        let Some(token) = &self.token else { return Ok(()) };
        if headers.get(AUTHORIZATION).and_then(given).is_some_and(|it| are_same(&it, token)) {
            return Ok(());
        }
        let why = "the server's token is the password; any name will do";
        Err(Refusal::of(StatusCode::UNAUTHORIZED, why))
    }

    /// Whether a host, with its port, is this machine. No name server stands between an address and it, so that nobody can make
    /// one mean another machine meanwhile (DNS rebinding: Jackson et al., "Protecting Browsers from DNS Rebinding Attacks", 2007).
    fn is_ours(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        if let Some((address, port)) = host.strip_prefix('[').and_then(|it| it.split_once(']')) {
            let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
            return is_port && address.parse::<IpAddr>().is_ok();
        }
        let name = match host.split_once(':') {
            Some((name, port)) if is_port(port) => name,
            Some(_) => return false,
            None => &*host,
        };
        name == "localhost"
            || name.parse::<IpAddr>().is_ok()
            || self.names.iter().any(|it| it == name)
    }
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

/// The token that a request shows: as a bearer of it (RFC 6750), or as the password of any user (RFC 7617).
fn given(header: &HeaderValue) -> Option<String> {
    let (scheme, shown) = header.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(shown.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(shown.trim()).ok()?).ok()?;
    decoded.split_once(':').map(|(_, password)| password.to_owned())
}

/// Lets a request through or not, and puts what every answer has on what it gets.
pub(super) async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let mut response = match gate.admit(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    }
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(gate: &Gate, headers: &[(HeaderName, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        let admitted = gate.admit(&Uri::from_static("/"), &map);
        admitted.map_or_else(|it| it.into_response().status().as_u16(), |()| 200)
    }

    #[test]
    fn a_host_is_this_machine_by_address_and_by_the_names_it_was_given() {
        let gate = Gate::new(&["DB1.example".to_owned()], None);
        for host in [
            "127.0.0.1:7077",
            "localhost",
            "LOCALHOST:1",
            "[::1]:7077",
            "[::1]",
            "10.0.0.7",
            "db1.example:80",
        ] {
            assert_eq!(status(&gate, &[(HOST, host)]), 200, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "db1.example.evil:7077",
            "[evil]:1",
            "localhost:x",
            "a:b:c",
            "",
            "127.0.0.1.evil.example",
        ] {
            assert_eq!(status(&gate, &[(HOST, host)]), 421, "{host}");
        }
        assert_eq!(status(&gate, &[]), 400);
        assert_eq!(status(&gate, &[(HOST, "localhost"), (HOST, "evil.example")]), 400);
        let absolute = Uri::from_static("http://evil.example/metrics");
        let mut map = HeaderMap::new();
        map.insert(HOST, HeaderValue::from_static("localhost"));
        let refused =
            gate.admit(&absolute, &map).err().map(|it| it.into_response().status().as_u16());
        assert_eq!(refused, Some(421));
    }

    #[test]
    fn the_token_opens_as_a_bearers_or_a_password_and_nothing_else_does() {
        let gate = Gate::new(&[], Some("secret".to_owned()));
        let with = |authorization: &str| {
            status(&gate, &[(HOST, "localhost"), (AUTHORIZATION, authorization)])
        };
        // "db:secret", ":secret" and "secret" in base64.
        for right in ["Bearer secret", "bearer secret", "Basic ZGI6c2VjcmV0", "basic OnNlY3JldA=="]
        {
            assert_eq!(with(right), 200, "{right}");
        }
        for wrong in
            ["Bearer secre", "Bearer", "Basic secret", "Basic c2VjcmV0", "Digest secret", ""]
        {
            assert_eq!(with(wrong), 401, "{wrong}");
        }
        assert_eq!(status(&gate, &[(HOST, "localhost")]), 401);
        // Nobody learns from the answer whether the name or the token was wrong.
        assert_eq!(status(&gate, &[(HOST, "evil"), (AUTHORIZATION, "Bearer secret")]), 421);
    }
}
