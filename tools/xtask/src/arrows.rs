//! Which modules may import which: a test of the tree.
//!
//! Crates cannot import in a circle; modules can, and may not here. The lists below name what a folder must never import, because
//! it is what the others are made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::workspace;

/// What modules of one crate must not import.
struct Arrow {
    /// The crate's source folder.
    root: &'static str,
    /// Modules, by their paths from its root.
    from: &'static [&'static str],
    /// Modules of the same crate.
    never: &'static [&'static str],
}

const ARROWS: &[Arrow] = &[
    // What shows results knows no command, and what commands share of the command line none either.
    Arrow {
        root: "crates/fullclock/src",
        from: &["tui", "output", "new_file", "tell", "cli"],
        never: &["commands"],
    },
    // What is shown does not know who shows it.
    Arrow { root: "crates/fullclock/src", from: &["output", "new_file"], never: &["tui"] },
    // How programs of ours find each other knows no protocol, and a race and a network test do not know each other.
    Arrow { root: "crates/engine/src", from: &["peer"], never: &["agent", "net", "race"] },
    Arrow { root: "crates/engine/src", from: &["net"], never: &["agent", "race"] },
    Arrow { root: "crates/engine/src", from: &["agent", "race"], never: &["net"] },
    // What every result is made of knows no feature that makes results.
    Arrow {
        root: "crates/lab/src",
        from: &["trial", "known", "failure", "stats", "doubt", "threads", "lines"],
        never: &["doubts", "experiment", "peers", "record", "store", "workload"],
    },
    Arrow {
        root: "crates/lab/src",
        from: &[
            "trial", "known", "failure", "stats", "doubt", "threads", "lines", "record",
            "workload", "store",
        ],
        never: &[
            "bench",
            "commit",
            "compare",
            "comparison",
            "ipmi",
            "oracle",
            "race",
            "summary",
            "net",
            "workloads",
        ],
    },
    // What may be claimed follows from numbers alone.
    Arrow { root: "crates/lab/src", from: &["stats"], never: &["verdict"] },
    Arrow {
        root: "crates/lab/src",
        from: &["verdict"],
        never: &["compare", "comparison", "doubts", "experiment", "race", "record", "trial"],
    },
];

/// The crates of the product, each with those that it is made of. Tests may use others.
const CRATES: &[(&str, &[&str])] = &[
    ("facts", &[]),
    ("rules", &["facts"]),
    ("host", &["facts"]),
    ("lab", &["facts", "host", "rules"]),
    ("fleet", &[]),
    ("report", &["facts", "fleet", "lab", "rules"]),
    ("engine", &["facts", "fleet", "host", "lab", "rules"]),
    ("web", &["engine", "facts", "fleet", "host", "lab", "report", "rules"]),
    ("mcp", &["engine", "facts", "host", "lab", "report", "rules"]),
    ("fullclock", &["engine", "facts", "fleet", "host", "lab", "mcp", "report", "rules", "web"]),
];

/// Modules of one crate in layers: each imports from those before it and from none after it.
struct Layers {
    /// The crate's source folder.
    root: &'static str,
    /// Modules, by their paths from its root.
    layers: &'static [&'static [&'static str]],
}

const LAYERS: &[Layers] = &[
    Layers {
        root: "crates/host/src",
        layers: &[
            &["change::failure", "change::fault", "change::process"],
            &["change::journal"],
            &["change::machine"],
            &[
                "change::undo",
                "change::guard",
                "change::transaction",
                "change::apply",
                "change::changer",
                "change::deadline",
                "change::latency",
            ],
            &["change::standing"],
        ],
    },
    // What a screen shows knows nothing of how it is drawn.
    Layers {
        root: "crates/fullclock/src",
        layers: &[
            &["tui::theme", "tui::text", "tui::layout"],
            &["tui::axis", "tui::findings", "tui::heading", "tui::slices"],
            &["tui::bar", "tui::history", "tui::message", "tui::order"],
            &["tui::pages"],
            &["tui::state"],
            &["tui::view"],
            &["tui::around", "tui::detail", "tui::stack", "tui::table"],
            &["tui::draw"],
        ],
    },
];

/// Imports that are forbidden: the file and what it imports.
fn forbidden(root: &str, from: &[&str], never: &[&str]) -> Vec<String> {
    let folder = workspace().join(root);
    let aliases = aliases(&folder);
    let mut found = Vec::new();
    for from in from {
        let files = files_of(&folder, from);
        assert!(!files.is_empty(), "{from} in {root} is gone: name what has taken its place");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let paths = imported(&text, &module(&folder, &file));
            let paths: Vec<&String> =
                paths.iter().map(|it| aliases.get(it).unwrap_or(it)).collect();
            let is_named = |it: &&&str| paths.iter().any(|path| is_within(path, it));
            let forbidden = never.iter().filter(is_named);
            found.extend(forbidden.map(|it| format!("{}: {it}", file.display())));
        }
    }
    found
}

