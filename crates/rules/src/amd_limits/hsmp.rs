//! What HSMP says of the clock of EPYC's sockets: limits, what they come from, and signals.
//!
//! Source: facts::power::hsmp.

use super::{CAUSE, REACHED};
use crate::check::Verdict;
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::Lost;
use crate::loss_scale::deviations::ALL_ITS_POWER;
use crate::party::Party;
use crate::power_cap::is_at;
use facts::power::hsmp::{HsmpSocket, SocketPower};
use facts::{CpuSet, Elsewhere, Fact, Hertz, HostView, IfPresent};

/// A limit below the nominal clock; above it, the limit is the boost that power and current leave.
pub(super) fn by_hsmp(host: &HostView) -> Vec<Finding> {
    let Some((nominal, _)) = host.nominal_clock() else { return Vec::new() };
    let sockets = host.hsmp.as_deref().unwrap_or_default();
    let limited = sockets.iter().filter_map(|socket| {
        let (file, limit) = socket.lowest_limit()?;
        (limit.share_of(nominal) < REACHED).then_some((socket, file, limit))
    });
    let limited: Vec<(&HsmpSocket, &str, Hertz)> = limited.collect();
    let are_many = 2 * limited.len() >= sockets.len();
    let finding = |(socket, file, limit): (&HsmpSocket, &str, Hertz)| {
        let lost = Lost::of_what_is_left(limit.share_of(nominal), are_many)
            .but_if(draws_all_its_power(socket), &ALL_ITS_POWER);
        let finding = held_by_socket(socket, lost, file, (limit, nominal));
        on_socket(host, socket, finding)
    };
    limited.into_iter().map(finding).collect()
}

/// What limits a processor under load, as `freqlimit_srcnames` in drivers/platform/x86/amd/hsmp/acpi.c calls it.
const OF_LOAD: [&str; 4] = ["PPT Limit", "TDC limit", "OPN Max", "Reliability Limit"];

/// Whether the load alone limits a socket: no other source is named, and it draws the highest power that it can be given.
fn draws_all_its_power(socket: &HsmpSocket) -> bool {
    let sources = socket.limit_sources.as_deref().unwrap_or_default();
    let Ok(power) = &socket.power else { return false };
    let (Ok(limit), Ok(highest), Ok(drawn)) = (&power.limit, &power.highest_limit, &power.drawn)
    else {
        return false;
    };
    !sources.is_empty()
        && sources.iter().all(|it| OF_LOAD.contains(&it.as_str()))
        && limit >= highest
        && is_at(*drawn, *limit)
}

fn held_by_socket(
    socket: &HsmpSocket,
    lost: Lost,
    file: &str,
    (limit, nominal): (Hertz, Hertz),
) -> Finding {
    let sources = socket.limit_sources.as_deref().unwrap_or_default().join(", ");
    let because = if sources.is_empty() { String::new() } else { format!(" ({sources})") };
    let message = format!(
        "the processor's controller holds the cores of a socket to {limit}, below the nominal {nominal}{because}"
    );
    let share = limit.share_of(nominal);
    let mut finding = Finding::of_lost(lost, Confidence::High, message)
        .held_by(Party::Physics)
        .by_means_of(format!("the limit of the processor's controller ({limit})"))
        .evidence(socket.path(file), limit.0 / 1_000_000);
    if !sources.is_empty() {
        finding = finding.evidence(socket.path("pwr_current_active_freq_limit_source"), sources);
    }
    if let Ok(percent) = socket.busy_percent {
        finding = finding.evidence(socket.path("c0_residency_input"), percent);
    }
    // What the limit may come from, or take along.
    let clocks = [("fclk_input", &socket.fabric_clock), ("mclk_input", &socket.memory_clock)]
        .map(|(file, it)| (socket.path(file), it.as_ref().ok().map(|it| it.0 / 1_000_000)));
    let power = socket.power.as_ref().ok().into_iter().flat_map(|power| {
        [
            ("power1_cap", &power.limit),
            ("power1_cap_max", &power.highest_limit),
            ("power1_input", &power.drawn),
        ]
        .map(|(file, it)| (power.path(file), it.as_ref().ok().map(|it| it.0)))
    });
    for (path, value) in power.chain(clocks) {
        finding = value.into_iter().fold(finding, |it, value| it.evidence(&path, value));
    }
    finding
        .cost_of_clock(OfClock::lost(1.0 - share), format!("{limit} of {nominal}"))
        .command(&commands::BMC_EVENTS, "")
        .fix_lasting(if is_low_on_power(socket) { POWER } else { CAUSE })
}

