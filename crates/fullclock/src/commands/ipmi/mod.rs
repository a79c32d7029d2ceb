//! `fullclock ipmi`: the management controller (BMC) of this machine, asked by hand.

mod latency;
mod power;
mod sensors;
mod tune;

use crate::cli::{Arguments, IpmiAction, IpmiArguments};
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