/// The files of a module, its own and those below it.
fn files_of(root: &Path, module: &str) -> Vec<PathBuf> {
    let place = root.join(module.replace("::", "/"));
    [rust_files(&place.with_extension("rs")), rust_files(&place)].concat()
}

fn is_within(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|it| it.is_empty() || it.starts_with("::"))
}

/// The path of a file's module from the root of its crate: `a::b` of `a/b.rs` and of `a/b/mod.rs`.
fn module(root: &Path, file: &Path) -> String {
    let path = file.strip_prefix(root).unwrap().with_extension("");
    let names = path.iter().map(|it| it.to_str().unwrap());
    names.filter(|it| !matches!(*it, "mod" | "lib" | "main")).collect::<Vec<_>>().join("::")
}

/// What a module passes on under a path of its own, and the path that it has there.
fn aliases(root: &Path) -> BTreeMap<String, String> {
    let mut aliases = BTreeMap::new();
    for file in rust_files(root) {
        let (text, own) = (fs::read_to_string(&file).unwrap(), module(root, &file));
        for line in text.split("\npub").skip(1) {
            let Some((visible, rest)) = line.split_once("use ") else { continue };
            if !(visible.trim().is_empty() || visible.trim().starts_with('(')) {
                continue;
            }
            let mut paths = BTreeSet::new();
            expand(&own, rest, &mut paths);
            for path in paths {
                let name = path.rsplit("::").next().unwrap_or_default();
                aliases.insert(joined(&own, name), path);
            }
        }
    }
    aliases
}

/// What a file names of its own crate, by paths from its root: `a::b` of `crate::a::b`, and of `super::b` in the module `a::c`.
///
/// Comments and the tests at a file's end may name what they like.
fn imported(text: &str, module: &str) -> BTreeSet<String> {
    let code = text.lines().take_while(|it| *it != "mod tests {");
    let code = code.filter(|it| !it.trim_start().starts_with("//"));
    let text = code.collect::<Vec<_>>().join("\n");
    let mut paths = BTreeSet::new();
    for (at, root) in text.match_indices("crate::") {
        expand("", &text[at + root.len()..], &mut paths);
    }
    for (at, _) in text.match_indices("super::") {
        if text[..at].ends_with("::") {
            continue;
        }
        let (mut base, mut rest) = (module, &text[at..]);
        while let Some(further) = rest.strip_prefix("super::") {
            base = base.rsplit_once("::").map_or("", |it| it.0);
            rest = further;
        }
        expand(base, rest, &mut paths);
    }
    paths
}

/// Adds the paths of what is named behind `base::`, one or a group.
fn expand(base: &str, text: &str, paths: &mut BTreeSet<String>) {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        first_level(group).for_each(|it| expand(base, it, paths));
        return;
    }
    let name = name(text);
    let path = if name == "self" { base.to_owned() } else { joined(base, &name) };
    match text.strip_prefix(&name).and_then(|it| it.strip_prefix("::")) {
        Some(further) => expand(&path, further, paths),
        None => drop(paths.insert(path)),
    }
}

