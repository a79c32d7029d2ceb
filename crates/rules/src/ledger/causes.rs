//! Why a clock is below its reference, as far as evidence shows.
//!
//! Each cause explains the clock down to some height: a request down to what was requested, turbo that is off down to
//! the nominal clock; or for some time: heat for as long as the kernel counted it. They are asked in the order in which
//! hardware obeys them, and what none explains stays without a cause. Settings and registers are looked at, where
//! possible at both ends, and counts are those of the interval. What was there at one end only, was counted without
//! its time, or is a hint, is a perhaps: it may explain any part of the rest, and nothing says which.
//!
//! Two sources are the processor's own. A log bit that was clear at the beginning and is set at the end was set in between:
//! something held the clock down, once or all the time. A bit that was set before says nothing, because nobody clears it.
//! The time below a power limit is a count: Intel SDM volume 3B, "RAPL Interfaces", MSR_PKG_PERF_STATUS.

use super::books::Books;
use super::reference::turbo_ratio;
use crate::diagnosis::explains::party_behind;
use crate::interval::Interval;
use crate::party::Party;
use crate::plr;
use facts::counters::Family;
use facts::cpu::cpufreq::Policy;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::energy_bias::Preference;
use facts::msr::limit_reasons::{Kind, Layout};
use facts::msr::thermal_status::{
    CRITICAL, CROSS_DOMAIN, CURRENT_LIMIT, Cause as ThermalCause, POWER_LIMIT, PROCHOT, TOO_HOT,
};
use facts::{Hertz, HostView, Missing};

/// What lowers a clock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cause {
    /// In a few words.
    pub(crate) name: String,
    /// Whose it is, where evidence shows it.
    pub(crate) party: Option<Party>,
    /// How far down it explains the clock.
    pub(crate) down_to: Hertz,
    /// For how long it was there at most, in nanoseconds, where that was counted.
    pub(crate) at_most_ns: Option<u64>,
}

/// Why a clock was low.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reasons {
    /// What explains it, in the order in which they are asked.
    pub(crate) causes: Vec<Cause>,
    /// What else was there, and may explain any part of the rest.
    pub(crate) perhaps: Vec<String>,
}

impl Reasons {
    /// What the rest is called that no cause explains.
    pub(crate) fn rest(&self) -> String {
        if self.perhaps.is_empty() {
            return NOT_VISIBLE.to_owned();
        }
        format!("{PERHAPS}{}", self.perhaps.join(", "))
    }
}

/// What the ledger says where nothing names a cause.
pub(crate) const NOT_VISIBLE: &str = "cause not visible";

/// What a part's name begins with that may be a cause of it.
pub(crate) const PERHAPS: &str = "perhaps ";

/// The reasons on one CPU whose clock was `running`.
pub(crate) fn reasons(books: &Books<'_>, running: Hertz) -> Reasons {
    let host = books.evidence.interval.host;
    let looks = || [Some(host), books.evidence.host_after].into_iter().flatten();
    let (requested, once_requested) = agreed(looks().map(|it| request(it, books.cpu)).collect());
    let limits: Vec<_> = looks().map(|it| limit_reason(books, it, running)).collect();
    // A register that was read once shows a moment.
    let is_one_look = limits.len() < 2;
    let (limited, once_limited) = match agreed(limits) {
        (Some(cause), _) if is_one_look => (None, Some(cause.name)),
        both => both,
    };
    let (hot, once_hot) = heat(books, running);
    let causes = [
        requested,
        turbo_off(host, running),
        hot,
        power_limit(books, running),
        limited,
        headroom(books),
        hypervisor(books, running),
    ];
    let load_governor = looks().find_map(|it| load_governor(it, books.cpu));
    let preference = looks().find_map(|it| preference(it, books.cpu));
    let ranked = looks().find_map(|it| ranked_lower(it, books.cpu, running));
    let causes: Vec<Cause> = causes.into_iter().flatten().collect();
    let logged = began(&books.evidence.interval, books.cpu).into_iter();
    let after = books.evidence.host_after;
    let limits = after.map(|it| plr::began(host, it, books.cpu)).unwrap_or_default();
    let logged = logged.chain(limits.iter().map(|it| it.what)).map(str::to_owned);
    let seen = [once_requested, load_governor, preference, ranked, once_hot, once_limited];
    let mut perhaps: Vec<String> = Vec::new();
    for name in seen.into_iter().flatten().chain(logged) {
        if !perhaps.contains(&name) && causes.iter().all(|it| it.name != name) {
            perhaps.push(name);
        }
    }
    Reasons { causes, perhaps }
}

