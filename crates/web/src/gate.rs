//! Which requests are answered, and what a browser may do with a page of ours.

use super::accept::{Offer, preferred};
use super::answer::Refusal;
use super::client::Client;
use super::credentials::Credentials;
use super::pages;
use super::peers::Place;
use anyhow::Result;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, REFERRER_POLICY,
    SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;

/// Which requests the server answers.
pub(crate) struct Gate {
    /// The names that this machine may be called by, with its addresses and `localhost`.
    names: Vec<String>,
    /// What a request has to show; `None` where all are answered.
    credentials: Option<Credentials>,
}

/// Why a request is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Admitted {
    /// This server has no token.
    Open,
    /// It is for a file that the page to sign in is made of.
    Public,
    /// It shows the token, or the cookie that was given for it.
    Proven,
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

/// What a program may use to show the token. A browser asks its user for a name and a password then; any name will do.
const BASIC: HeaderValue = HeaderValue::from_static("Basic realm=\"fullclock\", charset=\"UTF-8\"");

/// The same, which browsers do not ask for: pages sign in by themselves.
const BEARER: HeaderValue = HeaderValue::from_static("Bearer realm=\"fullclock\"");

/// What a request without the token can get: the reason, or a page where a person can enter it.
const REASON_OR_PAGE: [Offer; 2] = [
    Offer { media_type: "application/json", version: None },
    Offer { media_type: "text/html", version: None },
];

impl Gate {
    /// A gate for requests that call this machine by an address, `localhost` or one of these names, and show the token if there
    /// is one.
    pub(crate) fn new(names: &[String], token: Option<String>) -> Gate {
        let names = names.iter().map(|it| it.to_ascii_lowercase()).collect();
        Gate { names, credentials: token.map(Credentials::new) }
    }

    /// What a browser that has shown the token gets; `None` where there is no token.
    ///
    /// Errors: there is no random number for its session.
    pub(super) fn cookie(&self, headers: &HeaderMap, client: &Client) -> Result<Option<String>> {
        self.credentials.as_ref().map(|it| it.cookie(headers, client)).transpose()
    }

    fn admit(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        client: &Client,
    ) -> Result<Admitted, Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|it| it.to_str().ok());
        let (Some(host), None) = (host, hosts.next()) else {
            let why = "a request names the host it is for, once";
            return Err(Refusal::of(StatusCode::BAD_REQUEST, why));
        };
        let named = [Some(host), uri.authority().map(Authority::as_str)];
        for name in named.into_iter().flatten() {
            if !self.is_ours(name) {
                let why = format!(
                    "{name} is not a name of this server (protection against DNS rebinding); \
                     `fullclock serve --host-name NAME` allows one"
                );
                return Err(Refusal::of(StatusCode::MISDIRECTED_REQUEST, why));
            }
        }
        let Some(credentials) = &self.credentials else { return Ok(Admitted::Open) };
        let only_reads = matches!(*method, Method::GET | Method::HEAD);
        if credentials.has_token(headers) || (only_reads && credentials.has_cookie(headers, client))
        {
            return Ok(Admitted::Proven);
        }
        if only_reads && pages::is_public(uri.path()) {
            return Ok(Admitted::Public);
        }
        let why = "the server's token is required: as `Authorization: Bearer TOKEN`, or as the password of any user name";
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

