//! The text files of an archive.

use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

/// Every regular file of an archive by its name, as text.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<String, String>);

impl Members {
    /// Reads a tar packed with xz, which is what both formats are kept in.
    #[expect(clippy::disallowed_methods, reason = "the file that the user named")]
    pub(super) fn read(archive: &Path) -> Result<Members> {
        let name = archive.display();
        let file = std::fs::File::open(archive).with_context(|| format!("cannot open {name}"))?;
        let mut members = BTreeMap::new();
        let unpacked = liblzma::read::XzDecoder::new_multi_decoder(file);
        for entry in tar::Archive::new(unpacked).entries()? {
            let mut entry = entry.with_context(|| format!("cannot read {name}"))?;
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            if entry.header().entry_type().is_file() {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).with_context(|| format!("cannot read {path}"))?;
                members.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(Members(members))
    }

    /// The names of all files.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The text of the first file whose name ends with `suffix`, unless it is empty.
    pub(super) fn ending(&self, suffix: &str) -> Option<&str> {
        let found = self.0.iter().find(|(name, text)| name.ends_with(suffix) && !text.is_empty());
        found.map(|(_, text)| text.as_str())
    }

    /// The files below the folder `name` of the archive's only folder, with their paths from it.
    pub(super) fn below<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(path, text)| {
            let (_, inside) = path.split_once('/')?;
            let rest = inside.strip_prefix(name)?.strip_prefix('/')?;
            Some((rest, text.as_str()))
        })
    }

    /// The archive's only folder, which both formats name after the host.
    pub(super) fn folder(&self) -> &str {
        self.names().next().and_then(|it| it.split('/').next()).unwrap_or_default()
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Members {
    fn from(files: [(&str, &str); N]) -> Members {
        Members(files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect())
    }
}
