//! The tarball: the program and what belongs to it, for machines without a package manager that knows us.

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result};
use liblzma::write::XzEncoder;
use tar::{Builder, Header};

use super::{Release, files};

/// Files and folders of the source, and where they are in the tarball.
const CONTENTS: &[(&str, &str)] = &[
    ("packaging/made/man1", "share/man/man1"),
    ("packaging/made/man5", "share/man/man5"),
    ("packaging/made/completions", "completions"),
    ("packaging/made/licences.txt", "licences.txt"),
    ("packaging/systemd", "systemd"),
    ("packaging/README.md", "README.packaging.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE", "LICENSE"),
    ("README.md", "README.md"),
];

/// Writes it.
pub(super) fn tarball(release: &Release, program: &Path, output: &Path) -> Result<()> {
    let file = File::create(output.join(release.named("tar.xz")))?;
    let mut tar = Builder::new(XzEncoder::new(file, 9));
    let root = format!("fullclock-{}", release.version);
    add(&mut tar, release, program, &format!("{root}/bin/fullclock"))?;
    for (from, to) in CONTENTS {
        add(&mut tar, release, &release.source.join(from), &format!("{root}/{to}"))?;
    }
    tar.into_inner()?.finish()?;
    Ok(())
}

/// Adds a file or, in the order of their names, the files of a folder: root's, and as old as the release.
fn add(
    tar: &mut Builder<impl std::io::Write>,
    release: &Release,
    from: &Path,
    to: &str,
) -> Result<()> {
    if from.is_dir() {
        for file in files(from)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            add(tar, release, &file, &format!("{to}/{name}"))?;
        }
        return Ok(());
    }
    let bytes = std::fs::read(from).with_context(|| from.display().to_string())?;
    let mut header = Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_mode(if to.contains("/bin/") { 0o755 } else { 0o644 });
    header.set_mtime(release.epoch);
    header.set_username("root")?;
    header.set_groupname("root")?;
    tar.append_data(&mut header, to, &*bytes)?;
    Ok(())
}
