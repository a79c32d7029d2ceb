//! What it answers, whom it refuses, and what those who come back have missed.

use crate::serve::server::{Event, Server, race};
use crate::support::{is_of, printed, refusal, without_began};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

#[test]
fn every_page_comes_from_here_and_may_do_nothing_else() {
    let server = Server::start(&[]);
    for page in ["/", "/race", "/audit", "/history", "/result"] {
        let answer = server.get(page, "");
        assert_eq!(answer.status, 200, "{page}");
        assert!(answer.head.contains("default-src 'none'; script-src 'self'"), "{}", answer.head);
        for (mark, end) in [("src=\"", '"'), ("href=\"", '"')] {
            for named in answer.body.split(mark).skip(1).map(|it| it.split(end).next().unwrap()) {
                if named.starts_with('#') {
                    continue;
                }
                if named.starts_with("data:") {
                    continue;
                }
                assert!(named.starts_with('/'), "{page} names {named}");
                let status = server.get(named, "").status;
                assert_eq!(status, 200, "{page} names {named}");
            }
        }
        assert!(!answer.body.contains("style=") && !answer.body.contains("<style"), "{page}");
        let tag = answer.head.split("etag: ").nth(1).unwrap().lines().next().unwrap();
        assert_eq!(server.get(page, &format!("If-None-Match: {tag}\r\n")).status, 304);
        let compressed = server.get(page, "Accept-Encoding: gzip\r\n");
        assert!(compressed.head.contains("content-encoding: gzip"), "{}", compressed.head);
    }
}

#[test]
fn a_sample_and_an_audit_are_what_the_command_line_says_and_metrics_end_as_they_should() {
    let server = Server::start(&[]);
    let first = server.events("/api/v1/now", None).next();
    assert_eq!(first.name, "reading");
    is_of(include_str!("../../../../../schemas/sample-2.json"), &server.json("/api/v1/sample"));
    let audit = server.json("/api/v1/audit?again=true");
    is_of(include_str!("../../../../../schemas/audit-2.json"), &audit["audit"]);
    let metrics = server.get("/metrics", "");
    assert!(metrics.head.contains("text/plain; version=0.0.4"), "{}", metrics.head);
    let idle = "\nfullclock_ledger_cpu_seconds_total{line=\"idle\"} ";
    assert!(metrics.body.contains(idle), "{}", metrics.body);
    let open = server.get("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
    assert!(open.head.contains("application/openmetrics-text") && open.body.ends_with("# EOF\n"));
    let text = server.get("/metrics", "Accept: application/openmetrics-text;q=0, text/plain\r\n");
    assert!(text.head.contains("text/plain; version=0.0.4"), "{}", text.head);
    assert_eq!(server.get("/metrics", "Accept: */*;q=0\r\n").status, 406);
    let machine = server.json("/api/v1/machine");
    assert_eq!((&machine["schema_version"], &machine["interval_s"]), (&json!(2), &json!(0.1)));
}

#[test]
fn requests_that_make_no_sense_are_told_so() {
    let server = Server::start(&[]);
    for (path, status) in [
        ("/nothing", 404),
        ("/api/v1/results/none", 404),
        ("/api/v1/results/..%2f..%2fetc%2fpasswd", 404),
        ("/api/v1/results/none/intervals", 404),
        ("/api/v1/results/none/document", 404),
        ("/explain/no-such-check", 404),
        ("/api/v1/studies/none/report.html", 404),
        ("/api/v1/results?limit=many", 400),
        ("/api/v1/compare", 400),
        ("/api/v1/compare?a=none", 404),
    ] {
        let answer = server.get(path, "");
        assert_eq!(answer.status, status, "{path}");
        let said: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(!said["error"].as_str().unwrap().is_empty(), "{path}");
    }
    let close = "Connection: close\r\n\r\n";
    let long = "x".repeat(100_000);
    for (said, statuses) in [
        (format!("POST /metrics HTTP/1.1\r\nHost: localhost\r\n{close}"), &[405][..]),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n{close}"), &[431]),
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n{close}"), &[414, 431]),
        (format!("GET / HTTP/1.1\r\nHost: evil.example\r\n{close}"), &[421]),
        (format!("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n{close}"), &[421]),
        (format!("GET / HTTP/1.1\r\n{close}"), &[400]),
        (format!("\0\0 / HTTP/1.1\r\n{close}"), &[400]),
        (format!("GET / HTTP/9\r\n{close}"), &[400]),
    ] {
        let answer = server.answer(said.as_bytes());
        assert!(statuses.contains(&answer.status), "{said:.60}: {answer:?}");
    }
    assert_eq!(server.get("/", "").status, 200);
}

#[test]
fn beyond_this_machine_nobody_comes_in_without_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("serve.token");
    let results = tempfile::tempdir().unwrap();
    let server = Server::over(results, "0.0.0.0:0", &["--token-file", file.to_str().unwrap()]);
    let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    for path in ["/", "/metrics", "/api/v1/now", "/assets/page.js", "/nothing"] {
        let answer = server.get(path, "");
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.head.contains("www-authenticate: basic"), "{}", answer.head);
        assert_eq!(server.get(path, "Authorization: Bearer wrong\r\n").status, 401, "{path}");
    }
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(server.get("/metrics", &bearer).status, 200);
}

