//! Files that users name: what a script printed inside Oracle, and speeds of other machines.

use super::{BenchArguments, Dialect, keep};
use crate::cli::Arguments;
use crate::output;
use crate::result::Destination;
use anyhow::{Context, Result, bail};
use engine::bench::moment;
use engine::copies::bytes_of;
use lab::known::Known;
use lab::oracle::{commit, cpu_speed, plsql_loop};
use lab::peers::{self, Peer, Standing};
use lab::record::Record;
use lab::store;
use report::bench::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The number of iterations of the published test.
const ITERATIONS: u64 = 10_000_000;

pub(super) fn print_script(dialect: Dialect, options: &BenchArguments) -> Result<ExitCode> {
    let Dialect::Oracle = dialect;
    let script = match options.workload.as_deref() {
        Some("plsql-loop") => plsql_loop::script(options.work.iterations.unwrap_or(ITERATIONS)),
        Some("cpu-speed") => cpu_speed::SCRIPT.to_owned(),
        Some("commit") => commit::SCRIPT.to_owned(),
        other => bail!("{}", no_script(other)),
    };
    output::print(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn parse_output(
    arguments: &Arguments,
    options: &BenchArguments,
    destination: &Destination,
    file: &Path,
) -> Result<ExitCode> {
    let text = text_of(file)?;
    let name = file.display().to_string();
    let mut record = record_of(options.workload.as_deref(), &text).with_context(|| name.clone())?;
    (record.id, record.began) = moment(&record.arms[0].workload);
    env!("CARGO_PKG_VERSION").clone_into(&mut record.version);
    record.arms[0].about.push(("read from".to_owned(), name));
    let file = keep(arguments, options, &mut record);
    let report = Report::of(&record, file.as_ref().ok().and_then(Option::as_deref));
    super::print(arguments, &report, destination)?;
    file.map(|_| ExitCode::SUCCESS)
}

fn record_of(workload: Option<&str>, text: &str) -> Result<Record> {
    Ok(match workload {
        Some("plsql-loop") => plsql_loop::parse(text)?.record(),
        Some("cpu-speed") => cpu_speed::result(cpu_speed::parse(text)?),
        Some("commit") => commit::result(&commit::parse(text)?),
        other => bail!("{}", no_script(other)),
    })
}

fn no_script(workload: Option<&str>) -> String {
    let workload = workload.unwrap_or("no workload");
    format!(
        "there is no script for {workload}; there are those of plsql-loop, cpu-speed and commit"
    )
}

/// The peers in these files.
///
/// Errors: one of them cannot be read, or names no peer.
pub(super) fn read_peers(files: &[PathBuf]) -> Result<Vec<Peer>> {
    let of_each: Vec<Vec<Peer>> = files.iter().map(|it| of_file(it)).collect::<Result<_>>()?;
    Ok(of_each.concat())
}

/// The rank of the machine of this result among the peers; `None` where there are no peers.
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

/// The largest file: far more than any of them has.
const LARGEST: u64 = 1 << 28;

/// The text of a file. Of a character set that is not UTF-8 only the ASCII is kept: SQL*Plus prints in that of its
/// session, and nothing that is looked for is beyond ASCII.
pub(super) fn text_of(path: &Path) -> Result<String> {
    let Some(bytes) = bytes_of(path, LARGEST)? else {
        bail!("{} holds {} MiB or more: it is something else", path.display(), LARGEST >> 20);
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
