//! The shape every workload has.

use crate::failure::Failure;
use crate::server::ServerSelection;
use crate::trial::{Better, FigureShape, Outcome};
use facts::{CpuSet, HostView, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Something that makes work and yields a figure.
///
/// What is declared here is all that the command line, the reports and the documentation know of it. Its place in
/// every list is that in `workloads::WORKLOADS`.
pub struct Workload {
    /// A noun: `cpu-loop`. Also the name of its file.
    pub id: &'static str,
    /// The same in a few words, for a list.
    pub title: &'static str,
    /// Markdown, with the headings of [`HEADINGS`](crate::workloads::HEADINGS).
    pub help: &'static str,
    /// The shape of its main figure: name, unit and which way is better.
    pub figure: FigureShape,
    /// The settings that mean something to it; any other one is refused by name.
    pub takes: &'static [Setting],
    /// Where it runs when the user names no CPUs.
    pub placement: Placement,
    /// What its trials find that preparing made, and what it costs to make that anew.
    pub preparation: Preparation,
    /// Makes it ready to run: starts servers, fills memory, checks what the settings ask for. What this takes is in no
    /// trial.
    pub prepare: Prepare,
}

/// Where a workload runs for which the user names no CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// On one CPU: it is one thread that never sleeps, and to be moved would be all that disturbs it.
    OneCpu,
    /// On CPUs that it finds, and nowhere else.
    Own,
    /// Wherever the scheduler puts it.
    Anywhere,
}

/// What preparing a workload leaves to all its trials.
///
/// Where a buffer or a server happens to lie in memory makes all its trials a few percent faster or slower, and two that were
/// made the same way differ by that. Trials in random order do not show it: only what was prepared anew as often as it was
/// compared does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// Nothing but its settings: a trial makes all that it uses.
    Stateless,
    /// Something that is made in milliseconds: an open device.
    Cheap,
    /// A server, or memory of the size of caches: seconds.
    Dear,
}

