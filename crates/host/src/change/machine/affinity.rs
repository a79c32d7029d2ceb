//! The CPUs that a task may run on (sched_setaffinity(2)).
//!
//! A task is known by its id, its start and its name: ids come again. Between the look and the call it could end and another
//! take its id, which takes the kernel a whole round of ids.

use super::Machine;
use crate::change::Trouble;
use crate::probe::{affinity_of, set_affinity_of};
use facts::CpuSet;
use facts::counters::Name;
use facts::counters::task_stat::TaskStat;
use rustix::io::Errno;

pub(super) fn read(
    machine: &Machine,
    tid: u32,
    started: u64,
    name: &str,
) -> Result<String, Trouble> {
    check(machine, tid, started, name)?;
    affinity_of(tid).map(|it| it.to_string()).map_err(|error| refused(tid, name, "read", &error))
}

pub(super) fn write(
    machine: &Machine,
    tid: u32,
    started: u64,
    name: &str,
    list: &str,
) -> Result<(), Trouble> {
    let place = place(tid, name);
    let cpus = CpuSet::parse_list(list)
        .map_err(|error| Trouble::new(&place, format!("{list:?}: {error}")))?;
    check(machine, tid, started, name)?;
    set_affinity_of(tid, &cpus).map_err(|error| refused(tid, name, "written", &error))
}

fn place(tid: u32, name: &str) -> String {
    format!("affinity of {tid} ({name})")
}

fn refused(tid: u32, name: &str, doing: &str, error: &std::io::Error) -> Trouble {
    let place = place(tid, name);
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::INVAL) => Trouble::new(
            place,
            format!(
                "cannot be {doing}: the kernel binds it to its CPU, or none of the CPUs is online in its cpuset"
            ),
        ),
        Some(error) => Trouble::of_errno(place, doing, error),
        None => Trouble::new(place, format!("cannot be {doing}: {error}")),
    }
}

/// Sees that the id is still that task's.
fn check(machine: &Machine, tid: u32, started: u64, name: &str) -> Result<(), Trouble> {
    let place = place(tid, name);
    if machine.is_copy {
        return Err(Trouble::new(place, "a copy of a machine has no tasks"));
    }
    let text = super::control::read(machine, &format!("/proc/{tid}/stat"))?;
    let expected = Trouble::new(&place, format!("{text:?} is no /proc/{tid}/stat"));
    let stat = TaskStat::parse(text.as_bytes()).map_err(|_| expected)?;
    // The kernel prints longer names of its own threads in some places than in others.
    if stat.started != started || stat.name != Name::new(name.as_bytes()) {
        let why = format!("the task has ended: {tid} is {} by now", stat.name);
        return Err(Trouble::new(place, why).gone());
    }
    Ok(())
}
