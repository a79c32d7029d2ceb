//! `fullclock certificate`: a page that shows what one change did, for whoever has to approve it or mend it.
//!
//! The verdict is that of `fullclock compare`. The journal is that of the machine this runs on; results name no machine, so
//! that nobody can tell here whether they are of the same one.

mod change;
mod data;
pub(super) mod options;

use crate::cli::Arguments;
use crate::commands::certificate::options::CertificateArguments;
use crate::commands::compare;
use crate::output::{self};
use crate::page_file::{self, Kind};
use anyhow::{Context, Result, anyhow, bail};
use engine::clock::since_1970;
use lab::compare::Side;
use lab::comparison::{Comparison, between, within};
use lab::record::Record;
use report::certificate::{Certificate, Data};
use std::process::ExitCode;

/// What the file is that holds it.
const KIND: Kind = Kind {
    noun: "certificate",
    option: "--to",
    force: Some("--force"),
    is_one: report::certificate::is_certificate,
};

pub(super) fn run(arguments: &Arguments, options: &CertificateArguments) -> Result<ExitCode> {
    let results = options.results.as_deref();
    let mut data: Vec<Data> = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    for given in std::iter::once(&options.before).chain(&options.after) {
        let (file, record) = data::read(&compare::file(given, results)?)?;
        if record.experiment.is_some() {
            bail!("{} is a study of settings; `fullclock report` writes its page", file.name);
        }
        data.push(file);
        records.push(record);
    }
    let (sides, comparison) = compared(&records, &data)?;
    let change = match &options.change {
        Some(id) => Some(change::of(&options.state.state_dir, id)?),
        None => None,
    };
    let written = report::change::moment(since_1970());
    let certificate = Certificate::of(sides, &comparison, &data, change.as_ref(), written)
        .map_err(|side| anyhow!("{side} has no trial that ended with a figure"))?;
    let page = report::certificate::page(&certificate);
    page_file::write(&options.to, &page, &KIND, options.force)?;
    let text = if arguments.output.json {
        report::certificate::json(&certificate, &options.to)?
    } else {
        let style = output::style(arguments.output.color);
        report::certificate::text(&certificate, &options.to, style)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The two moments or arms, called before and after, and what can be said of them.
fn compared<'a>(records: &'a [Record], data: &[Data]) -> Result<([Side<'a>; 2], Comparison)> {
    let name = |at: usize| data.get(at).map_or("", |it| it.name.as_str());
    let side = |name, record, arm| Side { name, record, arm };
    match records {
        [one] if one.arms.len() == 2 => {
            let sides = [0, 1].map(|arm| side(&*one.arms[arm].name, one, arm));
            let comparison = within(one).pop().context("there is no second arm")?;
            Ok((sides, comparison))
        }
        [one] => bail!(
            "{} has {}; a certificate is of two: give the result from after the change, too",
            name(0),
            if one.arms.len() == 1 {
                "one arm".to_owned()
            } else {
                format!("{} arms", one.arms.len())
            }
        ),
        [before, after] => {
            let sides = [side("before", before, 0), side("after", after, 0)];
            let [a, b] = sides;
            let context = || format!("{} and {}", name(0), name(1));
            let comparison = between(a, b).map_err(|why| anyhow!(why)).with_context(context)?;
            Ok((sides, comparison))
        }
        _ => bail!("give one result or two"),
    }
}
