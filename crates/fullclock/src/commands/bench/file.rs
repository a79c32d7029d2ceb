//! Files that users name: what a script printed, and speeds of other machines.
#![expect(clippy::disallowed_methods, reason = "reads what the user names")]

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Far more than any of them has.
const LARGEST: u64 = 1 << 28;

/// The text of a file. Of a character set that is not UTF-8 only the ASCII is kept: SQL*Plus prints in that of its
/// session, and nothing that is looked for is beyond ASCII.
pub(super) fn text_of(path: &Path) -> Result<String> {
    let name = path.display();
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 == LARGEST {
        bail!("{name} holds {} MiB or more: it is something else", LARGEST >> 20);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