#[test]
fn who_comes_back_goes_on_where_it_was_and_a_new_server_says_that_something_is_missing() {
    let server = Server::start(&[]);
    let mut events = server.events("/api/v1/now", None);
    let [first, second] = [(); 2].map(|()| events.next());
    let third = events.next();
    let again = server.events("/api/v1/now", second.id.as_deref()).next();
    assert_eq!((again.id, again.data), (third.id, third.data));
    let (results, code) = server.stop();
    assert_eq!(code, Some(0));
    let server = Server::over(results, "127.0.0.1:0", &[]);
    let mut events = server.events("/api/v1/now", first.id.as_deref());
    let gap = events.next();
    assert_eq!((&*gap.name, &gap.data["missed"]), ("gap", &Value::Null));
    assert_eq!(events.next().name, "reading");
}

#[test]
fn a_race_is_seen_while_it_runs_and_a_server_that_is_killed_costs_no_interval() {
    let server = Server::start(&[]);
    let mut racing = race(server.results.path(), "4s");
    let id = server.running();
    let path = format!("/api/v1/results/{id}/intervals");
    let mut events = server.events(&path, None);
    let about = events.next();
    assert_eq!((&*about.name, &about.data["nodes"]), ("race", &json!(["a", "b"])));
    let columns = about.data["columns"].as_array().unwrap().len();
    let mut seen: Vec<Event> = (0..10).map(|_| events.next()).collect();
    assert!(seen.iter().all(|it| it.data["values"].as_array().unwrap().len() == columns));
    let last = seen.last().unwrap().id.clone();
    let (results, _) = server.stop();
    let server = Server::over(results, "127.0.0.1:0", &[]);
    let mut events = server.events(&path, last.as_deref());
    assert_eq!(events.next().name, "race");
    let end = loop {
        match events.next() {
            interval if interval.name == "interval" => seen.push(interval),
            other => break other,
        }
    };
    assert_eq!((&*end.name, &end.data["is_complete"]), ("end", &json!(true)));
    assert!(end.data["verdict"].as_str().unwrap().contains("commits"), "{}", end.data);
    let nodes = about.data["about"].as_array().unwrap();
    assert_eq!((nodes.len(), &nodes[0]["about"][0]), (2, &json!(["place", "this machine"])));
    assert!(racing.0.wait().unwrap().success());
    let kept = server.json(&format!("/api/v1/results/{id}"));
    is_of(include_str!("../../../../../schemas/result-2.json"), &kept);
    let trials = kept["trials"].as_array().unwrap();
    let ids: Vec<usize> = seen.iter().map(|it| it.id.as_ref().unwrap().parse().unwrap()).collect();
    assert_eq!(ids, (1..=trials.len()).collect::<Vec<_>>());
    for (event, trial) in seen.iter().zip(trials) {
        assert_eq!(event.data["node"], trial["arm"]);
    }
    let compared = server.json(&format!("/api/v1/compare?a={id}"));
    let file = server.results.path().join(format!("{id}.json"));
    let said = without_began(&printed(&["compare", "--json", file.to_str().unwrap()]));
    let served = without_began(&compared["comparisons"].to_string());
    assert_eq!(served, said);
    assert!(compared["text"].as_str().unwrap().contains("commits"), "{compared}");
    let shown = server.json(&format!("/api/v1/results/{id}/document"));
    assert!(shown["document"]["verdict"].is_string(), "{shown}");
    assert_eq!(shown["document"]["verdict"], compared["document"]["verdict"]);
    assert_eq!(shown["document"], end.data["document"]);
    assert_eq!((&shown["is_race"], &shown["is_live"]), (&json!(true), &json!(false)));
}

