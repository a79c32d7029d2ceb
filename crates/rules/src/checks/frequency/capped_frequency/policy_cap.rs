//! The limit of one cpufreq policy: what its files say, and the finding of all policies that have it.

use super::{REACHED, with_cost, with_writer};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::Lost;
use crate::party::Party;
use crate::writers::Knob;
use facts::cpu::cpufreq::Policy;
use facts::{CpuSet, Hertz, HostView, IfPresent, Missing};

/// A limit below the highest clock that can be requested.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cap {
    /// The file that holds it.
    file: &'static str,
    pub(super) limit: Hertz,
    pub(super) full: Hertz,
}

/// The limit of a policy. The firmware's comes first: the kernel's then only repeats it.
pub(super) fn cap<'a>(host: &'a HostView, policy: &'a Policy) -> Result<Option<Cap>, &'a Missing> {
    let full = host.highest_request(policy)?;
    let cap = |file, limit| Cap { file, limit, full };
    let by_firmware = policy.bios_limit.if_present();
    if let Ok(Some(&limit)) = by_firmware
        && falls_short(host, policy, limit, full)
    {
        return Ok(Some(cap("bios_limit", limit)));
    }
    let limit = *policy.scaling_max.as_ref()?;
    if falls_short(host, policy, limit, full) {
        return Ok(Some(cap("scaling_max_freq", limit)));
    }
    by_firmware.map(|_| None)
}

/// Whether it is unknown if the firmware requests the same limit.
fn may_be_of_firmware(policy: &Policy) -> bool {
    policy.bios_limit.if_present().is_err() && policy.asks_firmware_for_a_limit()
}

fn falls_short(host: &HostView, policy: &Policy, limit: Hertz, full: Hertz) -> bool {
    limit.share_of(full) < REACHED || host.leaves_out_turbo(policy, limit, full)
}

/// `are_many` says whether all policies with a limit are many.
pub(super) fn capped(host: &HostView, cap: &Cap, policies: &[&Policy], are_many: bool) -> Finding {
    let Cap { file, limit, full } = cap;
    let cpus: CpuSet = policies.iter().flat_map(|it| it.cpus.iter()).collect();
    let is_mark = limit.share_of(*full) >= REACHED;
    let message = if is_mark {
        format!(
            "{file} leaves out turbo: {} of {} kHz, and the last 1 MHz stands for turbo",
            limit.khz(),
            full.khz()
        )
    } else {
        format!("{file} keeps the clock at {limit} of {full}")
    };
    let mut finding = if is_mark {
        Finding::new(Severity::Medium, Confidence::High, message)
    } else {
        let lost = Lost::of_what_is_left(limit.share_of(*full), are_many);
        Finding::of_lost(lost, Confidence::High, message)
    };
    if let Some(policy) = policies.first() {
        let max = policy.cpuinfo_max.as_ref().map_or(0, |it| it.khz());
        finding = finding
            .evidence(policy.path(file), limit.khz())
            .evidence(policy.path("cpuinfo_max_freq"), max);
        if let Ok(lowest) = &policy.lowest_nonlinear
            && limit < lowest
        {
            let path = policy.path("amd_pstate_lowest_nonlinear_freq");
            finding = finding.evidence(path, lowest.khz());
        }
    }
    if !is_mark {
        finding = with_cost(finding, limit.share_of(*full), format!("{limit} of {full}"));
    }
    let named = if is_mark { (*file).to_owned() } else { format!("{file} ({limit})") };
    let finding = finding.by_means_of(named);
    let finding = if *file == "bios_limit" {
        finding.held_by(Party::Firmware).advising(whose_budget(host)).command(&commands::BMC_EVENTS, "").fix_lasting("find out first whose budget it keeps: the firmware requests it (ACPI _PPC) for a power cap, a lost power supply or a cooling fault, \
                     which the BMC's log names, or for the power profile of its setup. `processor.ignore_ppc=1` on the boot line makes Linux ignore it, and overrides that protection")
    } else if let Some((path, level)) = passive_cooling(host, &cpus) {
        cooled(host, finding.evidence(path, level))
    } else if policies.iter().copied().any(may_be_of_firmware) {
        finding.fix_lasting("look at bios_limit in the same folder: if it is as low, the firmware sets the limit; if not, a program wrote it")
    } else {
        let written = limit.khz().to_string();
        with_writer(host, finding, (Knob::MaxFrequency, &written), |it| {
            it.fix_by_on("scaling-max", "max", cpus.clone())
        })
    };
    finding.on(cpus, host.topology.n_online())
}

