//! The finding on CPUs that run slower than Linux asks: how severe, how sure, and what to look at.

use super::asked::{Asker, Kind, Reading};
use super::judged::{Judged, Low, Work};
use super::platform;
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::Lost;
use crate::loss_scale::deviations::YOUNG_LOAD;
use facts::cpu::cpuinfo::CpuInfo;
use facts::{CpuSet, HostView};

/// Of low CPUs, of which there are some; those are all where no CPU that could be judged has what was asked for.
pub(super) fn of(host: &HostView, low: &Low<'_, '_>) -> Finding {
    let Low { cpus: low, is_all, work } = low;
    let is_all = *is_all;
    let fastest = low.iter().copied().max_by(|a, b| a.share().total_cmp(&b.share()));
    let (Some(fastest), Some(first)) = (fastest, fastest.and_then(|it| it.readings.first())) else {
        return Finding::new(Severity::Info, Confidence::Low, "a clock that was not read");
    };
    let (clock, asked) = (first.clock, fastest.asked.clock);
    let message = format!("{}, and {}", asks(fastest), delivered(first));
    let cpus: CpuSet = low.iter().map(|it| it.cpu).collect();
    // Of CPUs that could be judged: an idle one tells of none.
    let lost = Lost::of_what_is_left(fastest.share(), is_all)
        .at_most_if(fastest.asked.may_be_turbo())
        .but_if(fastest.asked.by == Asker::Load, &YOUNG_LOAD);
    let finding = Finding::of_lost(lost, confidence(first.kind, is_all, work), message)
        .on(cpus, host.topology.n_online());
    let finding = with_evidence(host, finding, fastest);
    let finding = if first.kind == Kind::SinceBoot { finding.since_boot() } else { finding };
    let lasts = if first.kind == Kind::SinceBoot { " since boot" } else { " while it lasts" };
    let loss = OfClock::lost(1.0 - clock.share_of(asked)).lasting(lasts);
    let loss = if fastest.asked.may_be_turbo() { loss.at_most() } else { loss };
    let finding = finding.cost_of_clock(loss, format!("{clock} of {asked}"));
    with_advice(host, finding, fastest)
}

fn confidence(kind: Kind, is_all: bool, work: &Work) -> Confidence {
    match (kind, work) {
        (Kind::Look | Kind::Watched, _) => Confidence::High,
        (_, Work::Unknown | Work::None) => Confidence::Low,
        (Kind::BlindLook, _) => Confidence::High,
        (Kind::SinceBoot, _) => Confidence::Medium,
        (Kind::Driver, _) if is_all => Confidence::Medium,
        (Kind::Driver | Kind::Sample, Work::Watched) => Confidence::Medium,
        (Kind::Sample, Work::Seen(_)) => Confidence::Medium,
        (Kind::Driver | Kind::Sample, _) => Confidence::Low,
    }
}

fn asks(judged: &Judged<'_>) -> String {
    let clock = judged.asked.clock;
    match judged.asked.by {
        Asker::Performance => format!("governor performance asks for {clock}"),
        Asker::Limits => format!("scaling_min_freq and scaling_max_freq ask for {clock}"),
        Asker::Load => format!("busy CPUs ask for {clock}"),
        Asker::Processor => format!("the processor was made for {clock}"),
    }
}

fn delivered(reading: &Reading) -> String {
    let clock = reading.clock;
    let level = match reading.level {
        Some((level, nominal)) => format!(" (CPPC level {level}, where {nominal} is nominal)"),
        None => String::new(),
    };
    match reading.kind {
        Kind::SinceBoot => {
            format!("the hardware has run at {clock} on average since boot{level}")
        }
        _ => format!("the hardware runs at {clock}{level}"),
    }
}

fn with_evidence(host: &HostView, finding: Finding, judged: &Judged<'_>) -> Finding {
    let mut finding = finding;
    if let Some(policy) = judged.policy {
        let files = match judged.asked.by {
            Asker::Performance | Asker::Load => {
                vec![("scaling_governor", policy.governor.clone().ok())]
            }
            _ => vec![
                (
                    "scaling_min_freq",
                    policy.scaling_min.as_ref().ok().map(|it| it.khz().to_string()),
                ),
                (
                    "scaling_max_freq",
                    policy.scaling_max.as_ref().ok().map(|it| it.khz().to_string()),
                ),
            ],
        };
        for (file, value) in files {
            if let Some(value) = value {
                finding = finding.evidence(policy.path(file), value);
            }
        }
    }
    for (source, value) in judged.readings.iter().flat_map(|it| &it.evidence) {
        finding = finding.evidence(source, value);
    }
    let told = judged.policy.map(|policy| platform::told(host, policy)).unwrap_or_default();
    for (source, value) in told {
        finding = finding.evidence(source, value);
    }
    finding
}

/// Where each maker's machines say who holds the clock.
fn with_advice(host: &HostView, finding: Finding, judged: &Judged<'_>) -> Finding {
    let is = |of: fn(&CpuInfo) -> bool| host.cpuinfo.as_ref().is_ok_and(of);
    if judged.asked.by == Asker::Processor {
        return finding.fix_lasting(
            "ask for the messages of the machine at its support element (SE or HMC): it lowers the clock for heat or to save power",
        );
    }
    if is(CpuInfo::is_power) {
        return finding.command(&commands::KERNEL_LOG, "-i -E 'occ|pmax|pstate'").fix_lasting(
            "firmware holds it: read OPAL's log (`cat /sys/firmware/opal/msglog`) and the service processor's for the on-chip controller (OCC)",
        );
    }
    if is(CpuInfo::is_intel) {
        return finding
            .command(&commands::READ_REGISTERS, "rdmsr -a 0x199; rdmsr -a 0x19c; rdmsr -a 0x1b1  # what is asked, what holds it?")
            .command(&commands::BMC_EVENTS, "")
            .fix_lasting(
                "as root, see prochot-asserted, low-power-limit and bmc-power-cap; possible causes: a power supply, a power cap, heat, the firmware's setup",
            );
    }
    if is(CpuInfo::is_amd) {
        return finding
            .command(&commands::READ_REGISTERS, "rdmsr -a 0xc0010061  # bits 2:0 above 0: firmware limits the P-state")
            .command(&commands::BMC_EVENTS, "")
            .fix_lasting(
                "fix what the management controller names: power supplies, cooling, a power cap; or the limits in the firmware's setup",
            );
    }
    finding
        .command(&commands::KERNEL_LOG, "-i -E 'cppc|scmi|scpi|cpufreq|throttl|voltage'")
        .command(&commands::THERMAL_ZONES, "")
        .fix_lasting(
            "the board's firmware does not give what Linux asks for: look for its limits on power, heat and voltage, and update it and the device tree or ACPI tables that it brings",
        )
}
