//! Power limits that a processor or system states beside the highest one there can be: EPYC's sockets by HSMP, POWER's system by OPAL.
//!
//! Sources: drivers/platform/x86/amd/hsmp/hwmon.c; arch/powerpc/platforms/powernv/opal-powercap.c and
//! Documentation/ABI/testing/sysfs-firmware-opal-powercap. Neither says who set the limit.

use crate::amd_limits::{cpus_of, on_socket};
use crate::check::Verdict;
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::{self, Lost};
use crate::power_cap::is_at;
use facts::power::board::SystemCap;
use facts::power::hsmp::{HsmpSocket, SocketPower};
use facts::{HostView, IfPresent, Microwatts};

/// Below this share of the highest limit a limit is not one of the TDPs that AMD offers for a model (its data sheets: from three quarters
/// on).
const FAR_BELOW: f64 = 0.75;

const FIND_OUT: &str = "find out first who set it and whose budget it keeps: the TDP and package power limit in the firmware's setup, the management controller, \
     which sets it by APML, or a program that writes power1_cap";
const FIND_OUT_POWER: &str = "find out first whose budget it keeps: the management controller (BMC) or a program that writes powercap-current set it";

/// The verdict on a processor whose limits are told this way; `None` on others.
pub(super) fn judged(host: &HostView) -> Option<Verdict> {
    let info = host.cpuinfo.as_ref().ok().filter(|_| !host.platform.is_guest())?;
    if info.is_amd() {
        // Without the driver, the limit is shown elsewhere.
        let sockets = host.hsmp.as_deref().ok()?;
        return Some(of_sockets(host, sockets));
    }
    if info.is_power() {
        let cap = match host.board_power.cap.if_present() {
            Ok(cap) => cap?,
            Err(missing) => return Some(Err(missing.clone())),
        };
        return Some(of_system(host, cap));
    }
    None
}

fn of_sockets(host: &HostView, sockets: &[HsmpSocket]) -> Verdict {
    let (mut findings, mut unknown) = (Vec::new(), None);
    for socket in sockets {
        match socket.power.as_ref().map(|power| low(host, socket, power)) {
            Ok(Ok(found)) => findings.extend(found.map(|it| on_socket(host, socket, it))),
            Ok(Err(missing)) | Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing.into()),
        _ => Ok(findings),
    }
}

fn low<'a>(
    host: &HostView,
    socket: &HsmpSocket,
    power: &'a SocketPower,
) -> Result<Option<Finding>, &'a facts::Missing> {
    let (limit, highest) = (*power.limit.as_ref()?, *power.highest_limit.as_ref()?);
    if limit.0 == 0 || highest.0 == 0 || limit.share_of(highest) >= FAR_BELOW {
        return Ok(None);
    }
    let drawn = power.drawn.as_ref().ok().copied().filter(|it| it.0 > 0);
    let message = format!(
        "a socket may draw {limit}, {:.0} % of the {highest} that it can be given",
        100.0 * limit.share_of(highest)
    );
    let (cap, most) = (power.path("power1_cap"), power.path("power1_cap_max"));
    let raised = format!("{} > {cap}", highest.0);
    let finding = weighed(host, socket, &message, limit, drawn)
        .by_means_of(format!("a package power limit of {limit}, of {highest}"))
        .evidence(cap, limit.0)
        .evidence(most, highest.0);
    let finding = drawn
        .into_iter()
        .fold(finding, |it, drawn| it.evidence(power.path("power1_input"), drawn.0));
    let finding = match socket.lowest_limit() {
        Some((file, clock)) => finding.evidence(socket.path(file), clock.0 / 1_000_000),
        None => finding,
    };
    if finding.severity == Severity::Info {
        return Ok(Some(finding));
    }
    Ok(Some(finding.command(&commands::POWERCAP_LIMIT, raised).fix_lasting(FIND_OUT)))
}

