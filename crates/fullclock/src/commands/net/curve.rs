//! `fullclock net curve`: what a test by message size says.

use super::GivenArguments;
use super::origin::{origin, origin_in};
use crate::cli::Arguments;
use crate::head::head;
use crate::result::ResultArguments;
use anyhow::{Context, Result, bail};
use clap::Args;
use engine::copies::bytes_of;
use engine::net::adapter::Face;
use facts::links::infiniband::Rate;
use facts::links::pcie::Speed;
use facts::links::perftest::{Curve, LARGEST_TEXT};
use facts::{Fact, Missing};
use report::net::Measured;
use rules::ceiling::{Ceiling, Given, Largest, infiniband, slot};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What was measured, and over what.
#[derive(Args, Debug)]
pub(crate) struct CurveArguments {
    /// What perftest printed, or CSV; /dev/stdin is what is piped in
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The port or interface that it was measured over: mlx5_0, mlx5_0/1, eth0
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["rate", "pcie"])]
    pub(crate) device: Option<String>,
    /// The rate of the InfiniBand port, as /sys/class/infiniband/*/ports/*/rate shows it: 56 Gb/sec (4X FDR)
    #[arg(long, value_name = "RATE", value_parser = |it: &str| Rate::parse(it).map_err(|it| it.to_string()))]
    pub(crate) rate: Option<Rate>,
    /// The slot of the adapter, as `lspci -vv` shows it (LnkSta): 8 GT/s x16
    #[arg(long, value_name = "LINK", value_parser = |it: &str| Speed::parse(it).map_err(|it| it.to_string()))]
    pub(crate) pcie: Option<Speed>,
    #[command(flatten)]
    pub(crate) given: GivenArguments,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ib_read_bw -a db2 > read.txt; fullclock net curve read.txt --device mlx5_0
  fullclock net curve read.txt --host db7.host --device mlx5_0/1
  fullclock net curve read.csv --rate '40 Gb/sec (4X QDR)' --pcie '5 GT/s x8'
  fullclock net curve latency.txt          where it does not rise as it should";

pub(super) fn run(arguments: &Arguments, options: &CurveArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let name = options.file.display().to_string();
    let curve = Curve::parse(&text_of(&options.file)?).with_context(|| name.clone())?;
    let given = super::of_arguments(options.given);
    let given = Given { mtu: given.mtu.or(curve.mtu), ..given };
    let over = match &options.device {
        Some(device) => Some(super::ceiling_of(arguments, device, given, Face::Rdma)?),
        None => of_options(options, given),
    };
    let measured = Measured { name: &name, curve: &curve, over: over.as_ref() };
    let origin = origin("");
    destination.print(&match destination.format() {
        None => report::net::curve_json(&head(arguments), &measured)?,
        Some(format) => report::net::curve(&measured, origin_in(format, &origin)).render(format),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn text_of(path: &Path) -> Result<String> {
    let name = path.display();
    let Some(bytes) = bytes_of(path, LARGEST_TEXT as u64)? else {
        bail!("{name} holds 1 MiB or more, which is too large for a table of message sizes");
    };
    String::from_utf8(bytes).with_context(|| format!("{name} is not a text file"))
}

/// `None` where nothing was given.
fn of_options(options: &CurveArguments, given: Given) -> Option<(String, Ceiling)> {
    if options.rate.is_none() && options.pcie.is_none() {
        return None;
    }
    let unsaid =
        |what: &str, option: &str| Missing::not_here(what, format!("{option} was not given"));
    let wire = match &options.rate {
        Some(rate) => infiniband(rate, given.mtu),
        None => Err(unsaid("wire", "--rate")),
    };
    let slot: Fact<_> = match options.pcie {
        Some(speed) => Ok(slot(speed, given.payload.map_or(Largest::Assumed, Largest::Known))),
        None => Err(unsaid("slot", "--pcie")),
    };
    Some(("the adapter".to_owned(), Ceiling { wire, slot }))
}
