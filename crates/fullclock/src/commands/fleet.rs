//! `fullclock fleet`: which machines are slow against their peers, and what explains it.

use super::bmc;
use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use crate::result::{Form, RowsArguments};
use crate::tell::ProgressBar;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use engine::Progress;
use engine::clock::now;
use engine::fleet::{Gathered, copies, prometheus, ssh};
use engine::http::{Address, Client, Credentials, Fingerprint, Named, Options, Trust};
use engine::interrupt::Interrupt;
use facts::quantity::{self, counted, counted_all};
use fleet::{Answer, Figure, MODEL, Machine, Question};
use report::fleet::{Reader, Report, Skipped};
use rules::diagnosis::parts::{Kind, PARTS};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Which machines, and how they are compared.
#[derive(Args, Debug)]
pub(crate) struct FleetArguments {
    /// Captures, audits and results in JSON, sosreports and other copies of hosts; folders and archives of them are searched. Machines
    /// are named by their files
    #[arg(value_name = "PATH", conflicts_with = "url")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    prometheus: PrometheusArguments,
    #[command(flatten)]
    ssh: SshArguments,
    /// Labels that peers have in common, in addition to the CPU model: rack,kernel
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    by: Vec<String>,
    /// What machines are compared by [default: what is known of most of them, the clock first]
    #[arg(long, value_name = "FIGURE")]
    figure: Option<FigureName>,
    /// List every machine and group, not the worst 20
    #[arg(long)]
    all: bool,
    /// Exit with 1 where a machine is slow
    #[arg(long)]
    fail_on_slow: bool,
    #[command(flatten)]
    result: RowsArguments,
}

/// An engine that speaks PromQL.
#[derive(Args, Clone, Debug)]
struct PrometheusArguments {
    /// Ask this Prometheus, VictoriaMetrics, Mimir or Thanos: what is before /api/v1/query, as in http://prometheus:9090
    #[arg(long = "prometheus", id = "url", value_name = "URL")]
    url: Option<String>,
    /// Only machines whose series have these labels, as their scrape adds them: 'cluster="a",rack=~"r1.*"'
    #[arg(long = "match", value_name = "SELECTOR", requires = "url")]
    selector: Option<String>,
    /// Average over this time, 1s to 1d: 10m, 1h
    #[arg(long, value_name = "TIME", default_value = "1h", requires = "url", value_parser = since, allow_negative_numbers = true)]
    since: Duration,
    /// A file that holds a bearer token, or headers as lines `Name: value`
    #[arg(long, visible_alias = "header-file", value_name = "FILE", requires = "url")]
    token_file: Option<PathBuf>,
    /// Trust certificates of the authorities in this PEM file, and no others [default: those of this machine]
    #[arg(long, value_name = "FILE", requires = "url", conflicts_with = "fingerprint")]
    ca: Option<PathBuf>,
    /// Trust the engine's certificate with this SHA-256, whoever issued it
    #[arg(long, value_name = "SHA256", requires = "url", value_parser = bmc::fingerprint)]
    fingerprint: Option<Fingerprint>,
}

/// Hosts that are reached by ssh.
#[derive(Args, Clone, Debug)]
struct SshArguments {
    /// Take captures of the hosts in this file now, one host a line, over ssh and 16 at a time. ssh prompts for nothing, and connects
    /// to known host keys only
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "paths"])]
    ssh: Option<PathBuf>,
    /// Copy this program to each host, and remove it afterwards: for hosts without fullclock
    #[arg(long, requires = "ssh")]
    copy: bool,
    /// Capture by `sudo -n`, as registers and some files need root
    #[arg(long, requires = "ssh")]
    sudo: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FigureName {
    /// The clock of busy CPUs to the nominal one
    Clock,
    /// The speed of a short probe to that at the nominal clock
    Speed,
    /// The figure of a result
    Result,
}