/// The finding by what the limit takes: nothing while less is drawn, and at the limit by the clock that is left.
fn weighed(
    host: &HostView,
    socket: &HsmpSocket,
    message: &str,
    limit: Microwatts,
    drawn: Option<Microwatts>,
) -> Finding {
    let Some(drawn) = drawn else {
        let message = format!("{message}; what it draws is unknown");
        return Finding::new(Severity::Low, Confidence::Low, message);
    };
    if !is_at(drawn, limit) {
        let message = format!("{message}, which does not bind at this moment: it draws {drawn}");
        return Finding::new(Severity::Info, Confidence::High, message);
    }
    let message = format!("{message}, and it draws {drawn}");
    let clocks = socket.lowest_limit().map(|(_, it)| it).zip(host.nominal_clock());
    match clocks {
        Some((clock, (nominal, _))) if clock < nominal => {
            let are_many = cpus_of(host, socket).is_none_or(|it| loss_scale::are_many(host, &it));
            let share = clock.share_of(nominal);
            let lost = Lost::of_what_is_left(share, are_many);
            let message = format!("{message}: that leaves {clock} of {nominal}");
            Finding::of_lost(lost, Confidence::High, message)
                .cost_of_clock(OfClock::lost(1.0 - share), format!("{clock} of {nominal}"))
        }
        Some((clock, _)) => {
            let message = format!("{message}: that leaves {clock}, which costs turbo");
            Finding::new(Severity::Low, Confidence::High, message)
        }
        None => Finding::new(Severity::Medium, Confidence::Medium, message),
    }
}