const POWER: &str =
    "its power limit (PPT) is below the highest that it can be given: see low-power-limit";

/// Whether a power limit that could be higher is among what limits a socket.
fn is_low_on_power(socket: &HsmpSocket) -> bool {
    let sources = socket.limit_sources.as_deref().unwrap_or_default();
    let is_low = |it: &SocketPower| matches!((&it.limit, &it.highest_limit), (Ok(limit), Ok(highest)) if limit < highest);
    sources.iter().any(|it| it == "PPT Limit") && socket.power.as_ref().is_ok_and(is_low)
}

/// The finding on the CPUs of its socket, or with the name of the socket, where it is unknown which those are.
pub(crate) fn on_socket(host: &HostView, socket: &HsmpSocket, finding: Finding) -> Finding {
    match (cpus_of(host, socket), &socket.number) {
        (Some(cpus), _) => finding.on(cpus, host.topology.n_online()),
        (None, Ok(number)) => finding.of_place(format!("socket {number}")),
        (None, Err(_)) => finding,
    }
}

/// The CPUs of a socket: the driver numbers sockets as the kernel numbers packages.
pub(crate) fn cpus_of(host: &HostView, socket: &HsmpSocket) -> Option<CpuSet> {
    let packages = host.topology.packages.as_deref().ok()?;
    let n_sockets = host.hsmp.as_ref().map_or(0, Vec::len);
    match packages {
        [only] => Some(only.clone()),
        packages if packages.len() == n_sockets => {
            let number = usize::try_from(*socket.number.as_ref().ok()?).ok()?;
            packages.get(number).cloned()
        }
        _ => None,
    }
}

/// What limits the clock at the moment of reading, by HSMP: PROCHOT#, heat, and agents of the management.
///
/// Limits of power and current are how a processor with boost works, and no finding.
///
/// Unknown where no socket tells.
pub(crate) fn signals(host: &HostView) -> Verdict {
    const WHAT: &str = "PROCHOT#";
    host.platform.hides(WHAT)?;
    let Some(sockets) = host.hsmp.if_present()? else {
        host.shows(WHAT, Elsewhere::Hsmp)?;
        return Ok(Vec::new());
    };
    if sockets.iter().all(HsmpSocket::is_sensor_alone) {
        host.shows(WHAT, Elsewhere::Hsmp)?;
    }
    let (mut findings, mut unknown) = (Vec::new(), None);
    for socket in sockets {
        match signals_of(socket) {
            Ok(found) => findings.extend(found.into_iter().map(|it| on_socket(host, socket, it))),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing),
        _ => Ok(findings),
    }
}

/// The names that drivers/platform/x86/amd/hsmp/acpi.c gives the sources (freqlimit_srcnames); "PPT Limit", "TDC limit",
/// "OPN Max" and "Reliability Limit" are normal.
const SOURCES: [(&str, Severity, &str, Option<Party>); 4] = [
    ("PROCHOT", Severity::High, "PROCHOT#", None),
    ("cHTC-Active", Severity::Medium, "its own temperature", Some(Party::Physics)),
    (
        "APML Agent",
        Severity::Low,
        "the management controller (APML)",
        Some(Party::ManagementController),
    ),
    ("HSMP Agent", Severity::Low, "a program that uses HSMP", Some(Party::Program)),
];

