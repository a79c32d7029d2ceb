//! Copies of hosts that a user names: folders and archives that hold proc/ and sys/, and captures.

use anyhow::{Context, Result, bail};
use host::{Answered, Captured, Source};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A copy of a host, to be asked as a host is.
pub struct Opened {
    /// What answers.
    pub source: Box<dyn Source>,
    /// What to call it.
    pub name: String,
    /// The other hosts that the copy holds.
    pub others: Vec<String>,
}

/// The copy at a path, of either kind: a file that begins as captures do is one.
///
/// Errors: there is none, or it cannot be read.
pub fn open(path: &Path) -> Result<Opened> {
    if path.exists() && !path.is_file() && !path.is_dir() {
        // Opening a pipe that has no writer blocks.
        bail!("{} is neither a file nor a folder", path.display());
    }
    if is_capture(path)? { open_capture(path) } else { open_root(path) }
}

/// The copy in a folder or an archive; of several hosts, the one that made it.
///
/// Errors: there is none, or it cannot be read.
pub fn open_root(path: &Path) -> Result<Opened> {
    let name = path.display().to_string();
    let source = host::open_root(path)?;
    let [own, others @ ..] = source.roots() else {
        return Ok(Opened { source, name, others: Vec::new() });
    };
    let (own, others) = (own.clone(), others.to_vec());
    let name = if others.is_empty() { name } else { own };
    Ok(Opened { source, name, others })
}

/// The host of a capture.
///
/// Errors: the file cannot be read, or is no capture.
pub fn open_capture(path: &Path) -> Result<Opened> {
    let name = path.display().to_string();
    let captured = Captured::parse(&text_of(path)?).with_context(|| name.clone())?;
    Ok(Opened { source: Box::new(captured), name, others: Vec::new() })
}

/// A copy of a host that answers nothing is none: "no findings" would be said of any tarball.
///
/// Errors: it answered nothing.
pub fn refuse_nothing(answered: &Answered<'_>, name: &str) -> Result<()> {
    match answered.nothing() {
        Some(what) => bail!("{name} holds no facts of a host: {what} is there"),
        None => Ok(()),
    }
}

/// The bytes of a file that the user named; `None` where it has `largest` or more.
///
/// Errors: it cannot be read.
pub fn bytes_of(path: &Path, largest: u64) -> Result<Option<Vec<u8>>> {
    let bytes = beginning_of(path, largest)?;
    let is_whole = (bytes.len() as u64) < largest;
    Ok(is_whole.then_some(bytes))
}

/// The first bytes of a file that the user named.
///
/// Errors: it cannot be read.
#[expect(clippy::disallowed_methods, reason = "a file that the user named is no fact of a host")]
pub(crate) fn beginning_of(path: &Path, length: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(length).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes)
}

/// A capture of 4,096 CPUs has some 100 MiB; more is a file given by mistake, or a device.
const LARGEST_CAPTURE: u64 = 1 << 30;

/// The text of a capture.
fn text_of(path: &Path) -> Result<String> {
    let name = path.display();
    let Some(bytes) = bytes_of(path, LARGEST_CAPTURE)? else {
        bail!("{name} holds 1 GiB or more, which is no capture");
    };
    String::from_utf8(bytes).with_context(|| {
        format!(
            "{name} is not a text file, as captures are; a folder or tarball is read with --root"
        )
    })
}

/// Whether a file begins as captures do. What is a folder, or a folder in an archive, is none.
fn is_capture(path: &Path) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    Ok(Captured::is_begun_by(&beginning_of(path, 64)?))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out copies of a host")]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_capture_by_its_first_line_and_else_a_folder_or_an_archive() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("copy/sys/devices/system/cpu")).unwrap();
        std::fs::write(at("copy/sys/devices/system/cpu/online"), "0-3\n").unwrap();
        let capture = "fullclock capture 1\n//- /sys/devices/system/cpu/online\n0-3\n";
        std::fs::write(at("db7.txt"), capture).unwrap();
        std::fs::write(at("notes"), "what I saw\n").unwrap();
        for name in ["copy", "db7.txt"] {
            let opened = open(&at(name)).unwrap();
            let read = opened.source.read("/sys/devices/system/cpu/online").unwrap();
            assert_eq!(read, b"0-3\n", "{name}");
            assert!(opened.name.ends_with(name), "{}", opened.name);
        }
        assert!(open(&at("notes")).is_err());
        assert!(open(&at("nowhere")).is_err());
        let refused = open(Path::new("/dev/null")).err().unwrap().to_string();
        assert_eq!(refused, "/dev/null is neither a file nor a folder");
    }
}
