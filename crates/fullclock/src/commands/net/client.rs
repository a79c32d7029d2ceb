//! `fullclock net client`: measures the wire to a server, one message size after the other.

use super::origin::{origin, origin_in};
use crate::cli::{Arguments, cpu_list};
use crate::head::head;
use crate::output::Progress;
use crate::result::{Form, RowsArguments};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use engine::interrupt::Interrupt;
use engine::net::TOKEN;
use engine::net::adapter::Face;
use engine::net::client::{Client, Device, Event, Measured, Plan, ZeroCopy};
use engine::secret;
use facts::{Bytes, CpuSet, quantity};
use lab::net::perftest::{FEWEST_ITERATIONS, ITERATIONS};
use lab::net::protocol::{Amount, Task, Test, Transport};
use lab::net::{LONGEST, MOST_ITERATIONS, MOST_STREAMS, sizes};
use rules::ceiling::{Ceiling, Given};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What is measured, and against which server.
#[derive(Args, Debug)]
pub(crate) struct ClientArguments {
    /// Where `fullclock net server` listens; port 7079 unless it names one
    #[arg(value_name = "HOST[:PORT]")]
    pub(crate) server: String,
    /// What carries the data
    #[arg(long, value_name = "NAME", default_value = "tcp")]
    pub(crate) transport: TransportName,
    /// What the test goes over on this end: the RDMA port mlx5_0 or mlx5_0/1 [default: the only one with a link]; over TCP the
    /// adapter whose ceiling is shown with the results
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// What is measured
    #[arg(long, value_name = "NAME", default_value = "write-bw")]
    pub(crate) test: TestName,
    /// The sizes of messages: powers of two from 2 to 8388608 with commas between, or all of them
    #[arg(long, value_name = "all|LIST", default_value = "all", value_parser = Sizes::parse)]
    pub(crate) sizes: Sizes,
    /// Number of messages of each size, per stream [default: over RDMA 1000, as perftest has it]
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "duration", value_parser = clap::value_parser!(u64).range(1..=MOST_ITERATIONS))]
    pub(crate) iterations: Option<u64>,
    /// Time for each size, at most 10 minutes; over RDMA whole seconds [default: over TCP 1s]
    #[arg(short, long, value_name = "TIME", value_parser = time)]
    pub(crate) duration: Option<Duration>,
    /// How many connections carry data at once
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_STREAMS)))]
    pub(crate) streams: u32,
    /// Send without copying: the kernel hands the pages of a file in memory to the connection (sendfile(2)), as of data that
    /// nobody changes. Throughput over TCP only. Where it was measured, over loopback and virtual adapters, it moved no more
    #[arg(long, value_name = "WHEN", default_value = "off")]
    pub(crate) zero_copy: ZeroCopyName,
    /// The CPUs that this end's threads take turns on, a list like 0-3,8 [default: where the scheduler puts them]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// A copy of the server's file with its token [default: net.token in /var/lib/fullclock as root, or in
    /// ~/.local/state/fullclock]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) result: RowsArguments,
}

/// What carries the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportName {
    /// Connections of the kernel's TCP
    Tcp,
    /// RDMA, by the programs of perftest, which both ends need; they use TCP ports from 18515 on, too
    Rdma,
}

/// When data are sent without copying them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ZeroCopyName {
    /// Of messages of 65536 bytes and more that move faster so in two short trials before the size is measured
    Auto,
    /// Always
    On,
    /// Never: every message is a write(2)
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestName {
    /// The client sends, the server counts what arrives
    WriteBw,
    /// The server sends, the client counts what arrives
    ReadBw,
    /// The client sends, the server names the memory for each message; over TCP write-bw is that
    SendBw,
    /// A message there and one back, in turn: half of the time
    Latency,
}

/// The sizes of messages, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<Bytes>);

impl Sizes {
    fn parse(text: &str) -> Result<Sizes, String> {
        sizes(text).map(Sizes)
    }
}

impl From<TransportName> for Transport {
    fn from(transport: TransportName) -> Transport {
        match transport {
            TransportName::Tcp => Transport::Tcp,
            TransportName::Rdma => Transport::Rdma,
        }
    }
}

impl From<TestName> for Test {
    fn from(test: TestName) -> Test {
        match test {
            TestName::WriteBw => Test::WriteBw,
            TestName::ReadBw => Test::ReadBw,
            TestName::SendBw => Test::SendBw,
            TestName::Latency => Test::Latency,
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let time = quantity::duration(text)?;
    if time > LONGEST {
        return Err(format!("{text:?} is too long: at most 10m for each size"));
    }
    Ok(time)
}

pub(super) fn run(arguments: &Arguments, options: &ClientArguments) -> Result<ExitCode> {
    let plan = plan(options)?;
    let destination = options.result.destination(&arguments.output)?;
    let path = secret::path(options.token_file.as_deref(), TOKEN)?;
    let token = secret::read(&path)
        .context("the server made a token; copy its file here, and --token-file names the copy")?;
    let interrupt = Interrupt::listen()?;
    let client = Client::connect(&options.server, &token, plan.clone())?;
    let over = over(arguments, options, &client)?;
    let mut progress = SizeProgress::of(arguments, &plan);
    let mut tell = |event| {
        progress.show(event);
        Ok(())
    };
    let Measured { run, ended } = client.measure(over, &interrupt, &mut tell)?;
    let server = format!("fullclock net server --listen {}    # on the server\n", run.server);
    let origin = origin(&server);
    destination.print(&match destination.form {
        Form::Csv => report::net::run_csv(&run),
        Form::Json => report::net::run_json(&head(arguments), &run)?,
        Form::Document(format) => {
            let origin = origin_in(format, &origin);
            report::net::run_document(&run, options.sizes.0.len(), origin).render(format)
        }
    })?;
    ended?;
    Ok(ExitCode::SUCCESS)
}

/// The requested test. Errors: neither our streams nor perftest can do that.
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
        ZeroCopyName::Auto => ZeroCopy::Auto,
        ZeroCopyName::On => ZeroCopy::On,
        ZeroCopyName::Off => ZeroCopy::Off,
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

/// Shows the progress of a test.
struct SizeProgress {
    /// While sizes are measured.
    progress: Option<Progress>,
    /// How long a size takes, where that is known.
    each: Option<Duration>,
}

impl SizeProgress {
    fn of(arguments: &Arguments, plan: &Plan) -> SizeProgress {
        let each = match plan.amount {
            Amount::Time(ns) => Some(Duration::from_nanos(ns)),
            Amount::Iterations(_) => None,
        };
        let n_sizes = u32::try_from(plan.sizes.len()).unwrap_or(u32::MAX);
        let whole = each.map(|it| it.saturating_mul(n_sizes));
        SizeProgress { progress: Some(Progress::new(&arguments.output, false, whole)), each }
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

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock net client db2                      what arrives at db2, by size
  fullclock net client db2 --test latency --sizes 64,8192 -n 10000
  fullclock net client db2 --test read-bw --streams 4 --cpus 0-3 -d 5s
  fullclock net client db2 --transport rdma --test read-bw   as ib_read_bw -a
  fullclock net client db2 --csv > tcp.csv; fullclock net curve tcp.csv";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_takes_ten_minutes_at_most() {
        assert_eq!(time("10m"), Ok(Duration::from_secs(600)));
        assert!(time("601s").unwrap_err().contains("at most 10m"));
    }
}
