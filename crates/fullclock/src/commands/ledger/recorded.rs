//! `fullclock ledger --from`: the books of a recording.

use super::{print, within};
use crate::cli::{Arguments, LedgerArguments};
use crate::output;
use crate::period::Period;
use anyhow::{Result, bail};
use host::tape::Reader;
use rules::ledger::{Evidence, close};
use rules::segment::Longest;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(
    arguments: &Arguments,
    options: &LedgerArguments,
    file: &Path,
) -> Result<ExitCode> {
    let name = file.display().to_string();
    let mut reader = Reader::open(file)?;
    let host = host::view(reader.host());
    let mut longest = Longest::new();
    let mut period = Period::new(options.since.as_ref(), options.until.as_ref());
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
    let audit = engine::advised::audit(reader.host(), &host);
    let evidence = Evidence {
        cpus: within(options.cpus.as_ref(), &interval.cpus())?,
        traced: found.segment.traced(),
        clocks: found.segment.clocks(),
        observer: reader.observer().unwrap_or_default(),
        findings: &audit.findings,
        ..Evidence::of(interval)
    };
    let mut ledger = close(&evidence);
    damages.iter().for_each(|damage| output::note(&arguments.output, damage));
    ledger.notes.extend(period.note());
    ledger.notes.extend(damages);
    ledger.notes.extend(found.notes);
    print(arguments, &name, &host, &ledger)?;
    Ok(ExitCode::SUCCESS)
}