/// Lets a request through or not, and puts what every answer has on what it gets. In front of a token, a connection whose request
/// did not show it is closed after the answer.
pub(super) async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let client = request.extensions().get::<Arc<Client>>().map_or_else(Arc::default, Arc::clone);
    let admitted = gate.admit(request.method(), request.uri(), request.headers(), &client);
    let is_kept = matches!(admitted, Ok(Admitted::Open | Admitted::Proven));
    if matches!(admitted, Ok(Admitted::Proven))
        && let Some(place) = request.extensions().get::<Arc<Place>>()
    {
        place.prove();
    }
    let mut response = match admitted {
        Ok(_) => next.run(request).await,
        Err(refused) => refuse(refused, request.headers()),
    };
    if !is_kept {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

/// The reason, or where the token is missing and the request is a person's, a page to enter it.
fn refuse(refused: Refusal, headers: &HeaderMap) -> Response {
    if refused.status() != StatusCode::UNAUTHORIZED {
        return refused.into_response();
    }
    let wants_page = preferred(headers, &REASON_OR_PAGE) == Some(1);
    let is_of_page = headers.contains_key("sec-fetch-mode") || headers.contains_key(COOKIE);
    let mut response = if wants_page { pages::sign_in() } else { refused.into_response() };
    let challenges = response.headers_mut();
    if !wants_page && !is_of_page {
        challenges.append(WWW_AUTHENTICATE, BASIC);
    }
    challenges.append(WWW_AUTHENTICATE, BEARER);
    response
}

/// `/api/v1/session`: a cookie for a browser that has shown the token.
pub(super) fn session(
    gate: &Gate,
    headers: &HeaderMap,
    client: &Client,
) -> Result<Response, Refusal> {
    let cookie = gate.cookie(headers, client).map_err(Refusal::failed)?;
    let cookie =
        cookie.ok_or_else(|| Refusal::absent("this server has no token to sign in with"))?;
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::AUTHORIZATION;

    fn status(gate: &Gate, headers: &[(HeaderName, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        let admitted = gate.admit(&Method::GET, &Uri::from_static("/"), &map, &Client::default());
        admitted.map_or_else(|it| it.into_response().status().as_u16(), |_| 200)
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
        let refused = gate
            .admit(&Method::GET, &absolute, &map, &Client::default())
            .err()
            .map(|it| it.into_response().status().as_u16());
        assert_eq!(refused, Some(421));
    }

    #[test]
    fn a_wrong_name_is_refused_before_the_token_is_looked_at() {
        let gate = Gate::new(&[], Some("secret".to_owned()));
        let (right, wrong) = ((AUTHORIZATION, "Bearer secret"), (AUTHORIZATION, "Bearer wrong"));
        assert_eq!(status(&gate, &[(HOST, "localhost"), right.clone()]), 200);
        assert_eq!(status(&gate, &[(HOST, "localhost"), wrong]), 401);
        assert_eq!(status(&gate, &[(HOST, "localhost")]), 401);
        assert_eq!(status(&gate, &[(HOST, "evil"), right]), 421);
    }

    #[test]
    fn a_cookie_reads_and_only_the_token_signs_in() {
        let gate = Gate::new(&[], Some("secret".to_owned()));
        let mut map = HeaderMap::new();
        map.insert(HOST, HeaderValue::from_static("localhost:7077"));
        let client = Client::default();
        let cookie = gate.cookie(&map, &client).unwrap().unwrap();
        map.insert(COOKIE, cookie.split(';').next().unwrap().parse().unwrap());
        let status = |method: Method| {
            let admitted = gate.admit(&method, &Uri::from_static("/api/v1/session"), &map, &client);
            admitted.map_or_else(|it| it.status().as_u16(), |_| 200)
        };
        assert_eq!((status(Method::GET), status(Method::POST)), (200, 401));
    }

    #[test]
    fn without_the_token_a_browser_gets_a_page_to_sign_in_and_a_program_a_challenge() {
        let refused = |headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            let response = refuse(Refusal::of(StatusCode::UNAUTHORIZED, "no token"), &map);
            let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
            let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
            let schemes: Vec<String> = challenges
                .map(|it| it.to_str().unwrap().split(' ').next().unwrap().to_owned())
                .collect();
            format!("{} {} {}", response.status().as_u16(), kind, schemes.join(","))
        };
        let page = "401 text/html; charset=utf-8 Bearer";
        for (headers, expected) in [
            (&[][..], "401 application/json Basic,Bearer"),
            (&[("accept", "*/*")], "401 application/json Basic,Bearer"),
            (&[("accept", "text/html,application/xml;q=0.9,*/*;q=0.8")], page),
            (
                &[("accept", "text/html;q=0.2,application/json;q=0.3")],
                "401 application/json Basic,Bearer",
            ),
            (&[("accept", "text/html;q=0,*/*")], "401 application/json Basic,Bearer"),
            (&[("sec-fetch-mode", "cors")], "401 application/json Bearer"),
            (&[("cookie", "fullclock-7077=old")], "401 application/json Bearer"),
        ] {
            assert_eq!(refused(headers), expected, "{headers:?}");
        }
    }
}