#[test]
fn nothing_is_written_by_looking() {
    let server = Server::start(&[]);
    let mut racing = race(server.results.path(), "1s");
    let id = server.running();
    assert!(racing.0.wait().unwrap().success());
    let listed = || {
        let entries = std::fs::read_dir(server.results.path()).unwrap().map(|it| it.unwrap());
        let mut listed: Vec<_> = entries
            .map(|it| (it.file_name(), it.metadata().unwrap().modified().unwrap()))
            .collect();
        listed.sort();
        listed
    };
    std::fs::remove_file(server.results.path().join("history.sqlite")).unwrap();
    let before = listed();
    for path in
        ["results", "studies", "audit", &format!("results/{id}"), &format!("compare?a={id}")]
    {
        server.json(&format!("/api/v1/{path}"));
    }
    let results = server.json("/api/v1/results");
    assert_eq!(
        (&results["results"][0]["id"], &results["results"][0]["is_live"]),
        (&json!(id), &json!(false))
    );
    let what = results["results"][0]["arms"][0]["what"].as_str().unwrap();
    assert!(what.starts_with("commit --engine embedded"), "{what}");
    assert_eq!(listed(), before);
}

#[test]
fn a_race_that_is_killed_ends_incomplete() {
    let server = Server::start(&[]);
    let racing = race(server.results.path(), "1m");
    let id = server.running();
    let mut events = server.events(&format!("/api/v1/results/{id}/intervals"), None);
    assert_eq!(events.next().name, "race");
    assert_eq!(events.next().name, "interval");
    drop(racing);
    let end = loop {
        let event = events.next();
        if event.name != "interval" {
            break event;
        }
    };
    assert_eq!((&*end.name, &end.data["is_complete"]), ("end", &json!(false)));
}

#[test]
fn a_thousand_who_say_nothing_keep_nobody_waiting_and_are_sent_away() {
    let server = Server::start(&[]);
    let mut silent: Vec<TcpStream> = (0..1000).map(|_| server.connect()).collect();
    for (at, stream) in silent.iter_mut().enumerate() {
        // Some say a little, byte by byte.
        if at % 2 == 0 {
            stream.write_all(b"GET / HT").unwrap();
        }
    }
    assert_eq!(server.get("/", "").status, 200);
    let mut rest = Vec::new();
    for stream in &mut silent {
        rest.clear();
        let ended = stream.read_to_end(&mut rest);
        let was_cut = ended.as_ref().is_err_and(|it| it.kind() == ErrorKind::ConnectionReset);
        assert!(ended.is_ok() || was_cut, "it still waits: {ended:?}");
    }
    assert_eq!(server.get("/", "").status, 200);
}

#[test]
fn an_address_that_is_taken_and_a_token_that_others_can_read_are_refused() {
    let said = refusal(&["serve", "-i", "10ms"]);
    assert!(said.contains("every 100ms at most"), "{said}");
    let said = refusal(&["serve", "--host-name", "db1:7077"]);
    assert!(said.contains("without a port"), "{said}");
    let server = Server::start(&[]);
    let taken = server.at.to_string();
    let said = refusal(&["serve", "--listen", &taken]);
    assert!(said.contains(&format!("cannot listen at {taken}")), "{said}");
    let file = server.results.path().join("token");
    std::fs::write(&file, "known to all\n").unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let file = file.to_str().unwrap();
    let said = refusal(&["serve", "--listen", "127.0.0.1:0", "--token-file", file]);
    assert!(said.contains("chmod 600"), "{said}");
}

#[test]
fn what_is_refused_makes_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let (file, config) = (folder.path().join("token"), folder.path().join("config.toml"));
    std::fs::write(&config, "no = 'such key'\n").unwrap();
    for wrong in [["--prometheus", "no address"], ["--config", config.to_str().unwrap()]] {
        let token = ["serve", "--listen", "127.0.0.1:0", "--token-file", file.to_str().unwrap()];
        let said = refusal(&[&token[..], &wrong].concat());
        assert!(!file.exists(), "{said}");
    }
}
