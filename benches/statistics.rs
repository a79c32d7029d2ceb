//! What an interval of 1,000 trials by 10,000 draws takes in CPU time: `cargo bench -p xtask --bench statistics`.
//!
//! The lowest and the middle of many runs, by CLOCK_THREAD_CPUTIME_ID: wall time would say more about the other work of the
//! machine. Trials that resemble their neighbours are drawn in blocks, others one by one.
#![expect(clippy::print_stdout, reason = "the results")]

use fastrand::Rng;
use lab::stats::{Bootstrap, Sample, Unfit, bootstrap};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

const RUNS: usize = 50;

fn main() -> Result<(), Unfit> {
    let mut dice = Rng::with_seed(1);
    report("independent trials", |_| 0.03 + 0.001 * dice.f64())?;
    let mut level = 0.03;
    report("trials like their neighbours", |_| {
        level = 0.03 + 0.9 * (level - 0.03) + 0.001 * dice.f64();
        level
    })
}

fn report(name: &str, trial: impl FnMut(u32) -> f64) -> Result<(), Unfit> {
    let trials = Sample::new((0..1000).map(trial).collect())?;
    let wanted = Bootstrap { draws: 10_000, confidence: 0.95 };
    let mut costs = Vec::with_capacity(RUNS);
    for seed in 0..RUNS {
        let before = cpu_time();
        black_box(bootstrap(black_box(&trials), wanted, &mut Rng::with_seed(seed as u64))?);
        costs.push(cpu_time().saturating_sub(before));
    }
    costs.sort_unstable();
    let [lowest, middle] = [costs[0], costs[RUNS / 2]].map(|it| it.as_secs_f64() * 1e3);
    println!("{name}: lowest {lowest:.1} ms, middle {middle:.1} ms");
    Ok(())
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
