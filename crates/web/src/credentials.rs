//! How a request shows that it may be answered: by the token, or by a browser's cookie.
//!
//! The cookie is a random number of this process, not the token: a script cannot read it (HttpOnly), a page of another site
//! does not send it (SameSite=Strict), and it is worth nothing after the server has ended.
//!
//! Browsers send cookies to every port of a host (RFC 6265, 8.5). A page that another local user serves there makes the browser
//! send it here as well, which the browser's word on the origin of a request (Fetch Metadata, Origin) gives away. The server of
//! that page gets the cookie, too, and can send it here with any headers: a session therefore belongs to the local user whose
//! browser began it. Between machines, where no user is known, nothing but the token's transport protects it.

use super::client::Client;
use anyhow::Result;
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::secret::{are_same, random};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What opens this server.
pub(super) struct Credentials {
    token: String,
    /// What browsers have after they have shown the token once, by the local user whose they are, if it is known.
    sessions: Mutex<Vec<(Option<u32>, String)>>,
}

impl Credentials {
    /// Those of a server with this token.
    pub(super) fn new(token: String) -> Credentials {
        Credentials { token, sessions: Mutex::default() }
    }

    /// Whether a request shows the token.
    pub(super) fn has_token(&self, headers: &HeaderMap) -> bool {
        headers.get(AUTHORIZATION).and_then(shown).is_some_and(|it| are_same(&it, &self.token))
    }

    /// Whether a request has the cookie of its client, and comes from a page of this server or from the browser's user.
    pub(super) fn has_cookie(&self, headers: &HeaderMap, client: &Client) -> bool {
        let name = cookie_name(headers);
        let lines = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut pairs =
            lines.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
        let sessions = self.sessions();
        // Whose client it is is looked up for a session that there is only.
        let opens = |value: &str| {
            let found = sessions.iter().find(|(_, it)| are_same(value, it));
            found.is_some_and(|(owner, _)| client.may_be(*owner))
        };
        is_of_ours(headers) && pairs.any(|(own, value)| own == name && opens(value))
    }

