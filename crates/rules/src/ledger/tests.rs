//! The books close, and what is said beside them.

use crate::fixture::books::{SECOND, all, ledger, loss, replaced, unexplained, untraced, without};
use crate::losses::LOSSES;

#[test]
fn a_second_of_which_all_is_known_closes_to_the_nanosecond() {
    assert_eq!(
        all(SECOND),
        "\
idle: 1290.0 ms by counter
cgroup-quota: 0.0 ms by counter, operating system
idle-exits: 10.0 ms by tracepoint
stolen: 0.0 ms ±14.1 by counter, hypervisor
stopped-clock: 0.0 ms ±5.6 by counter
slow-clock: cause not visible 112.0 ms ±4.5 by counter
ticks: 20.0 ms by tracepoint
interrupts: 24 eth0 6.0 ms by tracepoint
softirqs: NET_RX 4.0 ms by tracepoint
kernel-threads: kipmi0 100.0 ms by tracepoint, management controller
other-tasks: 0.0 ms by counter
measuring: 10.0 ms by tracepoint
useful: postgres 448.0 ms ±4.5 by tracepoint
unexplained 0.000"
    );
}

#[test]
fn without_a_trace_interrupts_stay_in_what_they_interrupt_and_the_idle_loop_is_unexplained() {
    assert_eq!(
        all(&untraced()),
        "\
idle: 1290.0 ms by counter
cgroup-quota: 0.0 ms by counter, operating system
idle-exits: 0.0 ms ±152.0 by bound
stolen: 0.0 ms ±14.1 by counter, hypervisor
stopped-clock: 0.0 ms ±9.1 by counter
slow-clock: cause not visible 115.6 ms ±8.0 by counter
ticks: unknown: no cost of an event here: nothing was traced, and no event was timed
interrupts: unknown: no cost of an event here: nothing was traced, and no event was timed
softirqs: unknown: no cost of an event here: nothing was traced, and no event was timed
kernel-threads: kipmi0 100.0 ms ±0.6 by counter, management controller
other-tasks: 0.0 ms by counter
measuring: 10.0 ms by counter
useful: postgres 462.4 ms ±8.0 by counter
unexplained 22.000"
    );
    let note = "ticks and interrupts are part of what they interrupted: no cost of an event here: nothing was traced, and no event was timed";
    assert_eq!(ledger(&untraced()).notes, [note]);
}

/// Each loss, the sources to take away from counters that are all there, and why it is then unknown.
const WITHOUT: &[(&str, &[&str], &str)] = &[
    (
        "idle",
        &["IdleTime", "CpuTimes"],
        "/sys/devices/system/cpu/cpuN/cpuidle is not in this copy of the host",
    ),
    ("cgroup-quota", &["group"], "cpu.stat of control groups is not in this copy of the host"),
    (
        "idle-exits",
        &["IdleTime", "IdleUsage"],
        "/sys/devices/system/cpu/cpuN/cpuidle is not in this copy of the host",
    ),
    ("stolen", &["CpuTimes"], "/proc/stat is not in this copy of the host"),
    ("stopped-clock", &["Clocks"], CLOCKS),
    ("slow-clock", &["Clocks"], CLOCKS),
    ("ticks", &[], NO_COST),
    ("interrupts", &[], NO_COST),
    ("softirqs", &[], NO_COST),
    ("kernel-threads", &["task"], TASKS),
    ("other-tasks", &["task"], TASKS),
    ("measuring", &["task"], TASKS),
    ("useful", &["Clocks"], CLOCKS),
];

const CLOCKS: &str = "APERF, MPERF and TSC is not in this copy of the host";
const NO_COST: &str = "no cost of an event here: nothing was traced, and no event was timed";
const TASKS: &str = "/proc/PID/schedstat is not in this copy of the host";

#[test]
fn without_its_source_a_loss_is_unknown_with_the_reason() {
    assert_eq!(
        WITHOUT.iter().map(|it| it.0).collect::<Vec<_>>(),
        LOSSES.iter().map(|it| it.id).collect::<Vec<_>>()
    );
    for (id, sources, reason) in WITHOUT {
        let text = sources.iter().fold(untraced(), |text, source| without(&text, source));
        assert_eq!(loss(id, &text), format!("unknown: {reason}"), "{id}");
    }
}

#[test]
fn a_cpu_that_was_away_is_left_out_and_named() {
    let away = replaced(SECOND, &[("observer 20", "observer 20\ncpus 0,7")]);
    let ledger = ledger(&away);
    assert_eq!(ledger.cpus.to_string(), "0");
    assert_eq!(ledger.capacity_ns(), 1_000_000_000);
    assert_eq!(ledger.notes, ["left out: CPU 7 was not online at both ends"]);
}

