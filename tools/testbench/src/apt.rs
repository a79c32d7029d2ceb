//! Downloads Debian packages, also from a suite that this machine does not install from.
//!
//! Such a suite has lists of its own, in the folder that the packages go to: what this machine installs stays as it is. See
//! apt.conf(5).
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use crate::packages;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Of the package debian-archive-keyring: the keys of releases before and after this machine's.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Where packages come from and go to.
#[derive(Debug)]
pub(crate) struct Apt {
    folder: PathBuf,
    options: Vec<String>,
}

impl Apt {
    /// What this machine installs from, or a `suite` of the same archive, whose list of packages is downloaded.
    pub(crate) fn new(suite: Option<&str>, folder: &Path) -> Result<Apt> {
        let folder = folder.to_owned();
        let Some(suite) = suite else { return Ok(Apt { folder, options: Vec::new() }) };
        let apt = Apt { options: options(&folder.join("apt")), folder };
        let targets = ["indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT) $(ORIGIN)"];
        let targets = packages::output(&apt.folder, "apt-get", targets)?;
        let site = site(&targets).context("apt knows no archive of Debian")?;
        for folder in ["apt/lists/partial", "apt/cache/archives/partial"] {
            let folder = apt.folder.join(folder);
            fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let list = apt.folder.join("apt/sources.list");
        fs::write(&list, format!("deb [signed-by={KEYS}] {site} {suite} main\n"))
            .with_context(|| format!("cannot write {}", list.display()))?;
        apt.output("apt-get", &["update", "-qq"])
            .with_context(|| format!("cannot get the list of {suite}"))?;
        Ok(apt)
    }

    /// The packages that one depends on, without alternatives.
    pub(crate) fn depends(&self, package: &str) -> Result<Vec<String>> {
        let unknown = || format!("apt knows no {package}: run 'apt-get update' first");
        let listing = self.output("apt-cache", &["depends", package]).with_context(unknown)?;
        let depends = listing.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        Ok(depends.map(str::to_owned).collect())
    }

    /// The downloaded package.
    pub(crate) fn download(&self, package: &str) -> Result<PathBuf> {
        self.output("apt-get", &["download", "-qq", package])
            .with_context(|| format!("cannot download {package}: run 'apt-get update' first"))?;
        let name = |it: &fs::DirEntry| it.file_name().to_string_lossy().into_owned();
        let entries = fs::read_dir(&self.folder).context("cannot list what was downloaded")?;
        let found = entries
            .filter_map(Result::ok)
            .find(|it| name(it).strip_prefix(package).is_some_and(|rest| rest.starts_with('_')));
        Ok(found.with_context(|| format!("{package} was not downloaded"))?.path())
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let options = self.options.iter().map(String::as_str);
        packages::output(&self.folder, program, options.chain(arguments.iter().copied()))
    }
}

/// Options by which apt keeps everything in `folder`.
fn options(folder: &Path) -> Vec<String> {
    let place = |name: &str, file: &str| format!("{name}={}", folder.join(file).display());
    [
        place("Dir::Etc::sourcelist", "sources.list"),
        "Dir::Etc::sourceparts=-".to_owned(),
        place("Dir::State::lists", "lists"),
        place("Dir::Cache", "cache"),
        "Acquire::Languages=none".to_owned(),
        // The user that apt downloads as may not look into this folder.
        "APT::Sandbox::User=root".to_owned(),
    ]
    .into_iter()
    .flat_map(|option| ["-o".to_owned(), option])
    .collect()
}

/// Where the release is that this machine installs from; others are there, too. Updates of its security may be elsewhere.
fn site(targets: &str) -> Option<&str> {
    targets.lines().find_map(|line| {
        let mut words = line.splitn(4, ' ');
        let (site, release) = (words.next()?, words.next()?);
        let is_main = words.next()? == "main" && words.next()? == "Debian";
        (is_main && release.bytes().all(|it| it.is_ascii_alphabetic())).then_some(site)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_suites_are_where_the_release_is() {
        let targets = "\
http://a.example/apt sdk main Example
http://b.example/debian-security bookworm-security main Debian
http://b.example/debian bookworm-updates main Debian
http://b.example/debian bookworm contrib Debian
http://b.example/debian bookworm main Debian
";
        assert_eq!(site(targets), Some("http://b.example/debian"));
        assert_eq!(site("http://a.example/apt sdk main Example\n"), None);
    }
}
