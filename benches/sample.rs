//! What one sample of a host's counters costs in CPU time, by CLOCK_THREAD_CPUTIME_ID.
//!
//! `cargo bench -p xtask --bench sample`. Wall time would say more about the other work of the machine. Each line
//! is the lowest and the middle of many samples; the first two, which open files and make tables, are left out. `-- users` measures
//! only users' tasks, next to a process of 1,000 threads that sleep, and one of 1,000 that wake 20 times a second, which leave caches as
//! a busy server does; and what reading the same files alone takes.
#![expect(clippy::print_stdout, reason = "the results")]
#![expect(
    clippy::disallowed_methods,
    reason = "starts itself as another process, and reads its files with nothing in between"
)]

use facts::counters::{Counters, Family};
use host::counters::{Processes, Sampler, Wanted};
use host::{Live, view};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{Builder, sleep};
use std::time::Duration;

/// Threads of a process next to which users' tasks are sampled.
const N_THREADS: usize = 1000;

/// How often these wake up where they do: 20 times a second.
const NAP: Duration = Duration::from_millis(50);

/// The word that makes this program such a process.
const AS_THREADS: &str = "threads";

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, nap] = &words[..]
        && word == AS_THREADS
    {
        be_threads(Duration::from_millis(nap.parse()?));
    }
    let host = view(&Live::this_machine());
    users(&host)?;
    if words.iter().any(|it| it == "users") {
        return Ok(());
    }
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

/// Users' tasks, four times a second, alone and next to many threads.
fn users(host: &facts::HostView) -> anyhow::Result<()> {
    const PACE: Duration = Duration::from_millis(250);
    let wanted = Wanted { tasks: Some(Processes::AddedUp(Vec::new())), ..Wanted::only(Vec::new()) };
    let sampler = || Sampler::open(Live::this_machine(), host, wanted.clone());
    let sample = |name: &str| {
        let (mut sampler, mut counters) = (sampler(), Counters::unread());
        report_each(name, 20, PACE, || sampler.sample(&mut counters));
    };
    sample("users' tasks, alone");
    for (what, nap) in [("that sleep", Duration::from_secs(1000)), ("that wake", NAP)] {
        let threads = Threads::start(nap)?;
        sample(&format!("users' tasks, with {N_THREADS} threads {what}"));
        let files = threads.files()?;
        let mut buffer = [0; 4096];
        let read_all = || {
            files.iter().for_each(|it| {
                assert!(it.read_at(&mut buffer, 0).is_ok_and(|n| n > 0), "a thread has ended");
            });
        };
        report_each(&format!("reading {N_THREADS} files of threads {what}"), 20, PACE, read_all);
    }
    Ok(())
}

/// This program as a process of many threads.
struct Threads(Child);

impl Threads {
    fn start(nap: Duration) -> anyhow::Result<Threads> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([AS_THREADS, &nap.as_millis().to_string()]).stdin(Stdio::null());
        let threads = Threads(command.spawn()?);
        while threads.files()?.len() < N_THREADS {
            sleep(NAP);
        }
        Ok(threads)
    }

    /// The times of each thread.
    fn files(&self) -> anyhow::Result<Vec<File>> {
        let folder = format!("/proc/{}/task", self.0.id());
        let paths = std::fs::read_dir(folder)?.map(|it| Ok(it?.path().join("schedstat")));
        let paths: Vec<_> = paths.collect::<std::io::Result<_>>()?;
        Ok(paths.iter().map(File::open).collect::<std::io::Result<_>>()?)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // It does not end by itself.
        if self.0.kill().is_ok() {
            let _ended = self.0.wait();
        }
    }
}

/// Makes the threads, and lives until it is killed.
fn be_threads(nap: Duration) -> ! {
    for _ in 1..N_THREADS {
        let thread = Builder::new().stack_size(64 << 10);
        let work = move || {
            loop {
                sleep(nap);
            }
        };
        thread.spawn(work).map_or_else(|error| println!("{error}"), drop);
    }
    loop {
        sleep(nap);
    }
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
    report_each(name, n_samples, Duration::ZERO, || sampler.sample(&mut counters));
}

/// Does `work` again and again, with a pause before each.
fn report_each(name: &str, n_samples: usize, pause: Duration, mut work: impl FnMut()) {
    let mut costs: Vec<Duration> = (0..n_samples + 2)
        .map(|_| {
            sleep(pause);
            let before = cpu_time();
            work();
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
