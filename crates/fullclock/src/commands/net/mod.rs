//! `fullclock net`: what network links can carry, and what is measured over them.

mod client;
mod curve;
mod origin;
mod server;

use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use crate::result::ResultArguments;
use anyhow::Result;
use clap::{Args, Subcommand};
use client::ClientArguments;
use curve::CurveArguments;
use engine::net::adapter::{Face, only};
use facts::{Bytes, HostView};
use rules::ceiling::{Ceiling, Given, ceilings};
use server::ServerArguments;
use std::process::ExitCode;

/// What is asked about the network.
#[derive(Args, Debug)]
pub(crate) struct NetArguments {
    #[command(subcommand)]
    pub(crate) action: NetAction,
}

/// Questions about adapters and their links.
#[derive(Debug, Subcommand)]
pub(crate) enum NetAction {
    /// Say what each adapter can carry at most, and whether its wire or its slot is the narrower
    ///
    /// For each InfiniBand port, RDMA over Ethernet and TCP: what is signalled, what the line code leaves of that, and what
    /// the headers of packets leave. What could not be read is taken for granted and named. Sends nothing. Exit codes: 0,
    /// or 2 where it could not run.
    #[command(after_help = CEILING_EXAMPLES)]
    Ceiling {
        /// A port, an interface or a PCI address: mlx5_0, mlx5_0/1, eth0, 0000:3b:00.0 [default: every one]
        #[arg(value_name = "DEVICE")]
        device: Option<String>,
        #[command(flatten)]
        given: GivenArguments,
        #[command(flatten)]
        result: ResultArguments,
    },
    /// Read a test by message size: where it settles, how close that is to the ceiling, and where it dips
    ///
    /// Takes what perftest printed (ib_read_bw -a, ib_write_lat -a, with banner and warnings), or CSV with a line of names:
    /// bytes, bw_average_mib_s, and iterations, bw_peak_mib_s, msg_rate_mpps where they are known. The ceiling is that of a
    /// DEVICE of this machine or of a copy (--root, --host), or of a rate and a slot that are given.
    #[command(after_help = curve::EXAMPLES)]
    Curve(CurveArguments),
    /// Wait for `fullclock net client` elsewhere, and be the other end of its test
    ///
    /// Serves one client at a time, who has to know a token, and ends by itself once no client was there for an hour
    /// (--timeout). What flows is no data of anybody's, and is not encrypted. Exit codes: 0, or 2 where it could not run.
    #[command(after_help = server::EXAMPLES)]
    Server(ServerArguments),
    /// Measure the wire to `fullclock net server` by message size, with the CPU time and the clock of both ends
    ///
    /// Throughput is what the receiving program got, in perftest's columns: the average over all of the time, the peak of any
    /// tenth of a second. Latency is half of a round trip. Every message is a write(2) of its own and TCP_NODELAY is set, as
    /// databases do. Where the time of the CPUs that worked went is counted at both ends, and nothing is traced for it. It occupies CPUs and the wire: only out of production. Ctrl-C prints what there is. Exit codes: 0, or 2
    /// where it could not run.
    #[command(after_help = client::EXAMPLES)]
    Client(Box<ClientArguments>),
}

/// What is known better than by looking.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct GivenArguments {
    /// The MTU of InfiniBand or RDMA over Ethernet: 256 to 4096 [default: what can be read, else a table's banner, else 4096]
    #[arg(long, value_name = "BYTES", value_parser = |it: &str| power_of_two(it, 256))]
    pub(crate) mtu: Option<Bytes>,
    /// What one packet of PCI Express carries (lspci -vv: DevCtl MaxPayload): 128 to 4096 [default: what root can read, else
    /// 128]
    #[arg(long, value_name = "BYTES", value_parser = |it: &str| power_of_two(it, 128))]
    pub(crate) max_payload: Option<Bytes>,
}

fn power_of_two(text: &str, least: u64) -> Result<Bytes, String> {
    const MOST: u64 = 4096;
    let bytes = text.parse::<u64>().ok();
    let bytes = bytes.filter(|it| it.is_power_of_two() && (least..=MOST).contains(it));
    bytes.map(Bytes).ok_or_else(|| format!("expected a power of two from {least} to {MOST}"))
}

const CEILING_EXAMPLES: &str = "\
Examples:
  fullclock net ceiling                    every adapter
  sudo fullclock net ceiling mlx5_0        root can read MaxPayloadSize
  fullclock net ceiling --host db7.host    of another machine, by its capture
  fullclock net ceiling mlx5_0 --mtu 2048 --json";

pub(super) fn run(arguments: &Arguments, options: &NetArguments) -> Result<ExitCode> {
    match &options.action {
        NetAction::Ceiling { device, given, result } => {
            ceiling(arguments, result, device.as_deref(), of_arguments(*given))
        }
        NetAction::Curve(options) => curve::run(arguments, options),
        NetAction::Server(options) => server::run(arguments, options),
        NetAction::Client(options) => client::run(arguments, options),
    }
}

/// The host that the options name, and what to call it.
fn host(arguments: &Arguments) -> Result<(HostView, String)> {
    output::with_progress(&arguments.output, "reading the host ...", || {
        let (source, name) = super::open(arguments)?;
        Ok((engine::net::adapters_of(&*source), name))
    })
}

fn of_arguments(given: GivenArguments) -> Given {
    Given { mtu: given.mtu, payload: given.max_payload }
}

/// What the one device that the user calls so can carry, with its name.
fn ceiling_of(
    arguments: &Arguments,
    device: &str,
    given: Given,
    face: Face,
) -> Result<(String, Ceiling)> {
    let (host, name) = host(arguments)?;
    engine::net::adapter::ceiling_of(&host, &name, device, given, face)
}

fn ceiling(
    arguments: &Arguments,
    result: &ResultArguments,
    device: Option<&str>,
    given: Given,
) -> Result<ExitCode> {
    let destination = result.destination(&arguments.output)?;
    let (host, name) = host(arguments)?;
    let mut found = ceilings(&host, given);
    if let Some(device) = device {
        only(&mut found, device, &name)?;
    }
    destination.print(&match destination.format() {
        None => report::net::ceilings_json(&head(arguments), &found)?,
        Some(format) => report::net::ceilings(&name, &found).render(format),
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock net ceiling                    every adapter of this machine
  fullclock net curve read.txt --device mlx5_0
  ib_read_bw -a db2 | fullclock net curve /dev/stdin --device mlx5_0
  fullclock net server --listen 0.0.0.0:7079    on db2; then on db1:
    fullclock net client db2 --token-file t";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_all_fit_into_80_columns() {
        let all = [CEILING_EXAMPLES, curve::EXAMPLES, server::EXAMPLES, client::EXAMPLES];
        for line in all.iter().flat_map(|it| it.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn sizes_are_powers_of_two() {
        assert_eq!(power_of_two("2048", 256), Ok(Bytes(2048)));
        for text in ["", "0", "128", "1500", "8192", "-1"] {
            assert!(power_of_two(text, 256).is_err(), "{text}");
        }
    }
}
