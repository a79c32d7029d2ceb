//! What the command line asks to be run, as arms of a plan.

use crate::commands::bench::{ArmArguments, BenchArguments, Place, WorkArguments};
use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use engine::secret;
use facts::{CpuSet, secrets};
use lab::bench::PlannedArm;
use lab::workload::{Placement, Settings, Workload};
use lab::workloads::{WORKLOADS, find};

/// What runs a command.
pub(in crate::commands) const COMMAND: &str = "command";

/// The arms: none where nothing is requested.
pub(in crate::commands) fn planned(
    options: &BenchArguments,
    allowed: &CpuSet,
) -> Result<Vec<PlannedArm>> {
    if let [a, b] = &options.vs[..] {
        let side = |name: &str, text: &str| {
            side(name, text, &options.work, allowed)
                .with_context(|| format!("--vs, {name}: {}", secrets::masked_command(text)))
        };
        return Ok(vec![side("A", a)?, side("B", b)?]);
    }
    let is_command = options.workload.is_none() && !options.work.command.is_empty();
    let Some(id) = options.workload.as_deref().or(is_command.then_some(COMMAND)) else {
        return Ok(Vec::new());
    };
    let workload = known(id)?;
    if options.sweep {
        return swept(workload, &options.work, allowed);
    }
    Ok(vec![arm("A", workload, settings(workload, &options.work, allowed)?)])
}

fn known(id: &str) -> Result<&'static Workload> {
    find(id).ok_or_else(|| {
        let ids: Vec<&str> = WORKLOADS.iter().map(|it| it.id).collect();
        let ids = ids.join(", ");
        anyhow!("there is no workload {id:?}; there are {ids}; a command follows `--`")
    })
}

/// An arm that runs a workload with its options, in one text.
pub(crate) fn of_text(name: &str, text: &str, allowed: &CpuSet) -> Result<PlannedArm> {
    side(name, text, &WorkArguments::default(), allowed)
}

/// One side of a comparison. What both share stands outside of the quotes.
fn side(name: &str, text: &str, common: &WorkArguments, allowed: &CpuSet) -> Result<PlannedArm> {
    let words = shlex::split(text).context("a quote or a backslash has nothing to end it")?;
    let first = words.first().context("it is empty")?;
    let (workload, own) = match find(first) {
        Some(workload) => {
            let parsed = ArmArguments::try_parse_from(&words)
                .map_err(|error| anyhow!(first_line(&error.to_string())))?;
            (workload, parsed.work)
        }
        None => {
            let command = words.iter().map(Into::into).collect();
            (known(COMMAND)?, WorkArguments { command, ..WorkArguments::default() })
        }
    };
    let work = own.or(common);
    Ok(arm(name, workload, settings(workload, &work, allowed)?))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// An arm for each CPU.
fn swept(
    workload: &'static Workload,
    work: &WorkArguments,
    allowed: &CpuSet,
) -> Result<Vec<PlannedArm>> {
    let cpus = match &work.cpus {
        Some(Place::Any) => bail!("--sweep runs it on each CPU in turn, and --cpus any on none"),
        Some(Place::Cpus(cpus)) => cpus,
        None => allowed,
    };
    let one = |cpu: u32| {
        let place = Some(Place::Cpus([cpu].into_iter().collect()));
        let work = WorkArguments { cpus: place, ..work.clone() };
        Ok(arm(&format!("CPU {cpu}"), workload, settings(workload, &work, allowed)?))
    };
    cpus.iter().map(one).collect()
}

fn arm(name: &str, workload: &'static Workload, settings: Settings) -> PlannedArm {
    PlannedArm { name: name.to_owned(), workload, settings }
}

fn settings(workload: &Workload, work: &WorkArguments, allowed: &CpuSet) -> Result<Settings> {
    let word = |it: &std::ffi::OsString| {
        it.to_str().map(str::to_owned).with_context(|| format!("{} is not UTF-8", it.display()))
    };
    let command: Vec<String> = work.command.iter().map(word).collect::<Result<_>>()?;
    secret::refuse_secrets("the command", &command)?;
    Ok(Settings {
        cpus: cpus(workload, work.cpus.as_ref(), allowed)?,
        iterations: work.iterations,
        engine: work.engine.clone(),
        dsn: work.dsn.clone(),
        server: work.server.clone(),
        rows: work.rows,
        sessions: work.sessions,
        folder: work.folder.clone(),
        metric: work.metric.clone(),
        better: work.better.map(Into::into),
        timeout: work.timeout,
        command,
    })
}

fn cpus(workload: &Workload, place: Option<&Place>, allowed: &CpuSet) -> Result<Option<String>> {
    Ok(match (place, workload.placement) {
        (Some(Place::Cpus(cpus)), _) => Some(cpus.to_string()),
        (Some(Place::Any), Placement::Own) => {
            bail!(
                "{} keeps each of its threads on one CPU; --cpus any would let them move",
                workload.id
            )
        }
        // The last one: the first is where interrupts go by default.
        (None, Placement::OneCpu) => allowed.last().map(|it| it.to_string()),
        (Some(Place::Any), _) | (None, Placement::Own | Placement::Anywhere) => None,
    })
}

impl WorkArguments {
    /// Each option, or that of `common` where it is not given.
    fn or(self, common: &WorkArguments) -> WorkArguments {
        let command = if self.command.is_empty() { common.command.clone() } else { self.command };
        WorkArguments {
            cpus: self.cpus.or_else(|| common.cpus.clone()),
            iterations: self.iterations.or(common.iterations),
            engine: self.engine.or_else(|| common.engine.clone()),
            dsn: self.dsn.or_else(|| common.dsn.clone()),
            server: self.server.or_else(|| common.server.clone()),
            rows: self.rows.or(common.rows),
            sessions: self.sessions.or(common.sessions),
            folder: self.folder.or_else(|| common.folder.clone()),
            metric: self.metric.or_else(|| common.metric.clone()),
            better: self.better.or(common.better),
            timeout: self.timeout.or(common.timeout),
            command,
        }
    }
}