fn signals_of(socket: &HsmpSocket) -> Fact<Vec<Finding>> {
    let found = |severity, name: &str, party: Option<Party>, file, value: &str| {
        let message = format!("{name} holds the clock of a socket down at this moment");
        let finding = Finding::new(severity, Confidence::High, message)
            .by_means_of(format!("a limit on the socket's clock ({value})"))
            .evidence(socket.path(file), value)
            .command(&commands::BMC_EVENTS, "")
            .fix_lasting(CAUSE);
        let finding = match party {
            Some(Party::Physics) => finding.advising("fix the cooling"),
            _ => finding,
        };
        party.into_iter().fold(finding, Finding::held_by)
    };
    let mut findings = Vec::new();
    for source in socket.limit_sources.as_deref().unwrap_or_default() {
        let known = SOURCES.iter().find(|(name, ..)| name == source);
        let file = "pwr_current_active_freq_limit_source";
        findings.extend(
            known.map(|(_, severity, name, party)| found(*severity, name, *party, file, source)),
        );
    }
    let is_hot = socket.prochot.clone();
    if is_hot == Ok(true) && findings.iter().all(|it| it.severity < Severity::Medium) {
        findings.push(found(
            Severity::High,
            "its thermal threshold",
            Some(Party::Physics),
            "prochot_status",
            "1",
        ));
    }
    if findings.is_empty() {
        // A driver without the file of sources has the status all the same.
        is_hot?;
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::signals;
    use crate::amd_limits::capped;
    use crate::amd_limits::tests::{epyc, words};
    use crate::fixture::host_of;

    fn socket(prochot: &str, limit: &str, sources: &str) -> String {
        let folder = "//- /sys/devices/platform/AMDI0097:00";
        format!(
            "{folder}/prochot_status\n{prochot}\n{folder}/cclk_freq_limit_input\n{limit}\n\
             {folder}/pwr_current_active_freq_limit_source\n{sources}\n"
        )
    }

    #[test]
    fn a_limit_of_the_processors_controller_counts_below_the_nominal_clock_only() {
        let found = |limit: &str| {
            let host = epyc("0x20", &socket("0", limit, "PPT Limit"));
            words(capped(&host_of(&host)))
        };
        assert_eq!(
            found("1200"),
            "high: the processor's controller holds the cores of a socket to 1200 MHz, below the nominal 2450 MHz (PPT Limit)"
        );
        assert_eq!(found("3400"), "");
    }

    #[test]
    fn the_lower_of_both_limits_counts_with_its_power_and_clocks_on_the_cpus_of_its_socket() {
        let folder = "/sys/devices/platform/AMDI0097:00";
        let power = format!("{folder}/hwmon/hwmon3");
        let more = format!(
            "//- {folder}/pwr_current_active_freq_limit\n1500\n//- {folder}/fclk_input\n1200\n\
             //- {power}/name\namd_hsmp_hwmon\n//- {power}/power1_cap\n140000000\n\
             //- {power}/power1_cap_max\n280000000\n//- {power}/power1_input\n139000000\n"
        );
        let host = host_of(&epyc("0x20", &(socket("0", "3400", "PPT Limit\nTDC limit") + &more)));
        let finding = capped(&host).unwrap().remove(0);
        assert!(
            finding
                .message
                .ends_with("to 1500 MHz, below the nominal 2450 MHz (PPT Limit, TDC limit)")
        );
        assert_eq!(finding.severity.name(), "high");
        assert!(finding.fix.lasting.clone().unwrap().ends_with("see low-power-limit"));
        assert_eq!(finding.cpus.unwrap().cpus.to_string(), "0-1");
        let shown = finding
            .evidence
            .iter()
            .map(|it| format!("{}={}", it.source.rsplit('/').next().unwrap_or_default(), it.value));
        assert_eq!(
            shown.collect::<Vec<_>>().join(" "),
            "pwr_current_active_freq_limit=1500 pwr_current_active_freq_limit_source=PPT Limit, TDC limit \
             power1_cap=140000000 power1_cap_max=280000000 power1_input=139000000 fclk_input=1200"
        );
    }

    #[test]
    fn a_socket_that_draws_all_the_power_it_can_be_given_is_limited_by_its_load() {
        let severity = |sources: &str, cap: u64, drawn: u64| {
            let power = "//- /sys/devices/platform/AMDI0097:00/hwmon/hwmon3";
            let more = format!(
                "{power}/name\namd_hsmp_hwmon\n{power}/power1_cap\n{cap}000000\n\
                 {power}/power1_cap_max\n280000000\n{power}/power1_input\n{drawn}000000\n"
            );
            let host = host_of(&epyc("0x20", &(socket("0", "2200", sources) + &more)));
            capped(&host).unwrap().remove(0).severity.name()
        };
        assert_eq!(severity("PPT Limit", 280, 279), "low");
        // A lower cap, little power, and another source are no load.
        assert_eq!(severity("PPT Limit", 200, 199), "medium");
        assert_eq!(severity("PPT Limit", 280, 150), "medium");
        assert_eq!(severity("PPT Limit\nAPML Agent", 280, 279), "medium");
        assert_eq!(severity("", 280, 279), "medium");
    }

    #[test]
    fn a_socket_of_two_is_named_where_it_says_which_it_is() {
        let two = epyc("0x20", "").replace("package_cpus_list\n0-1", "package_cpus_list\n0")
            + "//- /sys/devices/system/cpu/cpu1/topology/package_cpus_list\n1\n";
        let other = socket("0", "3400", "").replace(":00", ":01");
        let host = |uid: &str| {
            let uid = format!("//- /sys/devices/platform/AMDI0097:00/firmware_node/uid\n{uid}\n");
            host_of(&format!("{two}{}{other}{uid}", socket("0", "1200", "APML Agent")))
        };
        let cpus = |uid: &str| capped(&host(uid)).unwrap().remove(0).cpus;
        assert_eq!(cpus("ID01").unwrap().cpus.to_string(), "1");
        assert_eq!(cpus("!denied"), None);
        let agent = signals(&host("ID01")).unwrap().remove(0);
        assert!(agent.message.starts_with("the management controller (APML) holds the clock"));
    }

    #[test]
    fn sensors_alone_tell_nothing_of_prochot() {
        let sensor = "//- /sys/devices/platform/amd_hsmp/hwmon/hwmon3/name\namd_hsmp_hwmon\n";
        let found = words(signals(&host_of(&epyc("0x20", sensor))));
        assert!(found.starts_with("PROCHOT# cannot be read: EPYC 7003 and later"), "{found}");
        assert_eq!(words(capped(&host_of(&epyc("0x20", sensor)))), "");
    }

    #[test]
    fn prochot_is_read_of_the_driver_and_unknown_without_it() {
        let found = |more: &str| words(signals(&host_of(&epyc("0x20", more))));
        assert_eq!(
            found(""),
            "PROCHOT# cannot be read: EPYC 7003 and later report it through HSMP, and no driver shows it here \
             (on EPYC 7003 and later: modprobe hsmp_acpi (amd_hsmp on older kernels); else ask the management controller)"
        );
        assert_eq!(found(&socket("0", "3400", "PPT Limit")), "");
        assert_eq!(
            found(&socket("1", "1200", "")),
            "high: its thermal threshold holds the clock of a socket down at this moment"
        );
        assert_eq!(
            found(&socket("1", "1200", "cHTC-Active\nPROCHOT")),
            "medium: its own temperature holds the clock of a socket down at this moment\n\
             high: PROCHOT# holds the clock of a socket down at this moment"
        );
        assert!(found(&socket("!denied", "3400", "")).contains("prochot_status may not be read"));
    }
}
