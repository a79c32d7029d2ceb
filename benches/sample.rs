//! What one sample of a host's counters costs in CPU time, by CLOCK_THREAD_CPUTIME_ID.
//!
//! `cargo bench -p xtask --bench sample`. Wall time would say more about the other work of the machine. Each line
//! is the lowest and the middle of many samples; the first two, which open files and make tables, are left out.
#![expect(clippy::print_stdout, reason = "the results")]

use facts::counters::{Counters, Family};
use host::counters::{Processes, Sampler, Wanted};
use host::{Live, view};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::Duration;

fn main() -> anyhow::Result<()> {
    let host = view(&Live::this_machine());
    let everybody = || Wanted { wake: false, ..Wanted::ledger() };
    report(
        "this machine, watch",
        &mut Sampler::open(Live::this_machine(), &host, Wanted::watch()),
        200,
    );
    report(
        "this machine, ledger without waking",
        &mut Sampler::open(Live::this_machine(), &host, everybody()),
        50,
    );
    report(
        "this machine, ledger",
        &mut Sampler::open(Live::this_machine(), &host, Wanted::ledger()),
        50,
    );
    for n_cpus in ["512", "1024", "2048"] {
        let folder = tempfile::tempdir_in("/dev/shm")?;
        let root = folder.path().to_string_lossy().into_owned();
        xtask::tree::run(&["--cpus".to_owned(), n_cpus.to_owned(), root])?;
        tree(folder.path(), &format!("{n_cpus} CPUs, watch"), Wanted::watch())?;
        tree(folder.path(), &format!("{n_cpus} CPUs, a table of watch"), table())?;
        let all = Wanted { tasks: Some(Processes::All), ..everybody() };
        tree(folder.path(), &format!("{n_cpus} CPUs, ledger without waking"), all)?;
    }
    Ok(())
}

/// What the table of `watch` is made of: it shows neither the ledger, which needs the rest, nor how often states were
/// entered.
fn table() -> Wanted {
    let watch = Wanted::watch();
    let families = watch.families.into_iter().filter(|it| *it != Family::IdleUsage).collect();
    Wanted { families, groups: false, ..watch }
}

fn tree(root: &Path, name: &str, wanted: Wanted) -> anyhow::Result<()> {
    let host = view(&Live::copy(root)?);
    report(name, &mut Sampler::open(Live::copy(root)?, &host, wanted), 15);
    Ok(())
}

fn report(name: &str, sampler: &mut Sampler, n_samples: usize) {
    let mut counters = Counters::unread();
    let mut costs: Vec<Duration> = (0..n_samples + 2)
        .map(|_| {
            let before = cpu_time();
            sampler.sample(&mut counters);
            cpu_time().saturating_sub(before)
        })
        .skip(2)
        .collect();
    costs.sort_unstable();
    let middle = costs[costs.len() / 2];
    println!("{name}: lowest {:.3} ms, middle {:.3} ms", ms(costs[0]), ms(middle));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
