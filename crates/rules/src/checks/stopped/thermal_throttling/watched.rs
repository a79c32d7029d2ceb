//! Heat that held the clock down while the host was watched.

use crate::clock::risen::{Risen, risen};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::{Lost, are_many};
use facts::quantity::counted;
use facts::watched::{Sight, Watched};
use facts::{CpuSet, HostView};

/// The finding on counters that rose in the look; `None` where nobody looked, and where none rose.
pub(super) fn finding(host: &HostView) -> Option<Finding> {
    let watched = host.watched.as_ref().filter(|it| it.has(Sight::Throttling))?;
    let risen = risen(host, watched, |it| (&it.cores, &it.packages));
    let share = |it: &Risen| it.share(watched).unwrap_or(0.0);
    let by_share =
        |a: &&Risen, b: &&Risen| share(a).total_cmp(&share(b)).then(a.events().cmp(&b.events()));
    let worst = risen.iter().max_by(by_share)?;
    let cpus: CpuSet = risen.iter().flat_map(|it| it.cpus.iter()).collect();
    Some(of(host, watched, worst, cpus))
}

/// Where nothing counts for how long, it is seen at work and its share is unknown: that is medium.
fn of(host: &HostView, watched: &Watched, worst: &Risen, cpus: CpuSet) -> Finding {
    let times = counted(worst.events(), "time");
    let within = watched.within();
    let message = format!("{} was too hot and held its clock down {times} {within}", worst.level);
    let share = worst.share(watched);
    let finding = match share {
        Some(share) => {
            let lost = Lost::of(share, are_many(host, &cpus));
            Finding::of_lost(lost, Confidence::High, message)
        }
        None => Finding::new(Severity::Medium, Confidence::High, message),
    };
    let finding =
        finding.evidence(&worst.path, worst.evidence()).on(cpus, host.topology.n_online());
    let finding = match share {
        Some(share) => finding.cost(
            format!("a lower clock for {:.2} % of the time", 100.0 * share),
            format!("{} of {:.1} s", milliseconds(worst), watched.time.as_secs_f64()),
        ),
        None => finding,
    };
    finding.command(&commands::BMC_SENSORS, "").fix_lasting(super::COOLING)
}

fn milliseconds(risen: &Risen) -> String {
    format!("{} ms", risen.time.unwrap_or_default().as_millis())
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::finding::{Moment, Severity};
    use crate::fixture::watched::watched;
    use crate::fixture::{XEON, host_of};
    use facts::watched::Sight;

    const FOLDER: &str = "//- /sys/devices/system/cpu/cpu";

    /// [`XEON`] of 10 hours whose first core counted so much, for so many ms where that is counted.
    fn host(events: u32, ms: Option<u32>) -> String {
        let folder = format!("{FOLDER}0/thermal_throttle");
        let time =
            ms.map_or(String::new(), |it| format!("{folder}/core_throttle_total_time_ms\n{it}\n"));
        format!(
            "{XEON}//- /proc/uptime\n36000.00 0.0\n{folder}/core_throttle_count\n{events}\n{time}\
             {FOLDER}1/thermal_throttle/core_throttle_count\n0\n{folder}/package_throttle_count\n0\n"
        )
    }

    fn found(before: &str, after: &str) -> Vec<crate::finding::Finding> {
        let host = watched(before, after, &[Sight::Throttling], &[]);
        (CHECK.run)(&host).unwrap()
    }

    #[test]
    fn a_count_that_rises_in_the_look_is_live_and_as_severe_as_its_share_of_the_time() {
        let hot = found(&host(7, Some(100)), &host(9, Some(1100))).remove(0);
        assert_eq!((hot.severity, hot.held.moment), (Severity::High, Moment::Now));
        assert_eq!(
            hot.message,
            "a core was too hot and held its clock down 2 times in the 2 s that were looked at"
        );
        assert_eq!(hot.evidence[0].value, "7, then 9");
        assert_eq!(hot.cost.unwrap().estimate, "a lower clock for 50.00 % of the time");
        let brief = found(&host(7, Some(100)), &host(9, Some(104))).remove(0);
        assert_eq!((brief.severity, brief.held.moment), (Severity::Low, Moment::Now));
        // The first event of the host, and one whose time nothing counts.
        assert_eq!(found(&host(0, None), &host(1, Some(20)))[0].severity, Severity::Low);
        assert_eq!(found(&host(7, None), &host(8, None))[0].severity, Severity::Medium);
    }

    #[test]
    fn a_count_that_stands_still_stays_a_count_since_boot() {
        let still = found(&host(7, None), &host(7, None)).remove(0);
        // An event is counted when it begins: a core that is hot all the time counts none, so nothing says that it was not.
        assert_eq!((still.held.moment, still.held.still_for), (Moment::SinceBoot, None));
        let alone = (CHECK.run)(&host_of(&host(7, None))).unwrap().remove(0);
        assert_eq!((alone.held.moment, alone.held.still_for), (Moment::SinceBoot, None));
    }
}
