//! The sampler, on the machine that the tests run on and on a copy that changes between samples.

use facts::counters::{Counters, Family};
use host::counters::{Processes, Sampler, Wanted};
use host::{Live, probe, view};
use std::fmt::Write as _;
use std::path::Path;

fn of_this_machine(wanted: Wanted) -> Sampler {
    Sampler::open(Live::this_machine(), &view(&Live::this_machine()), wanted)
}

fn sampled(sampler: &mut Sampler) -> Counters {
    let mut counters = Counters::unread();
    sampler.sample(&mut counters);
    counters
}

#[test]
fn every_cpu_of_this_machine_has_its_row_and_no_counter_goes_backwards() {
    let mut sampler = of_this_machine(Wanted::watch());
    let (before, after) = (sampled(&mut sampler), sampled(&mut sampler));
    assert!(before.at.raw_ns < after.at.raw_ns);
    for family in [Family::CpuTimes, Family::Interrupts, Family::Softirqs] {
        let (first, last) = (before.table(family).unwrap(), after.table(family).unwrap());
        assert_eq!(first.rows()[..], before.online.iter().collect::<Vec<u32>>()[..]);
        assert!(first.read_at(0) < last.read_at(0), "{family:?}");
        if (first.rows(), first.columns()) != (last.rows(), last.columns()) {
            println!("skipped: {family:?} has changed its shape meanwhile");
            continue;
        }
        for row in 0..first.rows().len() {
            // The idle times of /proc/stat do go backwards: iowait (proc_stat(5)).
            let pairs =
                first.row_cells(row).iter().zip(last.row_cells(row)).zip(first.columns().iter());
            for ((was, is), name) in
                pairs.filter(|(_, name)| !["idle", "iowait"].contains(&&***name))
            {
                assert!(was <= is, "{family:?} {name}: {is} after {was}");
            }
        }
    }
}

#[test]
fn a_family_that_was_not_asked_for_is_not_collected() {
    let wanted = Wanted::only(vec![Family::Softirqs]);
    let counters = sampled(&mut of_this_machine(wanted));
    let read: Vec<Family> =
        counters.tables().filter(|(_, it)| it.is_ok()).map(|(it, _)| it).collect();
    assert_eq!(read, [Family::Softirqs]);
    assert_eq!(counters.tasks.unwrap_err().reason(), "not-collected");
}

#[test]
fn threads_of_a_chosen_process_come_and_go() {
    let own = std::process::id();
    let wanted = Wanted { tasks: Some(Processes::Chosen(vec![own])), ..Wanted::only(Vec::new()) };
    let mut sampler = of_this_machine(wanted);
    let mut counters = Counters::unread();
    let mut threads = |counters: &mut Counters| {
        sampler.sample(counters);
        let tasks = counters.tasks.as_ref().unwrap();
        assert!(tasks.list.is_sorted_by(|a, b| a.tid < b.tid), "each task stands there once");
        assert!(tasks.list.iter().all(|it| it.pid == own || it.is_kernel_thread));
        tasks.list.iter().filter(|it| it.name.as_str() == "comes-and-goes").count()
    };
    assert_eq!(threads(&mut counters), 0);
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let (report, running) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("comes-and-goes".into()).spawn(move || {
        report.send(()).unwrap();
        wait.recv().unwrap_err();
    });
    running.recv().unwrap();
    assert_eq!(threads(&mut counters), 1);
    drop(release);
    thread.unwrap().join().unwrap();
    // The kernel tells the joining thread before it has taken the task out of /proc.
    let is_gone = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        threads(&mut counters) == 0
    });
    assert!(is_gone);
}

#[test]
fn visiting_every_cpu_leaves_the_thread_where_it_may_run() {
    let before = probe::allowed().unwrap();
    sampled(&mut of_this_machine(Wanted::ledger()));
    assert_eq!(probe::allowed().unwrap(), before);
}

