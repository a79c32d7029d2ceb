//! The ledger of a recording.

use super::Period;
use crate::measure::choice::within;
use crate::{Event, Tell};
use anyhow::{Result, bail};
use facts::{CpuSet, HostView};
use host::tape::Reader;
use rules::ledger::{Evidence, Ledger, close};
use rules::segment::Longest;
use std::path::Path;

/// A ledger, and the host that was recorded.
pub struct Recorded {
    /// The host, as it was.
    pub host: HostView,
    /// The ledger of the longest segment.
    pub ledger: Ledger,
}

/// Closes the ledger of the longest segment of samples that lies in `period`, of these CPUs or of all.
///
/// Errors: it is no recording, or holds no interval; a CPU was not online.
pub fn recorded(
    file: &Path,
    cpus: Option<&CpuSet>,
    mut period: Period<'_>,
    tell: &mut Tell<'_>,
) -> Result<Recorded> {
    let name = file.display().to_string();
    let mut reader = Reader::open(file)?;
    let host = host::view(reader.host());
    let mut longest = Longest::new();
    let mut damages = Vec::new();
    for sample in &mut reader {
        match sample {
            Ok(sample) if period.has(sample.counters.at)? => longest.push(sample),
            Ok(_) => {}
            Err(damage) => damages.push(format!("{name}: {damage}")),
        }
    }
    let Some(found) = longest.finish() else {
        let nothing =
            || "it holds no two samples in a row: there is no interval to account for".to_owned();
        damages.push(format!("{name}: {}", period.why_empty().unwrap_or_else(nothing)));
        bail!(damages.join("; "));
    };
    let interval = found.segment.interval(&host);
    let audit = crate::advised::audit(reader.host(), &host);
    let evidence = Evidence {
        cpus: within(cpus, &interval.cpus())?,
        traced: found.segment.traced(),
        clocks: found.segment.clocks(),
        observer: reader.observer().unwrap_or_default(),
        findings: &audit.findings,
        ..Evidence::of(interval)
    };
    let mut ledger = close(&evidence);
    for damage in &damages {
        tell(Event::Note(damage.clone()))?;
    }
    ledger.notes.extend(period.note());
    ledger.notes.extend(damages);
    ledger.notes.extend(found.notes);
    Ok(Recorded { host, ledger })
}