/// The cause that all looks show, as far down as the least of them explains; else the name of one that some do.
fn agreed(looks: Vec<Option<Cause>>) -> (Option<Cause>, Option<String>) {
    let n_looks = looks.len();
    let seen: Vec<Cause> = looks.into_iter().flatten().collect();
    let Some(first) = seen.first() else { return (None, None) };
    if seen.len() < n_looks || seen.iter().any(|it| it.name != first.name) {
        return (None, Some(first.name.clone()));
    }
    (seen.into_iter().max_by_key(|it| it.down_to), None)
}

fn policy(host: &HostView, cpu: u32) -> Option<&Policy> {
    host.cpufreq.policies.as_ref().ok()?.iter().find(|it| it.cpus.contains(cpu))
}

/// A clock within this share of another is the same: rounding of ratios.
const SAME: f64 = 0.98;

/// A governor or a limit that requests less than the highest clock.
fn request(host: &HostView, cpu: u32) -> Option<Cause> {
    let policy = policy(host, cpu)?;
    let governor = policy.governor.as_deref().unwrap_or_default();
    if policy.drives_itself() == Ok(false) {
        let request = match governor {
            "powersave" => policy.scaling_min.as_ref().ok(),
            "userspace" => policy.scaling_cur.as_ref().ok(),
            _ => None,
        };
        if let Some(down_to) = request.filter(|it| is_low(host, policy, **it)) {
            return Some(system(format!("governor {governor}"), *down_to));
        }
    }
    let limits = [
        (policy.scaling_max.as_ref().ok().copied(), "scaling_max_freq"),
        (host.percent_limit_of(policy), "max_perf_pct"),
    ];
    let known = limits.into_iter().filter_map(|(limit, name)| Some((limit?, name)));
    let (limit, name) = known.min_by_key(|it| it.0)?;
    is_low(host, policy, limit).then(|| system(format!("limit {name}"), limit))
}

/// A governor that follows the load, where the clock was low when somebody looked. What it asked for in between nobody
/// kept, and `scaling_cur_freq` on x86 is what the CPU had, not what was asked for (show_scaling_cur_freq in
/// drivers/cpufreq/cpufreq.c).
fn load_governor(host: &HostView, cpu: u32) -> Option<String> {
    let policy = policy(host, cpu)?;
    let governor = policy.governor.as_deref().unwrap_or_default();
    let follows_load = matches!(governor, "ondemand" | "conservative" | "schedutil");
    let was_low = policy.scaling_cur.as_ref().is_ok_and(|it| is_low(host, policy, *it));
    let asks = follows_load && was_low && policy.drives_itself() == Ok(false);
    asks.then(|| format!("governor {governor}"))
}

/// A core that its processor ranks below others, where it runs above the nominal clock: `cpuinfo_max_freq` is the clock of the best cores, and
/// nobody holds this one down (Documentation/admin-guide/pm/amd-pstate.rst, "amd-pstate Preferred Core"). How far down it explains the clock, a
/// rank does not say.
fn ranked_lower(host: &HostView, cpu: u32, running: Hertz) -> Option<String> {
    let rank = |it: &Policy| it.ranking.as_ref().ok().copied();
    let own = rank(policy(host, cpu)?)?;
    let highest = host.cpufreq.policies.as_ref().ok()?.iter().filter_map(rank).max()?;
    let is_turbo = host.nominal_clock().is_some_and(|(it, _)| running.share_of(it) >= SAME);
    (own < highest && is_turbo).then(|| "a core of lower rank (prefcore)".to_owned())
}

fn is_low(host: &HostView, policy: &Policy, clock: Hertz) -> bool {
    let highest = host.highest_request(policy);
    highest.is_ok_and(|highest| clock.0 > 0 && clock.share_of(highest) < SAME)
}

