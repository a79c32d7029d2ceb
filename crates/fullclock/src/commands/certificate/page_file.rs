//! The file of a certificate: there as a whole or as it was, and never over something else.
#![expect(clippy::disallowed_methods, reason = "writes the file that the user names")]

use crate::render::certificate::is_certificate;
use crate::results_folder::folder_of;
use anyhow::{Context, Result, bail};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// As far as the marks of a certificate are looked for.
const HEAD: u64 = 64 << 10;

/// Writes the page. Refuses to replace what is no certificate unless `force`, and what is no file in any case.
pub(super) fn write(path: &Path, page: &str, force: bool) -> Result<()> {
    let name = path.display();
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot look at {name}")),
        Ok(found) if found.is_dir() => bail!("{name} is a folder; name a file in it with --to"),
        Ok(found) if !found.is_file() => bail!("{name} is no regular file; name another with --to"),
        Ok(_) if force || is_certificate(&head(path)?) => {}
        Ok(_) => bail!(
            "{name} is there, and is no certificate of fullclock; name another file with --to, or replace it \
             with --force"
        ),
    }
    let cannot = || format!("cannot write {name}");
    // It is there to be passed on: whoever may read what this user writes may read it.
    let mode = std::fs::Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().permissions(mode).tempfile_in(folder_of(path));
    let mut file = file.with_context(cannot)?;
    file.write_all(page.as_bytes()).with_context(cannot)?;
    file.persist(path).with_context(cannot)?;
    Ok(())
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
    use crate::render::certificate::fixture;

    #[test]
    fn a_certificate_is_replaced_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.html");
        let page = fixture::page();
        write(&path, &page, false).unwrap();
        write(&path, &page, false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page);
        std::fs::write(&path, "<!DOCTYPE html>\n<title>fullclock certificate</title>").unwrap();
        let refused = write(&path, &page, false).unwrap_err().to_string();
        assert!(refused.contains("is no certificate of fullclock"), "{refused}");
        write(&path, &page, true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_and_a_device_are_no_place_for_a_page_whatever_is_forced() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| write(path, "", true).unwrap_err().to_string();
        assert!(refused(folder.path()).contains("is a folder"));
        assert!(refused(Path::new("/dev/null")).contains("is no regular file"));
    }
}
