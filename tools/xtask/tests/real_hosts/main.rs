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
mod answers;
mod audited;
mod expectation;
mod field;
mod guard;
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
            let audited = Audited::new(|| Ok(lscpu::host(&text)));
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
fn a_driver_is_missing_only_where_the_copy_proves_it() {
    let Some(folder) = hosts() else { return };
    let frequency = "no-frequency-driver";
    let idle = "no-idle-driver";
    let cases = [
        // An empty folder, as a tar and as a capture.
        ("../field/18-amd-no-cpufreq-driver.tar.gz", frequency, "found"),
        ("../field/18-amd-no-cpufreq-driver.host", frequency, "found"),
        ("../field/19-arm64-no-cpufreq.tar.gz", frequency, "found"),
        // Nobody knows who collected it, and which folders.
        ("../field/29-rpi-cm4-cx3-x1.tar.gz", frequency, "unknown"),
        ("../field/06-tsc-unstable-hpet.tar.gz", idle, "unknown"),
        // Its collector takes no such files.
        ("ghw/linux-arm64-c288e0776090cd558ef793b2a4e61939.tar.gz", frequency, "unknown"),
        // Its collector takes all of them, and somebody thinned the copy out.
        ("hwloc/linux/128arm-2pa2n8cluster4co.tar.bz2", frequency, "unknown"),
        ("hwloc/linux/memorysidecaches.tar.bz2", idle, "unknown"),
        // The same, whole.
        ("util-linux/rv64-milkvpioneer.tar.gz", frequency, "found"),
        // It asks for the one, and the host has none.
        ("pepc/cwf0.tar.xz", idle, "found"),
        ("pepc/icx2s3.tar.xz", idle, "clean"),
    ];
    let mut faults = Vec::new();
    for (path, check, expected) in cases {
        let source = source::open(&folder.join(path)).expect("a host");
        let verdict = answers::verdict(&*source, check);
        if verdict != expected {
            faults.push(format!("{path} {check}: {verdict}, not {expected}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_path_has_two_answers_in_one_audit() {
    let Some(folder) = hosts() else { return };
    let mut paths: Vec<PathBuf> =
        rows(&folder.join("truth.tsv")).iter().map(|row| folder.join(&row[1])).collect();
    for entry in std::fs::read_dir(folder.join("../field")).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path.to_string_lossy();
        if name.ends_with(".tar.gz") || name.ends_with(".host") {
            paths.push(path);
        }
    }
    assert!(paths.len() > 80, "{} hosts", paths.len());
    let mut faults = Vec::new();
    for path in paths {
        let source = source::open(&path).unwrap_or_else(|error| panic!("{path:?}: {error:#}"));
        let found = answers::contradictions(&*source);
        faults.extend(found.into_iter().map(|it| format!("{}: {it}", path.display())));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
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
