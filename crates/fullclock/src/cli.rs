//! What all commands share of the command line: options that may stand before and after a command's name, and values.

use crate::output::OutputArguments;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use engine::clock::since_1970;
use engine::measure::choice::Trace;
use facts::CpuSet;
use report::monitoring::FailOn;
use rules::finding::Severity;
use std::path::PathBuf;
use std::time::Duration;

/// The options of every command.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) host: HostArguments,
    #[command(flatten)]
    pub(crate) audit: AuditArguments,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// When the command began, since 1970.
    #[arg(skip = since_1970())]
    pub(crate) began: Duration,
}

/// Which host is meant.
#[derive(Args, Debug)]
pub(crate) struct HostArguments {
    /// A copy of a host: a folder or tarball (.tar, .gz, .bz2, .xz, .zst) that holds proc/ and sys/
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) root: Option<PathBuf>,
    /// A capture made by `fullclock capture`
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "root")]
    pub(crate) host: Option<PathBuf>,
}

impl HostArguments {
    /// Whether they name a copy of a host, and not this machine.
    pub(crate) fn is_copy(&self) -> bool {
        self.root.is_some() || self.host.is_some()
    }
}

/// What the site has decided.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConfigArguments {
    /// The configuration, also for a copy of a host [default: /etc/fullclock/config.toml; of ordinary users
    /// ~/.config/fullclock/config.toml where it is]
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "no_config")]
    pub(crate) config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long, global = true)]
    pub(crate) no_config: bool,
}

/// What an audit does with its findings.
#[derive(Args, Debug)]
pub(crate) struct AuditArguments {
    /// Exit with 1 when a finding is at least this severe, or with `unknown` when a check could not be judged; several
    /// are separated by commas: medium,unknown
    #[arg(long, value_name = "LEVEL", global = true, value_delimiter = ',')]
    fail_on: Vec<Level>,
    /// List the clean checks, and why each of the others has no verdict
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

impl AuditArguments {
    /// What fails the audit: the least severe level that is named, and whether unknown checks do.
    pub(crate) fn fail_on(&self) -> FailOn {
        FailOn {
            severity: self.fail_on.iter().filter_map(|it| it.severity()).min(),
            unknown: self.fail_on.iter().any(|it| it.severity().is_none()),
        }
    }
}

/// What fails a pipeline: a [`Severity`], or a check without a verdict.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Unknown,
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl Level {
    /// The severity of a finding; `None` for a check without a verdict.
    fn severity(self) -> Option<Severity> {
        Some(match self {
            Level::Unknown => return None,
            Level::Info => Severity::Info,
            Level::Low => Severity::Low,
            Level::Medium => Severity::Medium,
            Level::High => Severity::High,
            Level::Critical => Severity::Critical,
        })
    }
}

/// A list of CPUs that is not empty.
pub(crate) fn cpu_list(text: &str) -> Result<CpuSet, String> {
    let cpus = CpuSet::parse_list(text).map_err(|error| error.to_string())?;
    if cpus.is_empty() { Err("it names no CPU".to_owned()) } else { Ok(cpus) }
}

/// `auto`, `always` or `never`.
pub(crate) fn trace() -> impl TypedValueParser<Value = Trace> {
    PossibleValuesParser::new(["auto", "always", "never"]).map(|it| match &*it {
        "always" => Trace::Always,
        "never" => Trace::Never,
        _ => Trace::Auto,
    })
}
