//! The books of one CPU: its time by source, each nanosecond once.
//!
//! Sources overlap, and each overlap is taken out of one of the two: interrupts out of the tasks and the idle time they
//! came in, stolen time out of the tasks (a guest wants its CPU when it has one) and what is more than those out of
//! idle, forced idle and a quota out of idle. What a source leaves out by itself is not taken out again.

use super::amount::{Amount, part};
use super::clock::{self, Activity, Clock, Reference};
use super::evidence::Evidence;
use super::idle_time::idle_time;
use super::interruptions::{Counted, Interruption, Interruptions, interruptions};
use super::owner::Owner;
use super::run_time::Accounting;
use super::settlement::Settlement;
use super::stolen::stolen;
use super::tasks::{TaskIndex, TaskTimes};
use facts::trace::Comm;
use facts::{Fact, Missing};

/// The books of one CPU.
pub struct Books<'a> {
    /// Everything that is known.
    pub evidence: &'a Evidence<'a>,
    /// The CPU.
    pub cpu: u32,
    /// The time to be accounted for, in nanoseconds.
    pub wall_ns: u64,
    /// Time that a hypervisor gave to others.
    pub(crate) stolen: Fact<Amount>,
    /// Interrupts, softirqs and ticks.
    pub(crate) interruptions: Interruptions,
    /// Tasks, less what is entered elsewhere.
    pub(crate) tasks: Fact<TaskTimes>,
    /// Idle time, less what is entered elsewhere.
    pub(crate) idle: Fact<Amount>,
    /// Whether the idle loop around its sleeps is in `idle`.
    pub(crate) idle_holds_loop: bool,
    /// Idle time that a quota forced on the tasks.
    pub(crate) quota: Fact<Amount>,
    /// Time in system management mode, where a spinner saw it.
    pub(crate) in_firmware: Option<Fact<Amount>>,
    /// The clock of its tasks.
    pub(crate) clock: Fact<Clock>,
    /// What the cores of its package did.
    pub(crate) activity: Option<Activity>,
    /// The clock that counts as the whole.
    pub(crate) reference: Option<Reference>,
}

/// What the books of all CPUs share, made once.
pub(crate) struct Shared<'a> {
    accounting: Accounting,
    counted: Counted<'a>,
    pub(super) tasks: Fact<TaskIndex>,
    pub(super) settled: Fact<Settlement>,
}

impl<'a> Shared<'a> {
    pub(crate) fn of(evidence: &'a Evidence<'a>) -> Shared<'a> {
        let accounting = Accounting::of(evidence.interval.host);
        let tasks = TaskIndex::new(evidence);
        let settled = tasks.as_ref().map(|it| Settlement::of(evidence, &accounting, it));
        Shared {
            settled: settled.map_err(Missing::clone),
            accounting,
            counted: Counted::new(evidence),
            tasks,
        }
    }
}

impl<'a> Books<'a> {
    /// Opens the books of a CPU. Quota and reference depend on all CPUs and are entered afterwards.
    pub(crate) fn open(
        evidence: &'a Evidence<'a>,
        shared: &Shared<'_>,
        cpu: u32,
        wall_ns: u64,
    ) -> Books<'a> {
        let stolen = stolen(evidence, cpu, wall_ns);
        let interruptions =
            interruptions(evidence, &shared.accounting, &shared.counted, cpu, wall_ns);
        let gross_idle = idle_time(&evidence.interval, &evidence.traced_on(cpu), cpu, wall_ns);
        let idle_ns = gross_idle.as_ref().map_or(0, |it| it.amount.ns);
        let stolen_ns = stolen.as_ref().map_or(0, |it| it.ns);
        let gross = shared.settled.as_ref().map_err(Missing::clone).and_then(|settled| {
            settled.on(cpu).ok_or_else(|| Missing::not_collected(format!("tasks of CPU {cpu}")))
        });