/// Makes a workload ready to run, or says what it lacks.
pub type Prepare = fn(&Settings, &Scene<'_>) -> Result<Box<dyn Ready>, Failure>;

/// A workload that is ready to run. Dropping it leaves no process and no folder.
pub trait Ready {
    /// Runs it once on the CPUs of the settings, or wherever the scheduler puts it where they name none. A process that
    /// ran stays on record until [`Ready::settle`], so that what it was given of the CPUs can be read.
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure>;

    /// Begins a trial that is cut into this number of pieces of equal work, at least 1; `None` where it cannot be cut. A trial in
    /// pieces runs on the calling thread alone, and measures the same work as [`Ready::trial`].
    fn cut(&self, _pieces: u32) -> Option<Box<dyn Pieces>> {
        None
    }

    /// The CPUs that it keeps its threads on; `None` where the scheduler chooses. The same for every trial.
    fn cpus(&self) -> Option<&CpuSet>;

    /// Called after each trial, once its surroundings have been recorded: waits for processes that have ended.
    fn settle(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The processes that do the work.
    fn processes(&self) -> Vec<u32> {
        vec![std::process::id()]
    }

    /// Whether these end with each trial, and are others in the next.
    fn ends_with_trial(&self) -> bool {
        false
    }

    /// Tasks of other processes that do its work: those of a server's sessions.
    fn tasks(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The server whose processes belong to the work, where there is one that is not this process.
    fn server(&self) -> Option<ServerSelection> {
        None
    }

    /// What has to be known of it to compare its figures with others': the version of a server, a mitigation.
    fn about(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A trial in pieces. What happens between two of them is in neither, so that those of several trials can take turns.
pub trait Pieces {
    /// Does the next piece on the calling thread, which the caller keeps on the workload's CPU; how long it took, in
    /// nanoseconds.
    fn piece(&mut self) -> u64;

    /// The outcome of the trial once all pieces are done: its times are the sums of theirs.
    fn outcome(&self) -> Result<Outcome, Failure>;
}

/// Where trials are run.
pub struct Scene<'a> {
    /// The host that the workload runs on.
    pub host: &'a HostView,
    /// The CPUs that this process may run on.
    pub allowed: CpuSet,
    /// Where temporary folders are made.
    pub temporary: PathBuf,
    /// Set when the user wants to stop. Every wait and every loop checks it and fails with [`Failure::Stopped`].
    pub stop: &'a AtomicBool,
}

/// A setting that a user may give; each workload lists those it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `--cpus`.
    Cpus,
    /// `--iterations`.
    Iterations,
    /// `--engine`.
    Engine,
    /// `--dsn`.
    Dsn,
    /// `--server`.
    Server,
    /// `--rows`.
    Rows,
    /// `--sessions`.
    Sessions,
    /// `--folder`.
    Folder,
    /// `--metric`.
    Metric,
    /// `--better`.
    Better,
    /// `--timeout`.
    Timeout,
    /// The command itself.
    Command,
}

/// What a user asked of a workload. `None` leaves the workload's own default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The CPUs to run on, as the kernel writes lists: one thread on each, all at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// How much work one trial is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// The id of the database to run in; `None` for the first one found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// A server that runs already. Kept in results without its password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsn: Option<String>,
    /// The server that a command works with, as `--server` names it. Kept in results without its password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// How many rows to load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// How many sessions work at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
    /// The folder whose disk counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// A regular expression that finds the figure in what a command prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Which way that figure is faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// How long a trial may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// The command and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

impl Setting {
    /// The option of the command line.
    pub fn option(self) -> &'static str {
        match self {
            Setting::Cpus => "--cpus",
            Setting::Iterations => "--iterations",
            Setting::Engine => "--engine",
            Setting::Dsn => "--dsn",
            Setting::Server => "--server",
            Setting::Rows => "--rows",
            Setting::Sessions => "--sessions",
            Setting::Folder => "--folder",
            Setting::Metric => "--metric",
            Setting::Better => "--better",
            Setting::Timeout => "--timeout",
            Setting::Command => "a command",
        }
    }
}

impl Settings {
    /// The CPUs to run on; `None` where the scheduler is to choose.
    pub fn cpus(&self) -> Result<Option<CpuSet>, Failure> {
        let Some(text) = &self.cpus else { return Ok(None) };
        let unready = |why: String| Failure::Unready(format!("--cpus {text}: {why}"));
        let cpus = CpuSet::parse_list(text).map_err(|error| unready(error.to_string()))?;
        if cpus.is_empty() { Err(unready("it names no CPU".to_owned())) } else { Ok(Some(cpus)) }
    }

    /// How much work one trial is: `default` where nothing was asked, and no more than `most`.
    ///
    /// Errors: no work, or more than that.
    pub(crate) fn iterations_up_to(&self, most: u64, default: u64) -> Result<u64, Failure> {
        match self.iterations.unwrap_or(default) {
            it if (1..=most).contains(&it) => Ok(it),
            it => Err(Failure::Unready(format!("--iterations {it}: expected 1 to {most}"))),
        }
    }

    /// How many sessions work at once: `default` where nothing was asked, and no more than `most`.
    ///
    /// Errors: none, or more than that.
    pub(crate) fn sessions_up_to(&self, most: u32, default: u32) -> Result<u32, Failure> {
        let asked = self.sessions.unwrap_or(u64::from(default));
        let sessions = u32::try_from(asked).ok().filter(|it| (1..=most).contains(it));
        sessions
            .ok_or_else(|| Failure::Unready(format!("--sessions {asked}: expected 1 to {most}")))
    }

    /// The same as a result keeps them: a password in a connection string or a command is replaced by a mark. Of these again,
    /// nothing is replaced.
    #[must_use]
    pub fn without_secrets(&self) -> Settings {
        // Nothing is left of keywords that were a password alone.
        let public = |dsn: &str| match dsn {
            "" => String::new(),
            dsn => crate::database::without_password(dsn),
        };
        let dsn = self.dsn.as_deref().map(public);
        let server = self.server.as_deref().map(|it| {
            it.parse::<ServerSelection>().map_or("(not readable)".to_owned(), |it| it.to_string())
        });
        Settings { dsn, server, command: secrets::masked_words(&self.command), ..self.clone() }
    }

    /// The settings that were given.
    pub fn given(&self) -> Vec<Setting> {
        [
            (Setting::Cpus, self.cpus.is_some()),
            (Setting::Iterations, self.iterations.is_some()),
            (Setting::Engine, self.engine.is_some()),
            (Setting::Dsn, self.dsn.is_some()),
            (Setting::Server, self.server.is_some()),
            (Setting::Rows, self.rows.is_some()),
            (Setting::Sessions, self.sessions.is_some()),
            (Setting::Folder, self.folder.is_some()),
            (Setting::Metric, self.metric.is_some()),
            (Setting::Better, self.better.is_some()),
            (Setting::Timeout, self.timeout.is_some()),
            (Setting::Command, !self.command.is_empty()),
        ]
        .into_iter()
        .filter_map(|(setting, is_given)| is_given.then_some(setting))
        .collect()
    }
}

impl Workload {
    /// Whether its tasks never sleep: what a trial took beyond their time on a CPU, something else took.
    pub fn never_sleeps(&self) -> bool {
        matches!(self.placement, Placement::OneCpu | Placement::Own)
    }

    /// Markdown for `fullclock explain ID`: its help, its main figure and what it takes.
    pub fn documentation(&self) -> String {
        let Workload { help, figure: FigureShape { name, unit, better }, .. } = self;
        let takes: Vec<&str> = self.takes.iter().map(|it| it.option()).collect();
        let (better, takes) = (better.name(), takes.join(", "));
        format!("{help}\nMain result: {name} ({unit}), {better} is better. Takes {takes}.\n")
    }

    /// Refuses a setting that means nothing to it.
    pub fn accepts(&self, settings: &Settings) -> Result<(), Failure> {
        match settings.given().into_iter().find(|it| !self.takes.contains(it)) {
            None => Ok(()),
            Some(setting) => {
                let (id, option) = (self.id, setting.option());
                let takes: Vec<&str> = self.takes.iter().map(|it| it.option()).collect();
                let takes = takes.join(", ");
                Err(Failure::Unready(format!("{id} does not take {option}; it takes {takes}")))
            }
        }
    }
}
