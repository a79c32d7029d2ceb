//! Tests over RDMA: both ends run the programs of perftest, so that tests of verbs need not be written again.
//!
//! ```text
//!   client                                    server
//!                                             ib_write_bw -p PORT    waits for its client
//!                             <- PORT         (the control protocol)
//!   ib_write_bw -p PORT SERVER  -- TCP: how to reach each other's memory; then RDMA -->
//!   its table                                 ends by itself
//! ```
//!
//! A program is started for each message size, in a group that ends with this program. It is not told `-F`, so that it says
//! which clocks it finds to differ.
//!
//! Source: linux-rdma/perftest, src/perftest_parameters.c (options, `--version`) and src/perftest_communication.c (the first
//! connection, which is IPv4). Its tables are read and not what `--out_json` writes, for that is no JSON (6.06: names without
//! quotes, a comma after the last value) and holds the same figures with the same digits.

mod figures;

pub use figures::{latencies, throughput};

use super::figures::{Ran, Work};
use super::protocol::{Amount, Part, Test};
use super::{Broken, LONGEST};
use crate::child::{Group, Run};
use crate::failure::Failure;
use crate::known::Known;
use facts::CpuSet;
use facts::links::perftest::Curve;
use facts::system::process;
use host::probe::{Windows, clock, pinned};
use host::{Live, Source};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The messages of a size that are exchanged by default, as in perftest.
pub const ITERATIONS: u64 = 1000;

/// Fewer it does not take.
pub const FEWEST_ITERATIONS: u64 = 5;

/// Where the server's program listens: perftest's own port, or the first free one after it.
pub const PORTS: RangeInclusive<u16> = 18515..=18530;

/// The time that starting takes, in addition to the work.
const START: Duration = Duration::from_secs(60);

/// How long the client's program tries until a server listens.
const REACHED: Duration = Duration::from_secs(10);

/// An RDMA port of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// `mlx5_0`.
    pub device: String,
    /// Counted from 1.
    pub port: u32,
}

/// One end of a test.
pub struct End<'a> {
    /// What is measured.
    pub test: Test,
    /// How many connections (queue pairs) carry data.
    pub streams: u32,
    /// Over what.
    pub adapter: &'a Adapter,
    /// Where the program runs; without them, where the scheduler puts it.
    pub cpus: Option<&'a CpuSet>,
    /// Whether the test has been stopped.
    pub is_unwanted: &'a dyn Fn() -> bool,
}

/// Perftest's program for a test. Of the latencies it is that of sends, which the other side receives as it does over TCP.
pub fn program(test: Test) -> &'static str {
    match test {
        Test::WriteBw => "ib_write_bw",
        Test::ReadBw => "ib_read_bw",
        Test::SendBw => "ib_send_bw",
        Test::Latency => "ib_send_lat",
    }
}

/// The version of a program of perftest, `6.06`. Errors: it is not installed, or says no version; says what to do.
#[expect(clippy::disallowed_methods, reason = "asks a program its version")]
pub fn version(test: Test) -> Result<String, String> {
    let program = program(test);
    // It ends with 1 there, as after bad options.
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|why| match why.kind() {
        ErrorKind::NotFound => {
            format!("{program} is not installed here: it is of the package perftest")
        }
        _ => format!("cannot run {program}: {why}"),
    })?;
    let printed = String::from_utf8_lossy(&output.stdout);
    numbered(&printed).ok_or_else(|| {
        let first = printed.trim().lines().next().unwrap_or_default();
        format!(
            "`{program} --version` prints {first:?} and not `Version: 6.06` or the like: it is no perftest that is known here; \
             the distribution's package perftest is"
        )
    })
}

/// The number in `Version: 6.06`, with which perftest compares its two sides.
fn numbered(printed: &str) -> Option<String> {
    let (_, behind) = printed.split_once("Version:")?;
    let word = behind.split_whitespace().next()?;
    let (major, minor) = word.split_once('.')?;
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| word.to_owned())
}

