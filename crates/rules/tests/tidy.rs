//! Rules about the source tree that the compiler cannot state.
#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which allow-expect-in-tests does not reach"
)]

use rules::advisory::Advisory;
use rules::check::HEADINGS;
use rules::checks::CHECKS;
use rules::documentation;
use rules::losses::{self, LOSSES};
use rules::metrics::METRICS;
use rules::setting;
use rules::settings::{self, SETTINGS};
use std::path::{Path, PathBuf};

/// The lists: folder, type and ids of each.
fn lists() -> [(&'static str, &'static str, Vec<&'static str>); 4] {
    [
        ("checks", "Check", CHECKS.iter().map(|it| it.id).collect()),
        ("metrics", "Metric", METRICS.iter().map(|it| it.id).collect()),
        ("losses", "Loss", LOSSES.iter().map(|it| it.id).collect()),
        ("settings", "Setting", SETTINGS.iter().map(|it| it.id).collect()),
    ]
}

#[test]
fn every_entry_is_listed_and_a_file_of_one_entry_has_its_name() {
    for (list, kind, mut listed) in lists() {
        let mut declared = Vec::new();
        for file in files_of(list) {
            let ids = ids(&file, kind);
            if let [id] = ids.as_slice() {
                assert_eq!(stem(&file), id.replace('-', "_"), "a file of one {kind} has its name");
            }
            declared.extend(ids);
        }
        listed.sort_unstable();
        declared.sort();
        assert_eq!(declared, listed, "{list}");
    }
}

#[test]
fn every_check_documents_itself_under_the_same_headings() {
    for check in CHECKS {
        let headings: Vec<&str> = check.doc.lines().filter(|it| it.starts_with('#')).collect();
        assert_eq!(headings, HEADINGS, "headings of {}", check.id);
        assert!(!check.references.is_empty(), "{} has no references", check.id);
        assert!(!check.title.ends_with('.'), "title of {} is no sentence", check.id);
    }
}

#[test]
fn every_check_tests_that_it_fires_is_silent_and_is_unknown() {
    for file in files_of("checks").iter().filter(|it| !ids(it, "Check").is_empty()) {
        let text = read(file);
        // In the file itself, or in one of its own.
        let tests = text.split("#[cfg(test)]").nth(1).unwrap_or_default();
        let apart = tests.trim_start().starts_with("mod tests;");
        let tests =
            if apart { read(&file.with_extension("").join("tests.rs")) } else { tests.to_owned() };
        let has = |words: &[&str]| words.iter().any(|word| tests.contains(word));
        let name = file.display();
        assert!(tests.matches("#[test]").count() >= 3, "{name} has fewer than three tests");
        assert!(
            has(&["info: ", "low: ", "medium: ", "high: ", "critical: "]),
            "{name}: no test fires"
        );
        assert!(has(&["\"clean\""]), "{name}: no test is silent");
        assert!(has(&["unknown: "]), "{name}: no test is unknown");
    }
}

#[test]
fn every_file_of_advisories_comes_with_the_program_as_it_is() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../advisories");
    let mut names: Vec<String> = names_in(&folder);
    names.sort();
    let shipped = rules::advisory::shipped();
    let listed: Vec<String> = shipped.iter().map(|it| format!("{}.toml", it.id)).collect();
    assert_eq!(names, listed);
    for advisory in shipped {
        let file = folder.join(format!("{}.toml", advisory.id));
        let parsed = Advisory::parse(&advisory.id, &advisory.id, &read(&file)).unwrap();
        assert_eq!(format!("{parsed:?}"), format!("{advisory:?}"));
    }
}

#[test]
fn every_metric_says_what_it_is_in_a_heading_a_title_and_a_text() {
    for metric in METRICS {
        let id = metric.id;
        let width = metric.column.chars().count();
        assert!((1..=8).contains(&width), "{id}: a heading of {width} characters");
        assert!(metric.column.is_ascii(), "{id}: a heading that no terminal aligns");
        assert!(!metric.title.is_empty() && !metric.title.ends_with('.'), "{id}: title");
        assert!(metric.help.trim().len() > 80, "{id}: no help");
        let of_column = METRICS.iter().filter(|it| it.column == metric.column);
        assert_eq!(of_column.count(), 1, "{id}: its heading is another's too");
    }
}

#[test]
fn no_two_entries_of_a_list_share_an_id() {
    let mut ids: Vec<(&str, &str)> =
        documentation::entries().map(|entry| (entry.list, entry.id)).collect();
    let n_entries = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), n_entries);
}

#[test]
fn the_pages_are_what_the_lists_say() {
    for page in documentation::PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page.file);
        assert!(
            read(&path) == page.text(documentation::entries()),
            "{} is stale: run `cargo xtask docs`",
            page.file
        );
    }
}

#[test]
fn every_line_of_the_ledger_explains_itself_and_names_checks_that_there_are() {
    for loss in LOSSES {
        let headings: Vec<&str> = loss.help.lines().filter(|it| it.starts_with('#')).collect();
        assert_eq!(headings, losses::HEADINGS, "headings of {}", loss.id);
        assert!(!loss.title.is_empty() && !loss.title.ends_with('.'), "title of {}", loss.id);
        for check in loss.checks {
            assert!(rules::checks::find(check).is_some(), "{} names no check {check}", loss.id);
        }
    }
}

#[test]
fn every_line_of_the_ledger_tests_a_value_a_reason_and_a_trap() {
    for file in files_of("losses") {
        let text = read(&file);
        let tests = text.split("#[cfg(test)]").nth(1).unwrap_or_default();
        let name = file.display();
        assert!(tests.matches("#[test]").count() >= 3, "{name} has fewer than three tests");
        assert!(tests.contains(" ms "), "{name}: no test has a value");
        assert!(tests.contains("unknown: "), "{name}: no test lacks a source");
        for id in ids(&file, "Loss") {
            assert!(tests.contains(&format!("\"{id}\"")), "{name}: no test of {id}");
        }
    }
}

