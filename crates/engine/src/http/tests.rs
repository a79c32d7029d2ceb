//! Exchanges with servers that are well, slow, down, rude or hostile: each ends, and says what to do.

use super::fake::{Fake, Reply};
use super::*;
use crate::clock::now;
use std::io::Write as _;
use std::marker::PhantomData;

fn options() -> Options {
    Options { deadline: Duration::from_secs(20), largest: 1 << 20, ..Options::default() }
}

fn client(fake: &Fake, options: Options) -> Client {
    Client::new(Address::parse(&fake.url).unwrap(), options).unwrap()
}

/// The words of the failure of one GET of JSON; its value as text where there is none.
fn got(client: &Client) -> String {
    let answer = client.get("/x", &[]);
    let value = answer.and_then(|it| it.json(PhantomData::<serde_json::Value>));
    match value {
        Ok(value) => value.to_string(),
        Err(failure) => failure.to_string().replace(&client.address().to_string(), "SERVER"),
    }
}

fn answered(reply: Reply) -> String {
    let fake = Fake::start(move |_| reply.clone());
    got(&client(&fake, options()))
}

fn with_credentials(text: &str) -> (tempfile::TempDir, Options) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.persist(&path).unwrap();
    let credentials = Credentials::read(&path).unwrap();
    (folder, Options { credentials, ..options() })
}

#[test]
fn an_answer_is_read_whole_in_chunks_or_packed() {
    assert_eq!(answered(Reply::json("{\"a\": 1}")), "{\"a\":1}");
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n4\r\n: 2}\r\n0\r\n\r\n";
    assert_eq!(answered(Reply::raw(chunked)), "{\"a\":2}");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(b"[3]").unwrap();
    let packed = packed.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        packed.len()
    );
    let bytes = [head.as_bytes(), &packed].concat();
    assert_eq!(answered(Reply { bytes, ..Reply::default() }), "[3]");
    // The type is of no weight where the content is right.
    assert_eq!(answered(Reply::of("200 OK", "text/html", "[4]")), "[4]");
}

#[test]
fn a_request_says_what_it_takes_and_who_asks_and_no_proxy_is_used() {
    let fake = Fake::start(|_| Reply::json("[]"));
    let (_folder, options) = with_credentials("X-Scope-OrgID: a|b\nAuthorization: Bearer abc.def");
    let client = client(&fake, options);
    assert!(!client.shows_secrets(), "this machine is not a network");
    client.get("/api/v1/query", &[("query", "up{a=\"b\"}")]).unwrap();
    let request = fake.requests().concat().to_lowercase();
    for part in [
        "get /api/v1/query?query=up%7ba%3d%22b%22%7d http/1.1\r\n",
        "accept: application/json\r\n",
        "accept-encoding: gzip\r\n",
        "authorization: bearer abc.def\r\n",
        "x-scope-orgid: a|b\r\n",
        "user-agent: fullclock/",
    ] {
        assert!(request.contains(part), "{part}: {request}");
    }
    assert!(client.agent.config().proxy().is_none());
}

#[test]
fn a_refusal_has_the_servers_words_and_what_to_do() {
    let json = |status: &str, error: &str| {
        answered(Reply::of(
            status,
            "application/json",
            format!("{{\"status\":\"error\",\"error\":\"{error}\"}}"),
        ))
    };
    assert_eq!(
        json("422 Unprocessable Entity", "too many\\nsamples"),
        "SERVER refuses the request (422: too many samples)"
    );
    assert_eq!(json("500 Internal Server Error", "x"), "SERVER failed (500: x)");
    let page = |status| answered(Reply::of(status, "text/html", "<html>\n<h1>No</h1>"));
    assert_eq!(
        page("401 Unauthorized"),
        "SERVER denies access (401): give a token with --token-file FILE"
    );
    assert!(page("403 Forbidden").contains("it may require a token"));
    assert_eq!(page("404 Not Found"), "SERVER has no /x (404)");
    assert_eq!(page("503 Unavailable"), "SERVER failed (503)");
    let plain = answered(Reply::of("429 Too Many", "text/plain", "\n  slow\tdown  \nsecond"));
    assert_eq!(plain, "SERVER refuses the request (429: slow down)");
    let long = answered(Reply::of("400 Bad", "text/plain", "é".repeat(1000)));
    assert!(long.len() < 1000 && long.ends_with("...)"), "{long}");
}

