//! Where profiles are: /etc/fullclock, the program itself, or a path.

use anyhow::{Context, Result, anyhow, bail};
use host::trusted_file;
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
        let path = Path::new(name);
        return read(path)?.with_context(|| format!("{name}: there is no such file"));
    }
    let path = PathBuf::from(FOLDER).join(format!("{name}.toml"));
    // Where there is none, it does not matter who could write the folders on the way.
    if path.exists()
        && let Some(text) = read(&path)?
    {
        return Ok(text);
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

/// The text of a profile; `None` where there is no such file.
fn read(path: &Path) -> Result<Option<String>> {
    let bytes = trusted_file::read(path, LARGEST)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.with_context(|| format!("{} is no text", path.display()))
}
