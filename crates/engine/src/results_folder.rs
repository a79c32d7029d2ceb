//! Where results are kept, and other files.
//!
//! Source: the XDG Base Directory Specification 0.8 for `XDG_STATE_HOME`, which a relative path does not count for; the
//! Filesystem Hierarchy Standard 3.0, 5.8, for `/var/lib`.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The folder of the results: the one chosen, else `/var/lib/fullclock` as root and `fullclock` in the user's folder of
/// state otherwise. Makes nothing; the error is that nobody says where the user's folders are.
pub fn results_folder(chosen: Option<&Path>) -> Result<PathBuf> {
    match chosen {
        Some(chosen) => Ok(chosen.to_owned()),
        None if rustix::process::geteuid().is_root() => Ok(PathBuf::from("/var/lib/fullclock")),
        None => of_user(variable).context(
            "neither XDG_STATE_HOME nor HOME names a folder to keep results in; --results does",
        ),
    }
}

/// The same where results are kept; `None` where they are not.
pub fn kept_in(no_save: bool, chosen: Option<&Path>) -> Result<Option<PathBuf>> {
    (!no_save).then(|| results_folder(chosen)).transpose()
}

/// The folder that a file is in, or will be: the current one where its path names none.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A variable of the environment that is set to something.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment names the folder of the user's state"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|it| !it.is_empty())
}

fn of_user(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("fullclock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(state: &str, home: &str) -> String {
        let folder = of_user(|name| {
            let value = if name == "HOME" { home } else { state };
            Some(value.to_owned()).filter(|it| !it.is_empty())
        });
        folder.map_or("none".to_owned(), |it| it.display().to_string())
    }

    #[test]
    fn results_are_in_the_folder_of_state_which_a_relative_path_does_not_name() {
        assert_eq!(of("/s", "/home/db"), "/s/fullclock");
        assert_eq!(of("", "/home/db"), "/home/db/.local/state/fullclock");
        assert_eq!(of("state", "/home/db"), "/home/db/.local/state/fullclock");
        assert_eq!(of("", ""), "none");
    }

    #[test]
    fn a_chosen_folder_is_taken_as_it_is() {
        assert_eq!(results_folder(Some(Path::new("here"))).unwrap(), Path::new("here"));
    }
}