#[test]
fn a_clock_that_stands_still_makes_no_ledger_and_says_so() {
    let ledger = ledger(&replaced(SECOND, &[("at 1000", "at 0")]));
    assert_eq!((ledger.capacity_ns(), ledger.unexplained_ns), (0, 0));
    assert_eq!(
        ledger.notes,
        [
            "there is no interval: CLOCK_MONOTONIC_RAW: found \"1 after 1\", expected a later time at the second reading"
        ]
    );
}

#[test]
fn lost_events_leave_their_time_unexplained() {
    let lost = replaced(SECOND, &[("560000000", "530000000\nlost 12 30000000")]);
    assert_eq!(unexplained(&lost), "30.000");
    assert_eq!(
        ledger(&lost).notes,
        [
            "the trace does not tell whose 30.0 ms were, with 12 events lost: the kernel's count of all tasks does, or else they are unexplained"
        ]
    );
}

#[test]
fn tasks_that_ended_are_counted_where_no_trace_shows_them() {
    let ended = replaced(&untraced(), &[("task 10 10 postgres user 0 578000000 900000000\n", "")]);
    let note = "tasks ended, 1 of them: only a trace shows what each of them ran";
    assert!(ledger(&ended).notes.contains(&note.to_owned()));
    assert_eq!(unexplained(&ended), "600.000");
}

#[test]
fn waiting_of_the_chosen_is_shown_beside_and_never_in_the_sum() {
    let chosen =
        replaced(SECOND, &[("observer 20", "observer 20\nchosen 10\nwaited 10 0 250000000")]);
    let waiting = ledger(&chosen).waiting.unwrap().unwrap();
    assert_eq!((waiting.ns, waiting.stopped_ns), (900_000_000, Some(250_000_000)));
    assert_eq!(unexplained(&chosen), "0.000");
    assert_eq!(ledger(SECOND).waiting, None);
}

#[test]
fn a_chosen_process_that_is_gone_has_no_waiting_time() {
    let gone = replaced(SECOND, &[("observer 20", "observer 20\nchosen 77")]);
    assert!(ledger(&gone).waiting.unwrap().is_err());
}

/// What is said of the waits of the chosen processes, in seconds.
fn waited(text: &str, seen: &str) -> Result<f64, String> {
    let chosen = replaced(text, &[("observer 20", &format!("observer 20\nchosen 10\n{seen}"))]);
    let waiting = ledger(&chosen).waiting.unwrap();
    waiting.map(|it| it.ns as f64 / 1e9).map_err(|it| it.to_string())
}

#[test]
fn threads_that_ended_untraced_leave_the_waits_unknown() {
    assert_eq!(waited(&untraced(), "ended 0"), Ok(0.9));
    assert_eq!(
        waited(&untraced(), "passing 10 11 12"),
        Err("the wait of its threads cannot be read: 2 of them ended untraced".to_owned())
    );
    assert_eq!(
        waited(&untraced(), "ended 2500000000 20000000"),
        Err("the wait of its threads cannot be read: some ended untraced that ran 2.500 s"
            .to_owned())
    );
    // Less than what is rounded off is nothing.
    assert_eq!(waited(&untraced(), "ended 10000000 20000000"), Ok(0.9));
}

#[test]
fn waits_of_threads_that_ended_are_those_of_the_trace_and_of_others_their_own_count() {
    let traced = "ended 0\npassing 10 11\nkin 12 10\nwaited 10 5 0\nwaited 11 300000000 7\nwaited 12 50000000 0";
    assert_eq!(waited(SECOND, traced), Ok(1.25));
    // A child of theirs that is another's.
    assert_eq!(waited(SECOND, &format!("{traced}\nwaited 99 800000000 0")), Ok(1.25));
}

#[test]
fn waits_of_threads_that_ended_are_those_that_the_kernel_told_of_where_it_told_of_all() {
    // One that was there before, one that came and went, one of another process.
    let told = "exit 11 10 1 300000000 250000000\nexit 77 70 1 900000000 900000000\nkin 12 10\n\
                exit 12 0 10 100000000 50000000";
    for text in [SECOND.to_owned(), untraced()] {
        assert_eq!(waited(&text, &format!("ended 400000000 20000000\n{told}")), Ok(1.2));
    }
    // What a trace shows of the same thread is not added.
    assert_eq!(waited(SECOND, &format!("ended 400000000\n{told}\nwaited 12 70000000 0")), Ok(1.2));
    assert_eq!(
        waited(&untraced(), &format!("ended 900000000 20000000\n{told}")),
        Err("the wait of its threads cannot be read: some ended untraced that ran 0.900 s"
            .to_owned())
    );
}

