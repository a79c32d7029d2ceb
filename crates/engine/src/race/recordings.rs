//! Recordings of the machines of a race, kept with its result.

use super::link::Piece;
use crate::sampling::Taping;
use anyhow::{Result, anyhow};
use facts::HostView;
use host::Recording;
use host::tape::Writer;
use lab::store::Journal;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

/// Recordings that are being made; those of nodes elsewhere come in pieces.
#[derive(Default)]
pub(super) struct Recordings {
    here: Option<Taping>,
    /// By the number of the node; `None` once one could not be written, which was reported.
    there: BTreeMap<usize, Option<File>>,
}

impl Recordings {
    /// Begins to record this machine, which is `host` by the answers in `recording`.
    ///
    /// Errors: there is no room for it, or no thread.
    pub(super) fn begin(
        journal: &Journal,
        recording: &Recording<'_>,
        host: &HostView,
    ) -> Result<Recordings> {
        let (file, path) = journal.recording(None)?;
        let tape = Writer::on(file, path.display().to_string(), recording)?;
        let taping =
            Taping::begin(tape, host, |_| {}).map_err(|it| anyhow!(host::thread::refusal(&it)))?;
        Ok(Recordings { here: Some(taping), there: BTreeMap::new() })
    }

    /// Writes the next piece of a node's recording. The first error is returned and ends that recording.
    pub(super) fn add(
        &mut self,
        journal: &Journal,
        node: usize,
        name: &str,
        piece: &Piece,
    ) -> Result<()> {
        if piece.is_first {
            self.there.insert(node, None);
            let (file, _) = journal.recording(Some(name))?;
            self.there.insert(node, Some(file));
        }
        let Some(Some(file)) = self.there.get_mut(&node) else { return Ok(()) };
        let written = file.write_all(&piece.bytes);
        if written.is_err() {
            self.there.insert(node, None);
        }
        Ok(written?)
    }

    /// Waits until all of them are on the disk.
    pub(super) fn finish(self) -> Result<()> {
        let here = self.here.map_or(Ok(()), Taping::finish);
        let there = self.there.into_values().flatten().try_for_each(|it| it.sync_data());
        here?;
        Ok(there?)
    }
}
