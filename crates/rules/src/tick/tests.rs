//! Verdicts on two CPUs, of which CPU 1 should not tick.

use super::{Samples, suspects, ticks};
use crate::fixture::{counters, host_of};
use crate::interval::Interval;
use facts::counters::Family;
use facts::{CpuSet, Missing};

const HOST: &str = "\
//- /sys/devices/system/cpu/online
0-1
//- /sys/devices/system/cpu/isolated
1
//- /sys/devices/system/cpu/nohz_full
1
//- /proc/sys/kernel/osrelease
6.1.0
//- /boot/config-6.1.0
CONFIG_HZ=250
//- /sys/devices/system/clocksource/clocksource0/current_clocksource
hpet
//- /proc/cmdline
isolcpus=1 nohz_full=1
";

const BEFORE: &str = "at 0\nCpuTimes idle iowait\n0 0 0\n1 0 0\nInterrupts LOC\n0 0\n1 0\n\
                      task 7 7 postgres user 1 5 0\ntask 9 9 kworker/1:0 kernel 1 5 0\n";

/// CPU 1 was busy for `busy` percent of a second and took `count` timer interrupts.
fn after(busy: u32, count: u32) -> String {
    let idle = 100 - busy;
    format!(
        "at 1000\nCpuTimes idle iowait\n0 0 0\n1 {idle} 0\nInterrupts LOC\n0 250\n1 {count}\n\
         task 7 7 postgres user 1 900 0\ntask 9 9 kworker/1:0 kernel 1 9 0\n"
    )
}

/// The verdict on CPU 1 when `stops` were traced: `name count` pairs, and the timer interrupts meanwhile.
fn verdict_on(host: &str, after: &str, stops: Option<(&str, u32, u32)>) -> String {
    let host = host_of(host);
    let (before, after) = (counters(BEFORE), counters(after));
    let counted = Interval { host: &host, before: &before, after: &after };
    let traces = stops.map(|(name, count, loc)| {
        let sample = |at, count, loc| {
            counters(&format!(
                "at {at}\nInterrupts LOC\n0 0\n1 {loc}\nTickStops none {name}\n1 0 {count}\n"
            ))
        };
        (sample(2000, 0, 0), sample(3000, count, loc))
    });
    let traced = traces.as_ref().map(|(before, after)| Interval { host: &host, before, after });
    let refused = Missing::denied("/sys/kernel/tracing");
    let samples = Samples { counted, traced: traced.ok_or(refused) };
    let ticks = ticks(&samples, &CpuSet::parse_list("1").unwrap()).unwrap();
    ticks[0].verdict.as_ref().unwrap().text()
}

fn verdict(after: &str, stops: Option<(&str, u32, u32)>) -> String {
    verdict_on(HOST, after, stops)
}

#[test]
fn one_tick_a_second_is_a_tick_that_stopped() {
    assert_eq!(verdict(&after(100, 1), None), "stopped: 1.0 ticks/s while busy");
}

#[test]
fn an_idle_cpu_shows_nothing_of_its_busy_tick() {
    assert_eq!(verdict(&after(3, 90), None), "idle: 90 ticks/s, a busy tick was not seen");
}

#[test]
fn a_kept_tick_has_the_name_of_what_needs_it() {
    assert_eq!(
        verdict(&after(100, 250), Some(("perf_events", 250, 250))),
        "kept 250 ticks/s: perf_events (a sampling perf event in frequency mode, or a throttled one)"
    );
}

#[test]
fn tasks_that_share_the_cpu_are_named() {
    assert_eq!(
        verdict(&after(100, 250), Some(("sched", 250, 250))),
        "kept 250 ticks/s: sched (more than one runnable task, or one that the scheduler has to watch; \
         postgres[7], kworker/1:0[9] ran there)"
    );
    let shared = HOST.replace("isolated\n1\n", "isolated\n\n");
    assert!(
        verdict_on(&shared, &after(100, 250), Some(("sched", 250, 250)))
            .ends_with("the CPU is not in isolcpus=, so that any task may share it)")
    );
}

#[test]
fn an_unstable_clock_is_named_with_the_one_in_use() {
    assert!(
        verdict(&after(100, 250), Some(("clock_unstable", 250, 250)))
            .ends_with("; the clocksource is hpet)")
    );
}

#[test]
fn a_tick_that_is_gone_when_it_is_looked_at_has_two_explanations() {
    let gone = verdict(&after(100, 250), Some(("sched", 1, 1)));
    assert!(gone.starts_with("kept 250 ticks/s: it was gone when the kernel was asked"), "{gone}");
}

