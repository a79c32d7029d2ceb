//! `fullclock fleet` and `fullclock diff` as a user meets them.

mod copies;
pub(crate) mod engine;

use crate::support::{fullclock, is_of, printed, refusal, unwrapped};
use engine::Answering;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../../schemas/fleet-1.json");

#[test]
fn an_engine_is_asked_and_the_bios_that_explains_slow_machines_is_named() {
    let engine = engine::start(Answering::Fleet);
    let said = printed(&["fleet", "--prometheus", &engine.url()]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("fullclock fleet: 120 machines of http://127.0.0.1:"), "{said}");
    assert!(lines[1].starts_with("13 of 120 machines are slower than their peers."), "{said}");
    let words = unwrapped(&said);
    assert!(words.contains("12 of 12 machines of CPU model Xeon 6130 with"), "{said}");
    assert!(
        words.contains("BIOS 12010303") && words.contains("run at 25 % of their peers"),
        "{said}"
    );
    assert!(words.contains("`fullclock plan clock-modulation`"), "{said}");
    assert!(words.contains("Slow by themselves epyc40:7077 runs at 50 %"), "{said}");
}

#[test]
fn json_csv_and_pages_say_the_same() {
    let engine = engine::start(Answering::Fleet);
    let of =
        |options: &[&str]| printed(&[&["fleet", "--prometheus", &engine.url()], options].concat());
    let value: Value = serde_json::from_str(&of(&["--json"])).unwrap();
    is_of(SCHEMA, &value);
    assert_eq!((&value["n_machines"], &value["figure"]), (&120.into(), &"clock".into()));
    assert_eq!(value["slow"].as_array().unwrap().len(), 13);
    assert_eq!(of(&["--csv"]).lines().count(), 14);
    assert!(of(&["--format", "markdown"]).contains("BIOS 12010303"));
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("fleet.html");
    of(&["-o", page.to_str().unwrap()]);
    assert!(std::fs::read_to_string(page).unwrap().contains("BIOS 12010303"));
}

#[test]
fn a_pipeline_fails_where_it_is_told_to() {
    let engine = engine::start(Answering::Fleet);
    let url = engine.url();
    let code = |options: &[&str]| {
        let arguments = [&["fleet", "-q", "--prometheus", &url], options].concat();
        fullclock(&arguments).output().unwrap().status.code()
    };
    assert_eq!((code(&[]), code(&["--fail-on-slow"])), (Some(0), Some(1)));
}

#[test]
fn the_users_selector_time_and_token_reach_the_engine() {
    let engine = engine::start(Answering::Fleet);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "s3cr3t-token\n").unwrap();
    let file = file.to_str().unwrap();
    let options = ["--match", "cluster=\"a\"", "--since", "10m", "--token-file", file];
    printed(&[&["fleet", "--prometheus", &engine.url()], &options[..]].concat());
    let heads = engine.heads();
    assert!(heads.iter().all(|it| it.contains("Bearer s3cr3t-token")), "{heads:?}");
    let targets: Vec<&str> = heads.iter().filter_map(|it| it.lines().next()).collect();
    assert!(targets.iter().all(|it| it.contains("cluster")), "{targets:?}");
    assert!(targets.iter().any(|it| it.contains("600s")), "{targets:?}");
}

#[test]
fn an_engine_that_gives_no_answer_is_said_with_what_to_do_and_without_the_token() {
    let refused = engine::start(Answering::Unauthorized);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "s3cr3t-token\n").unwrap();
    let said =
        refusal(&["fleet", "--prometheus", &refused.url(), "--token-file", file.to_str().unwrap()]);
    assert!(said.contains("401") || said.contains("token"), "{said}");
    assert!(!said.contains("s3cr3t"), "{said}");
    let nothing = engine::start(Answering::Nothing);
    let said = refusal(&["fleet", "--prometheus", &nothing.url()]);
    assert!(said.contains("fullclock serve"), "{said}");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = refusal(&["fleet", "--prometheus", &format!("http://{closed}")]);
    assert!(said.contains(&closed.to_string()), "{said}");
}

#[test]
fn help_says_how_long_a_time_may_be_averaged_over_and_how_a_certificate_is_trusted() {
    let said = unwrapped(&printed(&["fleet", "--help"]));
    assert!(said.contains("Average over this time, 1s to 1d"), "{said}");
    assert!(said.contains("--fingerprint <SHA256>"), "{said}");
    assert!(
        unwrapped(&printed(&["serve", "--help"])).contains("--prometheus-fingerprint <SHA256>")
    );
}

#[test]
fn options_that_make_no_sense_are_refused_with_what_to_do() {
    let said = refusal(&["fleet"]);
    assert!(said.contains("--prometheus URL") && said.contains("--ssh FILE"), "{said}");
    for (arguments, why) in [
        (&["fleet", "--match", "a=\"b\""][..], "--prometheus"),
        (&["fleet", "x", "--prometheus", "http://x"], "cannot be used with"),
        (&["fleet", "x", "--host", "y"], "PATH"),
        (&["fleet", "--prometheus", "ftp://x"], "ftp"),
        (&["fleet", "--prometheus", "http://x", "--since", "0"], "--since"),
        (&["fleet", "--prometheus", "http://x", "--since", "7d"], "expected a time from 1s to 1d"),
        (&["fleet", "--prometheus", "http://x", "--since", "soon"], "as in 10m, 1h or 1d"),
        (&["fleet", "--prometheus", "http://x", "--since", "-1"], "expected a time from 1s to 1d"),
        (&["fleet", "--prometheus", ""], "\"\": expected http://HOST:PORT"),
        (&["fleet", "--prometheus", "http://x", "--ca", "y"], "begins with https://"),
        (&["fleet", "--prometheus", "https://x", "--fingerprint", "ab"], "64 hexadecimal digits"),
        (&["fleet", "--fingerprint", "ab"], "64 hexadecimal digits"),
        (&["serve", "--prometheus-ca", "y"], "--prometheus"),
        (&["fleet", "--copy"], "--ssh"),
        (&["fleet", "x", "--fail-on", "high"], "--fail-on-slow"),
    ] {
        let said = refusal(arguments);
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}
