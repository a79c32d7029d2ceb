//! `fullclock ipmi`: the management controller (BMC) of this machine, asked by hand.

mod latency;
pub(super) mod options;
mod power;
mod sensors;
mod tune;

use crate::cli::Arguments;
use crate::commands::ipmi::options::{IpmiAction, IpmiArguments};
use anyhow::Result;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &IpmiArguments) -> Result<ExitCode> {
    match &options.action {
        IpmiAction::Latency(options) => latency::run(arguments, options),
        IpmiAction::Sensors(options) => sensors::run(arguments, options),
        IpmiAction::Tune(options) => tune::run(arguments, options),
        IpmiAction::Power(options) => power::run(arguments, options),
    }
}
