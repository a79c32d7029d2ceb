//! `spin-pair`: what a busy sibling takes of a core.
//!
//! Threads of a core (SMT) share its units and caches; the kernel names them in
//! /sys/devices/system/cpu/cpuN/topology/thread_siblings_list (Documentation/admin-guide/cputopology.rst). The kernel's
//! accounts say 100 % busy of each, whatever the other leaves it.

use crate::cpu_test::{ITERATIONS, MOST_ITERATIONS, answer, computed, verify};
use crate::failure::Failure;
use crate::threads::{Timed, by_rank, on, outcome, timed};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use facts::cpu::topology::Topology;
use host::probe::pinned;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const WORKLOAD: Workload = Workload {
    id: "spin-pair",
    title: "how much slower the CPU test is while its core's other thread is busy",
    help: "\
## What it does
Runs the CPU test (see `cpu-loop`) on one CPU alone, and while another CPU runs it too; `slowdown` is the second time divided
by the first: 1 is a sibling that costs nothing, 2 one that takes half. Which of the two comes first alternates from trial
to trial, so that a clock that drifts favours neither.

`--cpus` names two CPUs, the first is timed; or one, whose sibling is found; without it, the first CPU that has a sibling.

## What changes the result
Two threads of one core share its units. It is why a server at 50 % CPU may have little left, and why the same query takes
longer beside a busy neighbour although no run queue is longer. Two CPUs of different cores show what another core's work
costs: clock, and nothing else of this test.

## What it cannot know
How much other work would lose: the test waits for its own results most of the time, which leaves room for a sibling, and
work that fills all units sees more. Where a hypervisor shows threads of a core as cores, name the pair.
",
    figure: SLOWDOWN,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::Own,
    preparation: Preparation::Stateless,
    prepare,
};

const SLOWDOWN: FigureShape =
    FigureShape { name: "slowdown", unit: "times", better: Better::Lower };
const ALONE: FigureShape = FigureShape { name: "alone", unit: "s", better: Better::Lower };
const BESIDE: FigureShape = FigureShape { name: "beside", unit: "s", better: Better::Lower };

/// What the sibling does before it looks up: some tens of microseconds.
const GLANCE: u64 = 10_000;

struct Pair {
    timed: u32,
    sibling: u32,
    cpus: CpuSet,
    shares_core: bool,
    iterations: u64,
    answer: f64,
    /// Whether the next trial begins with the CPU alone.
    alone_first: bool,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let iterations = settings.iterations_up_to(MOST_ITERATIONS, ITERATIONS)?;
    let topology = &scene.host.topology;
    let chosen = settings.cpus()?;
    let (timed, sibling) = pair(topology, &scene.allowed, chosen.as_ref(), can_run_on)?;
    let shares_core = topology.core_of(timed).contains(sibling);
    let cpus = [timed, sibling].into_iter().collect();
    let answer = answer(iterations);
    Ok(Box::new(Pair { timed, sibling, cpus, shares_core, iterations, answer, alone_first: true }))
}

impl Ready for Pair {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let (alone, beside) = if self.alone_first {
            let alone = self.alone()?;
            (alone, self.with_busy_sibling(scene.stop)?)
        } else {
            let beside = self.with_busy_sibling(scene.stop)?;
            (self.alone()?, beside)
        };
        self.alone_first = !self.alone_first;
        if scene.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        Ok(outcome(std::slice::from_ref(&beside), figures(alone.elapsed_ns, beside.elapsed_ns)))
    }

    fn cpus(&self) -> Option<&CpuSet> {
        Some(&self.cpus)
    }

    fn about(&self) -> Vec<(String, String)> {
        let kind = if self.shares_core { "of the same core" } else { "of another core" };
        vec![
            ("timed CPU".to_owned(), self.timed.to_string()),
            ("busy CPU".to_owned(), format!("{}, {kind} as the kernel shows them", self.sibling)),
        ]
    }
}

impl Pair {
    fn alone(&self) -> Result<Timed<f64>, Failure> {
        let run = on(self.timed, || timed(|| computed(black_box(self.iterations))))?;
        verify(WORKLOAD.id, run.answer, self.answer).map(|()| run)
    }

    fn with_busy_sibling(&self, stop: &AtomicBool) -> Result<Timed<f64>, Failure> {
        let is_over = AtomicBool::new(false);
        // Ranks go by CPU ascending.
        let timed_rank = usize::from(self.timed > self.sibling);
        let runs = by_rank(Some(&self.cpus), |rank| {
            if rank == timed_rank {
                let run = timed(|| computed(black_box(self.iterations)));
                is_over.store(true, Ordering::Release);
                return Some(run);
            }
            while !is_over.load(Ordering::Acquire) && !stop.load(Ordering::Relaxed) {
                black_box(computed(black_box(GLANCE)));
            }
            None
        })?;
        let run = runs.into_iter().flatten().next().ok_or(Failure::Stopped)?;
        verify(WORKLOAD.id, run.answer, self.answer).map(|()| run)
    }
}