impl End<'_> {
    /// The server's part of one message size: waits for the client's program. `told` is the port at which it does.
    ///
    /// Errors: no port is free, the program failed or could not measure its clock, by which it tells the time, or nobody wants it any
    /// more.
    pub fn serve(
        &self,
        part: &Part,
        told: impl FnOnce(u16) -> std::io::Result<()>,
    ) -> Result<Ran, Broken> {
        let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok();
        let port = PORTS.into_iter().find(is_free).ok_or_else(|| {
            let (first, last) = (PORTS.start(), PORTS.end());
            Broken::Unready(format!("the TCP ports {first} to {last} are all taken on the server"))
        })?;
        told(port)?;
        let words = self.arguments(part, port, None);
        let ran = run(&words, self.cpus, limit(part), self.is_unwanted);
        let (_, ran) = ran.map_err(explained)?;
        Ok(ran)
    }

    /// The client's part: what perftest found.
    ///
    /// Errors: as above; or the server's program was not reached in ten seconds.
    pub fn ask(&self, part: &Part, server: Ipv4Addr, port: u16) -> Result<(Curve, Ran), Broken> {
        let words = self.arguments(part, port, Some(server));
        let until = super::channel::now() + REACHED;
        let (printed, ran) = loop {
            match run(&words, self.cpus, limit(part), self.is_unwanted) {
                // The server's program says nowhere when it listens.
                Err(Failure::Program { said, .. }) if is_unreached(&said) => {
                    if super::channel::now() > until {
                        let why = format!(
                            "{} cannot connect to {server}:{port}: a firewall drops what comes to the TCP ports {} to {}, or the \
                             server's program found no time to start",
                            words[0],
                            PORTS.start(),
                            PORTS.end()
                        );
                        return Err(Broken::Unready(why));
                    }
                }
                ended => break ended.map_err(explained)?,
            }
        };
        let curve = Curve::parse(&printed).map_err(|why| {
            let version = version(self.test).unwrap_or_else(|why| why);
            let text = format!("{} ({version}) printed no table that is known: {why}", words[0]);
            Broken::Unready(text)
        })?;
        Ok((curve, ran))
    }

    fn arguments(&self, part: &Part, port: u16, server: Option<Ipv4Addr>) -> Vec<String> {
        let Adapter { device, port: adapter_port } = self.adapter;
        let mut words = vec![program(self.test).to_owned()];
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        add("-d", device.clone());
        add("-i", adapter_port.to_string());
        add("-p", port.to_string());
        add("-s", part.bytes.to_string());
        match part.amount {
            Amount::Iterations(count) => add("-n", count.to_string()),
            // Whole seconds, at least one.
            Amount::Time(ns) => add("-D", ns.div_ceil(1_000_000_000).to_string()),
        }
        // Its latency tests have one pair of queues and no such option.
        if self.test != Test::Latency {
            add("-q", self.streams.to_string());
        }
        words.extend(server.map(|it| it.to_string()));
        words
    }
}

/// Runs a program to its end; what it printed, and what it did.
fn run(
    words: &[String],
    cpus: Option<&CpuSet>,
    limit: Duration,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<(String, Ran), Failure> {
    let group = Group::new()?;
    let mut run = Run::start(&group, words, cpus, &std::env::temp_dir())?;
    let elapsed = run.wait(Some(limit), is_unwanted)?;
    let here: &dyn Source = &Live::this_machine();
    let cpu = here.parsed(&format!("/proc/{}/stat", run.pid()), process::last_cpu);
    // Before it has time to fall.
    let reading =
        cpu.clone().and_then(|cpu| pinned(cpu, || clock(Windows::SHORT)).and_then(|it| it));
    let printed = run.printed()?;
    // Where it was before is unknown.
    let cpus = cpu.as_ref().map(ToString::to_string).unwrap_or_default();
    let clock = reading.as_ref().ok().copied();
    let work = Work {
        cpu_ns: run.cpu_ns().value().copied().unwrap_or_default(),
        elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        cpu: cpu.unwrap_or(u32::MAX),
        cpus,
        clock_hz: Known::from(reading.map(|it| it.mean.0 as f64)),
    };
    run.settle()?;
    Ok((printed, Ran { work, clock }))
}

/// What stopped a program, in words that say what to do.
fn explained(failure: Failure) -> Broken {
    match failure {
        Failure::Program { program, said, .. } if is_unclocked(&said) => Broken::Unready(format!(
            "{program} could not measure its clock, as on a CPU that others disturb: test again; it says {:?}",
            said.lines().last().unwrap_or_default().trim()
        )),
        other => other.into(),
    }
}

fn is_unreached(said: &str) -> bool {
    said.contains("Couldn't connect to")
}

/// perftest times a loop before it prints, and ends where the times are not in line with its length (src/get_clock.c).
fn is_unclocked(said: &str) -> bool {
    said.contains("Correlation coefficient r^2")
}

fn limit(part: &Part) -> Duration {
    match part.amount {
        Amount::Iterations(_) => LONGEST + START,
        Amount::Time(ns) => Duration::from_nanos(ns) + START,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_perftest_compares() {
        assert_eq!(numbered("Version: 6.06\n").as_deref(), Some("6.06"));
        assert_eq!(numbered("Version: 5.60 (gabc)\n").as_deref(), Some("5.60"));
        for text in ["", "6.06", "Version: new", "Version: 6.", "Version:"] {
            assert_eq!(numbered(text), None, "{text}");
        }
    }

    #[test]
    fn both_ends_are_told_the_same_but_for_the_server() {
        let adapter = Adapter { device: "mlx5_0".to_owned(), port: 2 };
        let words = |test, amount, server| {
            let end =
                End { test, streams: 4, adapter: &adapter, cpus: None, is_unwanted: &|| false };
            let part = Part { bytes: 64, amount, zero_copy: false };
            end.arguments(&part, 18515, server).join(" ")
        };
        let server = Some(Ipv4Addr::new(192, 0, 2, 7));
        assert_eq!(
            words(Test::ReadBw, Amount::Iterations(1000), None),
            "ib_read_bw -d mlx5_0 -i 2 -p 18515 -s 64 -n 1000 -q 4"
        );
        assert_eq!(
            words(Test::Latency, Amount::Iterations(5), server),
            "ib_send_lat -d mlx5_0 -i 2 -p 18515 -s 64 -n 5 192.0.2.7"
        );
        let time = Amount::Time(1_500_000_000);
        assert!(words(Test::SendBw, time, server).contains("-s 64 -D 2 -q 4 192.0.2.7"));
    }
}
