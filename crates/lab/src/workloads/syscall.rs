//! `syscall`: what entering the kernel and leaving it costs.
//!
//! getppid(2) does next to nothing in the kernel, and neither the vDSO (vdso(7)) nor a C library answers it: what it
//! takes is the way in and out. On that way lie the mitigations of processors' faults
//! (Documentation/admin-guide/hw-vuln), on a CPU of nohz_full the switch of what its time is booked on
//! (CONFIG_CONTEXT_TRACKING_USER, which turns the slow path on for every entry), and filters (seccomp(2)), auditing
//! and tracing. Which of them it is, the figure does not say.

use crate::failure::Failure;
use crate::threads::{Timed, in_steps, on_each, outcome, slowest_ns, timed};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use rustix::process::getppid;
use std::sync::atomic::AtomicBool;

pub(super) const WORKLOAD: Workload = Workload {
    id: "syscall",
    title: "the cost of a system call that does nothing",
    help: "\
## What it does
Asks the kernel for the number of the parent process, a million times; `call` is the mean of one. The kernel has hardly
anything to do for it, so the figure is what every system call costs on top of its work: the way into the kernel and back.
With several CPUs each does all the calls at the same time, and the figure is that of the slowest. `--iterations` is the
number of calls.

## What changes the result
Mitigations of Meltdown, Spectre and their kin: page-table isolation alone writes CR3 at each entry and each exit, which takes
about a hundred cycles each time (Documentation/arch/x86/pti.rst). A CPU of `nohz_full` books its time at each entry: compare
`--cpus` with one that is not. A container's seccomp filter, auditing and tracing add theirs. A database that does 100,000
system calls a second on a CPU loses 1 % of it to every 100 ns.

## What it cannot know
Which of these it is, and what system calls do in the kernel. In a hypervisor's guest it says nothing about leaving the guest.
",
    figure: FIGURE,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::OneCpu,
    preparation: Preparation::Stateless,
    prepare,
};

const FIGURE: FigureShape = FigureShape { name: "call", unit: "ns", better: Better::Lower };

/// Some tenths of a second.
const CALLS: u64 = 1_000_000;

/// Minutes.
const MOST_CALLS: u64 = 1_000_000_000;

/// Some milliseconds.
const STEP: u64 = 10_000;

struct Calls {
    cpus: Option<CpuSet>,
    count: u64,
}

fn prepare(settings: &Settings, _scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let count = settings.iterations_up_to(MOST_CALLS, CALLS)?;
    Ok(Box::new(Calls { cpus: settings.cpus()?, count }))
}

impl Ready for Calls {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let parent = getppid();
        let runs: Vec<Timed<Result<u64, Failure>>> =
            on_each(self.cpus.as_ref(), || timed(|| others(self.count, parent, scene.stop)))?;
        let call_ns = slowest_ns(&runs) as f64 / self.count as f64;
        let outcome = outcome(&runs, vec![Figure::of(FIGURE, call_ns)]);
        for run in runs {
            check(run.answer?, parent == getppid())?;
        }
        Ok(outcome)
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }
}

/// The number of calls, of `count`, that give another parent.
fn others(
    count: u64,
    parent: Option<rustix::process::Pid>,
    stop: &AtomicBool,
) -> Result<u64, Failure> {
    let mut others = 0;
    in_steps(count, STEP, stop, |part| {
        others += (0..part).map(|_| u64::from(getppid() != parent)).sum::<u64>();
    })?;
    Ok(others)
}

/// A parent that ends is replaced for good.
fn check(others: u64, is_same: bool) -> Result<(), Failure> {
    if others == 0 || !is_same {
        return Ok(());
    }
    Err(Failure::WrongAnswer {
        workload: WORKLOAD.id,
        found: format!("another parent in {others} calls"),
        expected: "the same parent in each".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_names_the_parent() {
        let is_on = AtomicBool::new(false);
        assert_eq!(others(25_000, getppid(), &is_on).unwrap(), 0);
        assert_eq!(others(25_000, None, &is_on).unwrap(), 25_000);
    }

    #[test]
    fn another_parent_is_wrong_unless_it_stays() {
        assert!(check(0, true).is_ok() && check(7, false).is_ok());
        let text = check(7, true).unwrap_err().to_string();
        assert!(
            text.starts_with("WRONG ANSWER: syscall computed another parent in 7 calls"),
            "{text}"
        );
    }

    #[test]
    fn a_user_who_wants_to_stop_does_not_wait_for_all_calls() {
        let stopped = others(MOST_CALLS, None, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(Failure::Stopped)));
    }
}
