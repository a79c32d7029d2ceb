//! Opens what `--root` names: a folder or an archive that holds a copy of a host.

use super::Source;
use super::archive::{Archive, ArchiveError};
use super::live::Live;
use facts::Missing;
use std::path::Path;

/// Why a path holds no host.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A folder that cannot be opened, or has no host in it.
    #[error(transparent)]
    Folder(#[from] Missing),
    /// An archive that cannot be read, or has no host in it.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// The copy of a host at `path`: a folder, an archive, or a folder in an archive (`bundle.tgz/nodes/a`).
pub fn open_root(path: &Path) -> Result<Box<dyn Source>, OpenError> {
    if path.is_dir() {
        return Ok(Box::new(Live::copy(path)?));
    }
    for file in path.ancestors() {
        if file.exists() && !file.is_dir() {
            let within = path.strip_prefix(file).map(Path::to_string_lossy).unwrap_or_default();
            return Ok(Box::new(Archive::open(file, &within)?));
        }
    }
    Ok(Box::new(Archive::open(path, "")?))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out a copy of a host")]
mod tests {
    use super::*;

    #[test]
    fn a_folder_an_archive_and_a_folder_in_an_archive_are_hosts() {
        let folder = tempfile::tempdir().unwrap();
        let mut tar = tar::Builder::new(Vec::new());
        for node in ["a", "b"] {
            let sys = folder.path().join(node).join("sys");
            std::fs::create_dir_all(&sys).unwrap();
            std::fs::write(sys.join("name"), node).unwrap();
            tar.append_dir_all(format!("nodes/{node}"), folder.path().join(node)).unwrap();
        }
        let archive = folder.path().join("bundle.tar");
        std::fs::write(&archive, tar.into_inner().unwrap()).unwrap();
        let name = |path: &Path| open_root(path).unwrap().text("/sys/name");
        assert_eq!(name(folder.path()), Ok("a".to_owned()));
        assert_eq!(name(&archive), Ok("a".to_owned()));
        assert_eq!(name(&archive.join("nodes/b")), Ok("b".to_owned()));
        for other in &open_root(&archive).unwrap().roots()[1..] {
            assert_eq!(name(Path::new(other)), Ok("b".to_owned()));
        }
    }

    #[test]
    fn a_path_to_nothing_is_refused() {
        let error = open_root(Path::new("/no/such/bundle.tgz")).err().unwrap().to_string();
        assert_eq!(
            error,
            "/no/such/bundle.tgz cannot be read: No such file or directory (os error 2)"
        );
    }
}