#[test]
fn the_servers_part_of_the_waits_is_told_where_a_client_is_chosen_too() {
    let part = |seen: &str| {
        let text = replaced(SECOND, &[("observer 20", &format!("observer 20\n{seen}"))]);
        ledger(&text).waiting.unwrap().map(|it| (it.ns, it.server_ns))
    };
    // The client has ended, and so has one of the server's.
    let told = "ended 0\nexit 31 30 20 1000000 50000000\nexit 11 0 10 1000000 20000000\nkin 11 10";
    let both = format!("chosen 30\nserver 10\n{told}");
    assert_eq!(part(&both), Ok((970_000_000, Some(920_000_000))));
    assert_eq!(part("server 10\nended 0"), Ok((900_000_000, None)));
    assert_eq!(part("chosen 10\nended 0"), Ok((900_000_000, None)));
}

#[test]
fn a_trace_that_shows_little_of_the_chosen_tells_nothing_of_their_waits() {
    let lost = ("560000000", "360000000\nlost 0 200000000");
    let text = replaced(SECOND, &[lost, ("user 0 578000000", "user 0 78000000")]);
    assert_eq!(
        waited(&text, "ended 500000000\nwaited 10 1 0"),
        Err("the wait of its threads cannot be read: no trace shows 0.200 s of the time that they ran".to_owned())
    );
}

#[test]
fn a_promise_that_is_beaten_was_none() {
    let fast = replaced(SECOND, &[("1112000000", "1529000000")]);
    let reference = ledger(&fast).reference.unwrap();
    assert_eq!(reference.clock.to_string(), "2200 MHz");
    assert_eq!(reference.source, "the highest measured, above the 2000 MHz of cpuinfo_max_freq");
    assert_eq!(loss("slow-clock", &fast).lines().count(), 1);
}

#[test]
fn turbo_ratios_promise_by_the_cores_that_are_active() {
    let msr = "//- /dev/cpu/0/msr 0xce\n0xa0080001800\n//- /dev/cpu/0/msr 0x1ad\n0x1516171819202224\n\
               //- /dev/cpu/0/msr 0x1ae\n0x1c1814100c080402\n";
    let ratios = replaced(
        SECOND,
        &[(
            "//- /sys/devices/system/cpu/online",
            &format!("{msr}//- /sys/devices/system/cpu/online"),
        )],
    );
    let reference = ledger(&ratios).reference.unwrap();
    assert_eq!(reference.clock.to_string(), "3600 MHz");
    assert_eq!(
        reference.source,
        "MSR 0x1ad MSR_TURBO_RATIO_LIMIT for 1 active core of the package"
    );
}

#[test]
fn cores_that_nobody_asked_about_take_their_share_of_turbo_all_the_same() {
    let registers = "//- /sys/devices/system/cpu/cpu0/topology/package_cpus_list\n0-1\n\
                     //- /dev/cpu/0/msr 0xce\n0xa0080001800\n\
                     //- /dev/cpu/0/msr 0x1ad\n0x2020202020202024\n\
                     //- /dev/cpu/0/msr 0x1ae\n0x1c1814100c080401\n";
    let both_busy = replaced(
        &format!("{SECOND}{registers}"),
        &[
            ("observer 20", "observer 20\ncpus 0"),
            ("1 0 0 985000", "1 0 0 5000"),
            ("1 99 0", "1 0 0"),
        ],
    );
    let reference = ledger(&both_busy).reference.unwrap();
    assert_eq!(reference.clock.to_string(), "3200 MHz");
    assert_eq!(
        reference.source,
        "MSR 0x1ad MSR_TURBO_RATIO_LIMIT for 2 active cores of the package"
    );
}

#[test]
fn vector_code_is_named_where_no_cause_is_visible_and_only_on_processors_that_slow_down_for_it() {
    let registers = "//- /dev/cpu/0/msr 0xce\n0xa0080001800\n//- /dev/cpu/0/msr 0x1ad\n0x2020202020202024\n\
                     //- /dev/cpu/0/msr 0x1ae\n0x1c1814100c080401\n";
    let notes = |text: &str| ledger(&format!("{text}{registers}")).notes;
    let scalar = notes(SECOND);
    assert!(scalar.iter().all(|it| !it.contains("AVX")), "{scalar:?}");
    let vector = replaced(SECOND, &[("flags : acpi", "flags : avx2 acpi")]);
    let named = notes(&vector);
    assert!(named.iter().any(|it| it.contains("AVX-512")), "{named:?}");
    let slow = ("scaling_governor\nperformance", "scaling_governor\npowersave");
    let explained = notes(&replaced(&vector, &[slow]));
    assert!(explained.iter().all(|it| !it.contains("AVX")), "{explained:?}");
}

