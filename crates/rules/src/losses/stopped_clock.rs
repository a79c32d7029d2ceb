//! `stopped-clock`: time in which tasks had a CPU whose clock stood still.
//!
//! Sources: Intel SDM vol. 3B, "Hardware Feedback" and "Software Controlled Clock Modulation". Processors differ in
//! whether MPERF counts while the clock is stopped; where it does, only the register of clock modulation tells a stopped
//! clock from a slow one.

use crate::ledger::amount::signed;
use crate::ledger::books::Books;
use crate::ledger::causes::NOT_VISIBLE;
use crate::ledger::owner::Owner;
use crate::ledger::work::{Work, work};
use crate::loss::{Entry, Kind, Loss, Method, Party};
use facts::counters::Family;
use facts::cpu::cooling;
use facts::msr::intel::CLOCK_MODULATION;
use facts::{Fact, HostView};

pub(super) const LOSS: Loss = Loss {
    id: "stopped-clock",
    title: "stopped clock",
    kind: Kind::Lost,
    help: "\
## What it is
Time in which a task had the CPU, for the kernel, and the CPU's clock stood still: clock modulation, T-states, idle time
that is forced on a CPU to cool it.

## How it is measured
By what MPERF lacks of the time that the CPU was busy, beyond 1 %, by which the two clocks may differ. Which evidence
names it: MSR 0x19A (clock modulation), a cooling device (T-states), the count of SMIs. Some processors go on counting
MPERF while the clock is stopped, and the probe, which stands in for the counters, sees cycles over wall time: there the
register alone names it, and its duty says how much of the slow clock it is; without the register it stays part of the
slow clock. The time of idle_inject threads is idle time by force. A spinner (`--spin`)
sees system management mode as gaps.

## What fixes it
`fullclock explain clock-modulation`, `forced-idle` and `smi-storm`. Find out who stopped the clock before undoing it: the
machine may be too hot.
",
    checks: &["clock-modulation", "forced-idle", "smi-storm"],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let mut forced = forced_idle(books);
    if let Some(Ok(in_firmware)) = &books.in_firmware
        && in_firmware.ns > 0
    {
        forced.push(in_firmware.entry("system management mode", Some(Party::Firmware)));
    }
    match work(books).and_then(|work| known(books, &work)) {
        Ok(stopped) => Ok(forced.into_iter().chain([stopped]).collect()),
        Err(missing) if forced.is_empty() => Err(missing),
        Err(_) => Ok(forced),
    }
}

/// What is known of the clock, where something is: MPERF, or the register.
fn known(books: &Books<'_>, work: &Work) -> Fact<Entry> {
    let clock = books.clock.as_ref()?;
    if clock.counted_ns.is_none() {
        books
            .evidence
            .interval
            .host
            .msrs
            .of(&CLOCK_MODULATION)?
            .get(books.cpu)
            .cloned()
            .transpose()?;
    }
    let (part, party) = if work.modulated_ns > 0 {
        ("clock modulation (MSR 0x19A)", None)
    } else if work.uncounted_ns > 0 {
        name(books)
    } else {
        ("", None)
    };
    let is_register = work.modulated_ns > 0;
    Ok(Entry {
        part: part.to_owned(),
        ns: signed(work.uncounted_ns.saturating_add(work.modulated_ns)),
        method: if is_register { clock.method.max(Method::Derived) } else { clock.method },
        source: if is_register { "MSR 0x19A duty" } else { "busy time less MPERF / TSC rate" },
        uncertainty_ns: if is_register { work.uncertainty_ns } else { work.stop_uncertainty_ns },
        interrupted_ns: None,
        party,
    })
}

/// What names time that MPERF did not count.
fn name(books: &Books<'_>) -> (&'static str, Option<Party>) {
    let interval = &books.evidence.interval;
    if crate::ledger::work::duty(books).is_some() {
        ("clock modulation (MSR 0x19A)", None)
    } else if is_in_t_state(interval.host) {
        ("T-states of a cooling device", Some(Party::OperatingSystem))
    } else if interval.delta(Family::Clocks, books.cpu, "smi").is_ok_and(|it| it.by > 0) {
        ("SMIs", Some(Party::Firmware))
    } else {
        (NOT_VISIBLE, None)
    }
}

