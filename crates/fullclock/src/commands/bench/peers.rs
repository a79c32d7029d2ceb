//! What machines with the same processor did: files that the user has of them.

use super::file::text_of;
use anyhow::{Context, Result, bail};
use lab::known::Known;
use lab::peers::{self, Peer, Standing};
use lab::record::Record;
use lab::store;
use std::path::{Path, PathBuf};

/// The peers in these files.
///
/// Errors: one of them cannot be read, or names no peer.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Peer>> {
    let of_each: Vec<Vec<Peer>> = files.iter().map(|it| of_file(it)).collect::<Result<_>>()?;
    Ok(of_each.concat())
}

/// How the machine of this result stands to them; nothing where there are none.
pub(super) fn standing(record: &Record, peers: &[Peer]) -> Option<Known<Standing>> {
    let stands = |own: Known<Peer>| match own {
        Known::Value(own) => peers::standing(&own, peers),
        Known::Missing { missing } => Known::Missing { missing },
    };
    (!peers.is_empty()).then(|| stands(peers::of_record(record)))
}

fn of_file(file: &Path) -> Result<Vec<Peer>> {
    let name = || format!("--peers {}", file.display());
    let text = text_of(file)?;
    // Results are JSON; no processor's name begins like that.
    if text.trim_start().starts_with('{') {
        let record = store::read_from(file, text.as_bytes()).with_context(name)?;
        return match peers::of_record(&record) {
            Known::Value(peer) => Ok(vec![peer]),
            Known::Missing { missing } => bail!("{}: {missing}", name()),
        };
    }
    let peers = peers::parse(&text).with_context(name)?;
    if peers.is_empty() {
        bail!("{}: it names no peer; a line is `MODEL ; SPEED`", name());
    }
    Ok(peers)
}
