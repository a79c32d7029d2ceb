//! Rules about workloads that the compiler cannot state.

use lab::workloads::{self, HEADINGS, WORKLOADS};
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
    let page = workloads::PAGE;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page.file);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let is_fresh = text == page.text(workloads::entries());
    assert!(is_fresh, "{} is stale: run `cargo xtask docs`", page.file);
}

/// To have the device open makes the kernel look after the controller, and to ask costs CPU time on machines where the
/// answers are polled for: only who names the controller wants that, or has it make an account (`bmc --bootstrap`), and an audit or a capture, which ask it little through a source
/// of their own.
#[test]
fn the_device_of_the_controller_is_opened_where_it_is_named_and_for_an_audit() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut openers = Vec::new();
    visit(&crates, &mut |path, text| {
        if text.contains("Controller::open(") && !path.ends_with("lab/tests/workloads/tidy.rs") {
            openers.push(path.strip_prefix(&crates).expect("a file of a crate").to_path_buf());
        }
    });
    openers.sort();
    let expected = [
        "fullclock/src/commands/bmc.rs",
        "host/src/ipmi/controller.rs",
        "host/src/source/controller.rs",
        "lab/src/ipmi/mod.rs",
    ];
    assert_eq!(openers, expected.map(PathBuf::from));
}

/// Every file of Rust below a folder.
fn visit(folder: &Path, seen: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).expect("the source tree is here") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            visit(&path, seen);
        } else if path.extension().is_some_and(|it| it == "rs") {
            seen(&path, &std::fs::read_to_string(&path).expect("a readable file"));
        }
    }
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
