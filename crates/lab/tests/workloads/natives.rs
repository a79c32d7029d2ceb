//! Every native workload, in small, through the door that `fullclock bench` uses.

use facts::{CpuSet, HostView};
use host::Live;
use host::probe::allowed;
use lab::failure::Failure;
use lab::trial::Outcome;
use lab::workload::{Scene, Settings, Workload};
use lab::workloads::find;
use std::sync::atomic::AtomicBool;

/// The workloads, and what is little work for each.
const NATIVES: &[(&str, u64)] = &[
    ("cpu-loop", 1000),
    ("cpu-speed", 1000),
    ("all-cores", 1000),
    ("spin-pair", 1000),
    ("wakeup", 3),
    ("syscall", 1000),
    ("timer", 1000),
];

struct Machine {
    host: HostView,
    allowed: CpuSet,
    stop: AtomicBool,
}

impl Machine {
    fn this() -> Machine {
        let host = host::view(&Live::this_machine());
        Machine { host, allowed: allowed().unwrap(), stop: AtomicBool::new(false) }
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            host: &self.host,
            allowed: self.allowed.clone(),
            temporary: std::env::temp_dir(),
            stop: &self.stop,
        }
    }

    fn trial(&self, workload: &Workload, settings: &Settings) -> Result<Outcome, Failure> {
        workload.accepts(settings)?;
        let scene = self.scene();
        (workload.prepare)(settings, &scene)?.trial(&scene)
    }

    /// Where a workload keeps its threads.
    fn cpus(&self, id: &str, asked: Option<&CpuSet>) -> Option<CpuSet> {
        let prepared = (find(id).unwrap().prepare)(&settings(1000, asked), &self.scene());
        prepared.unwrap().cpus().cloned()
    }
}

fn settings(iterations: u64, cpus: Option<&CpuSet>) -> Settings {
    Settings {
        iterations: Some(iterations),
        cpus: cpus.map(ToString::to_string),
        ..Settings::default()
    }
}

#[test]
fn every_native_workload_gives_its_figure_first_and_all_of_them_are_numbers() {
    let machine = Machine::this();
    let one: CpuSet = machine.allowed.last().into_iter().collect();
    for (id, iterations) in NATIVES {
        let workload = find(id).unwrap();
        for cpus in [None, Some(&one), Some(&machine.allowed)] {
            let outcome = match machine.trial(workload, &settings(*iterations, cpus)) {
                Err(Failure::Unready(why)) => {
                    println!("skipped: {id} on {cpus:?}: {why}");
                    continue;
                }
                outcome => outcome.unwrap(),
            };
            let first = outcome.figures.first().unwrap();
            assert_eq!((first.name, first.unit), (workload.figure.name, workload.figure.unit));
            assert!(outcome.figures.iter().all(|it| it.value.is_finite()), "{id}: {outcome:?}");
            let elapsed_ns = *outcome.elapsed_ns.value().unwrap();
            assert!(elapsed_ns > 0 && outcome.tasks > 0, "{id}: {outcome:?}");
        }
    }
}

#[test]
fn a_workload_tells_the_cpus_that_it_keeps_to_also_where_nobody_named_them() {
    let machine = Machine::this();
    let all = &machine.allowed;
    let one: CpuSet = all.last().into_iter().collect();
    assert_eq!(machine.cpus("cpu-loop", None), None);
    assert_eq!(machine.cpus("cpu-loop", Some(&one)), Some(one));
    assert_eq!(machine.cpus("all-cores", None).as_ref(), Some(all));
    let pair: CpuSet = all.iter().take(2).collect();
    if pair.len() == 2 {
        assert_eq!(machine.cpus("spin-pair", Some(&pair)), Some(pair));
    }
}

#[test]
fn no_work_and_too_much_of_it_are_refused_by_name() {
    let machine = Machine::this();
    for (id, _) in NATIVES {
        let workload = find(id).unwrap();
        let refused = machine.trial(workload, &settings(0, None)).unwrap_err().to_string();
        assert!(refused.starts_with("--iterations 0"), "{id}: {refused}");
    }
}

#[test]
fn an_absent_cpu_is_a_message_and_hangs_nobody() {
    let machine = Machine::this();
    let cpus: CpuSet = machine.allowed.first().into_iter().chain([8000]).collect();
    for (id, iterations) in NATIVES {
        let failure = machine.trial(find(id).unwrap(), &settings(*iterations, Some(&cpus)));
        let text = failure.unwrap_err().to_string();
        assert!(text.contains("8000"), "{id}: {text}");
    }
}
