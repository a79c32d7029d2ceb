//! What a machine tells a monitoring system in one look: what its kernel has counted since boot, and what it is.

use crate::sampling::{SpeedProbe, Yardstick};
use facts::counters::{Counters, Family};
use facts::{CpuSet, HostView};
use host::counters::{Sampler, Wanted};
use host::{Live, Source};
use rules::host_labels::BOOT;
use rules::interval::Interval;
use rules::totals::{COUNTERS, Totals};
use std::time::Duration;

/// The label that says which boot of which machine this is: the beginning of the kernel's random id of it, which is no secret, and long
/// enough that no two boots of a fleet share it. Empty where there is none.
///
/// Source: random(4), `boot_id`.
pub fn boot(source: &dyn Source) -> (&'static str, String) {
    const LENGTH: usize = 12;
    let id = source.boot_id().unwrap_or_default();
    let digits = id.chars().filter(char::is_ascii_hexdigit);
    (BOOT, digits.take(LENGTH).collect())
}

/// What the kernel counts, and the CPUs that were online.
///
/// `live` is the host of which `host` is the view.
pub fn since_boot(live: Live, host: &HostView, by_cpu: bool) -> (Totals, CpuSet) {
    let counters = sampled(live, host);
    (Totals::since_boot(host, &counters, by_cpu), counters.online)
}

fn sampled(live: Live, host: &HostView) -> Counters {
    let kept = COUNTERS.iter().filter(|it| it.since_boot.is_some());
    // SMIs are counted by a register that the view holds: reading the clocks would begin at 0.
    let families = kept.flat_map(|it| it.families).filter(|it| **it != Family::Clocks);
    let mut families: Vec<Family> = families.copied().collect();
    families.sort_unstable();
    families.dedup();
    let wanted = Wanted::only(families);
    let mut counters = Counters::unread();
    Sampler::open(live, host, wanted).sample(&mut counters);
    counters
}

/// How long it is watched which CPUs are idle, before one of them is probed.
const WATCHED: Duration = Duration::from_millis(200);

/// The speed of idle CPUs of this machine over that at the nominal clock, of several packages the slowest; takes a quarter of a second, of
/// which 50 ms on an idle CPU, and 50 ms more for each other package and each of two other CPUs where one is low. `None` where no CPU is
/// idle, or nothing is known of the nominal clock.
pub fn speed(host: &HostView) -> Option<f64> {
    let mut yardstick = Yardstick::of(host);
    let wanted = Wanted::only(vec![Family::CpuTimes]);
    let mut sampler = Sampler::open(Live::this_machine(), host, wanted);
    let mut before = Counters::unread();
    sampler.sample(&mut before);
    std::thread::sleep(WATCHED);
    let mut after = before.clone();
    sampler.sample(&mut after);
    let mut probe = SpeedProbe::new(true);
    let nominal = yardstick.clock();
    probe.look_everywhere(&Interval { host, before: &before, after: &after }, nominal);
    Some(probe.slowest()?.share_of(nominal?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_has_the_beginning_of_its_id_and_the_same_each_time() {
        let live = Live::this_machine();
        let (label, id) = boot(&live);
        assert_eq!((label, id.len()), ("boot", 12));
        assert_eq!(boot(&live).1, id);
        let none = host::Captured::excerpt("").unwrap();
        assert_eq!(boot(&none).1, "");
    }

    #[test]
    fn one_look_at_this_machine_has_what_its_kernel_counts_and_nothing_else() {
        let live = Live::this_machine();
        let host = host::view(&live);
        let (totals, online) = since_boot(live, &host, false);
        assert!(!online.is_empty());
        let known: Vec<&str> = totals.counters().map(|it| it.0.name).collect();
        assert!(known.contains(&"ticks") && known.contains(&"context_switches"), "{known:?}");
        let cannot = |it: &&str| COUNTERS.iter().any(|c| c.name == *it && c.since_boot.is_none());
        assert_eq!(known.iter().find(|it| cannot(it)), None);
        assert_eq!(totals.ledger.intervals, 0);
    }
}