#[test]
fn a_dependency_of_a_few_interrupts_does_not_explain_the_others() {
    let timers = verdict(&after(100, 250), Some(("sched", 3, 240)));
    assert!(timers.ends_with("so these are timers of the programs there"), "{timers}");
}

#[test]
fn fewer_ticks_than_a_second_has_are_still_no_stopped_tick() {
    let slow = verdict(&after(100, 40), Some(("sched", 40, 40)));
    assert!(slow.starts_with("kept 40 ticks/s: sched ("), "{slow}");
}

#[test]
fn without_a_name_it_is_a_timer_of_a_program() {
    let timers = verdict(&after(100, 250), Some(("sched", 0, 240)));
    assert!(timers.ends_with("so these are timers of the programs there"), "{timers}");
}

#[test]
fn without_the_tracepoint_the_reason_is_not_known() {
    assert_eq!(
        verdict(&after(100, 250), None),
        "kept 250 ticks/s: why is unknown: /sys/kernel/tracing may not be read (run as root)"
    );
}

#[test]
fn without_a_configuration_a_tick_is_known_all_the_same() {
    let host = HOST.replace("CONFIG_HZ=250", "!absent");
    let text = |count| verdict_on(&host, &after(100, count), Some(("sched", 0, count)));
    assert!(text(250).starts_with("kept 250 ticks/s"), "{}", text(250));
    assert!(text(9).starts_with("stopped: 9.0 ticks/s"), "{}", text(9));
}

#[test]
fn an_isolated_cpu_outside_of_nohz_full_ticks_because_nobody_asked() {
    let isolated = HOST.replace("nohz_full\n1\n", "nohz_full\n\n").replace("nohz_full=1", "");
    assert_eq!(
        verdict_on(&isolated, &after(100, 250), None),
        "kept 250 ticks/s: the CPU is isolated and not in nohz_full="
    );
}

#[test]
fn counts_that_go_backwards_are_no_verdict() {
    let backwards = after(100, 0);
    let before = BEFORE.replace("LOC\n0 0\n1 0", "LOC\n0 0\n1 9");
    let host = host_of(HOST);
    let (before, after) = (counters(&before), counters(&backwards));
    let counted = Interval { host: &host, before: &before, after: &after };
    let samples = Samples { counted, traced: Err(Missing::denied("x")) };
    let ticks = ticks(&samples, &CpuSet::parse_list("1").unwrap()).unwrap();
    let text = ticks[0].verdict.as_ref().unwrap().text();
    assert!(text.starts_with("unknown: /proc/interrupts (LOC): found \"0 after 9\""), "{text}");
}

#[test]
fn only_tickless_cpus_that_tick_are_asked_why() {
    let host = host_of(HOST);
    let suspects = |after: &str| {
        let (before, after) = (counters(BEFORE), counters(after));
        let counted = Interval { host: &host, before: &before, after: &after };
        suspects(&counted, &CpuSet::parse_list("0-1").unwrap()).to_string()
    };
    assert_eq!((suspects(&after(100, 250)), suspects(&after(100, 1))), ("1".into(), String::new()));
}

#[test]
fn a_cpu_that_was_offline_for_a_while_has_no_rate_and_no_verdict() {
    let host = host_of(HOST);
    let entries = |count| format!("TimerEntries local_timer\n0 {count}\n1 {count}\n");
    let before = counters(&format!("{BEFORE}{}", entries(0)));
    let mut after = counters(&format!("{}{}", after(100, 250), entries(250)));
    if let Ok(table) = after.table_mut(Family::TimerEntries) {
        table.blank_row(1, Missing::was_offline("perf group", 1));
    }
    let counted = Interval { host: &host, before: &before, after: &after };
    let samples = Samples { counted, traced: Err(Missing::denied("x")) };
    let ticks = ticks(&samples, &CpuSet::parse_list("0-1").unwrap()).unwrap();
    assert_eq!(ticks[0].entries.as_ref().unwrap().by, 250);
    assert!(ticks[1].delta().unwrap_err().tells_of_offline(1));
    assert_eq!(ticks[1].interrupts.as_ref().unwrap().by, 250);
    let text = ticks[1].verdict.as_ref().unwrap().text();
    assert!(text.ends_with("CPU 1 was offline for part of the interval"), "{text}");
}
