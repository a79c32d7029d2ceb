//! `fullclock metrics`: what this machine tells a monitoring system, once.

use crate::cli::Arguments;
use crate::new_file::{self, Readers};
use crate::{config, output};
use anyhow::Result;
use clap::Args;
use engine::{advised, controller, told};
use facts::baseline::Baseline;
use host::Live;
use report::metrics::{Findings, Told, page};
use rules::host_labels::host_labels;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where the metrics go, and what is among them.
#[derive(Args, Debug)]
pub(crate) struct MetricsOptions {
    /// The file to write, as a whole and readable for everybody (0644): one that ends in .prom in the folder of node_exporter's
    /// textfile collector. One that exists is replaced. Standard output without it
    #[arg(long, value_name = "FILE")]
    textfile: Option<PathBuf>,
    /// Probe how fast an idle CPU of each package is: fullclock_speed_ratio. Keeps the first idle CPU busy for 50 ms, and where it runs
    /// 3 % below the nominal clock two more, of which the middle one counts
    #[arg(long)]
    speed_probe: bool,
    /// Add series of each CPU: some 10 for each
    #[arg(long)]
    per_cpu: bool,
}

pub(super) fn run(arguments: &Arguments, options: &MetricsOptions) -> Result<ExitCode> {
    if let Some(file) = &options.textfile {
        new_file::check(file, true)?;
    }
    let text = text(arguments, options)?;
    match &options.textfile {
        Some(file) => new_file::write(file, &text, Readers::Everybody, true)?,
        None => output::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The process that asks the management controller.
pub(super) fn controller_firmware() -> Result<ExitCode> {
    let (text, is_answer) = controller::asked();
    output::print(&text)?;
    Ok(if is_answer { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(arguments: &Arguments, options: &MetricsOptions) -> Result<String> {
    let config = config::with_advisories(&arguments.config)?;
    let live = Live::this_machine();
    let mut host = host::view(&live);
    let today = config::today(arguments.began);
    let audit = advised::audit_of_site(&live, &mut host, &config, &today);
    let firmware = controller::firmware();
    if let Some(missing) = firmware.as_ref().err().filter(|it| !it.is_absence()) {
        output::note(&arguments.output, &format!("no label bmc_firmware: {missing}"));
    }
    let mut labels = host_labels(&host, &firmware);
    labels.push(told::boot(&live));
    let speed = if options.speed_probe { told::speed(&host) } else { None };
    let (totals, online) = told::since_boot(live, &host, options.per_cpu);
    let told = Told {
        version: env!("CARGO_PKG_VERSION"),
        host: &labels,
        began: None,
        online: &online,
        totals: Some(&totals),
        speed,
        baseline: host.baseline.as_ref().ok().and_then(Baseline::of_this_boot),
        findings: Some(&Findings::of(&audit)),
        by_cpu: options.per_cpu,
    };
    // Node_exporter takes the older format only.
    Ok(page(&told, false))
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock metrics                what a monitoring system is told
  fullclock metrics --textfile /var/lib/prometheus/node-exporter/fullclock.prom
                                   for node_exporter's textfile collector
  systemctl enable --now fullclock-metrics.timer
                                   the same every 10 minutes";
