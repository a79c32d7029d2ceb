//! Where the bench keeps what is slow to make: below the build's own target folder, so that
//! `cargo clean` clears it too.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};

/// The folder for the bench's files, made if it is not there.
pub(crate) fn folder() -> Result<PathBuf> {
    let target = std::env::var("CARGO_TARGET_DIR")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from);
    let folder = target.join("testbench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    folder.canonicalize().with_context(|| format!("cannot resolve {}", folder.display()))
}

/// The folder `name` of the cache, filled by `fill` if it is not there. A folder is either there with
/// everything in it or not there. Threads wait for each other; of two processes the first to be
/// done wins.
pub(crate) fn filled(name: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    static FILLING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = FILLING.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = folder()?;
    let kept = cache.join(name);
    if kept.exists() {
        return Ok(kept);
    }
    let draft = tempfile::tempdir_in(&cache).context("cannot make a folder in the cache")?;
    let content = draft.path().join("content");
    fs::create_dir_all(&content).context("cannot make a folder in the cache")?;
    fill(&content)?;
    match fs::rename(&content, &kept) {
        Err(error) if !kept.exists() => {
            Err(error).with_context(|| format!("cannot move to {}", kept.display()))
        }
        _ => Ok(kept),
    }
}
