//! `fullclock net client`: measures the wire to a server, one message size after the other.

use super::options::{self, ClientArguments};
use super::page;
use crate::cli::Arguments;
use crate::output::{self, Progress};
use anyhow::{Context, Result, bail};
use engine::interrupt::Interrupt;
use engine::net::TOKEN;
use engine::net::ceiling::Face;
use engine::net::client::{Client, Device, Event, Measured, Plan, ZeroCopy};
use engine::secret;
use lab::net::perftest::{FEWEST_ITERATIONS, ITERATIONS};
use lab::net::protocol::{Amount, Task, Test, Transport};
use rules::ceiling::{Ceiling, Given};
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn run(arguments: &Arguments, options: &ClientArguments) -> Result<ExitCode> {
    if options.csv && arguments.output.json {
        bail!("--csv and --json are two forms of the same: give one of them");
    }
    let plan = plan(options)?;
    page::check(options.report.as_deref())?;
    let path = secret::path(options.token_file.as_deref(), TOKEN)?;
    let token = secret::read(&path)
        .context("the server made a token; copy its file here, and --token-file names the copy")?;
    let interrupt = Interrupt::listen()?;
    let client = Client::connect(&options.server, &token, plan.clone())?;
    let over = over(arguments, options, &client)?;
    let mut progress = Sizes::of(arguments, &plan);
    let mut tell = |event| {
        progress.show(event);
        Ok(())
    };
    let Measured { run, ended } = client.measure(over, &interrupt, &mut tell)?;
    let text = if arguments.output.json {
        report::net::run_json(&run)?
    } else if options.csv {
        report::net::run_csv(&run)
    } else {
        report::net::run_text(&run, output::style(arguments.output.color))
    };
    output::print(&text)?;
    let server = format!("fullclock net server --listen {}    # on the server\n", run.server);
    page::write(&arguments.output, options.report.as_deref(), &server, |origin| {
        report::net::run_page(&run, options.sizes.0.len(), origin)
    })?;
    ended?;
    Ok(ExitCode::SUCCESS)
}

/// What is asked for. Errors: neither our streams nor perftest can do that.
fn plan(options: &ClientArguments) -> Result<Plan> {
    let task = Task {
        transport: options.transport.into(),
        test: options.test.into(),
        streams: options.streams,
    };
    if let Some(why) = task.refusal() {
        bail!(why);
    }
    let amount = amount(options, task)?;
    let zero_copy = match options.zero_copy {
        options::ZeroCopy::Auto => ZeroCopy::Auto,
        options::ZeroCopy::On => ZeroCopy::On,
        options::ZeroCopy::Off => ZeroCopy::Off,
    };
    if zero_copy == ZeroCopy::On && !task.sends_streams() {
        bail!(
            "--zero-copy is for throughput over TCP: leave it out with --test latency and --transport rdma"
        );
    }
    let (sizes, cpus) = (options.sizes.0.clone(), options.cpus.clone());
    Ok(Plan { task, amount, sizes, cpus, device: options.device.clone(), zero_copy })
}

/// How much of each size. Errors: perftest cannot do that.
fn amount(options: &ClientArguments, task: Task) -> Result<Amount> {
    let amount = match (options.iterations, options.duration, task.transport) {
        (Some(count), ..) => Amount::Iterations(count),
        (None, Some(time), _) => Amount::Time(nanoseconds(time)),
        (None, None, Transport::Tcp) => Amount::Time(nanoseconds(Duration::from_secs(1))),
        (None, None, Transport::Rdma) => Amount::Iterations(ITERATIONS),
    };
    match (task.transport, task.test, amount) {
        (Transport::Rdma, _, Amount::Iterations(count)) if count < FEWEST_ITERATIONS => {
            bail!(
                "perftest exchanges at least {FEWEST_ITERATIONS} messages: -n {FEWEST_ITERATIONS} or more"
            )
        }
        (Transport::Rdma, Test::Latency, Amount::Time(_)) => {
            bail!("of a time perftest tells no more than the mean latency: count messages with -n")
        }
        _ => Ok(amount),
    }
}

/// What the device that the test goes over can carry. Of an adapter that the user did not name it need not be known.
fn over(
    arguments: &Arguments,
    options: &ClientArguments,
    client: &Client,
) -> Result<Option<(String, Ceiling)>> {
    let given = Given::default();
    let ceiling = |device: &str, face| super::ceiling_of(arguments, device, given, face);
    match (client.device(), &options.device) {
        (Device::Port(port), _) => Ok(ceiling(&port, Face::Rdma).ok()),
        (Device::Interface(_), Some(device)) => ceiling(device, Face::Interface).map(Some),
        // One that the kernel makes up has no ceiling.
        (Device::Interface(found), None) => {
            Ok(found.and_then(|it| ceiling(&it, Face::Interface).ok()))
        }
    }
}

/// How far a test is, for whoever watches.
struct Sizes {
    /// While sizes are measured.
    progress: Option<Progress>,
    /// How long a size takes, where that is known.
    each: Option<Duration>,
}

impl Sizes {
    fn of(arguments: &Arguments, plan: &Plan) -> Sizes {
        let each = match plan.amount {
            Amount::Time(ns) => Some(Duration::from_nanos(ns)),
            Amount::Iterations(_) => None,
        };
        let n_sizes = u32::try_from(plan.sizes.len()).unwrap_or(u32::MAX);
        let whole = each.map(|it| it.saturating_mul(n_sizes));
        Sizes { progress: Some(Progress::new(&arguments.output, false, whole)), each }
    }

    fn show(&mut self, event: Event) {
        match (event, &mut self.progress) {
            (Event::Size { n_before }, Some(progress)) => {
                progress.show(self.each.unwrap_or_default().saturating_mul(n_before));
            }
            (Event::Judging, _) => self.progress = None,
            (Event::Size { .. }, None) => {}
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
