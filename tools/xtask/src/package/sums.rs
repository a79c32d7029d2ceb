//! Checksums of what is released, and a signature of them with a key that is given at release time.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use super::{files, path};
use crate::cargo::{program, run};

/// The file of the checksums, in the form of sha256sum(1).
pub(super) const FILE: &str = "SHA256SUMS";

/// Writes the checksums of all files of a folder, and returns their text.
pub(super) fn write(folder: &Path) -> Result<String> {
    let mut text = String::new();
    for file in files(folder)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(FILE) {
            continue;
        }
        let sum = Sha256::digest(fs::read(&file)?);
        for byte in sum {
            write!(text, "{byte:02x}")?;
        }
        writeln!(text, "  {name}")?;
    }
    fs::write(folder.join(FILE), &text)?;
    Ok(text)
}

/// Signs the checksums: `minisign:FILE` with a secret key in a file, `gpg:KEY` with one of the caller's keyring.
pub(super) fn sign(folder: &Path, key: &str) -> Result<()> {
    let sums = folder.join(FILE);
    let sums = path(&sums)?;
    match key.split_once(':').context("expected minisign:FILE or gpg:KEY")? {
        ("minisign", file) => run(program("minisign", &["-S", "-s", file, "-m", sums])),
        ("gpg", key) => run(program(
            "gpg",
            &["--batch", "--yes", "--local-user", key, "--armor", "--detach-sign", sums],
        )),
        (other, _) => bail!("{other} signs nothing: expected minisign:FILE or gpg:KEY"),
    }
}
