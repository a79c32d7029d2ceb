//! The native CPU test beside a C build of it with -O2: `cargo bench -p xtask --bench cpu_loop -- [PAIRS]`.
//!
//! Both run on the last CPU that may be used, in turn, which of them first alternating; the C program waits for its
//! turn without using the CPU. Needs a C compiler (`cc`). Other work on that CPU is in elapsed times, and hardly in those
//! on the CPU.
#![expect(clippy::print_stdout, reason = "prints its figures")]
#![expect(
    clippy::disallowed_methods,
    reason = "compiles and runs a program, and reads its arguments"
)]

use anyhow::{Context, Result, bail, ensure};
use facts::CpuSet;
use host::Live;
use host::probe::{allowed, pinned};
use lab::known::Known;
use lab::stats::{Sample, median};
use lab::workload::{Ready, Scene, Settings};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;

const ITERATIONS: u64 = 10_000_000;

/// Nanoseconds of one run.
#[derive(Clone, Copy)]
struct Took {
    elapsed: f64,
    cpu: f64,
}

fn main() -> Result<()> {
    // `cargo bench` adds `--bench` to the arguments.
    let n_pairs = std::env::args().find_map(|it| it.parse().ok()).unwrap_or(200);
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("cpu_loop");
    compile(&program)?;
    let cpu = allowed()?.last().context("no CPU to run on")?;
    // A program inherits where its parent may run.
    let mut c = pinned(cpu, || InC::start(&program))??;
    let host = host::view(&Live::this_machine());
    let cpus: CpuSet = [cpu].into_iter().collect();
    let scene = Scene {
        host: &host,
        allowed: cpus.clone(),
        temporary: folder.path().to_owned(),
        stop: &AtomicBool::new(false),
    };
    let settings = Settings { cpus: Some(cpus.to_string()), ..Settings::default() };
    let workload = lab::workloads::find("cpu-loop").context("no cpu-loop")?;
    let mut native = (workload.prepare)(&settings, &scene)?;
    let mut pairs = Vec::new();
    for pair in 0..n_pairs {
        let both = if pair % 2 == 0 {
            let first = natively(native.as_mut(), &scene)?;
            (first, c.run()?)
        } else {
            let first = c.run()?;
            (natively(native.as_mut(), &scene)?, first)
        };
        pairs.push(both);
    }
    println!("{n_pairs} pairs of {ITERATIONS} iterations on CPU {cpu}");
    report("on the CPU", &pairs, |it| it.cpu)?;
    report("elapsed", &pairs, |it| it.elapsed)
}

fn compile(program: &Path) -> Result<()> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/cpu_loop.c");
    let status = Command::new("cc").args(["-O2", source, "-o"]).arg(program).arg("-lm").status();
    ensure!(status.context("cc")?.success(), "cc cannot compile {source}");
    Ok(())
}

fn natively(native: &mut dyn Ready, scene: &Scene<'_>) -> Result<Took> {
    let outcome = native.trial(scene)?;
    let (Known::Value(elapsed), Known::Value(cpu)) = (outcome.elapsed_ns, outcome.cpu_ns) else {
        bail!("no elapsed time, or no time on the CPU")
    };
    Ok(Took { elapsed: elapsed as f64, cpu: cpu as f64 })
}

struct InC {
    child: Child,
    asked: ChildStdin,
    answered: BufReader<ChildStdout>,
}

impl InC {
    fn start(program: &Path) -> Result<InC> {
        let mut command = Command::new(program);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let asked = child.stdin.take().context("no standard input")?;
        let answered = BufReader::new(child.stdout.take().context("no standard output")?);
        Ok(InC { child, asked, answered })
    }

    fn run(&mut self) -> Result<Took> {
        writeln!(self.asked, "{ITERATIONS}")?;
        let mut line = String::new();
        self.answered.read_line(&mut line)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [answer, elapsed, cpu] = words[..] else { bail!("the C program printed {line:?}") };
        ensure!(answer.parse::<f64>()? == 873_729.720_152_688_6, "the C program computed {answer}");
        Ok(Took { elapsed: elapsed.parse()?, cpu: cpu.parse()? })
    }
}

impl Drop for InC {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill().is_err();
        let _reaped = self.child.wait().is_err();
    }
}

fn report(what: &str, pairs: &[(Took, Took)], of: impl Fn(&Took) -> f64) -> Result<()> {
    let sample = |values: Vec<f64>| Sample::new(values);
    let native = sample(pairs.iter().map(|(native, _)| of(native)).collect())?;
    let c = sample(pairs.iter().map(|(_, c)| of(c)).collect())?;
    let ratio = sample(pairs.iter().map(|(native, c)| of(native) / of(c)).collect())?;
    let percent = |share: f64| (ratio.quantile(share) - 1.0) * 100.0;
    println!(
        "  {what}: native {:.3} ms, C {:.3} ms (medians)",
        median(&native) / 1e6,
        median(&c) / 1e6
    );
    println!(
        "    native against C, median of pairs {:+.2} % (p25 {:+.2}, p75 {:+.2})",
        percent(0.5),
        percent(0.25),
        percent(0.75)
    );
    let shortest = native.quantile(0.0) / c.quantile(0.0) - 1.0;
    println!("    shortest against shortest {:+.2} %", shortest * 100.0);
    Ok(())
}
