//! `cpu-loop`: a loop of floating-point arithmetic whose answer is known.
//!
//! The CPU test that database people run inside their servers, natively: `n = mod(n, 999999) + sqrt(f)` for every `f`
//! from 1 to ten million gives 873729.72 (873729.720152688562 in IEEE double precision). It touches no memory, calls
//! no kernel and depends on itself from step to step, so its time is the clock and nothing else.

use crate::cpu_test::{ITERATIONS, MOST_ITERATIONS, answer, computed, continued, verify};
use crate::failure::Failure;
use crate::threads::{Timed, on_each, outcome, slowest_ns, timed};
use crate::trial::{Figure, FigureShape, Outcome};
use crate::workload::{Pieces, Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
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

With `--vs`, two loops on the same CPU are cut into pieces of about 3 ms, which take turns in random order, so that whatever
disturbs for longer falls on both alike. `elapsed` is then the sum of a loop's pieces, and the clock and the ledger are those
of both. Loops below 6 ms are not cut, nor is one on several CPUs.

## What changes the result
The clock, the design of the core, and whoever else had the CPU meanwhile. It needs neither memory nor the kernel, and each
step waits for the one before.

## What it cannot know
Anything about memory, caches and the kernel: see `memory`, `syscall`. Which of its causes made it slower: the clock and the
ledger that are kept with each trial tell that.
",
    figure: FigureShape::ELAPSED,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::OneCpu,
    preparation: Preparation::Stateless,
    prepare,
};

struct CpuLoop {
    cpus: Option<CpuSet>,
    work: Loop,
}

/// The loop, and what it has to come to.
#[derive(Clone, Copy)]
struct Loop {
    iterations: u64,
    answer: f64,
}

/// A loop of which some pieces are done.
struct CutLoop {
    work: Loop,
    pieces: u32,
    n_done: u32,
    /// The sum so far, and the times of all pieces so far.
    so_far: Timed<f64>,
}

fn prepare(settings: &Settings, _scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let iterations = settings.iterations_up_to(MOST_ITERATIONS, ITERATIONS)?;
    let work = Loop { iterations, answer: answer(iterations) };
    Ok(Box::new(CpuLoop { cpus: settings.cpus()?, work }))
}

impl Ready for CpuLoop {
    fn trial(&mut self, _scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let iterations = self.work.iterations;
        let runs = on_each(self.cpus.as_ref(), || timed(|| computed(black_box(iterations))))?;
        self.work.judge(&runs)
    }

    fn cut(&self, pieces: u32) -> Option<Box<dyn Pieces>> {
        let is_one_thread = self.cpus.as_ref().is_none_or(|it| it.len() == 1);
        let so_far = Timed { answer: 0.0, elapsed_ns: 0, cpu_ns: 0 };
        let cut = CutLoop { work: self.work, pieces: pieces.max(1), n_done: 0, so_far };
        is_one_thread.then(|| Box::new(cut) as Box<dyn Pieces>)
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }
}

impl Loop {
    fn judge(self, runs: &[Timed<f64>]) -> Result<Outcome, Failure> {
        runs.iter().try_for_each(|it| verify(WORKLOAD.id, it.answer, self.answer))?;
        let elapsed = Figure::of(FigureShape::ELAPSED, slowest_ns(runs) as f64 / 1e9);
        Ok(outcome(runs, vec![elapsed]))
    }
}

impl Pieces for CutLoop {
    fn piece(&mut self) -> u64 {
        let end_of = |n: u32| self.work.iterations * u64::from(n) / u64::from(self.pieces);
        let part = end_of(self.n_done) + 1..=end_of(self.n_done + 1);
        let sum = self.so_far.answer;
        let piece = timed(|| continued(black_box(sum), black_box(part)));
        self.n_done += 1;
        self.so_far.answer = piece.answer;
        self.so_far.elapsed_ns += piece.elapsed_ns;
        self.so_far.cpu_ns += piece.cpu_ns;
        piece.elapsed_ns
    }

    fn outcome(&self) -> Result<Outcome, Failure> {
        self.work.judge(std::slice::from_ref(&self.so_far))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_test::answer;

    fn cut(iterations: u64, pieces: u32, n_done: u32) -> Result<Outcome, Failure> {
        let work = Loop { iterations, answer: answer(iterations) };
        let mut cut = CpuLoop { cpus: None, work }.cut(pieces).unwrap();
        let elapsed_ns: u64 = (0..n_done).map(|_| cut.piece()).sum();
        let outcome = cut.outcome()?;
        assert_eq!(outcome.elapsed_ns.value(), Some(&elapsed_ns));
        Ok(outcome)
    }

    #[test]
    fn pieces_make_up_the_whole_loop_to_the_last_bit() {
        for (iterations, pieces) in [(1000, 1), (1000, 7), (12_345, 64), (3, 10)] {
            let outcome = cut(iterations, pieces, pieces).unwrap();
            assert_eq!((outcome.tasks, outcome.figures.len()), (1, 1), "{iterations} in {pieces}");
        }
    }

    #[test]
    fn a_piece_that_is_not_done_is_a_wrong_answer() {
        let text = cut(1000, 7, 6).unwrap_err().to_string();
        assert!(text.starts_with("WRONG ANSWER: cpu-loop"), "{text}");
    }

    #[test]
    fn a_loop_on_several_cpus_at_once_cannot_be_cut() {
        let work = Loop { iterations: 1000, answer: 0.0 };
        let on = |cpus: &str| CpuLoop { cpus: Some(CpuSet::parse_list(cpus).unwrap()), work };
        assert!(on("0-1").cut(4).is_none() && on("1").cut(4).is_some());
    }
}