        let mut from_idle = 0;
        let tasks = gross.map(|(tasks, is_traced)| {
            let tasks = match &evidence.edge {
                Ok(edge) if is_traced => tasks.without_edges(*edge),
                _ => tasks,
            };
            let (net, surplus) = shared.net(tasks, is_traced, &interruptions, stolen_ns, idle_ns);
            from_idle = surplus;
            net
        });
        let forced = tasks.as_ref().map_or(0, |it| it.ns_of(Owner::ForcedIdle));
        let idle_holds_loop = gross_idle.as_ref().is_ok_and(|it| it.holds_loop);
        let idle = gross_idle.map(|idle| {
            let within =
                if idle.holds_interrupts { in_idle(&interruptions, &tasks, idle_ns) } else { 0 };
            idle.amount.without(within).without(from_idle).without(forced)
        });
        Books {
            evidence,
            cpu,
            wall_ns,
            stolen,
            interruptions,
            tasks,
            idle,
            idle_holds_loop,
            quota: Err(Missing::not_collected("cpu.stat of control groups")),
            in_firmware: None,
            clock: clock::clock(evidence, cpu, wall_ns),
            activity: None,
            reference: None,
        }
    }

    /// Moves a part of the idle time to the quota.
    pub(crate) fn enter_quota(&mut self, quota: Fact<Amount>) {
        if let (Ok(idle), Ok(quota)) = (&mut self.idle, &quota) {
            *idle = idle.without(quota.ns);
        }
        self.quota = quota;
    }
}

impl Shared<'_> {
    /// What a traced task is called: by the trace, or else by the samples.
    pub(super) fn name_of(&self, tid: i32, comm: Comm) -> String {
        if !comm.is_empty() {
            return comm.to_string();
        }
        let index = self.tasks.as_ref().ok();
        let known = u32::try_from(tid).ok().and_then(|it| index?.owner(it));
        known.map_or_else(|| format!("task {tid}"), |(_, name)| name.clone())
    }

    /// Tasks without interrupts and stolen time, and the stolen time that was more than all tasks.
    fn net(
        &self,
        mut tasks: TaskTimes,
        is_traced: bool,
        interruptions: &Interruptions,
        stolen_ns: u64,
        idle_ns: u64,
    ) -> (TaskTimes, u64) {
        let leaves_out = &self.accounting;
        let interrupted = in_tasks(interruptions, tasks.ns(), idle_ns);
        // A trace has taken out the interrupts that it shows; others came on top of them.
        let interrupted = match leaves_out.leaves_out_interrupts {
            _ if is_traced => 0,
            Ok(true) => interruptions.all().fold(0, |sum: u64, it| sum.saturating_add(it.edges_ns)),
            Ok(false) => interrupted,
            Err(_) => {
                tasks.uncertainty_ns = tasks.uncertainty_ns.saturating_add(interrupted);
                interrupted
            }
        };
        let stolen_ns = match leaves_out.leaves_out_steal {
            _ if is_traced => stolen_ns,
            Ok(true) => 0,
            Ok(false) => stolen_ns,
            Err(_) => {
                tasks.uncertainty_ns = tasks.uncertainty_ns.saturating_add(stolen_ns);
                stolen_ns
            }
        };
        // A guest that is woken late calls the wait idle, and the hypervisor calls it stolen.
        let maybe_idle = stolen_ns.min(idle_ns);
        tasks.uncertainty_ns = tasks.uncertainty_ns.saturating_add(maybe_idle);
        let left = tasks.without_interrupts(interrupted);
        let surplus = stolen_ns.saturating_sub(left.ns());
        (left.without(stolen_ns), surplus)
    }
}

/// The part of all interruptions that came in tasks: what a trace says, else by how much of the time was theirs.
fn in_tasks(interruptions: &Interruptions, tasks_ns: u64, idle_ns: u64) -> u64 {
    let of_one = |it: &Interruption| {
        let by_time = || part(it.amount.ns, tasks_ns, tasks_ns.saturating_add(idle_ns));
        it.in_tasks_ns.unwrap_or_else(by_time)
    };
    interruptions.all().map(of_one).fold(0, u64::saturating_add)
}

fn in_idle(interruptions: &Interruptions, tasks: &Fact<TaskTimes>, idle_ns: u64) -> u64 {
    let tasks_ns = tasks.as_ref().map_or(0, TaskTimes::ns);
    let all = interruptions.all().map(|it| it.amount.ns).fold(0, u64::saturating_add);
    all.saturating_sub(in_tasks(interruptions, tasks_ns, idle_ns))
}
