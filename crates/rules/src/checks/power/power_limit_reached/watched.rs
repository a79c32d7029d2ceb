//! Power limits that held the clock down while the host was watched.

use crate::clock::risen::{Risen, held_by_power, risen};
use crate::finding::{Confidence, Finding, Severity};
use facts::quantity::counted;
use facts::watched::{Sight, Watched};
use facts::{CpuSet, HostView};

/// The finding on counts that rose in the look; `None` where nobody looked, and where none rose. Low however much of the time it was: a
/// processor with turbo is at its limit under full load, and another check judges the limit.
pub(super) fn finding(host: &HostView) -> Option<Finding> {
    let watched = host.watched.as_ref().filter(|it| it.has(Sight::Throttling))?;
    let held = held_by_power(host, watched);
    let counts = risen(host, watched, |it| (&it.core_power, &it.package_power));
    let longest = held.iter().max_by_key(|it| it.time);
    let (worst, all) = match longest {
        Some(worst) => (worst, &held),
        None => (counts.iter().max_by_key(|it| it.events())?, &counts),
    };
    let cpus: CpuSet = all.iter().flat_map(|it| it.cpus.iter()).collect();
    let finding = Finding::new(Severity::Low, Confidence::High, message(worst, watched));
    let finding =
        finding.evidence(&worst.path, worst.evidence()).on(cpus, host.topology.n_online());
    let is_held = worst.share(watched).is_some_and(|it| it >= 0.5);
    Some(if is_held { finding.lasting() } else { finding })
}

fn message(worst: &Risen, watched: &Watched) -> String {
    let (level, within) = (worst.level, watched.within());
    match worst.share(watched) {
        Some(share) => {
            let percent = 100.0 * share;
            format!("a power limit held {level} back for {percent:.0} % of the time {within}")
        }
        None => {
            let times = counted(worst.events(), "time");
            format!("{level} has reached a power limit {times} {within}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::finding::{Finding, Moment};
    use crate::fixture::XEON;
    use crate::fixture::watched::{Readings, watched};
    use facts::watched::Sight;

    /// [`XEON`] whose package counted so many events; the unit of its times is 1 s / 2^10.
    fn host(events: u32) -> String {
        let folder = "/sys/devices/system/cpu/cpu0/thermal_throttle";
        format!(
            "{XEON}//- /proc/uptime\n36000.00 0.0\n//- /dev/cpu/0/msr 0x606\n0xa0e03\n\
             //- {folder}/package_power_limit_count\n{events}\n//- {folder}/core_power_limit_count\n0\n"
        )
    }

    fn found(events: [u32; 2], readings: Readings<'_>) -> Vec<Finding> {
        let [before, after] = events.map(host);
        (CHECK.run)(&watched(&before, &after, &[Sight::Throttling], readings)).unwrap()
    }

    #[test]
    fn a_limit_that_binds_is_seen_by_its_time_or_by_its_count() {
        let held = found([14, 14], &[((0x613, 0), &[0x10, 0x410])]).remove(0);
        assert_eq!(
            held.message,
            "a power limit held a package back for 50 % of the time in the 2 s that were looked at"
        );
        assert_eq!(
            (held.held.moment, held.evidence[0].value.as_str()),
            (Moment::Now, "16, then 1040")
        );
        let counted = found([14, 17], &[]).remove(0);
        assert_eq!(
            counted.message,
            "a package has reached a power limit 3 times in the 2 s that were looked at"
        );
        assert_eq!(counted.held.moment, Moment::Now);
    }

    #[test]
    fn counts_that_stand_still_are_counts_since_boot() {
        let still = found([14, 14], &[((0x613, 0), &[0x10, 0x10])]).remove(0);
        assert_eq!((still.held.moment, still.held.still_for.is_some()), (Moment::SinceBoot, true));
    }
}