#[test]
fn a_kernel_whose_configuration_is_not_known_leaves_run_times_in_doubt() {
    let text = replaced(&untraced(), &[("/boot/config-6.1.0", "/boot/config-of-another")]);
    let notes = ledger(&text).notes;
    assert!(
        notes[0].starts_with("whether run times leave out interrupts and stolen time is unknown: "),
        "{notes:?}"
    );
}

#[test]
fn a_ledger_lists_nothing_twice() {
    let ledger = ledger(SECOND);
    let mut names: Vec<(&str, &str)> =
        ledger.lines.iter().map(|it| (it.loss.id, it.part.as_str())).collect();
    let n_lines = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n_lines);
    assert_eq!(without(SECOND, "Clocks").matches("Clocks").count(), 0);
}

#[test]
fn children_that_were_not_asked_for_are_told_of() {
    let family = "//- /proc/10/stat\n10 (postgres) S 1 0 0 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n\
                  //- /proc/11/stat\n11 (postgres) S 10 0 0 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n\
                  //- /proc/12/stat\n12 (sh) S 11 0 0 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n";
    let text = format!("{SECOND}{family}");
    let note = |n: u32| {
        format!("processes that descend from the requested ones, and count as others: {n}")
    };
    let chosen = replaced(&text, &[("observer 20", "observer 20\nchosen 10")]);
    assert!(ledger(&chosen).notes.contains(&note(2)), "{:?}", ledger(&chosen).notes);
    let kin = replaced(&chosen, &[("chosen 10", "chosen 10\nkin 11 10\nkin 12 10")]);
    assert_eq!(ledger(&kin).notes, [""; 0]);
    assert_eq!(ledger(&text).notes, [""; 0]);
}

/// The parts of a line, without times.
fn parts(id: &str, text: &str) -> Vec<String> {
    let ledger = ledger(text);
    let known =
        ledger.lines.iter().filter(|it| it.loss.id == id && it.ns.clone().is_ok_and(|it| it > 0));
    known.map(|it| it.part.clone()).collect()
}

#[test]
fn a_server_is_useful_by_what_its_tasks_do_and_nobody_else_is() {
    let server = ("observer 20", "observer 20\nserver 10\nrole 10 PostgreSQL backend");
    let other = (
        "task 2 2 kipmi0 kernel 0 100000000 0\n",
        "task 2 2 kipmi0 kernel 0 80000000 0\ntask 9 9 gzip user 0 20000000 0\n",
    );
    let text = replaced(&untraced(), &[other, server]);
    assert_eq!(parts("useful", &text), ["PostgreSQL backend"]);
    assert_eq!(parts("other-tasks", &text), ["gzip"]);
    let traced = replaced(
        SECOND,
        &[("task 2 kipmi0 100000000", "task 2 kipmi0 80000000\ntask 9 gzip 20000000"), server],
    );
    assert_eq!(parts("useful", &traced), ["PostgreSQL backend"]);
    assert_eq!(parts("other-tasks", &traced), ["gzip"]);
    let waiting = ledger(&text).waiting.unwrap().unwrap();
    assert_eq!(waiting.ns, 900_000_000);
}

#[test]
fn a_traced_connection_that_nobody_saw_is_the_servers_by_its_descent() {
    let unseen =
        ("task 10 postgres 560000000", "task 10 postgres 500000000\ntask 11 postgres 60000000");
    let server = "observer 20\nserver 10\nrole 10 PostgreSQL postmaster";
    let text = replaced(SECOND, &[unseen, ("observer 20", server)]);
    assert_eq!(parts("other-tasks", &text), ["postgres"]);
    let kin = replaced(&text, &[("observer 20", "observer 20\nkin 11 10")]);
    assert_eq!(parts("useful", &kin), ["PostgreSQL postmaster", "server (ended)"]);
    assert_eq!(parts("other-tasks", &kin), [""; 0]);
}

#[test]
fn an_untraced_connection_that_ended_is_the_servers_as_far_as_its_own_times_say() {
    let counted =
        replaced(&untraced(), &[("postgres user 0 578000000", "postgres user 0 478000000")]);
    let server = "observer 20\nserver 10\nended 100000000\nserver-ended 80000000";
    let text = replaced(&counted, &[("observer 20", server)]);
    let ledger = ledger(&text);
    let useful = |part: &str| {
        let line = ledger.lines.iter().find(|it| it.loss.id == "useful" && it.part == part);
        line.and_then(|it| it.ns.clone().ok()).unwrap_or(0)
    };
    assert!(useful("server (ended)") > 3 * useful("tasks that ended"), "{:?}", ledger.lines);
    assert!(useful("tasks that ended") > 0, "{:?}", ledger.lines);
}
