//! `-o FILE`: the ending of a file's name is its format, and one that names none is refused by every command before anything is done.

use crate::support::{TWO_GOVERNORS, fullclock, printed, ran, refusal};
use std::collections::BTreeSet;
use std::path::Path;

/// Every command that writes a result to a file, as its manual page is called, with arguments that it needs.
const COMMANDS: &[(&str, &[&str])] = &[
    ("advisories", &[]),
    ("apply", &["governor=performance", "--dry-run"]),
    ("audit", &[]),
    ("baseline", &[]),
    ("baseline-diff", &[]),
    ("baseline-list", &[]),
    ("bench", &[]),
    ("bmc", &[]),
    ("compare", &["a.json", "b.json"]),
    ("confirm", &["1"]),
    ("diff", &["a.host", "b.host"]),
    ("doctor", &[]),
    ("explain", &[]),
    ("fleet", &["captures"]),
    ("history", &[]),
    ("history-rebuild", &[]),
    ("history-remove", &["1"]),
    ("history-show", &["1"]),
    ("ipmi-latency", &[]),
    ("ipmi-power", &[]),
    ("ledger", &[]),
    ("net-ceiling", &[]),
    ("net-client", &["127.0.0.1"]),
    ("net-curve", &["saved.txt"]),
    ("noise", &[]),
    ("plan", &[]),
    ("race", &[]),
    ("revert", &["1"]),
    ("status", &[]),
    ("tick", &[]),
];

/// Commands whose file is of one kind: what it is of, and how its name may end.
const OF_ONE_FORMAT: &[(&str, &[&str], &str)] =
    &[("capture", &[], ".host or .txt"), ("certificate", &["a.json", "b.json"], ".html or .htm")];

/// The manual pages of commands that have the option `-o FILE`.
fn pages_with_a_file() -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    printed(&["manual", "--output", folder.path().to_str().unwrap()]);
    let pages = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path());
    let has_file = |path: &Path| {
        let page = std::fs::read_to_string(path).unwrap().replace('\\', "");
        page.contains("fB--outputfR fI<FILE>fR")
    };
    let name = |path: &Path| {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        stem.trim_start_matches("fullclock-").to_owned()
    };
    pages.filter(|it| has_file(it)).map(|it| name(&it)).collect()
}

#[test]
fn every_command_with_a_file_is_tried_here() {
    let tried = COMMANDS.iter().map(|it| it.0).chain(OF_ONE_FORMAT.iter().map(|it| it.0));
    let tried: BTreeSet<String> = tried.map(str::to_owned).collect();
    assert_eq!(pages_with_a_file(), tried);
}

#[test]
fn an_ending_that_names_no_format_is_refused_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.pdf");
    for (name, arguments) in COMMANDS {
        let words: Vec<&str> = match name.split_once('-') {
            Some((group, command)) => vec![group, command],
            _ => vec![name],
        };
        let output = ["-o", file.to_str().unwrap()];
        let said = refusal(&[&words[..], arguments, &output].concat());
        let expected = "x.pdf: .pdf is no format of this command; name a file that ends in one of .txt, .html, .md, .json";
        assert!(said.contains(expected), "{name}: {said}");
        assert!(said.ends_with(", or choose with --format\n"), "{name}: {said}");
    }
    for (name, arguments, endings) in OF_ONE_FORMAT {
        let said = refusal(&[&[*name], *arguments, &["-o", file.to_str().unwrap()]].concat());
        assert!(
            said.ends_with(&format!("; name a file that ends in {endings}\n")),
            "{name}: {said}"
        );
    }
    assert!(!file.exists());
}

#[test]
fn a_format_that_is_named_goes_to_a_file_of_any_name_and_else_the_ending_decides() {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, more: &[&str]| {
        let file = folder.path().join(name);
        let audit = ["audit", "--host", TWO_GOVERNORS, "--force", "-o", file.to_str().unwrap()];
        let (code, said, errors) = ran(&[&audit[..], more].concat());
        assert_eq!((code, &*said), (0, ""), "{name} {more:?}: {errors}");
        std::fs::read_to_string(file).unwrap()
    };
    let html = |it: &str| it.starts_with("<!DOCTYPE html>");
    assert!(html(&written("x.html", &[])) && html(&written("x.pdf", &["--format", "html"])));
    for (name, more) in [("x.json", &[][..]), ("x.html", &["--json"]), ("x", &["--format", "json"])]
    {
        assert!(written(name, more).starts_with("{\n"), "{name} {more:?}");
    }
    let text = written("x.txt", &[]);
    assert_eq!(written("x", &[]), text);
    assert!(text.starts_with("fullclock audit of "), "{text}");
    // A script is in no format of results.
    let script = folder.path().join("fix.sh");
    let plan = ["plan", "--host", TWO_GOVERNORS, "--as", "shell", "-o", script.to_str().unwrap()];
    assert!(fullclock(&plan).output().unwrap().status.code() != Some(2));
    assert!(std::fs::read_to_string(script).unwrap().starts_with("#!/bin/sh\n"));
}
