//! Files that users name: what a script printed, and speeds of other machines.

use crate::commands::bytes_of;
use anyhow::{Result, bail};
use std::path::Path;

/// Far more than any of them has.
const LARGEST: u64 = 1 << 28;

/// The text of a file. Of a character set that is not UTF-8 only the ASCII is kept: SQL*Plus prints in that of its
/// session, and nothing that is looked for is beyond ASCII.
pub(super) fn text_of(path: &Path) -> Result<String> {
    let Some(bytes) = bytes_of(path, LARGEST)? else {
        bail!("{} holds {} MiB or more: it is something else", path.display(), LARGEST >> 20);
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
