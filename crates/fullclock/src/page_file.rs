//! The file of a page that the user names: there as a whole or as it was, and never over something else.
#![expect(clippy::disallowed_methods, reason = "writes the file that the user names")]

use anyhow::{Context, Result, anyhow, bail};
use engine::results_folder::folder_of;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// As far as the marks of a page are looked for.
const HEAD: u64 = 64 << 10;

/// A kind of page.
pub(crate) struct Kind {
    /// What it is called.
    pub(crate) noun: &'static str,
    /// The option that names its file.
    pub(crate) option: &'static str,
    /// The option that replaces whatever is there, where there is one.
    pub(crate) force: Option<&'static str>,
    /// Whether the beginning of a file is that of such a page.
    pub(crate) is_one: fn(&str) -> bool,
}

/// Writes the page. Refuses to replace what is none of its kind unless `force`, and what is no file in any case.
pub(crate) fn write(path: &Path, page: &str, kind: &Kind, force: bool) -> Result<()> {
    let mut file = place(path, kind, force)?;
    let cannot = || format!("cannot write {}", path.display());
    file.as_file_mut().write_all(page.as_bytes()).with_context(cannot)?;
    file.persist(path).map_err(|it| it.error).with_context(cannot)?;
    Ok(())
}

/// What was wrong, without the name of a temporary file, which tempfile adds and the user did not choose.
fn without_name(error: &io::Error) -> anyhow::Error {
    let text = error.to_string();
    let end = text.find(" at path \"").unwrap_or(text.len());
    anyhow!("{}", text.get(..end).unwrap_or(&text))
}

/// Finds out whether a page could be written, and leaves nothing behind.
pub(crate) fn check(path: &Path, kind: &Kind) -> Result<()> {
    place(path, kind, false).map(drop)
}

/// The file that becomes the page.
fn place(path: &Path, kind: &Kind, force: bool) -> Result<NamedTempFile> {
    let (name, Kind { noun, option, .. }) = (path.display(), kind);
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot look at {name}")),
        Ok(found) if found.is_dir() => bail!("{name} is a folder; name a file in it with {option}"),
        Ok(found) if !found.is_file() => {
            bail!("{name} is no regular file; name another with {option}")
        }
        Ok(_) if force || (kind.is_one)(&head(path)?) => {}
        Ok(_) => {
            let or = kind.force.map_or(String::new(), |it| format!(", or replace it with {it}"));
            bail!(
                "{name} is there, and is no {noun} of fullclock; name another file with {option}{or}"
            )
        }
    }
    // It is there to be passed on: whoever may read what this user writes may read it.
    let mode = std::fs::Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().permissions(mode).tempfile_in(folder_of(path));
    file.map_err(|it| without_name(&it)).with_context(|| format!("cannot write {name}"))
}

fn head(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|it| it.take(HEAD).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind {
        noun: "certificate",
        option: "--output",
        force: Some("--force"),
        is_one: |head| head.starts_with("<!-- certificate -->"),
    };

    #[test]
    fn a_certificate_is_replaced_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.html");
        let page = "<!-- certificate --><title>change 0012</title>";
        write(&path, page, &KIND, false).unwrap();
        write(&path, page, &KIND, false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page);
        std::fs::write(&path, "<!DOCTYPE html>\n<title>fullclock certificate</title>").unwrap();
        let refused = write(&path, page, &KIND, false).unwrap_err().to_string();
        assert!(refused.contains("is no certificate of fullclock"), "{refused}");
        write(&path, page, &KIND, true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn whether_a_page_can_be_written_is_known_before_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        check(&folder.path().join("new.html"), &KIND).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let refused = check(&folder.path().join("nowhere/new.html"), &KIND).unwrap_err();
        let refused = format!("{refused:#}");
        assert!(refused.contains("cannot write") && !refused.contains(".tmp"), "{refused}");
    }

    #[test]
    fn a_folder_and_a_device_are_no_place_for_a_page_whatever_is_forced() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| write(path, "", &KIND, true).unwrap_err().to_string();
        assert!(refused(folder.path()).contains("is a folder"));
        assert!(refused(Path::new("/dev/null")).contains("is no regular file"));
    }
}
