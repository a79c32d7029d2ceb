//! The counters and tracepoints that samplers and tracers open.
//!
//! Sources: arch/x86/events/{msr.c,intel/cstate.c,rapl.c}, include/trace/events/timer.h. A PMU lists what its
//! model has; whether a listed register counts in a guest, only its readings tell. tracefs is mounted
//! by the administrator, at /sys/kernel/tracing or through debugfs (Documentation/trace/events.rst); nothing is mounted on a folder
//! here.

use super::discover;
use crate::Source;
use facts::pmu::{Counter, Pmu};
use facts::{Fact, Missing, Why, parse};

/// PERF_TYPE_SOFTWARE and PERF_TYPE_TRACEPOINT, include/uapi/linux/perf_event.h.
pub(super) const SOFTWARE: u32 = 1;
pub(super) const TRACEPOINT: u32 = 2;

/// The `msr` PMU, less what is not a count: those of `tsc`, `aperf`, `mperf`, `pperf`, `smi` that it has, in
/// this order. `smi` is 32 bits wide, which the kernel makes up for (msr_event_update).
pub fn clocks(source: &dyn Source) -> Fact<Vec<Counter>> {
    const WANTED: &[&str] = &["tsc", "aperf", "mperf", "pperf", "smi"];
    let pmu = discover(source, "msr")?;
    let found: Vec<Counter> = WANTED.iter().filter_map(|name| pmu.event(name)).cloned().collect();
    if found.is_empty() { Err(no_events("msr")) } else { Ok(found) }
}

/// One of the PMUs of C-state residency, `cstate_core`, `cstate_pkg` or `cstate_module`, in TSC cycles. Its
/// `cpus` read it, one for each core, package or module.
pub fn residency(source: &dyn Source, pmu: &str) -> Fact<Pmu> {
    with_events(discover(source, pmu)?)
}

/// The `power` PMU: energy by domain, `energy-pkg` and others, each with its scale to joules.
pub fn energy(source: &dyn Source) -> Fact<Pmu> {
    let mut pmu = with_events(discover(source, "power")?)?;
    pmu.events.retain(|event| event.unit == "Joules");
    with_events(pmu)
}

/// Context switches of a CPU, those to and from its idle task included.
pub fn context_switches() -> Counter {
    /// PERF_COUNT_SW_CONTEXT_SWITCHES.
    const CONTEXT_SWITCHES: u64 = 3;
    Counter::plain("context-switches", SOFTWARE, CONTEXT_SWITCHES)
}

/// An event that never happens (PERF_COUNT_SW_DUMMY).
pub(super) fn dummy() -> Counter {
    /// PERF_COUNT_SW_DUMMY.
    const DUMMY: u64 = 9;
    Counter::plain("dummy", SOFTWARE, DUMMY)
}

/// Occurrences of a tracepoint, such as `irq_vectors` `local_timer_entry`.
pub fn tracepoint(source: &dyn Source, system: &str, name: &str) -> Fact<Counter> {
    let id = tracepoint_id(source, &tracepoint_folder(source)?, system, name)?;
    Ok(of_tracepoint(system, name, id))
}

/// The same of a tracepoint whose number is known.
pub(super) fn of_tracepoint(system: &str, name: &str, id: u64) -> Counter {
    Counter::plain(format!("{system}:{name}"), TRACEPOINT, id)
}

/// What can hold the tick: TICK_DEP_MASK_* of include/linux/tick.h, with the names of tick_dep_names in
/// include/trace/events/timer.h. A stopped tick has none.
pub const TICK_DEPENDENCIES: &[(u32, &str)] = &[
    (0, "none"),
    (1, "posix_timer"),
    (2, "perf_events"),
    (4, "sched"),
    (8, "clock_unstable"),
    (16, "rcu"),
    (32, "rcu_exp"),
];

/// The attempts to stop the tick, one counter for each of [`TICK_DEPENDENCIES`], in their order.
///
/// The kernel passes by the tracepoint only on CPUs that are to be tickless, and where an idle CPU stops its
/// tick. Kernels before 4.6 do not number the dependencies; opening fails there with EINVAL.
pub fn tick_stops(source: &dyn Source) -> Fact<Vec<Counter>> {
    let tick_stop = tracepoint(source, "timer", "tick_stop")?;
    let counter = |(mask, name): &(u32, &str)| Counter {
        name: format!("{} {name}", tick_stop.name),
        filter: Some(format!("dependency=={mask}")),
        ..tick_stop.clone()
    };
    Ok(TICK_DEPENDENCIES.iter().map(counter).collect())
}

