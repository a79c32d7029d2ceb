//! The page of a fleet: it is there where the server was given an engine, and never has the engine's token.

use super::server::Server;
use crate::fleet::engine::{self, Answering};
use crate::support::is_of;
use serde_json::Value;

#[test]
fn a_server_with_an_engine_shows_the_fleet_and_keeps_its_token_to_itself() {
    let engine = engine::start(Answering::Fleet);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "s3cr3t-token\n").unwrap();
    let (url, file) = (engine.url(), file.to_str().unwrap());
    let server = Server::start(&["--prometheus", &url, "--prometheus-token-file", file]);
    let page = server.get("/fleet", "");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("href=\"/fleet\" aria-current"), "{}", page.body);
    assert!(server.get("/", "").body.contains("href=\"/fleet\""));
    let document = server.get("/api/v1/fleet/document", "");
    let value: Value = serde_json::from_str(&document.body).unwrap();
    let verdict = value["document"]["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("13 of 120 machines are slower"), "{verdict}");
    let fleet = server.json("/api/v1/fleet?again=true");
    is_of(include_str!("../../../../../schemas/fleet-1.json"), &fleet["fleet"]);
    for body in [page.body, document.body, fleet.to_string()] {
        assert!(!body.contains("s3cr3t"), "{body}");
    }
    assert!(engine.heads().iter().all(|it| it.contains("Bearer s3cr3t-token")));
    assert_eq!(server.get("/api/v1/fleet?again=maybe", "").status, 400);
}

#[test]
fn an_engine_that_refuses_is_told_of_without_its_token() {
    let engine = engine::start(Answering::Unauthorized);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "s3cr3t-token\n").unwrap();
    let (url, file) = (engine.url(), file.to_str().unwrap());
    let server = Server::start(&["--prometheus", &url, "--prometheus-token-file", file]);
    let answer = server.get("/api/v1/fleet", "");
    assert_eq!(answer.status, 502, "{answer:?}");
    assert!(answer.body.contains("error") && !answer.body.contains("s3cr3t"), "{answer:?}");
    assert!(answer.body.contains("what --prometheus-token-file gives"), "{answer:?}");
}

#[test]
fn a_server_without_an_engine_has_no_such_page() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/fleet", "").status, 404);
    assert!(!server.get("/", "").body.contains("/fleet"));
    let answer = server.get("/api/v1/fleet", "");
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("--prometheus URL"), "{answer:?}");
}