impl FigureName {
    fn figure(self) -> Figure {
        match self {
            FigureName::Clock => Figure::Clock,
            FigureName::Speed => Figure::Speed,
            FigureName::Result => Figure::Result,
        }
    }
}

/// Engines keep months; a query over more than a day of them is a mistake.
fn since(text: &str) -> Result<Duration, String> {
    let time = quantity::duration(text).ok().filter(|it| *it >= Duration::from_secs(1));
    time.ok_or_else(|| format!("{text:?}: expected a time from 1s to 1d, as in 10m, 1h or 1d"))
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock fleet --prometheus http://prometheus:9090
  fullclock fleet --prometheus https://mimir/prometheus --token-file token
  fullclock fleet --prometheus http://prom:9090 --match 'cluster=\"a\"' --since 1d
  fullclock fleet captures/ sosreports.tar     no engine: files that you have
  fullclock fleet --ssh hosts.txt --sudo       captures by ssh, 16 at a time
  fullclock fleet captures/ --by kernel        peers: same model and kernel
  fullclock fleet captures/ -o fleet.html      one page to send
  fullclock fleet captures/ -q --fail-on-slow  for a pipeline";

pub(super) fn run(arguments: &Arguments, options: &FleetArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let (source, gathered) = gathered(arguments, options)?;
    let Gathered { machines, skipped, notes } = gathered;
    let figure = options.figure.map_or_else(|| most_known(&machines), FigureName::figure);
    refuse_unknown_labels(&machines, &options.by)?;
    let answer = judge(&machines, figure, &options.by);
    let skipped: Vec<Skipped<'_>> =
        skipped.iter().map(|it| Skipped { name: &it.name, why: &it.why }).collect();
    let report = Report {
        source: &source,
        machines: &machines,
        answer: &answer,
        skipped: &skipped,
        notes: &notes,
        all: options.all,
        reader: Reader::Command,
    };
    destination.print(&match destination.form {
        Form::Document(format) => report::fleet::document(&report).render(format),
        Form::Json => report::fleet::json::json(&head(arguments), &report)?,
        Form::Csv => report::fleet::csv(&report),
    })?;
    if options.fail_on_slow && answer.tested == 0 {
        bail!("no machine could be judged, so --fail-on-slow has no answer");
    }
    let is_slow = !answer.slow.is_empty() || !answer.explanations.is_empty();
    Ok(if options.fail_on_slow && is_slow { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What the options name, and what to call it.
fn gathered(arguments: &Arguments, options: &FleetArguments) -> Result<(String, Gathered)> {
    if let Some(url) = &options.prometheus.url {
        let PrometheusArguments { selector, since, token_file, ca, fingerprint, .. } =
            &options.prometheus;
        let trust = Trust::given(*fingerprint, ca.as_deref());
        let client = client(arguments, url, token_file.as_deref(), trust, "")?;
        let question = prometheus::Question {
            selector: selector.as_deref(),
            since: *since,
            ..prometheus::Question::default()
        };
        let ask = || prometheus::gather(&client, &question);
        let gathered = output::with_progress(&arguments.output, "asking the engine ...", ask)?;
        return Ok((client.address().to_string(), gathered));
    }
    if let Some(file) = &options.ssh.ssh {
        return by_ssh(arguments, &options.ssh, file);
    }
    if options.paths.is_empty() {
        bail!(
            "which machines? `fullclock fleet --prometheus URL` asks an engine, PATH... are captures and other files, and --ssh FILE \
             names hosts"
        );
    }
    let mut bar = Bar::of(arguments);
    let gathered = copies::gather(&options.paths, &mut |at, of| bar.show("file", at, of))?;
    let source = match &options.paths[..] {
        [path] => path.display().to_string(),
        paths => counted_all(paths, "path"),
    };
    Ok((source, gathered))
}

/// Captures of the hosts in a file, taken now. Ctrl-C ends it with those that there are.
fn by_ssh(
    arguments: &Arguments,
    options: &SshArguments,
    file: &Path,
) -> Result<(String, Gathered)> {
    let hosts = ssh::hosts(file)?;
    let n = hosts.len();
    let SshArguments { copy, sudo, .. } = *options;
    let options = ssh::Options { hosts, sudo, copy, deadline: ssh::DEADLINE };
    let mut bar = Bar::of(arguments);
    let gathered = ssh::gather(&options, &Interrupt::listen()?, &mut |at| bar.show("host", at, n))?;
    Ok((file.display().to_string(), gathered))
}

/// How many of how many have been read.
struct Bar {
    bar: ProgressBar,
    began: Instant,
}

impl Bar {
    fn of(arguments: &Arguments) -> Bar {
        Bar { bar: ProgressBar::new(!arguments.output.quiet), began: now() }
    }

    fn show(&mut self, what: &str, at: usize, of: usize) {
        let done = format!("{at} of {}", counted(of as u64, what));
        let share = at as f64 / of.max(1) as f64;
        self.bar.show(&Progress { done, share, elapsed: self.began.elapsed() });
    }
}

/// A client of an engine, whose options have names with this prefix. Says where a token could be read on its way.
///
/// Errors: the address makes no sense; a file cannot be read, or others could have written it.
pub(super) fn client(
    arguments: &Arguments,
    url: &str,
    token_file: Option<&Path>,
    trust: Trust,
    prefix: &'static str,
) -> Result<Client> {
    let credentials = token_file.map(Credentials::read).transpose()?.unwrap_or_default();
    let named = Named::Options(prefix);
    let options = Options { credentials, trust, named, ..Options::default() };
    let address = Address::parse(url)?;
    let option = match &options.trust {
        Trust::System => None,
        Trust::Authorities(_) => Some("ca"),
        Trust::Pinned(_) => Some("fingerprint"),
    };
    if let Some(option) = option.filter(|_| !address.is_encrypted()) {
        let option = named.of(option);
        bail!("{address}: {option} is for an engine whose address begins with https://");
    }
    let client = Client::new(address, options)?;
    if client.shows_secrets() {
        let at = client.address();
        let text = format!("the token goes to {at} unencrypted: others on the network can read it");
        output::note(&arguments.output, &text);
    }
    Ok(client)
}

/// What is said of machines that are compared by this figure, and by these labels besides their model.
pub(super) fn judge(machines: &[Machine], figure: Figure, by: &[String]) -> Answer {
    let symptoms = PARTS.iter().filter(|it| it.kind == Kind::Symptom).map(|it| it.check.into());
    let by = by.iter().filter(|it| *it != MODEL).map(|it| it.as_str().into());
    let question =
        Question { by: by.collect(), symptoms: symptoms.collect(), ..Question::of(figure) };
    fleet::judge(machines, &question)
}

/// A label that no machine has makes peers of all: it is a misspelt one.
fn refuse_unknown_labels(machines: &[Machine], by: &[String]) -> Result<()> {
    let mut labels: Vec<&str> = machines
        .iter()
        .flat_map(|it| &it.attributes)
        .filter(|it| it.kind == fleet::Kind::Label)
        .map(|it| &*it.name)
        .collect();
    labels.sort_unstable();
    labels.dedup();
    match by.iter().find(|it| *it != MODEL && !labels.contains(&it.as_str())) {
        // Without machines there is nothing to misspell.
        Some(unknown) if !machines.is_empty() => {
            bail!("no machine has the label '{unknown}' of --by; there are {}", labels.join(", "))
        }
        _ => Ok(()),
    }
}

/// The figure that most machines have, the first of equals.
pub(super) fn most_known(machines: &[Machine]) -> Figure {
    let n = |figure| {
        let tells = |it: &&Machine| it.figures.iter().any(|it| it.0 == figure);
        machines.iter().filter(tells).count()
    };
    // Of equals `max_by_key` takes the last.
    let figures = [Figure::Result, Figure::Speed, Figure::Clock];
    figures.into_iter().max_by_key(|it| n(*it)).unwrap_or(Figure::Clock)
}
