//! The files and folders that are read: those that the user names, and those in folders.
#![expect(clippy::disallowed_methods, reason = "lists folders that the user names")]

use anyhow::{Context, Result, bail};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What is read at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A capture, an audit, a result or an archive, which its content tells.
    File {
        path: PathBuf,
        /// Whether the user named it, and did not only name its folder.
        is_named: bool,
    },
    /// A folder that holds the copy of a host.
    Host(PathBuf),
}

/// What was found.
pub(super) struct List {
    pub(super) items: Vec<Item>,
    pub(super) notes: Vec<String>,
}

/// As deep as a folder of folders of sosreports.
const DEEPEST: usize = 8;
const DEEP: &str = " more than 8 folders deep";

/// More files than this are a disk, and no fleet.
const MOST: usize = 200_000;

/// What these paths hold, in the order of their names.
///
/// Errors: one is not there, or they hold more than a fleet.
pub(super) fn items(paths: &[PathBuf]) -> Result<List> {
    let mut list = List { items: Vec::new(), notes: Vec::new() };
    let mut passed = Passed::default();
    for path in paths {
        let status = std::fs::metadata(path).with_context(|| path.display().to_string())?;
        if status.is_dir() {
            add_folder(&mut list, &mut passed, path, 0)?;
        } else if status.is_file() {
            list.items.push(Item::File { path: path.clone(), is_named: true });
        } else {
            // Opening a pipe or a device has effects.
            bail!("{} is neither a file nor a folder", path.display());
        }
    }
    list.notes.extend(passed.notes());
    // Links in folders are not followed, so that one path alone leads to no file twice.
    let n_twice = if paths.len() > 1 { drop_twins(&mut list.items) } else { 0 };
    match n_twice {
        0 => {}
        1 => list.notes.push("1 file was named twice: it counts once".to_owned()),
        n => list.notes.push(format!("{n} files were named twice: each counts once")),
    }
    Ok(list)
}

/// Leaves out what another path has led to before. How many these were.
fn drop_twins(items: &mut Vec<Item>) -> usize {
    let n_items = items.len();
    let mut known = HashSet::new();
    items.retain(|it| {
        let (Item::File { path, .. } | Item::Host(path)) = it;
        known.insert(path.canonicalize().unwrap_or_else(|_| path.clone()))
    });
    n_items - items.len()
}

/// What is in a folder and is not read, each with how often and the first one.
#[derive(Default)]
struct Passed {
    links: Option<(u64, PathBuf)>,
    deep: Option<(u64, PathBuf)>,
    others: Option<(u64, PathBuf)>,
}

impl Passed {
    fn count(of: &mut Option<(u64, PathBuf)>, path: PathBuf) {
        of.get_or_insert((0, path)).0 += 1;
    }

    fn notes(&self) -> Vec<String> {
        let kinds = [
            (&self.links, ["link", "links"], "", "not followed; name the files themselves"),
            (&self.deep, ["folder", "folders"], DEEP, "not searched; name such a folder itself"),
            (&self.others, ["special file", "special files"], "", "not read"),
        ];
        let said = |(of, words, which, how): (&Option<(u64, PathBuf)>, [&str; 2], &str, &str)| {
            let (count, first) = of.as_ref()?;
            let first = first.display();
            let [one, several] = words;
            Some(match *count {
                1 => format!("1 {one}{which} was {how}: {first}"),
                n => format!("{n} {several}{which} were {how}: {first} and others"),
            })
        };
        kinds.into_iter().filter_map(said).collect()
    }
}

fn add_folder(list: &mut List, passed: &mut Passed, folder: &Path, depth: usize) -> Result<()> {
    if is_host(folder) {
        list.items.push(Item::Host(folder.to_owned()));
        return Ok(());
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if depth > 0 => {
            list.notes.push(format!("{} cannot be read: {error}", folder.display()));
            return Ok(());
        }
        Err(error) => return Err(error).with_context(|| folder.display().to_string()),
    };
    let (mut all, mut failed) = (Vec::new(), None);
    for entry in entries {
        match entry.and_then(|it| Ok((it.file_type()?, it))) {
            Ok(entry) => all.push(entry),
            Err(error) => failed = Some(error),
        }
    }
    if let Some(error) = failed {
        list.notes.push(format!("{} cannot be read as a whole: {error}", folder.display()));
    }
    all.sort_by_key(|it| it.1.file_name());
    for (kind, entry) in all {
        if kind.is_dir() && depth < DEEPEST {
            add_folder(list, passed, &entry.path(), depth + 1)?;
        } else if kind.is_dir() {
            Passed::count(&mut passed.deep, entry.path());
        } else if kind.is_file() {
            list.items.push(Item::File { path: entry.path(), is_named: false });
        } else if kind.is_symlink() {
            // It may lead anywhere, also back.
            Passed::count(&mut passed.links, entry.path());
        } else {
            Passed::count(&mut passed.others, entry.path());
        }
        if list.items.len() > MOST {
            bail!("{} holds more than {MOST} files, which is no fleet", folder.display());
        }
    }
    Ok(())
}

/// Whether a folder holds the copy of a host: proc/ or sys/, or the texts of a supportconfig.
fn is_host(folder: &Path) -> bool {
    ["proc", "sys"].iter().any(|it| folder.join(it).is_dir())
        || folder.join("basic-environment.txt").is_file()
}
