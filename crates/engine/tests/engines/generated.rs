//! A fleet that does not exist: what its machines would have exported in the last hour.
//!
//! Five models, three microcodes, four BIOS versions and racks of 40; each machine differs from its model by some percent, as healthy ones
//! do. Hidden in it: one model with one BIOS and one microcode at 25 %, one microcode at 95 %, one rack at 62 %, one machine at 50 %. Nine findings
//! are those of all machines, and slow ones have one more.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Samples of each figure, a minute apart.
const SAMPLES: u64 = 30;

/// Of a label that is always current: those within the five minutes that engines look back.
const CURRENT: u64 = 3;

/// The age of the latest sample, in seconds: engines leave out what is younger than half a minute.
const AGE: u64 = 40;

/// How a text tells the time and its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// In seconds, with an end mark: what promtool reads.
    OpenMetrics,
    /// In milliseconds: what VictoriaMetrics imports.
    Prometheus,
}

/// Writes what so many machines exported up to `now`, in seconds since 1970.
pub(crate) fn write(
    machines: u64,
    now: u64,
    format: Format,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut random = fastrand::Rng::with_seed(7);
    let healthy: Vec<f64> = (0..machines).map(|_| 1.0 + 0.02 * (random.f64() - 0.5)).collect();
    for (metric, samples) in [
        ("fullclock_host_info", CURRENT),
        ("fullclock_clock_ratio", SAMPLES),
        ("fullclock_speed_ratio", SAMPLES),
        ("fullclock_finding", CURRENT),
        ("fullclock_unknown_checks", CURRENT),
    ] {
        writeln!(to, "# TYPE {metric} gauge")?;
        for (machine, healthy) in (0..machines).zip(&healthy) {
            let speed = healthy * share(machine);
            let of_metric = match metric {
                "fullclock_host_info" => vec![info(machine)],
                "fullclock_clock_ratio" => vec![",quantile=\"0.5\"".to_owned()],
                "fullclock_finding" => findings(speed),
                "fullclock_unknown_checks" => OBSTACLES.map(obstacle).into(),
                _ => vec![String::new()],
            };
            for of_series in of_metric {
                let labels = format!("{{{}{of_series}}}", target(machine));
                for sample in (0..samples).rev() {
                    let at = now - AGE - 60 * sample;
                    let at = if format == Format::Prometheus { at * 1000 } else { at };
                    let is_figure = samples == SAMPLES;
                    let noise = 1.0 + 0.01 * (random.f64() - 0.5);
                    let is_count = metric == "fullclock_unknown_checks";
                    let value = if is_figure { speed * noise } else { f64::from(!is_count) };
                    writeln!(to, "{metric}{labels} {value:.6} {at}")?;
                }
            }
        }
    }
    if format == Format::OpenMetrics {
        writeln!(to, "# EOF")?;
    }
    to.flush()
}

/// What every machine has, whether it is slow or not.
const ORDINARY: [&str; 9] = [
    "aged-huge-pages",
    "capped-frequency",
    "deep-idle",
    "irq-on-busy-cpu",
    "numa-balancing",
    "old-microcode",
    "slow-governor",
    "timer-migration",
    "watchdog",
];

fn findings(speed: f64) -> Vec<String> {
    let finding = |id: &str, severity: &str| {
        format!(",id=\"{id}\",severity=\"{severity}\",confidence=\"high\"")
    };
    let mut all: Vec<String> = ORDINARY.iter().map(|it| finding(it, "low")).collect();
    if speed < 0.8 {
        all.push(finding(SLOW, "high"));
    }
    all
}

/// The finding of slow machines.
pub(crate) const SLOW: &str = "clock-not-delivered";

/// What kept an audit from a check: each machine has a series of each.
const OBSTACLES: [&str; 4] = ["absent", "kernel", "privilege", "virtual"];

fn obstacle(of: &str) -> String {
    format!(",obstacle=\"{of}\"")
}

/// The labels of the scrape.
fn target(machine: u64) -> String {
    format!("instance=\"db{machine:06}:9100\",job=\"node\",rack=\"r{:03}\"", machine / 40)
}

const fn model(machine: u64) -> u64 {
    machine % 5
}

const fn microcode(machine: u64) -> u64 {
    machine / 5 % 3
}

const fn bios(machine: u64) -> u64 {
    machine / 15 % 4
}

fn info(machine: u64) -> String {
    let mut labels = format!(",boot=\"{machine:012x}\"");
    let (model, microcode, bios) = (model(machine), microcode(machine), bios(machine));
    for (name, value) in [
        ("cpu_model", format!("Intel(R) Xeon(R) Gold 63{model}0 CPU @ 2.00GHz")),
        ("microcode", format!("0xd0003{model}{microcode}")),
        ("bios_vendor", "Dell Inc.".to_owned()),
        ("bios_version", format!("2.1{bios}.{model}")),
        ("bios_date", format!("0{}/12/2023", bios + 1)),
        ("board", format!("0WXD{model}Y")),
        ("product", format!("PowerEdge R7{model}0")),
        ("kernel", format!("6.1.0-{}-amd64", machine % 3 + 20)),
        ("cpufreq_driver", "intel_cpufreq".to_owned()),
        ("governor", "schedutil".to_owned()),
        ("hypervisor", "none".to_owned()),
    ] {
        // A String takes everything.
        write!(labels, ",{name}=\"{value}\"").unwrap_or_default();
    }
    labels
}

/// The share of its speed that a machine has.
fn share(machine: u64) -> f64 {
    match (model(machine), microcode(machine), bios(machine)) {
        (2, 1, 3) => 0.25,
        (0, 2, _) => 0.95,
        _ if machine / 40 == 7 => 0.62,
        _ if machine == 1111 => 0.5,
        _ => 1.0,
    }
}
