//! Readings of machines that do not exist, the same on every run.

use super::{ClientValue, Column, Reading, Share, Shares};
use crate::interval::Interval;
use crate::loss;
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values};
use facts::client::ClientMetric;
use facts::counters::Moment;
use facts::{Fact, Missing, PerCpu};
use std::time::Duration;

const fn metric(id: &'static str, column: &'static str, unit: Unit, kind: Kind) -> Metric {
    Metric {
        id,
        title: "what it is in a few words",
        column,
        unit,
        kind,
        limits: Limits::None,
        families: &[],
        tasks: Tasks::None,
        help: "Where it comes from.",
        measure,
    }
}

fn measure(_: &Interval) -> Fact<Vec<Series>> {
    Err(Missing::not_collected("a fake metric"))
}

static BUSY: Metric = metric("busy", "Busy%", Unit::Percent, Kind::Mean);
static BUSY_MHZ: Metric = metric("busy-mhz", "Bzy_MHz", Unit::Megahertz, Kind::Peak);
static TSC_MHZ: Metric = metric("tsc-mhz", "TSC_MHz", Unit::Megahertz, Kind::Peak);
static C_STATES: Metric = metric("idle-state", "C%", Unit::Percent, Kind::Mean);
static INTERRUPTS: Metric = metric("interrupts", "IRQ/s", Unit::PerSecond, Kind::Sum);
static SMI: Metric = metric("smi", "SMI/s", Unit::PerSecond, Kind::Sum);
static WATTS: Metric = metric("watts", "PkgWatt", Unit::Watts, Kind::Sum);
static TEMPERATURE: Metric = metric("temperature", "CoreTmp", Unit::Celsius, Kind::Peak);
static PRESSURE: Metric = Metric {
    limits: Limits::From { notable: 1.0, severe: 10.0 },
    ..metric("cpu-pressure", "CpuSome", Unit::Percent, Kind::Mean)
};

/// The interval number `at` of a machine of `n_cpus`, 16 of them a package.
pub fn reading(n_cpus: u32, at: u32) -> Reading {
    let second = u64::from(at) * 1_000_000_000;
    Reading {
        at: Moment { raw_ns: second, boot_ns: second, real_ns: 1_795_177_600_000_000_000 + second },
        elapsed_ns: Ok(1_000_000_000),
        suspended_ns: 0,
        cpus: (0..n_cpus).collect(),
        columns: columns(n_cpus, at),
        shares: Ok(shares()),
        client: None,
        took: Some(Duration::from_micros(420)),
        notes: Vec::new(),
    }
}

/// What pgbench says in an interval; `None` where it says nothing.
pub fn client(tps: Option<f64>) -> ClientValue {
    let metric = ClientMetric { client: "pgbench".to_owned(), unit: "tps".to_owned() };
    let none = || Missing::not_here("number of the client pgbench", "it printed none");
    ClientValue { metric, value: tps.ok_or_else(none), n: usize::from(tps.is_some()) }
}

/// A ledger with a line of each kind, of which a thousand nanoseconds are 100 %.
pub fn shares() -> Shares {
    let line = |loss, part: &str, kind, ns| Share {
        loss,
        title: loss,
        part: part.to_owned(),
        kind,
        ns: Ok(ns),
        uncertainty_ns: 1,
        method: loss::Method::Counter,
        source: "/proc/stat".to_owned(),
    };
    let stopped = Share {
        ns: Err(Missing::denied("/dev/cpu/0/msr")),
        ..line("stopped-clock", "", loss::Kind::Lost, 0)
    };
    Shares {
        capacity_ns: 1000,
        lines: vec![
            line("idle", "", loss::Kind::Idle, 312),
            line("stolen", "", loss::Kind::Lost, 0),
            stopped,
            line("slow-clock", "", loss::Kind::Lost, 225),
            line("ticks", "", loss::Kind::Lost, 4),
            line("kernel-threads", "kipmi0", loss::Kind::Lost, 31),
            line("kernel-threads", "kswapd0", loss::Kind::Lost, 2),
            line("useful", "", loss::Kind::Useful, 423),
        ],
        unexplained_ns: 3,
        notes: vec!["100 % is 3800 MHz, the highest clock seen by the probe".to_owned()],
    }
}

fn columns(n_cpus: u32, at: u32) -> Vec<Column> {
    let cpus = |value: &dyn Fn(u32) -> Fact<f64>| -> Fact<Values> {
        Ok(Values::Cpus((0..n_cpus).map(|cpu| (cpu, value(cpu))).collect::<PerCpu<f64>>()))
    };
    let wave = |cpu: u32| f64::from((cpu * 37 + at * 11) % 101);
    let packages = || {
        Values::Packages(
            (0..n_cpus.div_ceil(16)).map(|it| (it * 16, Ok(80.0 + wave(it) / 7.0))).collect(),
        )
    };
    let column = |metric, part: &str, values: Fact<Values>| Column {
        metric,
        series: values.map(|values| Series { part: part.to_owned(), values }),
    };
    let idle = || Missing::not_here("a busy clock", "the CPU was not busy");
    let denied = |cpu: u32| Missing::denied(format!("/dev/cpu/{cpu}/msr 0x10"));
    vec![
        column(&BUSY, "", cpus(&|cpu| Ok(wave(cpu)))),
        column(
            &BUSY_MHZ,
            "",
            cpus(&|cpu| if wave(cpu) < 20.0 { Err(idle()) } else { Ok(3700.0 - wave(cpu)) }),
        ),
        column(&TSC_MHZ, "", cpus(&|cpu| if cpu == 1 { Err(denied(cpu)) } else { Ok(2500.0) })),
        column(&C_STATES, "C1", cpus(&|cpu| Ok(100.0 - wave(cpu)))),
        column(&C_STATES, "C6", cpus(&|_| Ok(0.0))),
        column(&INTERRUPTS, "LOC", cpus(&|cpu| Ok(250.0 + f64::from(cpu)))),
        column(
            &INTERRUPTS,
            "24 virtio0-input.0-温度",
            cpus(&|cpu| Ok(if cpu == 0 { 12.5 } else { 0.0 })),
        ),
        column(&SMI, "", Err(Missing::denied("/dev/cpu/0/msr 0x34"))),
        column(&WATTS, "", Ok(packages())),
        column(&TEMPERATURE, "", Err(Missing::absent("/sys/class/hwmon"))),
        column(&PRESSURE, "", Ok(Values::Host(Ok(1.25)))),
    ]
}
