//! `memory`: how long one access takes that must wait for memory, and how fast a CPU reads memory in order.
//!
//! The chain is a random cycle through a buffer larger than the last-level cache: each line names the next, so no access
//! can begin before the one before it has ended, and no prefetcher can guess it. Both depend on the uncore's clock
//! (intel_uncore_frequency, or the data fabric), which may stay low while the cores' clock is high, on the node that the
//! memory is on, and on other CPUs' traffic. What of it is the walk of page tables cannot be told apart.

mod chain;
mod size;

use crate::failure::Failure;
use crate::known::Known;
use crate::threads::{Timed, by_rank, on, outcome, slowest_ns, timed};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use chain::{Chain, LINE};
use facts::CpuSet;
use host::Live;
use std::sync::atomic::AtomicBool;

pub(super) const WORKLOAD: Workload = Workload {
    id: "memory",
    title: "the latency of dependent accesses to memory, and its bandwidth",
    help: "\
## What it does
Follows a chain of two million accesses, each to an address that only the one before tells, at random through a buffer of
eight times the last-level cache; `latency` is the mean of one. Then reads the whole buffer in order: `bandwidth`. Where the
chain ends, and the sum of what was read, are checked.

With several CPUs, all go through the same buffer at the same time from different places: `latency` is that of the slowest,
`bandwidth` the sum of all until the last has ended. The buffer is filled by the first of `--cpus`, so on its node. It takes
no more than a quarter of the available memory; where that is too little for the cache, it says so and does nothing.
`--iterations` is the number of accesses.

## What changes the result
Compare it with a machine of the same model. More latency means memory of another node (`numactl --hardware` tells the
distances), a low clock of the uncore or the fabric, or CPUs that wait for a busy bus. A database that follows pointers
(B-trees, hash joins) waits for latency; one that scans, for bandwidth.

## What it cannot know
The latency of memory alone: about one access in eight finds its line in the cache, and most also walk the page tables, since
pages are of 4 KiB unless transparent huge pages are `always` (what they are set to is kept with the result). One CPU cannot
use up the bandwidth of a server's memory.
",
    figure: LATENCY,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::OneCpu,
    preparation: Preparation::Dear,
    prepare,
};

const LATENCY: FigureShape = FigureShape { name: "latency", unit: "ns", better: Better::Lower };
const BANDWIDTH: FigureShape =
    FigureShape { name: "bandwidth", unit: "GB/s", better: Better::Higher };

/// Some tenths of a second.
const ACCESSES: u64 = 2_000_000;

/// Minutes.
const MOST_ACCESSES: u64 = 1_000_000_000;

struct Memory {
    cpus: Option<CpuSet>,
    chain: Chain,
    accesses: u64,
    about: Vec<(String, String)>,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let accesses = settings.iterations_up_to(MOST_ACCESSES, ACCESSES)?;
    let cpus = settings.cpus()?;
    let first = cpus.as_ref().unwrap_or(&scene.allowed).first().unwrap_or_default();
    let live = Live::this_machine();
    let size = size::of_buffer(&live, first)?;
    let n_lines = size.bytes / LINE;
    // Memory is on the node of the CPU that writes it first (Documentation/admin-guide/mm/numa_memory_policy.rst).
    let chain = match &cpus {
        Some(_) => on(first, || Chain::through(n_lines, scene.stop))??,
        None => Chain::through(n_lines, scene.stop)?,
    };
    Ok(Box::new(Memory { cpus, chain, accesses, about: size.about }))
}

impl Ready for Memory {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let followed = self.all(|rank, n| self.follow(rank, n, scene.stop))?;
        let read = self.all(|rank, n| self.read(rank, n, scene.stop))?;
        let figures = self.figures(&followed, &read);
        let (chain, scan) = (outcome(&followed, figures), outcome(&read, Vec::new()));
        Ok(Outcome {
            elapsed_ns: Known::sum([chain.elapsed_ns, scan.elapsed_ns]),
            cpu_ns: Known::sum([chain.cpu_ns, scan.cpu_ns]),
            ..chain
        })
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    fn about(&self) -> Vec<(String, String)> {
        self.about.clone()
    }
}

