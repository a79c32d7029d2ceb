//! `cpu-speed`: how many million simple operations a second a CPU does, and at what clock.
//!
//! Databases calibrate their optimizers by such a figure; on one appliance it was 673 where a healthy machine of the same
//! processor had 2713, since firmware had left the clock at a duty cycle of 25 %. The figure is the program's own, and no
//! database's: a simple operation here is one step of a linear congruential generator, a multiplication and an
//! addition of 64 bits, each of which waits for the one before. Where it must end is known for any number of steps.

use crate::failure::Failure;
use crate::threads::{Timed, on_each, outcome, timed};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::probe::ClockReading;
use facts::{CpuSet, Fact};
use host::probe::{Windows, clock};
use std::hint::black_box;

pub(super) const WORKLOAD: Workload = Workload {
    id: "cpu-speed",
    title: "million simple operations a second, the clock, and cycles for each",
    help: "\
## What it does
Does 25 million simple operations, each a multiplication and an addition of 64 bits that need the result of the one before,
and checks the answer. `speed` is in million operations a second. With `--cpus` the clock is probed right before and right
after on the same CPU: `clock` is its mean in GHz, and `cycles` what one operation took. A trial in which the clock could not
be read has no `clock` and no `cycles`. With several CPUs each does all operations at the same time, and the figures are
those of the slowest. `--iterations` is the number of operations.

`--peers FILE` takes lines like `MODEL ; SPEED`, with the model as in /proc/cpuinfo, or results of this workload.
`--print-sql oracle` writes a script that makes Oracle measure its own figure (CPUSPEEDNW), and `--parse FILE` reads what
that printed.

## What changes the result
`cycles` belongs to the design of the core, whatever the clock: 4 where a multiplication takes 3 and an addition 1, as on
Intel's big cores since Sandy Bridge and AMD's since Zen (Agner Fog, Instruction tables,
https://www.agner.org/optimize/instruction_tables.pdf). More than on other machines of the model means that somebody else
had the CPU for a part of the time. `speed` is then the clock and nothing else, which makes it a figure to compare between
machines of one model. One that is far slower than its peers has something wrong that no setting on it may show: firmware
left a published one at 673 of 2713, by a clock modulated to a duty cycle of 25 %.

## What it cannot know
What other code does with a clock. Figures of databases count other operations, and compare with their own kind only.
",
    figure: SPEED,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::OneCpu,
    preparation: Preparation::Stateless,
    prepare,
};

const SPEED: FigureShape = FigureShape { name: "speed", unit: "M/s", better: Better::Higher };
const CLOCK: FigureShape = FigureShape { name: "clock", unit: "GHz", better: Better::Higher };
const CYCLES: FigureShape =
    FigureShape { name: "cycles", unit: "per operation", better: Better::Lower };

/// A hundred million cycles, some hundredths of a second.
const OPERATIONS: u64 = 25_000_000;

/// Some seconds.
const MOST_OPERATIONS: u64 = 5_000_000_000;

/// The generator MMIX (Knuth, "The Art of Computer Programming" 2, section 3.3.4).
const STEP: Step = Step { factor: 6_364_136_223_846_793_005, addend: 1_442_695_040_888_963_407 };

const START: u64 = 1;

struct Speed {
    cpus: Option<CpuSet>,
    operations: u64,
    answer: u64,
}

/// What one CPU did, and its clock around it; no clock where the thread may move.
struct Run {
    work: Timed<u64>,
    clock: Option<Fact<f64>>,
}

fn prepare(settings: &Settings, _scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let operations = settings.iterations_up_to(MOST_OPERATIONS, OPERATIONS)?;
    let answer = STEP.times(operations).of(START);
    Ok(Box::new(Speed { cpus: settings.cpus()?, operations, answer }))
}

impl Ready for Speed {
    fn trial(&mut self, _scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let is_pinned = self.cpus.is_some();
        let runs = on_each(self.cpus.as_ref(), || run(self.operations, is_pinned))?;
        runs.iter().try_for_each(|it| self.check(it.work.answer))?;
        let figures = figures(self.operations, &runs);
        let work: Vec<Timed<u64>> = runs.into_iter().map(|it| it.work).collect();
        Ok(outcome(&work, figures))
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }
}

impl Speed {
    fn check(&self, found: u64) -> Result<(), Failure> {
        if found == self.answer {
            return Ok(());
        }
        let expected = self.answer.to_string();
        Err(Failure::WrongAnswer { workload: WORKLOAD.id, found: found.to_string(), expected })
    }
}

fn run(operations: u64, is_pinned: bool) -> Run {
    let probed = || is_pinned.then(|| clock(Windows::SHORT));
    let before = probed();
    let work = timed(|| computed(black_box(operations)));
    let mean_hz = |(before, after): (Fact<ClockReading>, Fact<ClockReading>)| -> Fact<f64> {
        Ok(f64::midpoint(before?.mean.0 as f64, after?.mean.0 as f64))
    };
    Run { work, clock: before.zip(probed()).map(mean_hz) }
}

/// Does the operations one after the other.
#[inline(never)]
fn computed(operations: u64) -> u64 {
    // Factors that the compiler knew could be multiplied with each other, for several steps at once.
    let step = black_box(STEP);
    (0..operations).fold(black_box(START), |value, _| step.of(value))
}

/// One step of the generator, or several: they are of the same form.
#[derive(Clone, Copy)]
struct Step {
    factor: u64,
    addend: u64,
}

impl Step {
    #[inline(always)]
    fn of(self, value: u64) -> u64 {
        value.wrapping_mul(self.factor).wrapping_add(self.addend)
    }

    /// This step and then `next`, as one.
    fn then(self, next: Step) -> Step {
        let factor = self.factor.wrapping_mul(next.factor);
        Step { factor, addend: next.of(self.addend) }
    }

    /// So many steps as one, by squaring.
    fn times(self, count: u64) -> Step {
        let (mut all, mut power, mut left) = (Step { factor: 1, addend: 0 }, self, count);
        while left > 0 {
            if left & 1 == 1 {
                all = all.then(power);
            }
            power = power.then(power);
            left >>= 1;
        }
        all
    }
}

/// Of the slowest CPU.
fn figures(operations: u64, runs: &[Run]) -> Vec<Figure> {
    let Some(slowest) = runs.iter().max_by_key(|it| it.work.elapsed_ns) else { return Vec::new() };
    let elapsed_ns = slowest.work.elapsed_ns.max(1) as f64;
    let operations = operations as f64;
    // A thousand operations in a microsecond are a thousand million in a second.
    let mut figures = vec![Figure::of(SPEED, operations * 1e3 / elapsed_ns)];
    if let Some(Ok(hertz)) = &slowest.clock {
        figures.push(Figure::of(CLOCK, hertz / 1e9));
        figures.push(Figure::of(CYCLES, elapsed_ns * (hertz / 1e9) / operations));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Missing;

    #[test]
    fn the_answer_is_that_of_every_step_taken() {
        for operations in [0, 1, 2, 3, 1000, 123_457] {
            assert_eq!(computed(operations), STEP.times(operations).of(START), "{operations}");
        }
        assert_eq!(computed(1), 7_806_831_264_735_756_412);
    }

    #[test]
    fn a_wrong_answer_is_told_loudly() {
        let speed = Speed { cpus: None, operations: 1, answer: 7 };
        let text = speed.check(8).unwrap_err().to_string();
        assert!(text.starts_with("WRONG ANSWER: cpu-speed computed 8, and 7 is right"), "{text}");
    }

    fn figures_of(runs: &[(u64, Option<Fact<f64>>)]) -> String {
        let run = |(ms, clock): &(u64, Option<Fact<f64>>)| {
            let work = Timed { answer: 0, elapsed_ns: ms * 1_000_000, cpu_ns: 1 };
            Run { work, clock: clock.clone() }
        };
        let runs: Vec<Run> = runs.iter().map(run).collect();
        let figures = figures(25_000_000, &runs);
        let text = figures.iter().map(|it| format!("{} {} {}", it.name, it.value, it.unit));
        text.collect::<Vec<_>>().join(", ").trim_end().to_owned()
    }

    #[test]
    fn figures_are_those_of_the_slowest_cpu() {
        let runs = [(40, Some(Ok(2.5e9))), (50, Some(Ok(2e9)))];
        assert_eq!(figures_of(&runs), "speed 500 M/s, clock 2 GHz, cycles 4 per operation");
    }

    #[test]
    fn a_clock_that_is_not_known_makes_no_figure() {
        assert_eq!(figures_of(&[(50, None)]), "speed 500 M/s");
        let missing = Err(Missing::absent("a clock"));
        assert_eq!(figures_of(&[(50, Some(missing))]), "speed 500 M/s");
        assert_eq!(figures_of(&[]), "");
    }
}
