//! What TSC, APERF and MPERF of one CPU counted, where they can be believed.
//!
//! Sources: Intel SDM volume 3B, "Hardware Feedback using MPERF and APERF"; AMD APM volume 2, "Effective
//! Frequency"; Documentation/virt/kvm/api.rst (KVM_X86_DISABLE_EXITS_APERFMPERF). A hypervisor that does not
//! give them to its guests lets them read 0 or stand still.

use crate::interval::{Interval, Rise, Rows};
use facts::counters::Family;
use facts::{Fact, HostView, Missing, PerCpu};

/// One clock counter of every CPU. One that stood still is missing: reading it takes cycles of every clock.
pub(crate) fn cycles(interval: &Interval, counter: &str) -> Fact<PerCpu<Rise>> {
    let rows = interval.rows(Family::Clocks)?;
    let column = rows.column(counter)?;
    let moved = |fact: &Fact<Rise>| match fact {
        Ok(rise) if rise.by == 0 => Err(stood_still(&rows, counter, interval.host)),
        fact => fact.clone(),
    };
    Ok(rows.rises(column).iter().map(|(cpu, fact)| (cpu, moved(fact))).collect())
}

fn stood_still(rows: &Rows, counter: &str, host: &HostView) -> Missing {
    match &host.platform.hypervisor {
        Ok(Some(hypervisor)) => Missing::hidden(counter.to_uppercase(), hypervisor),
        _ => {
            rows.nonsense(counter, "a count that stood still", "a clock that runs while it is read")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{counters, host_of};

    #[test]
    fn a_clock_that_stood_still_is_hidden_in_a_guest_and_nonsense_elsewhere() {
        let before = counters("at 0\nClocks tsc aperf\n0 5 7\n");
        let after = counters("at 1000\nClocks tsc aperf\n0 9 7\n");
        let reason = |excerpt: &str| {
            let host = host_of(excerpt);
            let interval = Interval { host: &host, before: &before, after: &after };
            let rises = cycles(&interval, "aperf").unwrap();
            rises.get(0).unwrap().clone().unwrap_err().to_string()
        };
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        assert_eq!(reason(guest), "APERF is hidden from a guest of xen");
        assert_eq!(
            reason("//- /proc/cpuinfo\nprocessor : 0\nflags : tsc\n"),
            "APERF, MPERF and TSC (aperf) holds \"a count that stood still\", expected a clock that runs while it is read"
        );
    }
}
