//! Records the noise of this machine: timings of the same CPU loop over and over, with the clock around each.
//!
//! `cargo bench -p xtask --bench record_noise -- N > FILE`. Runs N trials on the last CPU it may use, in about 32 ms
//! each of that CPU's time. What it wrote once lies in `crates/lab/fixtures`, where the simulations draw from it.
#![expect(clippy::print_stdout, reason = "the recording")]
#![expect(clippy::disallowed_methods, reason = "asks what else runs, and reads its arguments")]

use facts::Missing;
use host::probe::{Windows, allowed, clock, pinned};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

/// As many iterations as the CPU test of the published cases has: about 30 ms.
const ITERATIONS: u32 = 10_000_000;

fn main() -> Result<(), Missing> {
    // `cargo bench` adds `--bench` to the arguments.
    let n_trials = std::env::args().find_map(|it| it.parse().ok()).unwrap_or(2000);
    let cpu = allowed()?.last().ok_or_else(|| Missing::absent("a CPU to run on"))?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "# {n_trials} trials of {ITERATIONS} iterations on CPU {cpu}; /proc/loadavg before: {}",
        load.trim()
    );
    println!("elapsed_us,cpu_us,before_mhz,after_mhz");
    pinned(cpu, || {
        for _ in 0..n_trials {
            println!("{}", trial());
        }
    })?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("# /proc/loadavg after: {}", load.trim());
    Ok(())
}

/// One line: where the clock could not be read, its field is empty.
fn trial() -> String {
    let before = megahertz();
    let (wall, cpu) = (now_us(ClockId::Monotonic), now_us(ClockId::ThreadCPUTime));
    black_box(answer(black_box(ITERATIONS)));
    let cpu = now_us(ClockId::ThreadCPUTime) - cpu;
    let wall = now_us(ClockId::Monotonic) - wall;
    format!("{wall},{cpu},{before},{}", megahertz())
}

fn megahertz() -> String {
    clock(Windows::SHORT).map(|it| format!("{:.1}", it.mean.mhz())).unwrap_or_default()
}

fn answer(iterations: u32) -> f64 {
    (1..=iterations).fold(0.0, |sum: f64, it| sum % 999_999.0 + f64::from(it).sqrt())
}

fn now_us(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}