fn system(name: String, down_to: Hertz) -> Cause {
    Cause { name, party: Some(Party::OperatingSystem), down_to, at_most_ns: None }
}

/// Turbo that is switched off: by the kernel, or by firmware, which takes the flag away. In a guest, flag and switches are
/// the hypervisor's and say nothing of the processor; and a clock above the nominal one is turbo, whatever they say.
fn turbo_off(host: &HostView, running: Hertz) -> Option<Cause> {
    let (down_to, _) = host.nominal_clock().filter(|_| host.runs_without_turbo())?;
    if host.platform.is_guest() || down_to.share_of(running) < SAME {
        return None;
    }
    let has_flag = host.cpuinfo.as_ref().is_ok_and(CpuInfo::has_turbo);
    let party = if has_flag { Party::OperatingSystem } else { Party::Firmware };
    let name = "turbo off".to_owned();
    Some(Cause { name, party: Some(party), down_to, at_most_ns: None })
}

/// Heat that the kernel counted in the interval: for as long as it counted, or, where it counted events alone, perhaps.
///
/// The kernel adds the time of an event when it ends and leaves out short ones (therm_throt_process in
/// drivers/thermal/intel/therm_throt.c): events without any time are no less true.
fn heat(books: &Books<'_>, running: Hertz) -> (Option<Cause>, Option<String>) {
    const NAME: &str = "heat";
    let delta = |column| {
        let delta = books.evidence.interval.delta(Family::Throttling, books.cpu, column);
        delta.map_or(0, |it| it.by)
    };
    let ms = delta("core_throttle_total_time_ms").max(delta("package_throttle_total_time_ms"));
    if ms > 0 {
        let at_most_ns = Some(ms.saturating_mul(1_000_000).min(books.wall_ns));
        let (name, party) = (NAME.to_owned(), Some(Party::Physics));
        return (Some(Cause { name, party, down_to: running, at_most_ns }), None);
    }
    let n_events = delta("core_throttle_count").max(delta("package_throttle_count"));
    (None, (n_events > 0).then(|| NAME.to_owned()))
}

/// A power limit, for as long as the processor counted itself below one.
fn power_limit(books: &Books<'_>, running: Hertz) -> Option<Cause> {
    let ns = power_limited_ns(&books.evidence.interval, books.cpu)?;
    let (name, party) = ("a power limit".to_owned(), Some(power_party(books)));
    Some(Cause { name, party, down_to: running, at_most_ns: Some(ns.min(books.wall_ns)) })
}

/// Whose a power limit is: who set it below what the processor is made for, if it is.
fn power_party(books: &Books<'_>) -> Party {
    party_behind(books.evidence.findings, "low-power-limit", books.cpu).unwrap_or(Party::Physics)
}

/// What the processor says holds its clock down.
fn limit_reason(books: &Books<'_>, host: &HostView, running: Hertz) -> Option<Cause> {
    let layout = Layout::of(host.cpuinfo.as_ref().ok()?)?;
    let values = host.msrs.of(layout.register).ok()?;
    let value = *values.get(host.topology.package_leader(books.cpu))?.as_ref().ok()?;
    let reason = layout.active(value).find(|it| it.kind != Kind::Normal)?;
    let party = match reason.kind {
        // Board, power supply and management controller all can, and the processor does not say who did.
        Kind::Prochot => party_behind(books.evidence.findings, "prochot-asserted", books.cpu),
        Kind::Platform => None,
        Kind::Power => Some(power_party(books)),
        Kind::Heat | Kind::Current => Some(Party::Physics),
        Kind::Controller => Some(Party::ManagementController),
        Kind::Errors | Kind::Other | Kind::Normal => None,
    };
    Some(Cause { name: reason.name.to_owned(), party, down_to: running, at_most_ns: None })
}

/// Cores that idle in a shallow state, and take from the others the turbo of a smaller number.
fn headroom(books: &Books<'_>) -> Option<Cause> {
    let n_awake = books.activity?.n_awake?;
    let down_to = turbo_ratio(books.evidence.interval.host, books.cpu, n_awake)?.clock;
    Some(system("no turbo headroom: idle cores stay in shallow states".to_owned(), down_to))
}

