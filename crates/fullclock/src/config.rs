//! The configuration of this machine's site: where it is, whether it may be obeyed, and what it says to the command line.
//!
//! Root reads only /etc: what it obeys is not for others to write. Sources: the XDG Base Directory Specification 0.8 for `XDG_CONFIG_HOME`,
//! which a relative path does not count for.

use crate::cli::{Arguments, ConfigArguments};
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use facts::utc;
use host::trusted_file;
use rules::advisory;
use rules::config::{Config, LARGEST};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For all users.
const OF_HOST: &str = "/etc/fullclock/config.toml";

/// What was read.
pub(crate) struct Loaded {
    /// The file; `None` where there is none, or none is to be read.
    pub(crate) path: Option<PathBuf>,
    /// What it says.
    pub(crate) config: Config,
}

/// What holds for the host that the options name. A copy of another host is not of this machine's site, unless the user names the
/// configuration.
///
/// Errors: those of [`read`].
pub(crate) fn of_host(arguments: &Arguments) -> Result<Config> {
    let is_copy = arguments.host.is_copy();
    if is_copy && arguments.config.config.is_none() {
        return Ok(Config::default());
    }
    with_advisories(&arguments.config)
}

/// The configuration as [`read`] reads it, with the advisories of the site beside it: what an audit goes by.
///
/// Errors: those of [`read`]; an advisory may have been written by others, or makes no sense.
pub(crate) fn with_advisories(arguments: &ConfigArguments) -> Result<Config> {
    Ok(loaded_with_advisories(arguments)?.config)
}

/// The same, and from where.
///
/// Errors: those of [`with_advisories`].
pub(crate) fn loaded_with_advisories(arguments: &ConfigArguments) -> Result<Loaded> {
    let mut loaded = read(arguments)?;
    if !arguments.no_config {
        let file = loaded.path.as_deref().unwrap_or(Path::new(OF_HOST));
        let folder = file.with_file_name("advisories");
        add_advisories(&mut loaded.config, &folder).context(REFUSED)?;
    }
    Ok(loaded)
}

const REFUSED: &str = "the configuration is refused; --no-config does without it";

/// Reads the configuration that the options name, or that of this machine and user.
///
/// Errors: the file may have been written by others, is none, or says what makes no sense; one that the user named is absent.
pub(crate) fn read(arguments: &ConfigArguments) -> Result<Loaded> {
    let path = path(arguments);
    let config = match &path {
        Some(path) => read_file(path).context(REFUSED)?,
        None => Config::default(),
    };
    Ok(Loaded { path, config })
}

/// More files than anybody writes by hand.
const MOST_ADVISORIES: usize = 1000;

/// Takes in the advisories of the site: the files of a folder whose names end in `.toml`, in the order of their names.
#[expect(clippy::disallowed_methods, reason = "a folder of the site, whatever host is looked at")]
fn add_advisories(config: &mut Config, folder: &Path) -> Result<()> {
    let name = folder.display();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| format!("{name} cannot be read"))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("{name} cannot be read"))?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            paths.push(path);
        }
    }
    if paths.len() > MOST_ADVISORIES {
        bail!("{name} has {} advisories, expected at most {MOST_ADVISORIES}", paths.len());
    }
    paths.sort();
    for path in paths {
        let text = read_text(&path, advisory::LARGEST)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = path.display().to_string();
        config.add_advisory(&name, &stem, text).map_err(|error| anyhow!(error))?;
    }
    Ok(())
}

/// The file that is read, if any.
fn path(arguments: &ConfigArguments) -> Option<PathBuf> {
    match &arguments.config {
        _ if arguments.no_config => None,
        Some(named) => Some(named.clone()),
        // Where there is none, it does not matter who could write the folders on the way.
        None => places().into_iter().find(|it| it.symlink_metadata().is_ok()),
    }
}

/// Where a configuration is looked for, the first one found being read.
pub(crate) fn places() -> Vec<PathBuf> {
    places_of(host::ownership::is_root(), output::variable)
}

fn places_of(is_root: bool, variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let own = || absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    let own = if is_root { None } else { own() };
    let own = own.map(|it| it.join("fullclock/config.toml"));
    own.into_iter().chain([PathBuf::from(OF_HOST)]).collect()
}

fn read_file(path: &Path) -> Result<Config> {
    let text = read_text(path, LARGEST)?;
    Config::parse(&path.display().to_string(), &text).map_err(|error| anyhow!(error))
}

/// The text of a file that may be obeyed.
fn read_text(path: &Path, largest: usize) -> Result<String> {
    let name = path.display();
    let bytes =
        trusted_file::read(path, largest)?.with_context(|| format!("{name} does not exist"))?;
    String::from_utf8(bytes).map_err(|_| anyhow!("{name} is not UTF-8 text"))
}

/// The day, UTC, as in `2026-11-20`.
pub(crate) fn today(since_1970: Duration) -> String {
    utc::date(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_reads_etc_only_and_users_their_own_file_first() {
        let of = |is_root, config: &str, home: &str| {
            let variable = |name: &str| {
                let value = if name == "HOME" { home } else { config };
                Some(value.to_owned()).filter(|it| !it.is_empty())
            };
            let places = places_of(is_root, variable);
            places.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(true, "/c", "/root"), OF_HOST);
        assert_eq!(of(false, "/c", "/home/db"), format!("/c/fullclock/config.toml {OF_HOST}"));
        let of_home = format!("/home/db/.config/fullclock/config.toml {OF_HOST}");
        assert_eq!(of(false, "", "/home/db"), of_home);
        assert_eq!(of(false, "relative", "/home/db"), of_home);
        assert_eq!(of(false, "", ""), OF_HOST);
    }
}