#[test]
fn every_setting_says_what_it_does_takes_and_costs() {
    for setting in SETTINGS {
        let id = setting.id;
        let headings: Vec<&str> = setting.doc.lines().filter(|it| it.starts_with('#')).collect();
        assert_eq!(headings, setting::HEADINGS, "headings of {id}");
        assert!(!setting.references.is_empty(), "{id} has no references");
        for text in [setting.title, setting.takes, setting.power] {
            assert!(!text.is_empty() && !text.ends_with('.'), "{id}: {text:?}");
        }
        assert!(rules::checks::find(id).is_none(), "{id} is a check's id, too");
    }
}

#[test]
fn every_setting_names_settings_and_checks_that_there_are() {
    for setting in SETTINGS {
        let id = setting.id;
        for before in setting.after {
            let place = |id: &str| SETTINGS.iter().position(|it| it.id == id);
            assert!(place(before).is_some(), "{id} is after {before}, which is no setting");
        }
        for check in setting.fixes {
            assert!(rules::checks::find(check).is_some(), "{id}: no check {check}");
        }
    }
}

#[test]
fn every_check_that_a_setting_names_requests_it() {
    let checks = files_of("checks");
    for setting in SETTINGS {
        for check in setting.fixes {
            let name = check.replace('-', "_");
            let is_of_check = |file: &&PathBuf| {
                stem(file) == name || file.parent().is_some_and(|it| it.ends_with(&name))
            };
            let mut texts = checks.iter().filter(is_of_check).map(|it| read(it));
            let is_requested = texts.any(|it| it.contains(&format!("\"{}\"", setting.id)));
            assert!(is_requested, "{check} does not request {}", setting.id);
        }
    }
}

#[test]
fn settings_can_be_put_in_an_order_that_all_of_them_ask_for() {
    let mut done: Vec<&str> = Vec::new();
    while done.len() < SETTINGS.len() {
        let is_ready = |it: &&&setting::Setting| {
            !done.contains(&it.id) && it.after.iter().all(|before| done.contains(before))
        };
        let next = SETTINGS.iter().find(is_ready).map(|it| it.id);
        done.push(next.expect("settings that wait for each other"));
    }
    assert_eq!(settings::find(done[0]).map(|it| it.id), Some(done[0]));
}

#[test]
fn every_setting_tests_what_it_plans_refuses_and_does_not_know() {
    // The looped tests there cover every setting that has a row.
    let shared = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/settings/tests.rs"));
    let is_row = |id: &String| shared.lines().any(|it| it.trim().starts_with(&format!("{id}=")));
    for file in setting_files() {
        if ids(&file, "Setting").iter().all(is_row) {
            continue;
        }
        let text = read(&file);
        // Or in a file of their own.
        let beside = file.with_extension("").join("tests.rs");
        let beside = if beside.exists() { read(&beside) } else { String::new() };
        let tests = text.split("#[cfg(test)]").nth(1).unwrap_or_default().to_owned() + &beside;
        let name = file.display();
        assert!(tests.matches("#[test]").count() >= 3, "{name} has fewer than three tests");
        let refuses = ["value: ", "refused: ", "consent: "].iter().any(|it| tests.contains(it));
        assert!(refuses, "{name}: no test refuses");
        let ids = ids(&file, "Setting");
        for id in ids.iter().filter(|it| ids.len() > 1 && !is_row(it)) {
            let constant = id.replace('-', "_").to_uppercase();
            assert!(tests.contains(&constant), "{name}: no test of {id}");
        }
        // Edits of the boot line show whole files, and what they read is tested once for all of them.
        if !stem(&file).starts_with("boot_") {
            assert!(tests.contains(" -> "), "{name}: no test plans a write");
            assert!(tests.contains("unknown: "), "{name}: nothing is unknown");
        }
    }
}

#[test]
fn every_source_file_says_what_it_is_about() {
    let mut files = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools"), &mut files);
    assert!(files.len() > 20, "the tree was not found");
    for file in files {
        assert!(read(&file).starts_with("//!"), "{} does not start with //!", file.display());
    }
}

#[expect(clippy::disallowed_methods, reason = "reads the source tree")]
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the source tree is here");
    let name = |it: std::fs::DirEntry| it.file_name().to_string_lossy().into_owned();
    entries.map(|it| name(it.expect("a readable entry"))).collect()
}

/// The files of a list's entries.
fn files_of(list: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(list), &mut files);
    files.retain(|it| stem(it) != "mod");
    files
}

/// The files of settings, without those of what settings share.
fn setting_files() -> Vec<PathBuf> {
    let mut files = files_of("settings");
    files.retain(|it| !ids(it, "Setting").is_empty());
    files
}

/// The ids of the entries of a list that a file declares; `kind` is their type.
fn ids(file: &Path, kind: &str) -> Vec<String> {
    let text = read(file);
    let start = format!(": {kind} = {kind} {{");
    let declared = text.split(start.as_str()).skip(1);
    let id = |it: &str| it.split('"').nth(1).map(str::to_owned);
    declared.filter_map(id).collect()
}

#[expect(clippy::disallowed_methods, reason = "reads the source tree")]
fn visit(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the source tree is here") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() && !path.ends_with("target") {
            visit(&path, files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "reads the source tree")]
fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("a readable source file")
}

fn stem(file: &Path) -> String {
    file.file_stem().expect("a file name").to_string_lossy().into_owned()
}
