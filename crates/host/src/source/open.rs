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
        let copy = Live::copy(path);
        return match copy.is_err().then(|| Archive::of_texts(path)).flatten() {
            Some(texts) => Ok(Box::new(texts)),
            None => Ok(Box::new(copy?)),
        };
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
    fn a_supportconfig_is_a_host_as_an_archive_and_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("scc_db1_240101_1200");
        std::fs::create_dir(&bundle).unwrap();
        let head = "#==[ Configuration File ]===========================#\n#";
        let texts = [
            ("basic-environment.txt", "#==[ Command ]==#\n# /bin/date\nnow\n".to_owned()),
            ("hardware.txt", format!("{head} /proc/cpuinfo\nprocessor : 0\n\n\n")),
            (
                "proc.txt",
                format!(
                    "{head} /proc/sys/kernel/osrelease\n5.14.21\n\n{head} /proc/sys/kernel/nmi_watchdog - File not found\n"
                ),
            ),
        ];
        for (name, text) in texts {
            std::fs::write(bundle.join(name), text).unwrap();
        }
        let mut tar = tar::Builder::new(Vec::new());
        tar.append_dir_all("scc_db1_240101_1200", &bundle).unwrap();
        let archive = folder.path().join("scc.tar");
        std::fs::write(&archive, tar.into_inner().unwrap()).unwrap();
        for path in [folder.path(), &bundle, &archive] {
            let host = open_root(path).unwrap();
            assert_eq!(host.text("/proc/cpuinfo"), Ok("processor : 0\n".to_owned()));
            assert_eq!(host.text("/proc/sys/kernel/osrelease"), Ok("5.14.21\n".to_owned()));
            let watchdog = "/proc/sys/kernel/nmi_watchdog";
            assert_eq!(host.text(watchdog), Err(Missing::absent(watchdog)));
            assert_eq!(host.text("/proc/stat"), Err(Missing::not_collected("/proc/stat")));
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