#[test]
fn a_secret_that_a_server_repeats_is_masked() {
    let fake = Fake::start(|head| Reply::of("401 No", "text/plain", head.replace("\r\n", " ")));
    let (_folder, options) = with_credentials("tok3n.of.mine");
    let said = got(&client(&fake, options));
    assert!(fake.requests()[0].contains("Bearer tok3n.of.mine"));
    assert!(!said.contains("tok3n") && said.contains("***"), "{said}");
    assert!(said.contains("it does not accept what --token-file gives"), "{said}");
    let fake = Fake::start(|head| Reply::of("200 OK", "text/plain", head.lines().last().unwrap()));
    let (_folder, options) = with_credentials("a: tok3n");
    let client = client(&fake, options);
    assert!(!format!("{:?}", client.options).contains("tok3n"));
    assert!(!got(&client).contains("tok3n"));
    // Longer than what is shown of an answer.
    let long = "tok3n".repeat(200);
    let fake = Fake::start(|head| Reply::of("401 No", "text/plain", head.replace("\r\n", " ")));
    let (_folder, options) = with_credentials(&long);
    let said = got(&self::client(&fake, options));
    assert!(!said.contains("tok3n") && said.contains("***"), "{said}");
}

#[test]
fn a_server_that_is_down_or_has_no_name_is_said_to_be() {
    let url = Fake::start(|_| Reply::json("")).url.clone();
    // It is dropped by now; the thread that accepts ends with the next connection.
    std::thread::sleep(Duration::from_millis(50));
    let client = Client::new(Address::parse(&url).unwrap(), options()).unwrap();
    let said = got(&client);
    assert!(said.starts_with("cannot connect to SERVER: "), "{said}");
    let nowhere = Address::parse("http://no-such-host.invalid:9090").unwrap();
    let said = got(&Client::new(nowhere, options()).unwrap());
    assert!(said.starts_with("cannot connect to SERVER: "), "{said}");
    assert!(
        said.to_lowercase().contains("address") && said.to_lowercase().contains("name"),
        "{said}"
    );
}