/// Whether a thread that asks for this CPU by name gets it.
fn can_run_on(cpu: u32) -> bool {
    pinned(cpu, || ()).is_ok()
}

/// The CPU that is timed, and its sibling that is kept busy.
///
/// For a CPU that the user names, a sibling will do that no task runs on unasked: the CPUs of isolcpus= are in no
/// process's mask, most often with their siblings (Documentation/admin-guide/kernel-parameters.txt).
fn pair(
    topology: &Topology,
    allowed: &CpuSet,
    chosen: Option<&CpuSet>,
    can_run_on: impl Fn(u32) -> bool,
) -> Result<(u32, u32), Failure> {
    let sibling = |cpu: u32| topology.core_of(cpu).and(allowed).iter().find(|it| *it != cpu);
    let named_sibling =
        |cpu: u32| topology.core_of(cpu).iter().find(|it| *it != cpu && can_run_on(*it));
    let none = |whose: String| {
        let text = "the kernel shows none that this process may use (SMT is off, not there, or hidden by a \
                    hypervisor); --cpus A,B names a pair";
        Failure::Unready(format!("spin-pair needs two threads of a core, and of {whose} {text}"))
    };
    let Some(chosen) = chosen else {
        let found = allowed.iter().find_map(|cpu| Some((cpu, sibling(cpu)?)));
        return found.ok_or_else(|| none("the CPUs here".to_owned()));
    };
    let mut cpus = chosen.iter();
    match (cpus.next(), cpus.next(), cpus.next()) {
        (Some(timed), Some(busy), None) => Ok((timed, busy)),
        (Some(timed), None, _) => {
            let busy = sibling(timed)
                .or_else(|| named_sibling(timed))
                .ok_or_else(|| none(format!("CPU {timed}")))?;
            Ok((timed, busy))
        }
        _ => {
            let text =
                format!("--cpus {chosen}: spin-pair takes two CPUs, or one that has a sibling");
            Err(Failure::Unready(text))
        }
    }
}

fn figures(alone_ns: u64, beside_ns: u64) -> Vec<Figure> {
    vec![
        Figure::of(SLOWDOWN, beside_ns as f64 / alone_ns.max(1) as f64),
        Figure::of(ALONE, alone_ns as f64 / 1e9),
        Figure::of(BESIDE, beside_ns as f64 / 1e9),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Missing;

    fn set(list: &str) -> CpuSet {
        CpuSet::parse_list(list).unwrap()
    }

    /// Four cores of two threads, as firmware of two sockets numbers them.
    fn topology(cores: &[&str]) -> Topology {
        let absent = || Missing::absent("topology");
        Topology {
            online: Ok(set("0-7")),
            present: Err(absent()),
            is_by_folders: false,
            standby: CpuSet::default(),
            smt_control: Err(absent()),
            possible: Err(absent()),
            cores: Ok(cores.iter().map(|it| set(it)).collect()),
            packages: Err(absent()),
            core_types: Err(absent()),
        }
    }

    fn found(allowed: &str, chosen: Option<&str>) -> String {
        let topology = topology(&["0,4", "1,5", "2,6", "3,7"]);
        // CPU 7 is isolated: in no task's mask, and available to a task that pins itself there.
        let can_run_on = |cpu| cpu == 7 || set(allowed).contains(cpu);
        match pair(&topology, &set(allowed), chosen.map(set).as_ref(), can_run_on) {
            Ok((timed, busy)) => format!("{timed} beside {busy}"),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn a_sibling_is_found_among_the_cpus_that_may_be_used() {
        assert_eq!(found("0-7", None), "0 beside 4");
        assert_eq!(found("0-3,6", None), "2 beside 6");
        assert_eq!(found("0-7", Some("5")), "5 beside 1");
    }

    #[test]
    fn an_isolated_sibling_is_found_for_whoever_names_its_cpu() {
        assert_eq!(found("0-6", Some("3")), "3 beside 7");
        assert_eq!(found("0-2", Some("3")), "3 beside 7");
        assert!(found("3", None).contains("of the CPUs here the kernel shows none"));
    }

    #[test]
    fn two_cpus_are_taken_as_they_are_and_three_are_not() {
        assert_eq!(found("0-7", Some("1,2")), "1 beside 2");
        assert_eq!(
            found("0-7", Some("1-3")),
            "--cpus 1-3: spin-pair takes two CPUs, or one that has a sibling"
        );
    }

    #[test]
    fn a_core_of_one_thread_is_told_in_words() {
        let text = found("0-3", None);
        let expected =
            "spin-pair needs two threads of a core, and of the CPUs here the kernel shows none";
        assert!(text.starts_with(expected), "{text}");
        assert!(found("0-3", Some("2")).contains("of CPU 2 the kernel shows none"));
    }

    #[test]
    fn the_slowdown_is_the_time_beside_by_the_time_alone() {
        let text: Vec<String> = figures(30_000_000, 45_000_000)
            .iter()
            .map(|it| format!("{} {} {}", it.name, it.value, it.unit))
            .collect();
        assert_eq!(text, ["slowdown 1.5 times", "alone 0.03 s", "beside 0.045 s"]);
    }
}
