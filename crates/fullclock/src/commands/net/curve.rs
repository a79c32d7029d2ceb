//! `fullclock net curve`: what a test by message size says.

use super::page;
use crate::cli::Arguments;
use crate::commands::bytes_of;
use crate::commands::net::options::CurveArguments;
use crate::output::{self};
use anyhow::{Context, Result, bail};
use engine::net::ceiling::Face;
use facts::links::perftest::{Curve, LARGEST_TEXT};
use facts::{Fact, Missing};
use report::net::Measured;
use rules::ceiling::{Ceiling, Given, Largest, infiniband, slot};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &CurveArguments) -> Result<ExitCode> {
    page::check(options.report.as_deref())?;
    let name = options.file.display().to_string();
    let curve = Curve::parse(&text_of(&options.file)?).with_context(|| name.clone())?;
    let given = super::of_arguments(options.given);
    let given = Given { mtu: given.mtu.or(curve.mtu), ..given };
    let over = match &options.device {
        Some(device) => Some(super::ceiling_of(arguments, device, given, Face::Rdma)?),
        None => of_options(options, given),
    };
    let measured = Measured { name: &name, curve: &curve, over: over.as_ref() };
    let text = if arguments.output.json {
        report::net::curve_json(&measured)?
    } else {
        report::net::curve(&measured, output::style(arguments.output.color))
    };
    output::print(&text)?;
    page::write(&arguments.output, options.report.as_deref(), "", |origin| {
        report::net::curve_page(&measured, origin)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn text_of(path: &Path) -> Result<String> {
    let name = path.display();
    let Some(bytes) = bytes_of(path, LARGEST_TEXT as u64)? else {
        bail!("{name} holds 1 MiB or more, which is no table of message sizes");
    };
    String::from_utf8(bytes).with_context(|| format!("{name} is no text"))
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