fn with_events(pmu: Pmu) -> Fact<Pmu> {
    if pmu.events.is_empty() { Err(no_events(&pmu.name)) } else { Ok(pmu) }
}

fn no_events(pmu: &str) -> Missing {
    Missing::absent(format!("an event in /sys/bus/event_source/devices/{pmu}/events"))
}

/// Where tracefs is mounted, best first.
const PLACES: &[&str] = &["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The folder of the tracepoints: `/sys/kernel/tracing/events`.
///
/// Errors: the kernel has no tracing, it may not be read, or tracefs is not mounted.
pub fn tracepoint_folder(source: &dyn Source) -> Fact<String> {
    let mut reason = None;
    for place in PLACES {
        let events = format!("{place}/events");
        match source.list(&events) {
            Ok(_) => return Ok(events),
            Err(missing) => {
                reason.get_or_insert(missing);
            }
        }
    }
    // The folder that tracefs is to be mounted on is there in every kernel that has it.
    let mountable = PLACES.first().map(|place| source.list(place));
    match (reason, mountable) {
        (Some(reason), Some(Ok(_))) if reason.why == Why::Absent => Err(Missing {
            what: "/sys/kernel/tracing/events".into(),
            why: Why::Failed(
                "tracefs is not mounted: `mount -t tracefs nodev /sys/kernel/tracing`".into(),
            ),
        }),
        (reason, _) => Err(reason.unwrap_or_else(|| Missing::absent("/sys/kernel/tracing"))),
    }
}

/// The number of a tracepoint for perf_event_open(2). `events` is the folder of [`tracepoint_folder`].
pub fn tracepoint_id(source: &dyn Source, events: &str, system: &str, name: &str) -> Fact<u64> {
    source.parsed(&format!("{events}/{system}/{name}/id"), parse::number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    const MSR: &str = "\
//- /sys/bus/event_source/devices/msr/type
10
//- /sys/bus/event_source/devices/msr/format/event
config:0-63
//- /sys/bus/event_source/devices/msr/events/smi
event=0x04
//- /sys/bus/event_source/devices/msr/events/tsc
event=0x00
//- /sys/bus/event_source/devices/msr/events/irperf
event=0x06
//- /sys/kernel/tracing/events/timer/tick_stop/id
454
";

    #[test]
    fn clocks_come_in_one_order_whatever_the_pmu_lists() {
        let clocks = clocks(&Captured::excerpt(MSR).unwrap()).unwrap();
        let shown: Vec<_> = clocks.iter().map(|it| (it.name.as_str(), it.config.0[0])).collect();
        assert_eq!(shown, [("msr/tsc/", 0), ("msr/smi/", 4)]);
    }

    #[test]
    fn each_reason_to_keep_the_tick_is_a_counter_with_a_filter() {
        let stops = tick_stops(&Captured::excerpt(MSR).unwrap()).unwrap();
        assert_eq!(stops.len(), TICK_DEPENDENCIES.len());
        assert_eq!(stops[3].filter.as_deref(), Some("dependency==4"));
        assert_eq!((stops[3].name.as_str(), stops[3].config.0[0]), ("timer:tick_stop sched", 454));
    }

    #[test]
    fn a_pmu_without_events_is_absent() {
        let text = "//- /sys/bus/event_source/devices/power/type\n9\n";
        assert!(energy(&Captured::excerpt(text).unwrap()).unwrap_err().is_absence());
    }

    fn found(text: &str) -> String {
        let source = Captured::excerpt(text).unwrap();
        tracepoint_folder(&source).unwrap_or_else(|missing| missing.to_string())
    }

    #[test]
    fn tracefs_is_found_at_either_place() {
        assert_eq!(
            found("//- /sys/kernel/debug/tracing/events/sched/sched_switch/id\n1\n"),
            "/sys/kernel/debug/tracing/events"
        );
    }

    #[test]
    fn an_empty_mount_point_says_how_to_mount() {
        assert!(
            found("//- /sys/kernel/tracing/README\n\n")
                .ends_with("mount -t tracefs nodev /sys/kernel/tracing`")
        );
        assert!(found("//- /sys/kernel/x\n1\n").ends_with("does not exist"));
    }
}
