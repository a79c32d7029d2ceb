//! Where profiles are: /etc/fullclock, the program itself, or a path.

use crate::commands::bytes_of;
use anyhow::{Context, Result, anyhow, bail};
use rules::plan::Request;
use rules::profile::{LARGEST, Profile, SHIPPED};
use std::path::{Path, PathBuf};

const FOLDER: &str = "/etc/fullclock";

/// The requests of the profile with this name or path. One in /etc/fullclock stands before one that comes with the program.
///
/// Errors: there is none; others than root and the caller can write it, or a folder on the way to it; it is no profile.
pub(super) fn requests(name: &str) -> Result<Vec<Request>> {
    let text = text_of(name)?;
    let profile = Profile::parse(name, &text).map_err(|error| anyhow!(error))?;
    profile.requests(name).map_err(|error| anyhow!(error))
}

fn text_of(name: &str) -> Result<String> {
    if name.contains('/') {
        return read(Path::new(name));
    }
    let path = PathBuf::from(FOLDER).join(format!("{name}.toml"));
    if path.exists() {
        return read(&path);
    }
    match SHIPPED.iter().find(|it| it.name == name) {
        Some(shipped) => Ok(shipped.text.to_owned()),
        None => {
            let shipped: Vec<&str> = SHIPPED.iter().map(|it| it.name).collect();
            let shipped = shipped.join(", ");
            bail!("there is no profile {name:?}: neither {} nor one of {shipped}", path.display())
        }
    }
}

fn read(path: &Path) -> Result<String> {
    host::ownership::refuse_others_files(path)?;
    let Some(bytes) = bytes_of(path, LARGEST as u64 + 1)? else {
        bail!("{} is no profile: it has more than {LARGEST} bytes", path.display());
    };
    String::from_utf8(bytes).with_context(|| format!("{} is no text", path.display()))
}