    /// The value of `Set-Cookie` (RFC 6265). It is not `Secure`, as nothing is encrypted here.
    ///
    /// Errors: the kernel gives no random number.
    pub(super) fn cookie(&self, headers: &HeaderMap, client: &Client) -> Result<String> {
        let (name, user) = (cookie_name(headers), client.user());
        let mut sessions = self.sessions();
        let known = sessions.iter().find(|(owner, _)| *owner == user);
        let session = match known {
            Some((_, session)) => session.clone(),
            None => {
                let session = random()?;
                sessions.push((user, session.clone()));
                session
            }
        };
        Ok(format!("{name}={session}; Path=/; HttpOnly; SameSite=Strict"))
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<(Option<u32>, String)>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

/// The cookie's name, which tells servers at different ports of a host from each other, as tunnels make them.
fn cookie_name(headers: &HeaderMap) -> String {
    let port = host(headers).and_then(|it| it.rsplit_once(':')).map(|it| it.1);
    let port = port.and_then(|it| it.parse().ok()).unwrap_or(80_u16);
    format!("fullclock-{port}")
}

/// Whether what a browser says of a request's origin allows it: the same origin, or the user's own hand
/// (<https://www.w3.org/TR/fetch-metadata/>, Sec-Fetch-Site). Browsers leave that out where a page came by plain HTTP from
/// another machine; `SameSite=Strict` is what is left then.
fn is_of_ours(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    let is_site_ours = site.is_none_or(|it| it == "same-origin" || it == "none");
    let is_origin_ours = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.zip(host(headers)).is_some_and(|(own, host)| own.eq_ignore_ascii_case(host))
    };
    is_site_ours && headers.get(ORIGIN).is_none_or(is_origin_ours)
}

/// The token that a request shows: as a bearer of it (RFC 6750), or as the password of any user (RFC 7617).
fn shown(header: &HeaderValue) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in given {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    fn credentials() -> Credentials {
        Credentials::new("secret".to_owned())
    }

    #[test]
    fn the_token_opens_as_a_bearers_or_a_password_and_nothing_else_does() {
        let with = |it: &str| credentials().has_token(&headers(&[("authorization", it)]));
        // "db:secret", ":secret" and "secret" in base64.
        for right in ["Bearer secret", "bearer secret", "Basic ZGI6c2VjcmV0", "basic OnNlY3JldA=="]
        {
            assert!(with(right), "{right}");
        }
        for wrong in
            ["Bearer secre", "Bearer", "Basic secret", "Basic c2VjcmV0", "Digest secret", ""]
        {
            assert!(!with(wrong), "{wrong}");
        }
        assert!(!credentials().has_token(&headers(&[])));
    }

    /// The name and value of the cookie that a browser gets at this host.
    fn pair(credentials: &Credentials, host: &str) -> String {
        let cookie = credentials.cookie(&headers(&[("host", host)]), &Client::default()).unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    #[test]
    fn a_cookie_is_for_one_port_for_no_script_and_is_not_the_token() {
        let own = credentials();
        let cookie =
            own.cookie(&headers(&[("host", "127.0.0.1:7077")]), &Client::default()).unwrap();
        assert!(cookie.starts_with("fullclock-7077="), "{cookie}");
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        assert!(!cookie.contains("secret"), "{cookie}");
        assert!(pair(&own, "[::1]").starts_with("fullclock-80="));
        assert!(pair(&own, "[::1]:81").starts_with("fullclock-81="));
        assert_ne!(pair(&own, "a:1"), pair(&credentials(), "a:1"), "each server has its own");
    }

    #[test]
    fn a_cookie_opens_for_the_servers_own_pages_and_the_users_hand_alone() {
        const AT: &str = "127.0.0.1:7077";
        let own = credentials();
        let cookie = pair(&own, AT);
        let opens = |more: &[(&'static str, &str)]| {
            let map = headers(&[&[("host", AT), ("cookie", &*cookie)], more].concat());
            own.has_cookie(&map, &Client::default())
        };
        for (more, expected) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "")], false),
            (&[("origin", "http://127.0.0.1:7077")], true),
            (&[("origin", "http://127.0.0.1:8000")], false),
            (&[("origin", "http://evil.example")], false),
            (&[("origin", "null")], false),
            (&[("sec-fetch-site", "same-origin"), ("origin", "http://127.0.0.1:8000")], false),
        ] {
            assert_eq!(opens(more), expected, "{more:?}");
        }
        let session = cookie.split_once('=').unwrap().1;
        for (cookies, expected) in [
            (format!("a=b; {cookie}; c=d"), true),
            (format!("fullclock-7078={session}"), false),
            (format!("{cookie}0"), false),
            ("fullclock-7077=".to_owned(), false),
            ("fullclock-7077=secret".to_owned(), false),
            (String::new(), false),
        ] {
            let map = headers(&[("host", AT), ("cookie", &*cookies)]);
            assert_eq!(own.has_cookie(&map, &Client::default()), expected, "{cookies}");
        }
    }

    #[test]
    fn a_session_is_of_the_local_user_who_began_it() {
        const AT: &str = "127.0.0.1:7077";
        let own = credentials();
        let [alice, mallory, unread] =
            [Some(1000), Some(1001), None].map(|user| Client::with_user(user, "127.0.0.1:40000"));
        let remote = Client::with_user(None, "10.0.0.7:40000");
        let begun = |client: &Client| {
            let cookie = own.cookie(&headers(&[("host", AT)]), client).unwrap();
            cookie.split(';').next().unwrap().to_owned()
        };
        let opens = |cookie: &str, client: &Client| {
            own.has_cookie(&headers(&[("host", AT), ("cookie", cookie)]), client)
        };
        let of_alice = begun(&alice);
        assert_eq!(of_alice, begun(&alice), "her browsers share it");
        assert_ne!(of_alice, begun(&mallory));
        let of_remote = begun(&remote);
        let clients = [&alice, &mallory, &unread, &remote];
        assert_eq!(clients.map(|it| opens(&of_alice, it)), [true, false, true, false]);
        assert_eq!(clients.map(|it| opens(&of_remote, it)), [false, false, true, true]);
    }
}