/// A preference for saving power, where the processor chooses the clock by itself. It is a hint: the processor weighs it
/// against the load, and how much it gave up for it nobody counts (Intel SDM vol. 3B, "IA32_HWP_REQUEST MSR").
fn preference(host: &HostView, cpu: u32) -> Option<String> {
    let policy = policy(host, cpu)?;
    let preference = policy.preference.as_deref().ok()?;
    let saves = matches!(Preference::word(preference), "power" | "balance_power");
    (saves && policy.drives_itself() == Ok(true))
        .then(|| format!("energy_performance_preference {preference}"))
}

/// In a guest without a frequency driver, whose own CPUs did the same all the time, nobody else can move a clock that
/// moved. One whose own load came and went may have taken its turbo away itself.
fn hypervisor(books: &Books<'_>, running: Hertz) -> Option<Cause> {
    let host = books.evidence.interval.host;
    let has_no_driver = host.cpufreq.policies.as_ref().is_err_and(Missing::is_absence);
    let is_steady = books.activity.is_some_and(|it| it.is_steady);
    let (lowest, highest) = books.clock.as_ref().ok()?.range;
    let has_moved = lowest.share_of(highest) < STILL;
    (host.platform.is_guest() && has_no_driver && is_steady && has_moved).then(|| Cause {
        name: "the clock under this guest".to_owned(),
        party: Some(Party::Hypervisor),
        down_to: running,
        at_most_ns: None,
    })
}

/// Readings of the probe within this share of each other are of one clock: so far apart are those of one moment.
const STILL: f64 = 0.995;

/// The causes in the thermal status of a core and of its package, the surest first.
const CAUSES: [ThermalCause; 6] =
    [PROCHOT, TOO_HOT, CRITICAL, POWER_LIMIT, CURRENT_LIMIT, CROSS_DOMAIN];

/// For how long a power limit held the package of `cpu` back, in nanoseconds; `None` where that was not counted, or not
/// at all.
pub(super) fn power_limited_ns(interval: &Interval, cpu: u32) -> Option<u64> {
    let leader = package_reader(interval, Family::PowerLimited, cpu)?;
    let delta = interval.delta(Family::PowerLimited, leader, "package").ok()?;
    Some(delta.by.saturating_mul(1000)).filter(|it| *it > 0)
}

/// What was logged within the interval for the first time, of the core and the package of `cpu`: each once, by name.
pub(super) fn began(interval: &Interval, cpu: u32) -> Vec<&'static str> {
    let Ok(info) = &interval.host.cpuinfo else { return Vec::new() };
    let logs = |family, reader: Option<u32>, column| {
        let (before, after) = interval.tables(family).ok()?;
        let reader = reader?;
        let was = before.cell(before.row(reader).ok()?, before.column(column).ok()?);
        let is = after.cell(after.row(reader).ok()?, after.column(column).ok()?);
        Some((was, is))
    };
    let core = interval.host.topology.core_of(cpu).first();
    let package = package_reader(interval, Family::PackageLimits, cpu);
    let mut names = Vec::new();
    if let (Some((was, is)), Some(layout)) =
        (logs(Family::PackageLimits, package, "limit_reasons"), Layout::of(info))
    {
        let reasons = layout.rose(was, is).filter(|it| it.kind != Kind::Normal);
        names.extend(reasons.map(|it| it.name));
    }
    let thermal = [
        logs(Family::CoreLimits, core, "therm_status"),
        logs(Family::PackageLimits, package, "therm_status"),
    ];
    for (was, is) in thermal.into_iter().flatten() {
        let causes = CAUSES.iter().filter(|it| it.exists(info) && it.rose(was, is));
        names.extend(causes.map(|it| it.name));
    }
    let mut seen = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    names
}

