//! Why a clock is below its reference, as far as evidence shows.
//!
//! Each cause explains the clock down to some height: a request down to what was requested, turbo that is off down to
//! the nominal clock, heat as far as the clock went. They are asked in the order in which hardware obeys them, and what
//! none explains stays without a cause. Registers and settings are those of the moment of the audit, counts those of the
//! interval.

use super::books::Books;
use super::reference::turbo_ratio;
use crate::loss::Party;
use facts::counters::Family;
use facts::cpu::cpufreq::Policy;
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::limit_reasons::{Kind, Layout};
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
}

/// What the ledger says where nothing names a cause.
pub(crate) const NOT_VISIBLE: &str = "cause not visible";

/// The causes on one CPU whose clock was `running`, in the order in which they are asked.
pub(crate) fn causes(books: &Books<'_>, running: Hertz) -> Vec<Cause> {
    let host = books.evidence.interval.host;
    let all = [
        request(host, books.cpu, running),
        turbo_off(host, running),
        heat(books, running),
        limit_reason(books, running),
        headroom(books),
        preference(host, books.cpu, running),
        hypervisor(host, running),
    ];
    all.into_iter().flatten().collect()
}

fn policy(host: &HostView, cpu: u32) -> Option<&Policy> {
    host.cpufreq.policies.as_ref().ok()?.iter().find(|it| it.cpus.contains(cpu))
}

/// A clock within this share of another is the same: rounding of ratios.
const SAME: f64 = 0.98;

/// A governor or a limit that asks for less than there is.
fn request(host: &HostView, cpu: u32, running: Hertz) -> Option<Cause> {
    let policy = policy(host, cpu)?;
    let highest = host.highest_request(policy).ok()?;
    let system =
        |name: String, down_to| Cause { name, party: Some(Party::OperatingSystem), down_to };
    let is_low = |clock: Hertz| clock.0 > 0 && clock.share_of(highest) < SAME;
    let governor = policy.governor.as_deref().unwrap_or_default();
    if policy.drives_itself() == Ok(false) {
        let request = match governor {
            "powersave" => policy.scaling_min.as_ref().ok().copied(),
            "userspace" => policy.scaling_cur.as_ref().ok().copied(),
            // These follow the load: what was asked for when somebody looked stands for the rest.
            "ondemand" | "conservative" | "schedutil" => {
                policy.scaling_cur.as_ref().ok().filter(|it| is_low(**it)).map(|_| running)
            }
            _ => None,
        };
        if let Some(down_to) = request.filter(|it| is_low(*it)) {
            return Some(system(format!("governor {governor}"), down_to));
        }
    }
    let limit = *policy.scaling_max.as_ref().ok()?;
    is_low(limit).then(|| system("limit scaling_max_freq".to_owned(), limit))
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
    Some(Cause { name: "turbo off".to_owned(), party: Some(party), down_to })
}

/// Thermal events that the kernel counted in the interval.
fn heat(books: &Books<'_>, running: Hertz) -> Option<Cause> {
    let rose = |column| {
        let rise = books.evidence.interval.rise(Family::Throttling, books.cpu, column);
        rise.is_ok_and(|it| it.by > 0)
    };
    let is_hot = rose("core_throttle_count") || rose("package_throttle_count");
    is_hot.then(|| Cause { name: "heat".to_owned(), party: Some(Party::Physics), down_to: running })
}

/// What the processor says holds its clock down.
fn limit_reason(books: &Books<'_>, running: Hertz) -> Option<Cause> {
    let host = books.evidence.interval.host;
    let layout = Layout::of(host.cpuinfo.as_ref().ok()?)?;
    let values = host.msrs.of(layout.register).ok()?;
    let value = *values.get(host.topology.package_leader(books.cpu))?.as_ref().ok()?;
    let reason = layout.active(value).find(|it| it.kind != Kind::Normal)?;
    let is_set_low = || books.evidence.findings.iter().any(|(it, _)| it.id == "low-power-limit");
    let party = match reason.kind {
        // Board, power supply and management controller all can, and the processor does not say who did.
        Kind::Prochot => None,
        Kind::Power if is_set_low() => Some(Party::Firmware),
        Kind::Heat | Kind::Power | Kind::Current => Some(Party::Physics),
        Kind::Normal => None,
    };
    Some(Cause { name: reason.name.to_owned(), party, down_to: running })
}

/// Cores that idle in a shallow state, and take from the others the turbo of a smaller number.
fn headroom(books: &Books<'_>) -> Option<Cause> {
    let n_awake = books.activity?.n_awake?;
    let down_to = turbo_ratio(books.evidence.interval.host, books.cpu, n_awake)?.clock;
    let name = "no turbo headroom: idle cores stay in shallow states".to_owned();
    Some(Cause { name, party: Some(Party::OperatingSystem), down_to })
}

/// A preference for saving power, where the processor chooses the clock by itself.
fn preference(host: &HostView, cpu: u32, running: Hertz) -> Option<Cause> {
    let policy = policy(host, cpu)?;
    let preference = policy.preference.as_deref().ok()?;
    let saves = matches!(preference, "power" | "balance_power");
    (saves && policy.drives_itself() == Ok(true)).then(|| Cause {
        name: format!("energy_performance_preference {preference}"),
        party: Some(Party::OperatingSystem),
        down_to: running,
    })
}

/// In a guest without a frequency driver of its own nobody else can move the clock.
fn hypervisor(host: &HostView, running: Hertz) -> Option<Cause> {
    let has_no_driver = host.cpufreq.policies.as_ref().is_err_and(Missing::is_absence);
    (host.platform.is_guest() && has_no_driver).then(|| Cause {
        name: "the clock under this guest".to_owned(),
        party: Some(Party::Hypervisor),
        down_to: running,
    })
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
    fn turbo_is_not_off_where_the_clock_is_above_nominal() {
        assert_eq!(turbo_off(&host_of(WITHOUT_TURBO), Hertz(3_000_000_000)), None);
    }

    #[test]
    fn turbo_is_not_off_because_a_guest_does_not_see_it() {
        let guest = WITHOUT_TURBO.replace("flags : acpi", "flags : hypervisor acpi");
        assert_eq!(turbo_off(&host_of(&guest), Hertz(2_400_000_000)), None);
    }
}