/// A host with these CPUs online: its times, softirqs and one idle state, each of the CPU's own number.
fn write_host(root: &Path, cpus: &[u32]) {
    let file = |path: String, text: String| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let mut stat = "cpu  1 1 1 1 1 1 1 1 1 1\n".to_owned();
    for cpu in cpus {
        writeln!(stat, "cpu{cpu} {cpu} 2 3 4 5 6 7 8 9 10").unwrap();
    }
    file("proc/stat".into(), stat + "intr 1 0\nctxt 5\nprocesses 6\n");
    file("proc/softirqs".into(), "   CPU0 CPU1 CPU2\nHI: 100 101 102\n".into());
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    file("sys/devices/system/cpu/online".into(), list.join(",") + "\n");
    for cpu in 0..3 {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state0");
        for (name, value) in [
            ("name", "C1".to_owned()),
            ("usage", cpu.to_string()),
            ("time", (cpu * 1000).to_string()),
        ] {
            file(format!("{folder}/{name}"), value + "\n");
        }
    }
}

fn of_copy(root: &Path) -> Sampler {
    let open = || Live::copy(root).unwrap();
    Sampler::open(open(), &view(&open()), Wanted::watch())
}

fn shown(counters: &Counters, family: Family) -> String {
    match counters.table(family) {
        Ok(table) => {
            let row = |(index, cpu)| format!("{cpu}: {:?}", table.row_cells(index));
            table.rows().iter().enumerate().map(row).collect::<Vec<_>>().join(", ")
        }
        Err(missing) => missing.to_string(),
    }
}

#[test]
fn cpus_go_offline_and_come_back_between_samples() {
    let folder = tempfile::tempdir().unwrap();
    write_host(folder.path(), &[0, 1, 2]);
    let mut sampler = of_copy(folder.path());
    let mut counters = Counters::unread();
    for (cpus, softirqs, idle) in [
        (vec![0, 1, 2], "0: [100], 1: [101], 2: [102]", "0: [0], 1: [1000], 2: [2000]"),
        (vec![0, 2], "0: [100], 2: [102]", "0: [0], 2: [2000]"),
        (vec![0, 1, 2], "0: [100], 1: [101], 2: [102]", "0: [0], 1: [1000], 2: [2000]"),
    ] {
        write_host(folder.path(), &cpus);
        sampler.sample(&mut counters);
        assert_eq!(counters.online.iter().collect::<Vec<u32>>(), cpus);
        assert_eq!(counters.table(Family::CpuTimes).unwrap().rows()[..], cpus[..]);
        assert_eq!(shown(&counters, Family::Softirqs), softirqs);
        assert_eq!(shown(&counters, Family::IdleTime), idle);
    }
}

#[test]
fn a_source_that_goes_takes_no_other_with_it_and_may_come_back() {
    let folder = tempfile::tempdir().unwrap();
    write_host(folder.path(), &[0, 1, 2]);
    let mut sampler = of_copy(folder.path());
    let mut counters = Counters::unread();
    sampler.sample(&mut counters);
    std::fs::write(folder.path().join("proc/softirqs"), "nonsense").unwrap();
    std::fs::write(folder.path().join("sys/devices/system/cpu/cpu1/cpuidle/state0/time"), "?\n")
        .unwrap();
    sampler.sample(&mut counters);
    assert!(shown(&counters, Family::Softirqs).contains("/proc/softirqs: found \"nonsense\""));
    let idle = counters.table(Family::IdleTime).unwrap();
    assert!(idle.row(0).is_ok() && idle.row(1).is_err() && idle.row(2).is_ok());
    assert!(counters.table(Family::CpuTimes).is_ok());
    write_host(folder.path(), &[0, 1, 2]);
    sampler.sample(&mut counters);
    assert_eq!(shown(&counters, Family::Softirqs), "0: [100], 1: [101], 2: [102]");
    assert_eq!(shown(&counters, Family::IdleTime), "0: [0], 1: [1000], 2: [2000]");
}
