//! What the settings of tasks share: a task as /proc shows it, and the write that binds it to CPUs.
//!
//! Sources: proc_pid_stat(5), proc_pid_status(5), sched_setaffinity(2). A task may end, and a cpuset may shrink what
//! it is given, at any time: a write of it is one that the kernel may refuse.

use facts::change::{Control, Target, Write};
use facts::parse::Expected;
use facts::system::isolation::allowed_cpus;
use facts::system::process::Process;
use facts::{CpuSet, Fact, Missing, USER_TICK_NS};

/// One task.
pub(super) struct Task {
    /// Its own number, name and start.
    pub(super) process: Process,
    /// Whether the kernel has bound it for good.
    pub(super) is_bound: bool,
}

/// `PF_NO_SETAFFINITY` of include/linux/sched.h.
const BOUND: u64 = 0x0400_0000;

impl Task {
    /// From a stat file; `None` where the task has ended.
    pub(super) fn read(control: &Control<'_>) -> Fact<Option<Task>> {
        match &control.text {
            Ok(text) => Task::parse(text)
                .map(Some)
                .map_err(|it| Missing::malformed(control.path, text, it.0)),
            Err(missing) if has_ended(missing) => Ok(None),
            Err(missing) => Err(missing.clone()),
        }
    }

    fn parse(text: &str) -> Result<Task, Expected> {
        let process = Process::parse(text)?;
        let flags =
            text.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(6)?.parse().ok());
        let flags: u64 = flags.ok_or(Expected("flags in field 9"))?;
        Ok(Task { process, is_bound: flags & BOUND != 0 })
    }

    /// The CPUs that its status file lets it run on; `None` where the task has ended.
    pub(super) fn allowed(path: &str, status: Fact<&str>) -> Fact<Option<CpuSet>> {
        match status {
            Ok(text) => allowed_cpus(text)
                .map(Some)
                .map_err(|it| Missing::malformed(path, "no such line", it.0)),
            Err(missing) if has_ended(&missing) => Ok(None),
            Err(missing) => Err(missing),
        }
    }

    /// The write that binds it to other CPUs.
    pub(super) fn bind(&self, from: &CpuSet, to: &CpuSet) -> Fact<Write> {
        let started = self.process.started.as_ref()?.as_nanos() / u128::from(USER_TICK_NS);
        let started = u64::try_from(started).unwrap_or(u64::MAX);
        let (tid, name) = (self.process.pid, self.process.name.clone());
        let target = Target::Affinity { tid, started, name };
        Ok(Write::of(target, from.to_string(), to.to_string()).if_taken())
    }
}

/// Whether a file is gone because its task is: it is not there, or reading says that there is no such process.
fn has_ended(missing: &Missing) -> bool {
    missing.is_absence()
        || matches!(&missing.why, facts::Why::Failed(why) if why.contains("No such process"))
}