/// A state above 3 is a T-state for certain, and any state is where there is no cpufreq
/// (drivers/acpi/processor_thermal.c).
fn is_in_t_state(host: &HostView) -> bool {
    let has_cpufreq = host.cpufreq.policies.as_ref().is_ok_and(|it| !it.is_empty());
    let steps = if has_cpufreq { 3 } else { 0 };
    let devices = host.cooling.as_deref().unwrap_or_default();
    let processors = devices.iter().filter(|it| it.kind == cooling::Kind::Processor);
    processors.filter_map(|it| it.level().ok()).any(|level| level > steps)
}

fn forced_idle(books: &Books<'_>) -> Vec<Entry> {
    let Ok(tasks) = &books.tasks else { return Vec::new() };
    let entries = tasks.entries(Owner::ForcedIdle).into_iter();
    let named = |entry| Entry {
        part: "forced idle (idle_inject)".to_owned(),
        party: Some(Party::OperatingSystem),
        ..entry
    };
    entries.map(named).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, ledger, loss, replaced, unexplained, without};

    /// MPERF counted 500 ms of the 690 ms that CPU 0 was busy.
    const STOPPED: &[(&str, &str)] =
        &[("0 2000000000 1112000000 1390000000 0", "0 2000000000 800000000 1000000000 0")];

    const MODULATED: &str = "//- /dev/cpu/0/msr 0x19a\n0x14\n//- /dev/cpu/1/msr 0x19a\n0x0\n//- /dev/cpu/0/msr 0xce\n0xa0080001800\n";

    #[test]
    fn what_the_counter_lacks_of_the_busy_time_is_stopped() {
        let text = replaced(SECOND, STOPPED);
        // 190 ms of 690, of which the tasks that were asked for had 560.
        assert_eq!(loss("stopped-clock", &text), "cause not visible 154.2 ms ±5.6 by counter");
        assert_eq!(unexplained(&text), "0.000");
    }

    #[test]
    fn the_register_names_it() {
        let text = replaced(SECOND, STOPPED) + MODULATED;
        assert_eq!(
            loss("stopped-clock", &text),
            "clock modulation (MSR 0x19A) 154.2 ms ±5.6 by counter <- clock-modulation 0"
        );
    }

    #[test]
    fn smis_name_it_where_nothing_else_does() {
        let text = replaced(&replaced(SECOND, STOPPED), &[("1000000000 0", "1000000000 7")]);
        assert_eq!(loss("stopped-clock", &text), "SMIs 154.2 ms ±5.6 by counter, firmware");
    }

    #[test]
    fn where_the_counter_goes_on_the_register_tells_a_stopped_clock_from_a_slow_one() {
        // A quarter of the time, at 2000 MHz.
        let text = replaced(SECOND, &[("1112000000", "347500000")]) + MODULATED;
        assert_eq!(
            loss("stopped-clock", &text),
            "clock modulation (MSR 0x19A) 420.0 ms ±1.4 by derived <- clock-modulation 0"
        );
        assert_eq!(loss("slow-clock", &text), "0.0 ms by counter");
        assert_eq!(unexplained(&text), "0.000");
    }

    #[test]
    fn a_duty_that_does_not_take_its_share_takes_no_more_than_was_lost() {
        let text = format!("{SECOND}{MODULATED}");
        assert!(loss("stopped-clock", &text).starts_with("clock modulation (MSR 0x19A) 112.0 ms"));
    }

    #[test]
    fn a_lack_within_the_clocks_difference_is_none() {
        let text = replaced(SECOND, &[("1390000000", "1369000000"), ("1112000000", "1095200000")]);
        assert_eq!(loss("stopped-clock", &text), "0.0 ms ±5.6 by counter");
    }

    #[test]
    fn forced_idle_is_the_cooling_threads_time_and_not_idle() {
        let text = SECOND.replace("kipmi0", "idle_inject/0");
        assert_eq!(
            loss("stopped-clock", &text).lines().next(),
            Some("forced idle (idle_inject) 100.0 ms by tracepoint, operating system")
        );
        assert_eq!(loss("idle", &text), "1190.0 ms by counter");
        assert_eq!(loss("kernel-threads", &text), "0.0 ms by counter");
    }

    #[test]
    fn without_counters_and_register_it_is_unknown() {
        let text = replaced(
            &without(SECOND, "Clocks"),
            &[("observer 20", "observer 20\nclock 0 1600\nclock 1 1600")],
        );
        assert_eq!(loss("stopped-clock", &text), "unknown: /dev/cpu/0/msr 0x19a does not exist");
        let note = "a stopped clock is part of the slow clock: the probe cannot tell them apart";
        assert!(ledger(&text).notes.contains(&note.to_owned()));
    }
}
