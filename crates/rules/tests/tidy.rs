//! Rules about the source tree that the compiler cannot state.
#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which allow-expect-in-tests does not reach"
)]

use rules::check::HEADINGS;
use rules::checks::CHECKS;
use std::path::{Path, PathBuf};

#[test]
fn every_check_file_is_listed_under_its_own_name() {
    let mut listed: Vec<String> = CHECKS.iter().map(|check| check.id.replace('-', "_")).collect();
    let mut files: Vec<String> = check_files().iter().map(|it| stem(it)).collect();
    listed.sort();
    files.sort();
    assert_eq!(files, listed);
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
    for file in check_files() {
        let text = read(&file);
        let tests = text.split("#[cfg(test)]").nth(1).unwrap_or_default();
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
fn the_page_of_the_checks_is_what_the_checks_say() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md");
    assert!(read(&page) == rules::documentation::page(), "stale: run `cargo xtask docs`");
}

#[test]
fn every_source_file_says_what_it_is_about() {
    let mut files = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/src"), &mut files);
    assert!(files.len() > 20, "the tree was not found");
    for file in files {
        assert!(read(&file).starts_with("//!"), "{} does not start with //!", file.display());
    }
}

fn check_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/checks"), &mut files);
    files.retain(|it| stem(it) != "mod");
    files
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
