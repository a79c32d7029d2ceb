//! `fullclock certificate`: a page that shows what one change did, for those who approve it or fix it.
//!
//! The verdict is that of `fullclock compare`. The journal is that of the machine this runs on; results name no machine, so
//! that it is unknown whether they are of the same one.

use super::change::StateArguments;
use super::compare;
use crate::cli::Arguments;
use crate::complete;
use crate::head::head;
use crate::new_file::{self, Readers};
use crate::output;
use crate::result::{FormatArguments, refuse_other_ending};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use engine::change::opened::program;
use engine::clock::since_1970;
use engine::copies::bytes_of;
use engine::earlier::{earlier_runs, folders_of};
use host::change::{Access, Journal, Machine};
use lab::compare::{Side, Terms};
use lab::comparison::{Comparison, between, within};
use lab::record::Record;
use lab::store::read_from;
use lab::verdict::confidence;
use report::certificate::{Certificate, Change, Data, sha256};
use report::document::Format;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args, Debug)]
pub(crate) struct CertificateArguments {
    /// The result from before the change, or the one result that holds both (`apply --prove`, `bench --vs`): a file, or an id
    /// that `fullclock history` shows, or as much of its beginning as no other has
    #[arg(value_name = "BEFORE", add = ArgValueCandidates::new(complete::results))]
    pub(crate) before: PathBuf,
    /// The result from after it
    #[arg(value_name = "AFTER", add = ArgValueCandidates::new(complete::results))]
    pub(crate) after: Option<PathBuf>,
    /// The change, as `fullclock status --all` names it [default: the settings in which the machines of both differ]
    #[arg(long, value_name = "CHANGE", add = ArgValueCandidates::new(complete::changes))]
    pub(crate) change: Option<String>,
    /// The page to write
    #[arg(short, long, value_name = "FILE", default_value = "certificate.html")]
    pub(crate) output: PathBuf,
    /// Replace FILE if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// The folder of the results that ids are of [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

pub(super) fn run(arguments: &Arguments, options: &CertificateArguments) -> Result<ExitCode> {
    new_file::check(&options.output, options.force)?;
    refuse_other_ending(&options.output, "an HTML page", &["html", "htm"])?;
    let results = options.results.as_deref();
    let mut data: Vec<Data> = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for given in std::iter::once(&options.before).chain(&options.after) {
        files.push(compare::file(given, results)?);
        let (file, record) = read_data(&files[files.len() - 1])?;
        if record.experiment.is_some() {
            bail!("{} is a study of settings; `fullclock report` writes its page", file.name);
        }
        data.push(file);
        records.push(record);
    }
    let (sides, comparison) = compared(&records, &data, &folders_of(&files, results))?;
    let change = match &options.change {
        Some(id) => Some(change_of(&options.state.state_dir, id)?),
        None => None,
    };
    let written = report::change::moment(since_1970());
    let head = head(arguments);
    let host = head.host.clone();
    let certificate = Certificate::of(sides, &comparison, &data, change.as_ref(), written, host)
        .map_err(|side| anyhow!("{side} has no trial with a result"))?;
    let document = report::certificate::document(&certificate);
    let page = document.render(Format::Html);
    new_file::write(&options.output, &page, Readers::Usual, options.force)?;
    let text = match options.format.chosen(&arguments.output) {
        None => report::certificate::json(&head, &certificate, &options.output)?,
        Some(format) if format.is_text() => {
            report::certificate::summary(&certificate, &options.output).render(format)
        }
        Some(format) => document.render(format),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The two results or variants, called before and after, and their comparison.
fn compared<'a>(
    records: &'a [Record],
    data: &[Data],
    folders: &BTreeSet<PathBuf>,
) -> Result<([Side<'a>; 2], Comparison)> {
    let name = |at: usize| data.get(at).map_or("", |it| it.name.as_str());
    let side = |name, record, arm| Side { name, record, arm };
    match records {
        [one] if one.arms.len() == 2 => {
            let sides = [0, 1].map(|arm| side(&*one.arms[arm].name, one, arm));
            let found =
                within(one).map_err(|why| anyhow!(why)).with_context(|| name(0).to_owned())?;
            let comparison = found.into_iter().next_back().context("there is no second variant")?;
            Ok((sides, comparison))
        }
        [one] => bail!(
            "{} has {}; a certificate is of two: give the result from after the change, too",
            name(0),
            if one.arms.len() == 1 {
                "one variant".to_owned()
            } else {
                format!("{} variants", one.arms.len())
            }
        ),
        [before, after] => {
            let sides = [side("before", before, 0), side("after", after, 0)];
            let [a, b] = sides;
            let context = || format!("{} and {}", name(0), name(1));
            let between_runs = earlier_runs(&sides, folders).between(0, 1, confidence(1));
            let terms = Terms { between_runs, ..Terms::of(1) };
            let comparison =
                between(a, b, &terms).map_err(|why| anyhow!(why)).with_context(context)?;
            Ok((sides, comparison))
        }
        _ => bail!("give one result or two"),
    }
}

/// The change that `id` names, `7` or `0007`, from the journal, with the state of each place that it wrote.
fn change_of(folder: &Path, id: &str) -> Result<Change> {
    let journal = Journal::open(folder, Access::Read)?;
    let change = recorded_change(&journal, id);
    change.with_context(|| format!("--change {id}, in the journal of {}", folder.display()))
}

fn recorded_change(journal: &Journal, id: &str) -> Result<Change> {
    let recorded = journal.change(id)?.clone();
    let groups = journal.groups(&recorded.id)?;
    let lines = journal.lines(&recorded.id)?;
    let machine = Machine::this(program()?);
    let of_command = journal.changes().iter().filter(|it| it.command == recorded.command);
    let same_command = of_command.map(|it| it.when).collect();
    let mut all = host::change::standing(&machine, journal, true)?;
    let place = all.iter().position(|it| it.recorded.id == recorded.id);
    let shown = all.swap_remove(place.context("it is not among the changes of the journal")?);
    Ok(Change { shown, groups, lines, same_command })
}

/// The largest result: a trial takes some kilobytes.
const LARGEST: u64 = 1 << 30;

/// A result, and what identifies its file. It is read once, so that what is hashed is what is judged.
fn read_data(path: &Path) -> Result<(Data, Record)> {
    let bytes = bytes_of(path, LARGEST)?
        .with_context(|| format!("{} is 1 GiB or larger, which no result is", path.display()))?;
    let record = read_from(path, &bytes)?;
    let data = Data { name: path.display().to_string(), size: bytes.len(), sha256: sha256(&bytes) };
    Ok((data, record))
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock certificate before.json after.json       what differs is the change
  fullclock certificate 20261120T1543 20261121 --change 7 -o CHG-4711.html
  fullclock certificate proof.json --change 7        what apply --prove kept
  fullclock certificate old-firmware.json new-firmware.json";
