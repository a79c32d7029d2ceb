//! Which modules may import which: a test of the tree.
//!
//! Crates cannot import in a circle; modules can. The lists below name what a folder must never import, because it is what the
//! others are made of.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::workspace;

/// What a folder or file of one crate must not import.
struct Arrow {
    /// The crate's source folder.
    root: &'static str,
    /// Files and folders in it.
    from: &'static [&'static str],
    /// Modules of the same crate.
    never: &'static [&'static str],
}

const ARROWS: &[Arrow] = &[
    // What shows results and what serves them knows neither commands nor their arguments.
    Arrow {
        root: "crates/fullclock/src",
        from: &[
            "render",
            "web",
            "tui",
            "watch",
            "measure",
            "output",
            "output.rs",
            "page_file.rs",
            "compared.rs",
            "period.rs",
            "results_folder.rs",
            "secret.rs",
        ],
        never: &["commands", "cli"],
    },
    // What is shown does not know who shows it.
    Arrow {
        root: "crates/fullclock/src",
        from: &["watch", "measure", "output", "output.rs", "page_file.rs", "period.rs"],
        never: &["tui", "web"],
    },
    // What every result is made of knows no feature that makes results.
    Arrow {
        root: "crates/lab/src",
        from: &["trial", "known.rs", "failure.rs", "stats", "doubt.rs", "threads.rs", "lines.rs"],
        never: &[
            "bench",
            "commit",
            "compare",
            "comparison",
            "doubts",
            "experiment",
            "ipmi",
            "oracle",
            "peers",
            "race",
            "record",
            "store",
            "summary",
            "wire",
            "workload",
            "workloads",
        ],
    },
    Arrow {
        root: "crates/lab/src",
        from: &["record.rs", "workload.rs", "store"],
        never: &[
            "bench",
            "commit",
            "compare",
            "comparison",
            "ipmi",
            "oracle",
            "race",
            "summary",
            "wire",
            "workloads",
        ],
    },
];

/// Imports that are forbidden: the file and what it imports.
fn forbidden(arrow: &Arrow) -> Vec<String> {
    let root = workspace().join(arrow.root);
    let mut found = Vec::new();
    for from in arrow.from {
        let files = rust_files(&root.join(from));
        assert!(!files.is_empty(), "{}/{from} is gone: name what has taken its place", arrow.root);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let modules = imported(&text);
            let forbidden = arrow.never.iter().filter(|it| modules.contains(**it));
            found.extend(forbidden.map(|it| format!("{}: {it}", file.display())));
        }
    }
    found
}

/// The modules of its own crate that a file names: `a` of `crate::a::b`, `a` and `c` of `crate::{a::b, c}`.
///
/// Comments and the tests at a file's end may name what they like.
fn imported(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code = code.lines().filter(|it| !it.trim_start().starts_with("//"));
    let text = code.collect::<Vec<_>>().join("\n");
    let mut modules = BTreeSet::new();
    for (at, root) in text.match_indices("crate::") {
        let rest = &text[at + root.len()..];
        match rest.strip_prefix('{') {
            Some(group) => modules.extend(first_level(group).map(name)),
            None => drop(modules.insert(name(rest))),
        }
    }
    modules
}

/// The items of a group of imports, up to its closing brace.
fn first_level(group: &str) -> impl Iterator<Item = &str> {
    let mut depth = 1;
    let end = group.find(|it| {
        depth += i32::from(it == '{') - i32::from(it == '}');
        depth == 0
    });
    let mut depth = 0;
    group[..end.unwrap_or(group.len())].split(move |it| {
        depth += i32::from(it == '{') - i32::from(it == '}');
        depth == 0 && it == ','
    })
}

fn name(path: &str) -> String {
    path.trim_start().chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect()
}

fn rust_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let files = entries.flat_map(|it| rust_files(&it.path()));
    files.filter(|it| it.extension().is_some_and(|it| it == "rs")).collect()
}

#[test]
fn no_folder_imports_what_is_made_of_it() {
    let found: Vec<String> = ARROWS.iter().flat_map(forbidden).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn modules_are_found_in_paths_and_in_groups() {
    let text = "// crate::z\nuse crate::cli::Arguments;\nuse crate::{a::{b, c}, d,\n    e::F};\nlet it = crate::g::h();";
    assert_eq!(imported(text).into_iter().collect::<Vec<_>>(), ["a", "cli", "d", "e", "g"]);
}