/// The CPU on which the registers of the package of `cpu` were read.
fn package_reader(interval: &Interval, family: Family, cpu: u32) -> Option<u32> {
    let package = |host: &HostView| host.topology.package_of(cpu);
    let package = package(interval.host);
    let table = interval.after.table(family).ok()?;
    table.rows().iter().copied().find(|row| package.contains(*row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;

    /// A 2.4 GHz Xeon without the flag for turbo.
    const WITHOUT_TURBO: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
cpu family : 6
model : 85
model name : Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz
flags : acpi tm2
//- /sys/devices/system/cpu/online
0
";

    #[test]
    fn turbo_that_firmware_took_away_explains_the_clock_down_to_nominal() {
        let cause = turbo_off(&host_of(WITHOUT_TURBO), Hertz(2_400_000_000)).unwrap();
        assert_eq!((cause.party, cause.down_to), (Some(Party::Firmware), Hertz(2_400_000_000)));
    }

    #[test]
    fn the_lowest_limit_of_all_is_what_was_requested() {
        let folder = "//- /sys/devices/system/cpu/cpufreq/policy0";
        let cause = |scaling_max: u32, percent: u32| {
            let text = format!(
                "{WITHOUT_TURBO}{folder}/affected_cpus\n0\n{folder}/scaling_driver\nintel_cpufreq\n{folder}/scaling_governor\nschedutil\n\
                 {folder}/cpuinfo_max_freq\n2400000\n{folder}/scaling_max_freq\n{scaling_max}\n\
                 //- /sys/devices/system/cpu/intel_pstate/max_perf_pct\n{percent}\n"
            );
            request(&host_of(&text), 0).map(|it| (it.name, it.down_to.0 / 1_000_000))
        };
        assert_eq!(cause(2_400_000, 70), Some(("limit max_perf_pct".to_owned(), 1680)));
        assert_eq!(cause(1_200_000, 70), Some(("limit scaling_max_freq".to_owned(), 1200)));
        assert_eq!(cause(2_400_000, 100), None);
    }

    #[test]
    fn turbo_is_not_off_where_the_clock_is_above_nominal() {
        assert_eq!(turbo_off(&host_of(WITHOUT_TURBO), Hertz(3_000_000_000)), None);
    }

    #[test]
    fn turbo_is_not_off_because_a_guest_does_not_see_it() {
        let guest = WITHOUT_TURBO.replace("flags : acpi", "flags : hypervisor acpi");
        assert_eq!(turbo_off(&host_of(&guest), Hertz(2_400_000_000)), None);
    }

    /// Two cores of a Ryzen of 4.5 GHz, whose second has this rank; the best has 236.
    fn ryzen(driver: &str, rank: &str) -> HostView {
        let cpu = "//- /sys/devices/system/cpu";
        let policy = |number: u32, rank: &str| {
            let folder = format!("{cpu}/cpufreq/policy{number}");
            format!(
                "{folder}/affected_cpus\n{number}\n{folder}/scaling_driver\n{driver}\n{folder}/cpuinfo_max_freq\n5700000\n\
                 {folder}/scaling_max_freq\n5700000\n{folder}/amd_pstate_prefcore_ranking\n{rank}\n"
            )
        };
        host_of(&format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\n{cpu}/online\n0-1\n\
             {cpu}/cpu0/acpi_cppc/nominal_freq\n4500\n{}{}",
            policy(0, "236"),
            policy(1, rank)
        ))
    }

    #[test]
    fn a_core_of_lower_rank_may_run_below_the_best_and_above_nominal() {
        let turbo = Hertz::from_mhz(5200);
        let of = |driver, rank| ranked_lower(&ryzen(driver, rank), 1, turbo);
        let lower = Some("a core of lower rank (prefcore)".to_owned());
        assert_eq!(of("amd-pstate-epp", "201"), lower);
        assert_eq!(of("amd-pstate-epp", "236"), None);
        assert_eq!(of("amd-pstate-epp", "!absent"), None);
        assert_eq!(of("acpi-cpufreq", "201"), None, "another driver has no ranks");
        let ranked = ryzen("amd-pstate-epp", "201");
        assert_eq!(ranked_lower(&ranked, 0, turbo), None, "the best core");
        let low = Hertz::from_mhz(3000);
        assert_eq!(ranked_lower(&ranked, 1, low), None, "no rank takes the nominal clock");
    }
}