#[test]
fn nothing_lasts_longer_than_the_deadline() {
    let deadline = Duration::from_millis(400);
    let slow = |piece, hangs| {
        let pause = Duration::from_millis(60);
        Reply { piece, pause, hangs, ..Reply::json("{\"a\": \"0123456789\"}") }
    };
    let silent = Reply { hangs: true, ..Reply::default() };
    let begun = Reply { hangs: true, ..Reply::raw("HTTP/1.1 200 OK\r\n") };
    let open =
        Reply { hangs: true, ..Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1,") };
    for (reply, said) in [
        (slow(4, false), "answer"),
        (silent, "answer"),
        (begun, "answer"),
        (open, "complete its answer"),
        (Reply { piece: 1, ..slow(1, true) }, "answer"),
    ] {
        let fake = Fake::start(move |_| reply.clone());
        let began = now();
        let words = got(&client(&fake, Options { deadline, ..options() }));
        assert!(began.elapsed() < deadline * 5, "{words}");
        let expected = format!("did not {said} within 0.4 s");
        assert!(words.contains(&expected), "{expected}: {words}");
    }
}

#[test]
fn an_answer_has_a_bound_also_when_it_is_packed() {
    let large = format!("[\"{}\"]", " ".repeat(2 << 20));
    assert_eq!(answered(Reply::json(&large)), "the answer of SERVER is larger than 1 MiB");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(large.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 10_000);
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".as_bytes();
    let reply = Reply { bytes: [head, &packed].concat(), ..Reply::default() };
    assert_eq!(answered(reply), "the answer of SERVER is larger than 1 MiB");
    let endless = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    assert!(answered(Reply::raw(&endless)).starts_with("the answer of SERVER is broken: "));
}

#[test]
fn what_is_broken_or_no_json_is_said_to_be() {
    for (text, said) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{\"a\":", "broken: it ends early"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n", "is broken: "),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1,2", "broken: it ends early"),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nno gzip", "is broken: "),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "is broken: "),
        ("", "is broken: the connection was closed without one"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[}", "the expected JSON"),
        (
            "HTTP/1.1 200 OK\r\n\r\n<html>sign in</html>",
            "the answer begins with \"<html>sign in</html>\"",
        ),
        ("HTTP/1.1 200 OK\r\n\r\n", "broken: it ends early"),
    ] {
        let words = answered(Reply::raw(text));
        assert!(words.contains(said), "{text}: {words}");
    }
}

#[test]
fn only_redirections_to_the_same_server_are_followed_and_not_for_ever() {
    let fake = Fake::start(|head| match head.split(' ').nth(1) {
        Some("/x") => {
            Reply::raw("HTTP/1.1 301 Moved\r\nLocation: /prometheus/x\r\nContent-Length: 0\r\n\r\n")
        }
        _ => Reply::json("[5]"),
    });
    assert_eq!(got(&client(&fake, options())), "[5]");
    let (_folder, options_with) = with_credentials("tok3n");
    let elsewhere = Fake::start(|_| Reply::json("[6]"));
    let location = elsewhere.url.clone();
    let fake = Fake::start(move |_| {
        Reply::raw(&format!(
            "HTTP/1.1 302 Found\r\nLocation: {location}/y\r\nContent-Length: 0\r\n\r\n"
        ))
    });
    let said = got(&client(&fake, options_with));
    assert!(
        said.contains("sends on to http://") && said.contains("/y, which is not followed"),
        "{said}"
    );
    assert_eq!(elsewhere.requests().len(), 0);
    let fake =
        Fake::start(|_| Reply::raw("HTTP/1.1 308 x\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"));
    assert!(got(&client(&fake, options())).contains("sends on to one place after the other"));
    assert_eq!(fake.requests().len(), MOST_REDIRECTS);
}

/// Each answer comes in time, and all of them together do not.
#[test]
fn redirects_and_several_questions_share_one_deadline() {
    let pause = Duration::from_millis(700);
    let fake = Fake::start(move |head| match head.split(' ').nth(1) {
        Some("/x") => {
            let to = "HTTP/1.1 301 Moved\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n";
            Reply { pause, ..Reply::raw(to) }
        }
        _ => Reply { pause, ..Reply::json("[5]") },
    });
    let deadline = Duration::from_millis(1_200);
    let client = client(&fake, Options { deadline, ..options() });
    assert!(got(&client).contains("within 1.2 s"), "{}", got(&client));
    let until = client.until();
    let ask = || client.get_until(until, "/z", &[])?.json(PhantomData::<serde_json::Value>);
    assert!(ask().is_ok());
    assert!(ask().unwrap_err().to_string().contains("within 1.2 s"));
}

#[test]
fn a_certificate_is_trusted_by_its_authority_or_by_its_fingerprint_alone() {
    let fake = Fake::encrypted("127.0.0.1", |_| Reply::json("[7]"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    file.write_all(fake.certificate.as_bytes()).unwrap();
    file.persist(&path).unwrap();
    let trusting = |trust| got(&client(&fake, Options { trust, ..options() }));
    assert_eq!(trusting(Trust::Authorities(path.clone())), "[7]");
    let wrong = Fingerprint::parse(&"00".repeat(32)).unwrap();
    let said = trusting(Trust::Pinned(wrong));
    let found = said.split("its fingerprint is ").nth(1).unwrap_or_else(|| panic!("{said}"));
    let right = Fingerprint::parse(found.split(';').next().unwrap()).unwrap();
    assert_eq!(trusting(Trust::Pinned(right)), "[7]");
    // Of another name, an authority does not help, and a fingerprint does.
    let other = Fake::encrypted("db7", |_| Reply::json("[8]"));
    let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    file.write_all(other.certificate.as_bytes()).unwrap();
    file.persist(&path).unwrap();
    let said = got(&client(&other, Options { trust: Trust::Authorities(path), ..options() }));
    assert!(said.contains("is not trusted: it is for another name"), "{said}");
}

#[test]
fn a_certificate_of_nobody_says_how_to_trust_it_and_no_request_is_sent() {
    let fake = Fake::encrypted("127.0.0.1", |_| Reply::json("[7]"));
    let other = Fake::encrypted("127.0.0.1", |_| Reply::json("[]"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    file.write_all(other.certificate.as_bytes()).unwrap();
    file.persist(&path).unwrap();
    let said = got(&client(&fake, Options { trust: Trust::Authorities(path), ..options() }));
    assert!(said.contains("is not trusted: ") && said.contains("--ca FILE"), "{said}");
    assert_eq!(fake.requests().len(), 0);
    let plain = Fake::start(|_| Reply::json("[]"));
    let address = Address::parse(&plain.url.replace("http:", "https:")).unwrap();
    let pinned = Trust::Pinned(Fingerprint::parse(&"00".repeat(32)).unwrap());
    let deadline = Duration::from_millis(500);
    let client = Client::new(address, Options { trust: pinned, deadline, ..options() }).unwrap();
    // A server without TLS waits for the rest of a request, or answers with something else.
    let said = got(&client);
    assert!(said.contains("does not speak TLS") || said.contains("did not answer"), "{said}");
}

#[test]
fn authorities_that_cannot_be_read_are_named() {
    let address = || Address::parse("https://prom").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    let said = |path: &std::path::Path| {
        let trust = Trust::Authorities(path.to_owned());
        let client = Client::new(address(), Options { trust, ..options() });
        client.err().map(|it| it.to_string()).unwrap_or_default()
    };
    assert!(said(&path).contains("there is no such file"));
    tempfile::NamedTempFile::new_in(folder.path()).unwrap().persist(&path).unwrap();
    assert!(said(&path).contains("it holds no certificate"));
}
