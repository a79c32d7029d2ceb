//! Audits real hosts that other projects captured, and compares with what is known to be wrong with them.
//!
//! The data is not part of the project (licences differ, file by file). It is looked for in
//! `../shared/hosts` beside the repository; without it the tests say that they skip.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "tests that read data and print a report"
)]

mod advised;
mod audited;
mod expectation;
mod field;
mod lscpu;
mod planned;
mod source;
mod text_cases;
mod truth;

use audited::Audited;
use expectation::Expectation;
use std::path::{Path, PathBuf};

/// The folder with the data, or `None` after saying that it is absent.
fn hosts() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/hosts");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is absent", folder.display());
    None
}

/// The rows below the heading of a table, split at tabs.
fn rows(table: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(table).expect("a readable table");
    let row = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().skip(1).filter(|line| !line.is_empty()).map(row).collect()
}

/// Prints what became of each host, and fails where one was judged wrongly.
fn report(judged: &[(String, Expectation, Result<Audited, String>)]) {
    let mut faults = Vec::new();
    let mut n_found = 0;
    for (id, expectation, audited) in judged {
        let verdict = match audited {
            Ok(audited) => expectation.compare(audited),
            Err(error) => {
                expectation::Verdict { missed: vec![error.clone()], ..Default::default() }
            }
        };
        n_found += verdict.found.len();
        println!("{id}");
        for (word, lines) in verdict.parts() {
            for line in lines {
                println!("  {word:<8}{line}");
            }
        }
        let wrong = verdict.missed.iter().chain(&verdict.wrong);
        faults.extend(wrong.map(|line| format!("{id}: {line}")));
    }
    println!("{} hosts, {n_found} found, {} wrong", judged.len(), faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn hosts_are_judged_as_their_truth_says() {
    let Some(folder) = hosts() else { return };
    let judged: Vec<_> = rows(&folder.join("truth.tsv"))
        .into_iter()
        .map(|row| {
            let (id, path) = (row[0].clone(), folder.join(&row[1]));
            let expectation =
                truth::of(&id).unwrap_or_else(|| panic!("no expectation for the host {id}"));
            (id, expectation, Audited::new(|| source::open(&path)))
        })
        .collect();
    report(&judged);
}

#[test]
fn outputs_of_lscpu_are_judged_as_their_truth_says() {
    let Some(folder) = hosts() else { return };
    let folder = folder.join("lscpu-linuxhw");
    let judged: Vec<_> = rows(&folder.join("truth.tsv"))
        .into_iter()
        .map(|row| {
            let (file, category) = (&row[0], &row[1]);
            let expectation = lscpu::expectation(category)
                .unwrap_or_else(|| panic!("no expectation for the category {category}"));
            let path = folder.join("samples").join(file);
            let text = std::fs::read_to_string(path).expect("a readable sample");
            let audited = Audited::new(|| source::captured(&lscpu::capture(&text)));
            (format!("{file} {category}"), expectation, audited)
        })
        .collect();
    report(&judged);
}

#[test]
fn cases_from_the_field_are_judged_as_their_truth_says() {
    let Some(folder) = hosts() else { return };
    let folder = folder.join("../field");
    let mut judged = Vec::new();
    for row in rows(&folder.join("truth.tsv")) {
        let id = row[0].split('.').next().expect("a first part").to_owned();
        let Some(expectation) = field::of(&id) else {
            println!("no check knows this kind yet: {id}");
            continue;
        };
        for ending in ["tar.gz", "host"] {
            let path = folder.join(format!("{id}.{ending}"));
            if path.is_file() {
                let audited = Audited::new(|| source::open(&path));
                judged.push((format!("{id}.{ending}"), expectation.clone(), audited));
            }
        }
    }
    report(&judged);
}

#[test]
fn excerpts_of_published_cases_are_judged_as_their_truth_says() {
    let Some(folder) = hosts() else { return };
    let mut judged = Vec::new();
    for entry in std::fs::read_dir(folder.join("text-cases")).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(id) = name.strip_suffix(".raw.txt") else { continue };
        let raw = std::fs::read_to_string(&path).expect("a readable case");
        let cases = text_cases::of(id, &raw);
        assert!(!cases.is_empty(), "no expectation for the case {id}");
        for (part, expectation, audited) in cases {
            judged.push((format!("{id} {part}"), expectation, audited));
        }
    }
    judged.sort_by(|(left, ..), (right, ..)| left.cmp(right));
    report(&judged);
}
