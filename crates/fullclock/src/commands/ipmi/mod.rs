//! `fullclock ipmi`: the management controller (BMC) of this machine, asked by hand.

mod latency;
mod power;
mod sensors;
mod tune;

use crate::cli::Arguments;
use anyhow::Result;
use clap::{Args, Subcommand};
use latency::LatencyArguments;
use power::PowerArguments;
use sensors::SensorsArguments;
use std::process::ExitCode;
use tune::TuneArguments;

/// What is asked of the controller.
#[derive(Args, Debug)]
pub(crate) struct IpmiArguments {
    #[command(subcommand)]
    pub(crate) action: IpmiAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IpmiAction {
    /// How long the controller takes to answer, and what waiting for it takes of a CPU
    ///
    /// Asks for its device id and fetches a sensor record, in turn, and shows every round trip by its length; beside that, what
    /// the kernel's thread that polls it (kipmi0) is accounted. Changes nothing. `fullclock bench ipmi-roundtrip` compares.
    Latency(LatencyArguments),
    /// What the sensors read, without fetching the sensor records each time
    ///
    /// A reading is a byte that only the sensor's record explains, and most of what `ipmitool sdr` does is to fetch the records
    /// anew. Here they are fetched once and kept on disk, for as long as the controller says that they have not changed; then
    /// each sensor takes one question. --watch stays, prints what changes, follows the event log, and takes events as they
    /// come where the controller sends them.
    Sensors(SensorsArguments),
    /// Which limit of polling (kipmid_max_busy_us) suits this controller, by trying them
    ///
    /// Asks the controller under each limit, with the other CPUs idle and busy, in trials of random order: each limit is in force for
    /// its trial alone, and taken back whatever happens. What answers take is shown against what waiting for them takes of a
    /// CPU; the knee of the two is the limit to have. Beside it stands what the kernel's driver would make of the waits that
    /// were seen without a limit. Keeps CPUs busy: only out of production.
    Tune(TuneArguments),
    /// What the board draws against the controller's power limit, and whether that goes together with PROCHOT#
    ///
    /// Asks every second what the board draws (DCMI), and reads at the same moments whether PROCHOT# is pulled and whether the
    /// processors' own power limits hold, from their registers. A controller that holds a power limit pulls PROCHOT# to keep it,
    /// and no file of the kernel shows that. Changes nothing and clears no log. Best while the machine has work.
    Power(PowerArguments),
}

pub(super) fn run(arguments: &Arguments, options: &IpmiArguments) -> Result<ExitCode> {
    match &options.action {
        IpmiAction::Latency(options) => latency::run(arguments, options),
        IpmiAction::Sensors(options) => sensors::run(arguments, options),
        IpmiAction::Tune(options) => tune::run(arguments, options),
        IpmiAction::Power(options) => power::run(arguments, options),
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock ipmi latency                      100 round trips of each kind
  fullclock ipmi latency --load               and again while every CPU is busy
  fullclock ipmi latency -n 1000 --json       as data
  fullclock ipmi tune --persist               find the limit, and keep it
  fullclock ipmi sensors --thresholds         every sensor once
  fullclock ipmi sensors --watch -i 1m        what changes, and events
  fullclock ipmi sensors --csv                a line for each sensor
  fullclock ipmi sensors --watch --metrics /var/lib/node_exporter/bmc.prom
  fullclock ipmi power -d 5m                  the board's power and its limit";
