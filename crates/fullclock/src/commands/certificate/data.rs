//! The results that a certificate rests on: each is read once, so that what is hashed is what is judged.

use crate::commands::bytes_of;
use anyhow::{Context, Result};
use lab::record::Record;
use lab::store::read_from;
use report::certificate::{Data, sha256};
use std::path::Path;

/// A trial takes some kilobytes.
const LARGEST: u64 = 1 << 30;

/// A result, and what its file is known by.
pub(super) fn read(path: &Path) -> Result<(Data, Record)> {
    let bytes = bytes_of(path, LARGEST)?
        .with_context(|| format!("{} is 1 GiB or larger, which no result is", path.display()))?;
    let record = read_from(path, &bytes)?;
    let data = Data { name: path.display().to_string(), size: bytes.len(), sha256: sha256(&bytes) };
    Ok((data, record))
}