/// The limit of a POWER system. Without a reading of its power, only what the on-chip controllers count since boot says that it was reached.
fn of_system(host: &HostView, cap: &SystemCap) -> Verdict {
    let (limit, highest) = (*cap.current.as_ref()?, *cap.highest.as_ref()?);
    if limit.0 == 0 || limit >= highest {
        return Ok(Vec::new());
    }
    let counts = host.throttling.occ.known().flat_map(|(_, it)| &it.reasons);
    let reached = counts.filter(|it| it.is_power_cap() && it.events > 0).max_by_key(|it| it.events);
    let (severity, confidence) = match reached {
        Some(_) => (Severity::Low, Confidence::Medium),
        None => (Severity::Info, Confidence::High),
    };
    let tells = match reached {
        Some(it) => format!("; the processors have been held to it {} times since boot", it.events),
        None => String::new(),
    };
    let message = format!("the system may draw {limit} of {highest} at most{tells}");
    let finding = Finding::new(severity, confidence, message)
        .by_means_of(format!("a limit of {limit} on the system's power"))
        .since_boot()
        .evidence(cap.path("powercap-current"), limit.0 / 1_000_000)
        .evidence(cap.path("powercap-max"), highest.0 / 1_000_000);
    Ok(vec![match reached {
        Some(it) => finding
            .evidence(&it.path, it.events)
            .command(
                &commands::POWERCAP_LIMIT,
                format!("{} > {}", highest.0 / 1_000_000, cap.path("powercap-current")),
            )
            .fix_lasting(FIND_OUT_POWER),
        None => finding,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::fixture::{findings, verdict};

    /// An EPYC of 2450 MHz with this limit, highest limit and draw in watts, and a limit on its clock in MHz.
    fn epyc(limit: &str, highest: u64, drawn: &str, clock: &str) -> String {
        let folder = "//- /sys/devices/platform/AMDI0097:00";
        let watts = |it: &str| {
            it.parse::<u64>().map_or_else(|_| it.to_owned(), |it| (it * 1_000_000).to_string())
        };
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\n\
             model name : AMD EPYC 7763 64-Core Processor\n//- /sys/devices/system/cpu/online\n0-1\n\
             //- /sys/devices/system/cpu/cpu0/topology/package_cpus_list\n0-1\n\
             //- /sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq\n2450\n\
             //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0 1\n\
             {folder}/firmware_node/uid\nID00\n{folder}/prochot_status\n0\n\
             {folder}/cclk_freq_limit_input\n{clock}\n{folder}/hwmon/hwmon3/name\namd_hsmp_hwmon\n\
             {folder}/hwmon/hwmon3/power1_cap\n{}\n{folder}/hwmon/hwmon3/power1_cap_max\n{}\n\
             {folder}/hwmon/hwmon3/power1_input\n{}\n",
            watts(limit),
            highest * 1_000_000,
            watts(drawn)
        )
    }

    #[test]
    fn a_limit_that_is_reached_is_as_severe_as_the_clock_that_it_leaves() {
        assert_eq!(
            verdict(&CHECK, &epyc("140", 280, "139", "1500")),
            "high: a socket may draw 140 W, 50 % of the 280 W that it can be given, and it draws 139 W: \
             that leaves 1500 MHz of 2450 MHz [all 2 CPUs]"
        );
        assert_eq!(
            verdict(&CHECK, &epyc("180", 280, "179", "2800")),
            "low: a socket may draw 180 W, 64 % of the 280 W that it can be given, and it draws 179 W: \
             that leaves 2800 MHz, which costs turbo [all 2 CPUs]"
        );
        let blind = epyc("140", 280, "139", "!failed Input/output error (os error 5)");
        assert!(verdict(&CHECK, &blind).starts_with("medium: "), "{}", verdict(&CHECK, &blind));
        let finding = findings(&CHECK, &epyc("140", 280, "139", "1500")).remove(0);
        assert!(
            finding.fix.by_hand[0].command.starts_with(
                "echo 280000000 > /sys/devices/platform/AMDI0097:00/hwmon/hwmon3/power1_cap"
            ),
            "{finding:?}"
        );
    }

    #[test]
    fn a_busy_epyc_at_a_limit_that_amd_offers_for_it_is_how_it_is_meant_to_work() {
        assert_eq!(verdict(&CHECK, &epyc("225", 240, "225", "3100")), "clean");
        assert_eq!(verdict(&CHECK, &epyc("280", 280, "280", "2600")), "clean");
        assert_eq!(verdict(&CHECK, &epyc("225", 280, "224", "2700")), "clean");
        // A limit of 0 is none that firmware tells.
        assert_eq!(verdict(&CHECK, &epyc("0", 280, "100", "3400")), "clean");
    }

    #[test]
    fn a_low_limit_that_is_not_reached_is_a_note_and_one_of_unknown_draw_is_low() {
        assert_eq!(
            verdict(&CHECK, &epyc("180", 280, "90", "3400")),
            "info: a socket may draw 180 W, 64 % of the 280 W that it can be given, which does not bind at this moment: \
             it draws 90 W [all 2 CPUs]"
        );
        let finding = findings(&CHECK, &epyc("180", 280, "90", "3400")).remove(0);
        assert!(finding.fix.by_hand.is_empty() && finding.fix.lasting.is_none());
        assert!(verdict(&CHECK, &epyc("180", 280, "!denied", "3400")).starts_with("low: "));
    }

    #[test]
    fn a_sensor_that_fails_is_unknown_and_an_epyc_without_the_driver_is_not_judged_by_it() {
        let failed = epyc("!failed Connection timed out (os error 110)", 280, "90", "3400");
        assert_eq!(
            verdict(&CHECK, &failed),
            "unknown: /sys/devices/platform/AMDI0097:00/hwmon/hwmon3/power1_cap cannot be read: \
             Connection timed out (os error 110)"
        );
        let (without, _) = failed.split_once("//- /sys/devices/platform/AMDI0097").unwrap();
        let hsmp = "unknown: the package's power limit cannot be read: EPYC 7003 and later report it through HSMP";
        assert!(verdict(&CHECK, without).starts_with(hsmp), "{}", verdict(&CHECK, without));
    }

    /// A POWER9 whose system has this limit of 2550 W, and whose controller counts so many power caps.
    fn power9(limit: &str, caps: u32) -> String {
        let cap = "//- /sys/firmware/opal/powercap/system-powercap";
        let stats = "//- /sys/devices/system/cpu/cpu0/cpufreq/throttle_stats";
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\ncpu : POWER9, altivec supported\n\
             //- /sys/devices/system/cpu/online\n0\n\
             {cap}/powercap-current\n{limit}\n{cap}/powercap-max\n2550\n{cap}/powercap-min\n1825\n\
             {stats}/supply_fault\n0\n{stats}/powercap\n{caps}\n{stats}/overcurrent\n0\n{stats}/occ_reset\n0\n"
        )
    }

    #[test]
    fn a_limit_of_a_power_system_is_a_note_and_low_where_it_has_held_the_processors() {
        assert_eq!(
            verdict(&CHECK, &power9("1825", 0)),
            "info: the system may draw 1825 W of 2550 W at most"
        );
        assert_eq!(
            verdict(&CHECK, &power9("1825", 17)),
            "low: the system may draw 1825 W of 2550 W at most; the processors have been held to it 17 times since boot"
        );
        assert_eq!(verdict(&CHECK, &power9("2550", 17)), "clean");
        assert!(verdict(&CHECK, &power9("!denied", 0)).starts_with("unknown: "));
        let guest = power9("", 0);
        let (guest, _) = guest.split_once("//- /sys/firmware").unwrap();
        assert!(verdict(&CHECK, guest).starts_with("unknown: the package's power limit"));
    }
}