impl Memory {
    /// Times `work` on all CPUs at once; its arguments are the thread's number and the number of threads.
    fn all(
        &self,
        work: impl Fn(usize, usize) -> Result<(), Failure> + Sync,
    ) -> Result<Vec<Timed<()>>, Failure> {
        let n = self.cpus.as_ref().map_or(1, CpuSet::len);
        let runs = by_rank(self.cpus.as_ref(), |rank| timed(|| work(rank, n)))?;
        let right = runs.into_iter().map(|it| {
            let Timed { answer, elapsed_ns, cpu_ns } = it;
            answer.map(|answer| Timed { answer, elapsed_ns, cpu_ns })
        });
        right.collect()
    }

    fn follow(&self, rank: usize, n: usize, stop: &AtomicBool) -> Result<(), Failure> {
        let start = self.chain.place(rank, n);
        let end = self.chain.follow(start, self.accesses, stop)?;
        let expected = self.chain.position_after(start, self.accesses);
        check("position", self.chain.position(end), expected)
    }

    fn read(&self, rank: usize, n: usize, stop: &AtomicBool) -> Result<(), Failure> {
        let sum = self.chain.sum(self.chain.place(rank, n), stop)?;
        check("sum", sum, self.chain.right_sum())
    }

    fn figures(&self, followed: &[Timed<()>], read: &[Timed<()>]) -> Vec<Figure> {
        let bytes = (self.chain.n_lines() * LINE) as f64 * read.len() as f64;
        vec![
            Figure::of(LATENCY, slowest_ns(followed) as f64 / self.accesses as f64),
            // Bytes in a nanosecond are gigabytes in a second.
            Figure::of(BANDWIDTH, bytes / slowest_ns(read).max(1) as f64),
        ]
    }
}

fn check(what: &str, found: u64, expected: u64) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let [found, expected] = [found, expected].map(|it| format!("{what} {it}"));
    Err(Failure::WrongAnswer { workload: WORKLOAD.id, found, expected })
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::probe::allowed;

    fn small(cpus: Option<CpuSet>) -> Memory {
        let chain = Chain::through(1000, &AtomicBool::new(false)).unwrap();
        Memory { cpus, chain, accesses: 2500, about: Vec::new() }
    }

    #[test]
    fn every_cpu_comes_out_where_it_should_and_reads_everything() {
        let host = host::view(&Live::this_machine());
        let (allowed, temporary) = (allowed().unwrap(), std::path::PathBuf::new());
        let stop = AtomicBool::new(false);
        let scene = Scene { host: &host, allowed: allowed.clone(), temporary, stop: &stop };
        for cpus in [None, Some(allowed)] {
            let outcome = small(cpus).trial(&scene).unwrap();
            let names: Vec<&str> = outcome.figures.iter().map(|it| it.name).collect();
            assert_eq!(names, ["latency", "bandwidth"]);
            assert!(outcome.figures.iter().all(|it| it.value.is_finite()), "{outcome:?}");
        }
    }

    #[test]
    fn figures_are_of_the_slowest_cpu_and_of_all_of_them_together() {
        let run = |elapsed_ns| Timed { answer: (), elapsed_ns, cpu_ns: 1 };
        let figures = small(None).figures(&[run(250_000), run(200_000)], &[run(6400), run(12_800)]);
        let text: Vec<String> =
            figures.iter().map(|it| format!("{} {} {}", it.name, it.value, it.unit)).collect();
        assert_eq!(text, ["latency 100 ns", "bandwidth 10 GB/s"]);
    }

    #[test]
    fn a_chain_that_ends_elsewhere_is_told_loudly() {
        let text = check("position", 7, 8).unwrap_err().to_string();
        assert!(
            text.starts_with("WRONG ANSWER: memory computed position 7, and position 8 is right"),
            "{text}"
        );
    }
}
