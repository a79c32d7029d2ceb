//! `cpu-loop`: a loop of floating-point arithmetic whose answer is known.
//!
//! The CPU test that database people run inside their servers, natively: `n = mod(n, 999999) + sqrt(f)` for every `f`
//! from 1 to ten million gives 873729.72 (873729.720152688562 in IEEE double precision). It touches no memory, calls
//! no kernel and depends on itself from step to step, so its time is the clock and nothing else.

use crate::cpu_test::{ITERATIONS, MOST_ITERATIONS, answer, computed, verify};
use crate::failure::Failure;
use crate::threads::{on_each, outcome, slowest_ns, timed};
use crate::trial::{Better, Figure, Outcome};
use crate::workload::{FigureShape, Placement, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use std::hint::black_box;

pub(super) const WORKLOAD: Workload = Workload {
    id: "cpu-loop",
    title: "a loop of arithmetic with a known answer",
    help: "\
## What it does
Adds up ten million square roots, each time taking the remainder of a division by 999999, and checks the answer,
873729.72, bit for bit. A wrong answer means broken hardware or a broken build. `elapsed` is what one such loop took.

With several CPUs, each runs the whole loop at the same time, and the figure is that of the slowest. `--sweep` runs it on
each CPU in turn, which finds the slow core. `--iterations` makes it longer or shorter; the answer of a count other than
ten million is checked against a second run of the same loop before the first trial.

## What moves its figures
The clock, the design of the core, and whoever else had the CPU meanwhile. It needs neither memory nor the kernel, and each
step waits for the one before.

## What it cannot know
Anything about memory, caches and the kernel: see `memory`, `syscall`. Which of its causes made it slower: the clock and the
ledger that are kept with each trial tell that.
",
    figure: FIGURE,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::OneCpu,
    prepare,
};

const FIGURE: FigureShape = FigureShape { name: "elapsed", unit: "s", better: Better::Lower };

struct CpuLoop {
    cpus: Option<CpuSet>,
    iterations: u64,
    answer: f64,
}

fn prepare(settings: &Settings, _scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let iterations = settings.iterations_up_to(MOST_ITERATIONS, ITERATIONS)?;
    let answer = answer(iterations);
    Ok(Box::new(CpuLoop { cpus: settings.cpus()?, iterations, answer }))
}

impl Ready for CpuLoop {
    fn trial(&mut self, _scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let iterations = self.iterations;
        let runs = on_each(self.cpus.as_ref(), || timed(|| computed(black_box(iterations))))?;
        runs.iter().try_for_each(|it| verify(WORKLOAD.id, it.answer, self.answer))?;
        let elapsed = Figure::of(FIGURE, slowest_ns(&runs) as f64 / 1e9);
        Ok(outcome(&runs, vec![elapsed]))
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }
}
