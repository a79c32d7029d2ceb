//! `commit`: single rows inserted and committed by many sessions, and what each commit and each log write waits for.
//!
//! The engines and the arithmetic are in [`crate::commit`]; this is a trial of them.
#![expect(clippy::disallowed_methods, reason = "a trial lasts for a time")]

use crate::commit::{self, Engine, Split, figures};
use crate::failure::Failure;
use crate::known::Known;
use crate::server::ServerSelection;
use crate::trial::{Better, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(crate) const WORKLOAD: Workload = Workload {
    id: commit::WORKLOAD,
    title: "sessions that insert a row and commit, and the log they wait for",
    help: "\
## What it does
`--sessions` (8 by default) each insert one row into a table of their own and commit, again and again, for a second a trial.
`commits` is how many a second all of them did. Beside it: log writes a second, and what one takes on average, in two parts: in
the call, and runnable without a CPU. Databases report their sum as the time of a log write, so that a lack of CPU looks like a
slow disk. Of a commit: the session's CPU time, its wait for a CPU, its wait for the log, and what is left unexplained.

`--engine embedded`, the default, needs nothing installed: a log writer as databases have one, in this process. Sessions post
their redo and wait; the log writer writes what is posted, makes it durable (pwrite, fdatasync) and wakes them. The log is a
file of 16 MiB, filled beforehand, in the temporary folder or in `--folder`, and removed afterwards. After each trial it is read
back: every commit has to be in it. With `--cpus`, all threads share these CPUs.

`--engine postgresql` and `--engine mariadb` do the same in a server: the user's (`--dsn`), in a schema of its own that is dropped
afterwards, or a temporary one that keeps every commit safe on disk, in `--folder`. Rows are counted in the end. PostgreSQL's
loop runs inside the server, so that no client and no network is in the figures; it counts its log writes from version 14 on,
and times them for superusers or with track_wal_io_timing. MariaDB waits for the log only before it answers a client, so that
each insert is a client's statement; it counts log writes, and does not time them where its performance schema has no instrument
for the log (10.11 has none).

For Oracle, `--print-sql oracle` writes a script for sqlplus that samples commits and `log file parallel write` beside the users'
own work, and `--parse FILE` reads what that printed. It was written by the documentation and not run against an Oracle.

## What changes the result
The time in the call is the disk's: its cache, its controller's battery, a file system's barriers. With more sessions one write
serves more commits, until their CPU time is what is left. Below saturation a slow clock costs CPU time of sessions and leaves
log writes alone; once CPUs are saturated, a quota or a run queue lets the log writer wait, and log writes seem to take longer.
`--vs` says which of these differs, and names a CPU quota that throttled the server in most of its periods. On a user's server,
other sessions' log writes are counted with these.

## What it cannot know
Which part of the call is the device's and which the file system's. A virtual disk may say durable and mean the host's memory.
In a server, sessions write the log themselves: their calls (pwrite, fdatasync) are traced with the scheduler, which takes root
and a server on this host. `log write` is the server's own time; what its calls work is in the call, and the rest is waiting for
a CPU, however often a write waits. Without a trace the two parts are unknown. A session's wait for the log is not
distinguished from other sleep there. Figures of two engines, or of two versions of one, tell about these.
",
    figure: COMMITS,
    takes: &[
        Setting::Cpus,
        Setting::Sessions,
        Setting::Engine,
        Setting::Dsn,
        Setting::Folder,
        Setting::Timeout,
    ],
    placement: Placement::Anywhere,
    preparation: Preparation::Dear,
    prepare,
};

const COMMITS: FigureShape = FigureShape { name: "commits", unit: "1/s", better: Better::Higher };

/// How long a trial is: some hundred log writes of a disk that turns.
const TRIAL: Duration = Duration::from_secs(1);

/// What is left out of a trial at its start, in which threads are made and caches are cold.
const LEAD: Duration = Duration::from_millis(100);

/// How often the stop flag is checked.
const GLANCE: Duration = Duration::from_millis(50);

struct Commit {
    engine: Box<dyn Engine>,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    Ok(Box::new(Commit { engine: commit::open(settings, scene)? }))
}

impl Ready for Commit {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        self.engine.start()?;
        let split = self.split(scene);
        // What went wrong while it ran comes before what stopping it says of that.
        let stopped = self.engine.stop();
        let (split, n_sessions) = split?;
        stopped?;
        Ok(outcome(&split, n_sessions))
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.engine.cpus()
    }

    fn processes(&self) -> Vec<u32> {
        self.engine.processes()
    }

    fn server(&self) -> Option<ServerSelection> {
        self.engine.server()
    }

    fn tasks(&self) -> Vec<u32> {
        self.engine.tasks()
    }

    fn about(&self) -> Vec<(String, String)> {
        self.engine.about()
    }
}

impl Commit {
    fn split(&mut self, scene: &Scene<'_>) -> Result<(Split, u32), Failure> {
        pass(LEAD, scene)?;
        let before = self.engine.sample()?;
        pass(TRIAL, scene)?;
        let after = self.engine.sample()?;
        let split = Split::between(&before, &after);
        let split = split.map_err(|why| Failure::NoFigure(format!("{}: {why}", WORKLOAD.id)))?;
        Ok((split, after.sessions))
    }
}

/// Lets time pass.
fn pass(time: Duration, scene: &Scene<'_>) -> Result<(), Failure> {
    let began = Instant::now();
    loop {
        if scene.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        match time.checked_sub(began.elapsed()) {
            Some(left) if !left.is_zero() => sleep(left.min(GLANCE)),
            _ => return Ok(()),
        }
    }
}

/// A split as what a trial says.
pub(crate) fn outcome(split: &Split, n_sessions: u32) -> Outcome {
    let cpu_ns =
        split.commit.cpu.clone().map(|it| {
            u64::try_from(it.as_nanos()).unwrap_or(u64::MAX).saturating_mul(split.commits)
        });
    Outcome {
        elapsed_ns: Known::Value(u64::try_from(split.elapsed.as_nanos()).unwrap_or(u64::MAX)),
        cpu_ns,
        tasks: n_sessions,
        figures: figures(split).into(),
    }
}
