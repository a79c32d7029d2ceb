//! Looks at whether a Raspberry Pi has enough voltage.
//!
//! Source: the firmware's bits (`get_throttled`), and drivers/hwmon/raspberrypi-hwmon.c, which asks for them every two seconds and clears
//! those that keep what was. It cannot know how low the clock goes, nor when a voltage that was too low was.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::power::board::{FirmwareThrottling, VoltageAlarm};
use facts::{Fact, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "undervoltage",
    title: "the board's voltage is too low for its clock",
    doc: "\
## What it looks at
On a Raspberry Pi, what the firmware says of its supply: `get_throttled` (kernels of Raspberry Pi), where bit 0 is a voltage that is
too low at the moment, bits 1 and 2 a clock that the firmware holds down, and bits 16 to 18 the same since boot; and
the alarm `in0_lcrit_alarm` of the sensor rpi_volt (every kernel), which is the same of the last two seconds. That the clock is held
down is high, a voltage that is too low medium, one that was low. Other boards have no such files.

## Why it matters
Below 4.63 V the firmware holds the clock of the processor down, to 600 MHz on many boards, until there is enough voltage again. The governor
and `scaling_cur_freq` do not show it: the requested clock stays in the file. A supply that is strong enough
for an idle board is not for a busy one.

## When to leave it alone
Where it happened once, when something was plugged in. The driver of the sensor clears the bits of what was, so that they go back
no further than two seconds where it is loaded.
",
    references: &[
        Reference {
            title: "Raspberry Pi documentation: vcgencmd, get_throttled",
            url: "https://www.raspberrypi.com/documentation/computers/os.html",
        },
        Reference {
            title: "Linux: drivers/hwmon/raspberrypi-hwmon.c",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/drivers/hwmon/raspberrypi-hwmon.c",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let (throttled, alarm) = (&host.board_power.throttled, &host.board_power.alarm);
    let judged = judge(throttled.as_ref().ok(), alarm.as_ref().ok());
    let Some((severity, message)) = judged else {
        // Either shows a voltage that is too low at the moment.
        return match (throttled, alarm) {
            (Ok(_), _) | (_, Ok(_)) => Ok(Vec::new()),
            (Err(missing), _) if is_of_acpi(host) => Err(Missing::not_here(
                missing.what.clone(),
                "the firmware sets the clock by ACPI: only boards with a device tree show it",
            )),
            (Err(missing), other) => match other {
                Err(other) if missing.is_absence() => Err(other.clone()),
                _ => Err(missing.clone()),
            },
        };
    };
    let cpus = host.topology.online.clone().unwrap_or_default();
    let finding =
        Finding::new(severity, Confidence::High, message).on(cpus, host.topology.n_online());
    let is_live = throttled.as_ref().is_ok_and(FirmwareThrottling::is_low)
        || alarm.as_ref().is_ok_and(|it| it.is_raised);
    let finding = if is_live { finding } else { finding.since_boot() };
    let finding = with_evidence(finding, throttled, alarm);
    Ok(vec![finding.command(&commands::KERNEL_LOG, "-i voltage").fix_lasting(
        "a supply and a cable that hold 5 V under load (5 V and 3 A; 5 A for a Raspberry Pi 5), and fewer devices that draw from the board",
    )])
}

/// Whether the clock is set by CPPC, which boards whose firmware tells of their voltage do not have.
fn is_of_acpi(host: &HostView) -> bool {
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
    policies.iter().any(|it| it.driver.as_deref() == Ok("cppc_cpufreq"))
}

/// What is wrong, from the worst on; `None` where there is enough voltage.
fn judge(
    throttled: Option<&FirmwareThrottling>,
    alarm: Option<&VoltageAlarm>,
) -> Option<(Severity, &'static str)> {
    let has = |bit: fn(&FirmwareThrottling) -> bool| throttled.is_some_and(bit);
    let is_low = has(FirmwareThrottling::is_low) || alarm.is_some_and(|it| it.is_raised);
    let was_low = has(FirmwareThrottling::was_low);
    match (is_low, has(FirmwareThrottling::is_held), was_low) {
        (true, true, _) => Some((
            Severity::High,
            "the voltage is too low at this moment (under-voltage), and the firmware holds the clock down",
        )),
        (true, false, true) => Some((
            Severity::Medium,
            "the voltage is too low at this moment, and was before (under-voltage)",
        )),
        (true, false, false) => {
            Some((Severity::Medium, "the voltage is too low at this moment (under-voltage)"))
        }
        (false, _, true) => {
            Some((Severity::Low, "the voltage was too low at some time since boot (under-voltage)"))
        }
        (false, _, false) => None,
    }
}

fn with_evidence(
    finding: Finding,
    throttled: &Fact<FirmwareThrottling>,
    alarm: &Fact<VoltageAlarm>,
) -> Finding {
    let finding = match throttled {
        Ok(it) => finding.evidence(&it.path, format!("{:x}", it.bits)),
        Err(_) => finding,
    };
    match alarm {
        Ok(it) => finding.evidence(&it.path, u8::from(it.is_raised)),
        Err(_) => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const FILE: &str = "/sys/devices/platform/soc/soc:firmware/get_throttled";

    fn host(bits: &str, alarm: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nCPU part : 0xd03\n//- /sys/devices/system/cpu/online\n0-3\n\
             //- {FILE}\n{bits}\n//- /sys/class/hwmon/hwmon1/name\nrpi_volt\n\
             //- /sys/class/hwmon/hwmon1/in0_lcrit_alarm\n{alarm}\n"
        )
    }

    #[test]
    fn a_clock_that_is_held_down_for_it_is_high() {
        assert_eq!(
            verdict(&CHECK, &host("50005", "1")),
            "high: the voltage is too low at this moment (under-voltage), and the firmware holds the clock down [all 4 CPUs]"
        );
        let finding = findings(&CHECK, &host("50005", "1")).remove(0);
        let shown: Vec<&str> = finding.evidence.iter().map(|it| &*it.value).collect();
        assert_eq!(shown, ["50005", "1"]);
    }

    #[test]
    fn a_machine_with_acpi_has_no_such_firmware() {
        let policy = "//- /sys/devices/system/cpu/cpufreq/policy0";
        let acpi = format!("{policy}/affected_cpus\n0\n{policy}/scaling_driver\ncppc_cpufreq\n");
        assert!(
            verdict(&CHECK, &(host("!denied", "!denied") + &acpi)).starts_with("not applicable: ")
        );
        assert!(verdict(&CHECK, &host("!denied", "!denied")).starts_with("unknown: "));
    }

    #[test]
    fn the_sensor_alone_is_medium_and_what_was_is_low() {
        assert!(verdict(&CHECK, &host("!absent", "1")).starts_with("medium: "));
        assert!(verdict(&CHECK, &host("50000", "0")).starts_with("low: the voltage was too low"));
        assert!(verdict(&CHECK, &host("50001", "0")).contains("and was before"));
    }

    #[test]
    fn enough_voltage_is_clean_and_heat_is_no_matter_of_it() {
        assert_eq!(verdict(&CHECK, &host("0", "0")), "clean");
        assert_eq!(verdict(&CHECK, &host("80008", "!absent")), "clean");
    }

    #[test]
    fn without_an_answer_it_is_unknown_and_other_machines_have_no_such_thing() {
        assert_eq!(
            verdict(&CHECK, &host("!denied", "!denied")),
            format!("unknown: {FILE} may not be read")
        );
        let other = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n";
        assert!(verdict(&CHECK, other).starts_with("not applicable: "));
    }
}
