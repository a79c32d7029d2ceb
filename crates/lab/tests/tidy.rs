//! Rules about workloads that the compiler cannot state.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "reads the source tree; helpers of tests, which allow-expect-in-tests does not reach"
)]

use lab::documentation;
use lab::workloads::{HEADINGS, WORKLOADS};
use std::path::{Path, PathBuf};

#[test]
fn every_workload_has_a_file_of_its_name() {
    let mut listed: Vec<String> = WORKLOADS.iter().map(|it| it.id.replace('-', "_")).collect();
    let mut files: Vec<String> = files().iter().map(|it| stem(it)).collect();
    listed.sort();
    files.sort();
    files.dedup();
    assert_eq!(files, listed);
}

#[test]
fn every_workload_explains_itself_under_the_same_headings() {
    for workload in WORKLOADS {
        let headings: Vec<&str> = workload.help.lines().filter(|it| it.starts_with('#')).collect();
        assert_eq!(headings, HEADINGS, "headings of {}", workload.id);
        assert!(!workload.title.is_empty() && !workload.title.ends_with('.'), "{}", workload.id);
        let figure = format!("`{}`", workload.figure.name);
        assert!(workload.help.contains(&figure), "{} does not say what {figure} is", workload.id);
    }
}

#[test]
fn the_page_is_what_the_workloads_say() {
    let page = documentation::PAGE;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page.file);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let is_fresh = text == page.text(documentation::entries());
    assert!(is_fresh, "{} is stale: run `cargo xtask docs`", page.file);
}

/// Files and folders of workloads: a large one has a folder of its name besides.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/workloads");
    let entries = std::fs::read_dir(folder).expect("the source tree is here");
    let paths = entries.map(|it| it.expect("a readable entry").path());
    paths.filter(|it| stem(it) != "mod").collect()
}

fn stem(file: &Path) -> String {
    file.file_stem().expect("a file name").to_string_lossy().into_owned()
}
