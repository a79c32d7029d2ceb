//! `all-cores`: the CPU test on every CPU at once, compared with one CPU alone.
//!
//! What all cores do together is less than one alone times their number: the turbo of many cores is lower than that of
//! one (Intel SDM vol. 3, MSR_TURBO_RATIO_LIMIT), power and heat have limits for the package, threads of a core share its
//! units, and a hypervisor or a quota may give fewer CPUs than it shows. Which of them it was, the ledger beside the
//! trial tells, not these figures.

use crate::cpu_test::{ITERATIONS, MOST_ITERATIONS, answer, computed, verify};
use crate::failure::Failure;
use crate::threads::{Timed, on_each, outcome, slowest_ns, timed};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use std::hint::black_box;
use std::sync::atomic::Ordering;

pub(super) const WORKLOAD: Workload = Workload {
    id: "all-cores",
    title: "the CPU test on every CPU at once, compared with one alone",
    help: "\
## What it does
Runs the CPU test (see `cpu-loop`) on the first CPU alone, then on all chosen CPUs at once; without `--cpus` on all that this
program may use. `throughput` is what they do together, in million iterations a second, until the last has ended; `slowest`
and `fastest` are single CPUs of them, `alone` is the first CPU before that. `scaling` is `throughput` divided by `alone` and
by the number of CPUs: 100 % would be no loss. Elapsed and CPU time are those of the part in which all ran.

## What changes the result
Less than 100 % is normal: turbo falls with the number of busy cores (a Xeon E5-2680 has 3.5 GHz for one and 3.1 GHz for all),
and two threads of one core share it (see `spin-pair`). Below that, look for a power or heat limit (`fullclock watch`), a CPU
quota, a hypervisor that has fewer CPUs than it shows, or other work. A `slowest` far below `fastest` is one core with a
problem of its own, or somebody else's work on it: `cpu-loop --sweep` finds it.

## What it cannot know
The test lives in registers: memory bandwidth shared by all cores is not in it (see `memory`). Which limit was met, the
ledger beside the trials tells and not these figures.
",
    figure: THROUGHPUT,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::Own,
    preparation: Preparation::Stateless,
    prepare,
};

const THROUGHPUT: FigureShape = rate("throughput");
const SLOWEST: FigureShape = rate("slowest");
const FASTEST: FigureShape = rate("fastest");
const ALONE: FigureShape = rate("alone");
const SCALING: FigureShape = FigureShape { name: "scaling", unit: "%", better: Better::Higher };

const fn rate(name: &'static str) -> FigureShape {
    FigureShape { name, unit: "M/s", better: Better::Higher }
}

struct AllCores {
    cpus: CpuSet,
    first: CpuSet,
    iterations: u64,
    answer: f64,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let iterations = settings.iterations_up_to(MOST_ITERATIONS, ITERATIONS)?;
    let cpus = settings.cpus()?.unwrap_or_else(|| scene.allowed.clone());
    let first = cpus.first().into_iter().collect();
    Ok(Box::new(AllCores { cpus, first, iterations, answer: answer(iterations) }))
}

impl Ready for AllCores {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let alone = self.run(&self.first)?;
        if scene.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let together = self.run(&self.cpus)?;
        let figures = figures(self.iterations, slowest_ns(&alone), &together);
        Ok(outcome(&together, figures))
    }

    fn cpus(&self) -> Option<&CpuSet> {
        Some(&self.cpus)
    }

    fn about(&self) -> Vec<(String, String)> {
        vec![("CPUs".to_owned(), self.cpus.to_string())]
    }
}

impl AllCores {
    fn run(&self, cpus: &CpuSet) -> Result<Vec<Timed<f64>>, Failure> {
        let iterations = self.iterations;
        let runs = on_each(Some(cpus), || timed(|| computed(black_box(iterations))))?;
        runs.iter().try_for_each(|it| verify(WORKLOAD.id, it.answer, self.answer))?;
        Ok(runs)
    }
}

fn figures(iterations: u64, alone_ns: u64, together: &[Timed<f64>]) -> Vec<Figure> {
    // A thousand iterations in a microsecond are a thousand million in a second. A clock that did not move is no
    // reason to divide by zero.
    let rate = |ns: u64| iterations as f64 * 1e3 / ns.max(1) as f64;
    let fastest_ns = together.iter().map(|it| it.elapsed_ns).min().unwrap_or_default();
    let n_cpus = together.len() as f64;
    let throughput = rate(slowest_ns(together)) * n_cpus;
    let alone = rate(alone_ns);
    vec![
        Figure::of(THROUGHPUT, throughput),
        Figure::of(SLOWEST, rate(slowest_ns(together))),
        Figure::of(FASTEST, rate(fastest_ns)),
        Figure::of(ALONE, alone),
        Figure::of(SCALING, throughput / (alone * n_cpus) * 100.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten million iterations in 30 ms alone; the clock falls to two thirds with both, and one has a problem.
    #[test]
    fn what_all_do_together_is_what_the_slowest_lets_them() {
        let run = |ms: u64| Timed { answer: 0.0, elapsed_ns: ms * 1_000_000, cpu_ns: 1 };
        let figures = figures(10_000_000, 30_000_000, &[run(40), run(50)]);
        let text: Vec<String> =
            figures.iter().map(|it| format!("{} {:.1} {}", it.name, it.value, it.unit)).collect();
        let expected = [
            "throughput 400.0 M/s",
            "slowest 200.0 M/s",
            "fastest 250.0 M/s",
            "alone 333.3 M/s",
            "scaling 60.0 %",
        ];
        assert_eq!(text, expected);
    }
}
