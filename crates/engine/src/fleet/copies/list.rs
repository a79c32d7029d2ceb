//! The files and folders that are read: those that the user names, and those in folders.
#![expect(clippy::disallowed_methods, reason = "lists folders that the user names")]

use anyhow::{Context, Result, bail};
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

/// More files than this are a disk, and no fleet.
const MOST: usize = 200_000;

/// What these paths hold, in the order of their names.
///
/// Errors: one is not there, or they hold more than a fleet.
pub(super) fn items(paths: &[PathBuf]) -> Result<List> {
    let mut list = List { items: Vec::new(), notes: Vec::new() };
    for path in paths {
        let status = std::fs::metadata(path).with_context(|| path.display().to_string())?;
        if status.is_dir() {
            add_folder(&mut list, path, 0)?;
        } else if status.is_file() {
            list.items.push(Item::File { path: path.clone(), is_named: true });
        } else {
            // Opening a pipe or a device has effects.
            bail!("{} is neither a file nor a folder", path.display());
        }
    }
    Ok(list)
}

fn add_folder(list: &mut List, folder: &Path, depth: usize) -> Result<()> {
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
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        // A link may lead anywhere, also back.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < DEEPEST {
            add_folder(list, &entry.path(), depth + 1)?;
        } else if kind.is_file() {
            list.items.push(Item::File { path: entry.path(), is_named: false });
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
