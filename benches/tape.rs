//! What a minute of samples takes on a tape, and what writing and reading it takes in CPU time.
//!
//! `cargo bench -p xtask --bench tape`. This machine is sampled for a minute, a sample a second, as `watch` does it;
//! the large one is made up by `xtask tree`, and each of its counters that is not 0 goes on at a random pace.
#![expect(clippy::print_stdout, reason = "the results")]

use facts::counters::{Counters, Family};
use facts::probe::ClockReading;
use facts::tape::Sample;
use facts::{CpuSet, PerCpu};
use host::counters::{Processes, Sampler, Wanted};
use host::probe::{Windows, clock, pinned};
use host::tape::{Existing, Reader, Writer};
use host::{Live, Recording, Source, view};
use rules::metrics::METRICS;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

const SAMPLES: u64 = 60;

fn main() -> anyhow::Result<()> {
    println!("{} metrics; {SAMPLES} samples, a second apart", METRICS.len());
    let everybody = Wanted { tasks: Some(Processes::All), ..Wanted::watch() };
    let machines = [
        ("kernel threads", Wanted::watch(), false),
        ("kernel threads, every clock probed", Wanted::watch(), true),
        ("all tasks", everybody, false),
    ];
    for (name, wanted, is_probed) in machines {
        let live = Live::this_machine();
        let mut sampler = Sampler::open(Live::this_machine(), &view(&live), wanted);
        report(&format!("this machine, {name}"), &live, |sample, _| {
            std::thread::sleep(Duration::from_secs(1));
            sampler.sample(&mut sample.counters);
            if is_probed {
                sample.clocks = clocks(&sample.counters.online);
            }
        })?;
    }
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let root = folder.path().to_string_lossy().into_owned();
    xtask::tree::run(&["--cpus".to_owned(), "1024".to_owned(), root])?;
    let copy = Live::copy(folder.path())?;
    let mut sampler = Sampler::open(Live::copy(folder.path())?, &view(&copy), Wanted::watch());
    let mut dice = Dice(1);
    report("1,024 CPUs, made up", &copy, |sample, second| match second {
        0 => sampler.sample(&mut sample.counters),
        _ => advance(&mut sample.counters, &mut dice),
    })
}

/// What the probe finds on each CPU, as on a machine whose CPUs are all busy and count no cycles.
fn clocks(cpus: &CpuSet) -> PerCpu<ClockReading> {
    cpus.iter().map(|cpu| (cpu, pinned(cpu, || clock(Windows::SHORT)).flatten())).collect()
}

fn report(
    name: &str,
    source: &dyn Source,
    mut sample: impl FnMut(&mut Sample, u64),
) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("tape");
    let recording = Recording::new(source);
    view(&recording);
    let mut writer = Writer::create(&path, Existing::Refuse, &recording)?;
    let label = writer.length();
    let mut taken = Sample::from(Counters::unread());
    let (mut key, mut writing) = (0, Duration::ZERO);
    for second in 0..SAMPLES {
        sample(&mut taken, second);
        let before = cpu_time();
        writer.append(&taken)?;
        writing += cpu_time().saturating_sub(before);
        if second == 0 {
            key = writer.length() - label;
        }
    }
    let (n_cpus, length) = (taken.counters.online.len() as u64, writer.length());
    let each = |bytes: u64| bytes as f64 / (n_cpus * SAMPLES * METRICS.len() as u64) as f64;
    println!("{name}: {n_cpus} CPUs");
    println!(
        "  label {label}, key frame {key}, others {} bytes each",
        (length - label - key) / (SAMPLES - 1)
    );
    println!(
        "  a CPU, metric and sample: {:.2} bytes; {:.2} with the label",
        each(length - label),
        each(length)
    );
    println!(
        "  writing {:.0?}, reading {:.0?} a sample",
        writing / SAMPLES as u32,
        reading(&path)?
    );
    Ok(())
}

/// The CPU time of reading one sample.
fn reading(path: &Path) -> anyhow::Result<Duration> {
    let before = cpu_time();
    let n_samples = Reader::<File>::open(path)?.filter(Result::is_ok).count();
    Ok(cpu_time().saturating_sub(before) / u32::try_from(n_samples)?)
}

/// A second later.
fn advance(counters: &mut Counters, dice: &mut Dice) {
    counters.at.raw_ns += 1_000_000_000 + dice.below(100_000);
    counters.at.boot_ns = counters.at.raw_ns;
    let at = counters.at.raw_ns;
    for &family in Family::ALL {
        let Ok(table) = counters.table_mut(family) else { continue };
        let read_at = at + dice.below(1_000_000);
        for row in 0..table.rows().len() {
            for cell in table.row_mut(row, read_at).iter_mut().filter(|cell| **cell > 0) {
                *cell += dice.below(pace(family));
            }
        }
    }
    if let Ok(tasks) = &mut counters.tasks {
        for task in &mut tasks.list {
            if dice.below(4) > 0 {
                continue;
            }
            task.run_ns += dice.below(1_000_000);
            task.wait_ns += dice.below(100_000);
            task.slices += dice.below(10);
        }
    }
}

/// How far a counter goes in a second, at most, in its own unit.
fn pace(family: Family) -> u64 {
    match family {
        Family::CpuTimes => 100,
        Family::IdleTime => 1_000_000,
        Family::RunTime | Family::IdleSleep => 1_000_000_000,
        Family::Clocks | Family::CoreResidency | Family::PackageResidency => 3_000_000_000,
        Family::Throttling | Family::TickStops => 2,
        Family::CoreLimits | Family::PackageLimits => 1,
        Family::PowerLimited => 1000,
        Family::Temperature | Family::Energy | Family::Pressure => 1000,
        Family::Totals | Family::Interrupts | Family::Softirqs | Family::IdleUsage => 1000,
        Family::ContextSwitches | Family::TimerEntries => 10_000,
    }
}

/// The same numbers in every run (xorshift; Marsaglia, "Xorshift RNGs", 2003).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