fn joined(base: &str, name: &str) -> String {
    if base.is_empty() || name.is_empty() {
        format!("{base}{name}")
    } else {
        format!("{base}::{name}")
    }
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

/// The files of a crate, each with the files that it imports, by their paths from the crate's root.
///
/// A folder's own file and what is in the folder are one: neither is an import of the other.
fn imports_of_files(root: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = workspace().join(root);
    let aliases = aliases(&folder);
    let files: BTreeMap<String, PathBuf> =
        rust_files(&folder).into_iter().map(|it| (module(&folder, &it), it)).collect();
    let is_kin = |one: &str, other: &str| is_within(one, other) || is_within(other, one);
    let imports = files.iter().map(|(own, file)| {
        let text = fs::read_to_string(file).unwrap();
        let paths = imported(&text, own).into_iter();
        let targets = paths.filter_map(|it| file_of(aliases.get(&it).unwrap_or(&it), &files));
        (own.clone(), targets.filter(|it| !is_kin(own, it)).collect())
    });
    imports.collect()
}

/// The module with a file of its own that a path leads into; nothing for what is in the crate's root.
fn file_of(path: &str, files: &BTreeMap<String, PathBuf>) -> Option<String> {
    let mut path = path;
    while !path.is_empty() {
        if files.contains_key(path) {
            return Some(path.to_owned());
        }
        path = path.rsplit_once("::").map_or("", |it| it.0);
    }
    None
}

/// The files that import themselves through others: without those that import nothing of the rest, again and again, these remain.
fn in_circles(mut imports: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    loop {
        let left: BTreeSet<String> = imports.keys().cloned().collect();
        imports.values_mut().for_each(|it| it.retain(|it| left.contains(it)));
        let imported: BTreeSet<String> = imports.values().flatten().cloned().collect();
        imports.retain(|own, of| !of.is_empty() && imported.contains(own));
        if imports.len() == left.len() {
            return imports.into_iter().map(|(own, of)| format!("{own} imports {of:?}")).collect();
        }
    }
}

fn rust_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let files = entries.flat_map(|it| rust_files(&it.path()));
    let is_code =
        |it: &PathBuf| it.extension().is_some_and(|it| it == "rs") && !it.ends_with("tests.rs");
    files.filter(is_code).collect()
}

#[test]
fn crates_are_made_of_those_that_they_may_use() {
    for (name, uses) in CRATES {
        let manifest = workspace().join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        let (_, behind) = manifest.split_once("\n[dependencies]\n").unwrap();
        let dependencies = behind.split("\n[").next().unwrap_or_default();
        let used: Vec<&str> = dependencies
            .lines()
            .filter_map(|it| it.split(['.', ' ']).next())
            .filter(|it| CRATES.iter().any(|(name, _)| name == it))
            .collect();
        assert_eq!(used, *uses, "{name}");
    }
}

#[test]
fn no_folder_imports_what_is_made_of_it() {
    let of_arrows = ARROWS.iter().map(|it| forbidden(it.root, it.from, it.never));
    let of_layers = LAYERS.iter().flat_map(|Layers { root, layers }| {
        let above = move |at: usize| layers[at + 1..].concat();
        layers.iter().enumerate().map(move |(at, layer)| forbidden(root, layer, &above(at)))
    });
    let found: Vec<String> = of_arrows.chain(of_layers).flatten().collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_file_imports_itself_through_others() {
    let crates = CRATES.iter().map(|(name, _)| format!("crates/{name}/src"));
    let found: Vec<String> = crates
        .chain(["tools/testbench/src".to_owned(), "tools/xtask/src".to_owned()])
        .flat_map(|root| in_circles(imports_of_files(&root)))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn only_files_in_a_circle_are_left() {
    let imports = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("d", "e")];
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in imports {
        files.entry(from.to_owned()).or_default().insert(to.to_owned());
        files.entry(to.to_owned()).or_default();
    }
    assert_eq!(in_circles(files), [r#"b imports {"c"}"#, r#"c imports {"b"}"#]);
}

#[test]
fn modules_are_found_in_paths_and_in_groups() {
    let text = "// crate::z\nuse crate::cli::Arguments;\nuse crate::{a::{b, self}, d,\n    e::F};\nlet it = crate::g::h();";
    let paths: Vec<String> = imported(text, "x").into_iter().collect();
    assert_eq!(paths, ["a", "a::b", "cli::Arguments", "d", "e::F", "g::h"]);
}

#[test]
fn modules_are_found_from_the_one_that_names_them() {
    let text = "use super::{a::B, c};\nuse super::super::d::*;\nlet it = super::f();";
    let paths: Vec<String> = imported(text, "x::y::z").into_iter().collect();
    assert_eq!(paths, ["x::d", "x::y::a::B", "x::y::c", "x::y::f"]);
}

#[test]
fn what_a_module_passes_on_is_known_by_where_it_is() {
    let aliases = aliases(&workspace().join("crates/host/src"));
    assert_eq!(aliases["change::Transaction"], "change::transaction::Transaction");
    assert_eq!(aliases["change::guard::run"], "change::guard::process::run");
}