/// What to look for where the firmware limits the clock: a portable machine has no management controller.
fn whose_budget(host: &HostView) -> &'static str {
    match host.is_portable() {
        true => {
            "find why the firmware limits it: a charger that is too weak or not its own, the battery, heat, or a power profile of its setup"
        }
        false => {
            "find whose budget the firmware keeps: a power cap, a lost power supply or a cooling fault in the log of the management controller, or a power profile of its setup"
        }
    }
}

/// Below this no processor needs cooling: a passive trip point there is the firmware's mistake, or was written by somebody.
const TOO_LOW: i64 = 60_000;

/// Names the zone that has reached its trip point; one that was reached while nothing is hot is the cause.
fn cooled(host: &HostView, finding: Finding) -> Finding {
    const FIX: &str = "the kernel lowers it to cool the machine: fix the cooling";
    let finding = finding.command(&commands::THERMAL_ZONES, "");
    let finding = finding.held_by(Party::Physics).advising("fix the cooling");
    let zones = host.thermal_zones.as_deref().unwrap_or_default();
    let reached = zones.iter().filter_map(|it| Some((it, it.reached()?)));
    let Some((zone, (number, trip, temperature))) = reached.min_by_key(|(_, it)| it.1) else {
        return finding.fix_lasting(FIX);
    };
    let finding = finding
        .evidence(format!("{}/temp", zone.folder), temperature)
        .evidence(format!("{}/trip_point_{number}_temp", zone.folder), trip);
    if trip >= TOO_LOW {
        return finding.fix_lasting(FIX);
    }
    let finding = finding
        .held_by(Party::Firmware)
        .advising("update the firmware, whose trip point is no heat");
    finding.fix_lasting(format!(
        "the passive trip point of {} is {} °C, which is no heat: a firmware update, or `thermal.psv=` with a temperature in degrees on the boot line",
        zone.kind,
        trip / 1000
    ))
}

/// Passive cooling that is on: of ACPI, whose first three steps lower `scaling_max_freq` by 20 % each (drivers/acpi/processor_thermal.c), or
/// of a device tree, which goes down the table of a policy (drivers/thermal/cpufreq_cooling.c).
fn passive_cooling(host: &HostView, cpus: &CpuSet) -> Option<(String, u64)> {
    let devices = host.cooling.as_deref().unwrap_or_default();
    let on = devices.iter().filter(|it| it.may_lower_clock_of(cpus));
    on.filter_map(|it| Some((it.state_path(), it.level().ok()?))).find(|(_, level)| *level > 0)
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::fixture::findings;

    /// A policy at half of its clock, by passive cooling, with a zone at 52 °C.
    fn host(trip: &str) -> String {
        let policy = "//- /sys/devices/system/cpu/cpufreq/policy0";
        let (device, zone) =
            ("//- /sys/class/thermal/cooling_device0", "//- /sys/class/thermal/thermal_zone0");
        format!(
            "//- /sys/devices/system/cpu/online\n0\n{policy}/affected_cpus\n0\n{policy}/scaling_driver\nacpi-cpufreq\n\
             {policy}/cpuinfo_max_freq\n3000000\n{policy}/scaling_max_freq\n1500000\n{policy}/bios_limit\n3000000\n\
             {device}/type\nProcessor\n{device}/cur_state\n2\n\
             {zone}/type\nacpitz\n{zone}/temp\n52000\n{zone}/trip_point_0_type\ncritical\n{zone}/trip_point_0_temp\n105000\n\
             {zone}/trip_point_1_type\npassive\n{zone}/trip_point_1_temp\n{trip}\n"
        )
    }

    fn lasting(trip: &str) -> String {
        findings(&CHECK, &host(trip)).remove(0).fix.lasting.unwrap()
    }

    #[test]
    fn a_trip_point_that_is_no_heat_is_named() {
        assert!(lasting("45000").starts_with("the passive trip point of acpitz is 45 °C"));
        let finding = findings(&CHECK, &host("45000")).remove(0);
        let read: Vec<&str> = finding.evidence.iter().map(|it| it.value.as_str()).collect();
        assert!(read.ends_with(&["2", "52000", "45000"]), "{read:?}");
    }

    #[test]
    fn one_that_was_not_reached_and_a_placeholder_are_not() {
        let cooled = "the kernel lowers it to cool the machine: fix the cooling";
        assert_eq!([lasting("90000"), lasting("-274000"), lasting("0")], [cooled; 3]);
    }
}
