//! Opens hosts in all the forms that the data has.

use anyhow::{Context as _, Result};
use host::{Archive, Captured, Source};
use std::path::Path;

/// Collectors with a format of their own, by their folders.
const IMPORTED: [&str; 2] = ["pepc", "stats-collect"];

/// Opens an archive of files, an archive to import, a text archive, a capture, or a lone /proc/interrupts.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Source>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    if IMPORTED.contains(&&*folder) {
        captured(&xtask::import::capture_of(path)?)
    } else if name.ends_with(".host") {
        captured(&std::fs::read_to_string(path)?)
    } else if name.ends_with(".ttar") {
        let tar = tar_of_ttar(&std::fs::read_to_string(path)?)?;
        Ok(Box::new(Archive::read(&name, &*tar, "")?))
    } else if name.starts_with("interrupts") {
        let text = std::fs::read_to_string(path)?;
        captured(&format!("fullclock capture 1 (imported)\n//- /proc/interrupts\n{text}"))
    } else {
        Ok(host::open_root(path)?)
    }
}

/// The host in the text of a capture.
pub(crate) fn captured(text: &str) -> Result<Box<dyn Source>> {
    Ok(Box::new(Captured::parse(text)?))
}

/// A text archive (github.com/ideaship/ttar) as a tar: `Path:`, then `SymlinkTo:` or `Lines:` and so many
/// lines, in which `NULLBYTE` stands for a NUL byte and `EOF` for a missing newline.
fn tar_of_ttar(text: &str) -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(path) = line.strip_prefix("Path: ") else { continue };
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        let kind = lines.next().context("a path at the end")?;
        if let Some(target) = kind.strip_prefix("SymlinkTo: ") {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            tar.append_link(&mut header, path, target)?;
        } else if let Some(n_lines) = kind.strip_prefix("Lines: ") {
            let content: String =
                lines.by_ref().take(n_lines.parse()?).flat_map(|it| [it, "\n"]).collect();
            let content = content.replace("EOF\n", "").replace("NULLBYTE", "\0");
            header.set_size(content.len().try_into()?);
            tar.append_data(&mut header, path, content.as_bytes())?;
        }
    }
    Ok(tar.into_inner()?)
}
