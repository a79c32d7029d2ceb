//! A program of the host, with the shared libraries it needs to run in a guest.
#![expect(clippy::disallowed_methods, reason = "the bench copies programs into its guests")]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cpio::Archive;
use crate::packages;

/// A library that loads others by name, which ldd cannot know: of those, what makes RDMA devices of software (rdma_rxe) work.
const VERBS: &str = "/libibverbs.so.1";
const VERBS_LOADS: [&str; 2] =
    ["/etc/libibverbs.d/rxe.driver", "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so"];

/// The files that make a program run: itself, and each library where its loader looks for it.
#[derive(Debug)]
pub(crate) struct Program {
    /// What the guest's shell calls it.
    pub(crate) name: String,
    /// The program's own content.
    content: Vec<u8>,
    /// Absolute path and content of every library, the loader among them.
    libraries: Vec<(String, Vec<u8>)>,
}

impl Program {
    /// Reads the program at `path` and every library it is linked to.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut libraries = linked_libraries(path)?;
        if libraries.iter().any(|library| library.display().to_string().ends_with(VERBS)) {
            libraries.extend(VERBS_LOADS.map(PathBuf::from));
        }
        let libraries = libraries
            .into_iter()
            .map(|library| Ok((library.display().to_string(), read(&library)?)))
            .collect::<Result<_>>()?;
        Ok(Self { name, content: read(path)?, libraries })
    }

    /// Adds the program at `path`, and its libraries where its loader looks for them.
    pub(crate) fn add_to(&self, archive: &mut Archive, path: &str) {
        archive.executable(path, &self.content);
        for (path, content) in &self.libraries {
            archive.executable(path, content);
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// What ldd finds. It calls a statically linked program an error, which here means no libraries.
fn linked_libraries(path: &Path) -> Result<Vec<PathBuf>> {
    match packages::output(Path::new("/"), "ldd", [path]) {
        Ok(listing) => Ok(library_paths(&listing)),
        Err(error) if format!("{error:#}").contains("not a dynamic executable") => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Every absolute path in what ldd prints: `name => /path (address)` or `/loader (address)`.
fn library_paths(listing: &str) -> Vec<PathBuf> {
    listing
        .lines()
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loader_and_libraries_are_found_and_the_kernel_page_is_not() {
        let listing = "\
\tlinux-vdso.so.1 (0x00007ffe8f3f2000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1d4a000000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f1d4a2e1000)
";
        let paths = library_paths(listing);
        assert_eq!(
            paths,
            [
                Path::new("/lib/x86_64-linux-gnu/libc.so.6"),
                Path::new("/lib64/ld-linux-x86-64.so.2"),
            ]
        );
    }
}
