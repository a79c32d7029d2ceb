//! What packages hold beside the program, of the program itself: manual pages, completions, changelog.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};

use super::{Release, empty, files, path, text_of};
use crate::cargo::{program, run};

/// The shells, and what the file of each is called.
const SHELLS: &[(&str, &str)] =
    &[("bash", "fullclock.bash"), ("zsh", "_fullclock"), ("fish", "fullclock.fish")];

/// Writes all of it into [`Release::made`].
pub(super) fn write(release: &Release, fullclock: &Path) -> Result<()> {
    let made = release.made();
    let pages = made.join("man1");
    empty(&pages)?;
    run(program(fullclock, &["manual", "--output", path(&pages)?]))?;
    let others = made.join("man5");
    empty(&others)?;
    for page in files(&release.source.join("packaging/man"))? {
        fs::copy(&page, others.join(page.file_name().unwrap_or_default()))?;
    }
    for page in files(&pages)?.into_iter().chain(files(&others)?) {
        zip(&page)?;
    }
    let completions = made.join("completions");
    empty(&completions)?;
    for (shell, name) in SHELLS {
        let script = text_of(program(fullclock, &["completions", shell]))?;
        fs::write(completions.join(name), script + "\n")?;
    }
    let upstream = made.join("changelog");
    fs::copy(release.source.join("CHANGELOG.md"), &upstream)?;
    zip(&upstream)?;
    let changelog = made.join("changelog.Debian");
    fs::write(&changelog, debian_changelog(release)?)?;
    Ok(())
}

/// Debian's form of a changelog: one entry for the release, which leads to the changelog of the project.
fn debian_changelog(release: &Release) -> Result<String> {
    let epoch = format!("@{}", release.epoch);
    let date = text_of(program("date", &["--utc", "--rfc-email", "--date", &epoch]))?;
    let manifest = fs::read_to_string(release.source.join("crates/fullclock/Cargo.toml"))?;
    let maintainer = manifest.lines().find_map(|it| it.strip_prefix("maintainer = "));
    let maintainer = maintainer.context("the manifest names no maintainer")?.trim_matches('"');
    let version = &release.version;
    Ok(format!(
        "fullclock ({version}-1) stable; urgency=medium\n\n  * Release {version}: /usr/share/doc/fullclock/changelog.gz says what is new.\n\n -- {maintainer}  {date}\n"
    ))
}

/// Compresses a file as `gzip -9n` does: without its name and time.
fn zip(file: &Path) -> Result<()> {
    let zipped = fs::File::create(format!("{}.gz", path(file)?))?;
    let mut encoder = GzBuilder::new().write(zipped, Compression::best());
    encoder.write_all(&fs::read(file)?)?;
    encoder.finish()?;
    fs::remove_file(file)?;
    Ok(())
}
