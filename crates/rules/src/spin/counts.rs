//! What counters say of the time that a spinner watched a CPU.

use crate::interval::Interval;
use facts::counters::{Family, Task};
use facts::system::interrupts::may_be_tick_timer;
use facts::trace::{Cause, Comm};
use facts::{Fact, Missing, USER_TICK_NS};
use std::collections::BTreeMap;

/// How far the counters of one CPU went. What is missing here stays unexplained in the gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// Interrupts, by cause; lines of /proc/interrupts that name none are left out.
    pub interrupts: Fact<BTreeMap<Cause, u64>>,
    /// Non-maskable interrupts.
    pub n_nmi: Fact<u64>,
    /// Tasks other than the spinner that ran and were last on this CPU, with the nanoseconds they ran.
    pub tasks: Fact<Vec<(i32, Comm, u64)>>,
    /// What the hypervisor says it took, in nanoseconds, in steps of 10 ms.
    pub stolen_ns: Fact<u64>,
    /// How often the CPU was in system management mode.
    pub n_smi: Fact<u64>,
}

impl Counts {
    /// The counts of `cpu` between two samples; `spinner` is the thread that watched it.
    ///
    /// A task that was born and died in between is not seen; one that ran on other CPUs as well counts with all its
    /// time on the CPU it was last on.
    pub fn between(interval: &Interval, cpu: u32, spinner: u32) -> Counts {
        let delta = |family, column| interval.delta(family, cpu, column).map(|delta| delta.by);
        let stolen = delta(Family::CpuTimes, "steal");
        Counts {
            interrupts: interrupts(interval, cpu),
            n_nmi: delta(Family::Interrupts, "NMI"),
            tasks: tasks(interval, cpu, spinner),
            stolen_ns: stolen.map(|ticks| ticks.saturating_mul(USER_TICK_NS)),
            n_smi: delta(Family::Clocks, "smi"),
        }
    }
}

/// The cause of the CPUs' own ticks: [`Cause::LocalTimer`] on x86, elsewhere the number of the timer that came most often,
/// for an Arm core has several.
pub fn tick(interval: &Interval) -> Cause {
    let Ok(table) = interval.after.table(Family::Interrupts) else { return Cause::LocalTimer };
    let total = |column| {
        let rows = 0..table.rows().len();
        rows.fold(0u64, |sum, row| sum.saturating_add(table.cell(row, column)))
    };
    let timers = table.columns().iter().enumerate().filter(|(_, it)| may_be_tick_timer(it));
    let most = timers.max_by_key(|(column, _)| total(*column));
    most.and_then(|(_, name)| Cause::of_line(name)).unwrap_or(Cause::LocalTimer)
}

fn interrupts(interval: &Interval, cpu: u32) -> Fact<BTreeMap<Cause, u64>> {
    let (before, after) = interval.tables(Family::Interrupts)?;
    let (from, to) = (before.row(cpu)?, after.row(cpu)?);
    let mut causes = BTreeMap::new();
    for (column, name) in after.columns().iter().enumerate() {
        let Some(cause) = Cause::of_line(name) else { continue };
        let was = match before.columns().get(column) {
            Some(same) if same == name => before.cell(from, column),
            // A line that was not there before counts from nothing.
            _ => before.column(name).map_or(0, |column| before.cell(from, column)),
        };
        let is = after.cell(to, column);
        let by = is.checked_sub(was).ok_or_else(|| {
            let what = format!("/proc/interrupts ({name})");
            let found = format!("{is} after {was}");
            Missing::malformed(what, &found, "a counter that does not go backwards")
        })?;
        let sum: &mut u64 = causes.entry(cause).or_default();
        *sum = sum.saturating_add(by);
    }
    causes.retain(|_, count| *count > 0);
    Ok(causes)
}

fn tasks(interval: &Interval, cpu: u32, spinner: u32) -> Fact<Vec<(i32, Comm, u64)>> {
    let (before, after) = (interval.before.tasks.as_ref()?, interval.after.tasks.as_ref()?);
    let ran_here = after.list.iter().filter(|task| task.cpu == cpu && task.tid != spinner);
    let run_ns = |task: &Task| {
        let was = before.get(task.tid).filter(|was| was.is_same(task)).map_or(0, |it| it.run_ns);
        let run_ns = task.run_ns.saturating_sub(was);
        let tid = i32::try_from(task.tid).ok()?;
        (run_ns > 0).then(|| (tid, Comm::new(task.name.as_str()), run_ns))
    };
    Ok(ran_here.filter_map(run_ns).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{counters, host_of};

    const BEFORE: &str = "\
at 0
Interrupts LOC RES TLB 24 NMI
0 100 5 9 0 1
1 100 5 9 0 1
CpuTimes steal
1 40
task 7 7 kworker/1:0 kernel 1 1000 0
task 9 9 spinner user 1 1000 0
";

    fn counts(after: &str) -> Counts {
        let (host, before, after) = (host_of(""), counters(BEFORE), counters(after));
        let interval = Interval { host: &host, before: &before, after: &after };
        Counts::between(&interval, 1, 9)
    }

    #[test]
    fn counts_are_of_the_cpu_and_not_of_the_spinner() {
        let counts = counts(
            "\
at 1000
Interrupts LOC RES TLB 24 NMI
0 900 5 9 0 1
1 350 5 19 3 2
CpuTimes steal
1 42
task 7 7 kworker/1:0 kernel 1 6000 0
task 8 8 bash user 0 90000 0
task 9 9 spinner user 1 900000 0
",
        );
        let interrupts = [(Cause::LocalTimer, 250), (Cause::Device(24), 3)];
        assert_eq!(counts.interrupts, Ok(interrupts.into()));
        assert_eq!((counts.n_nmi, counts.stolen_ns), (Ok(1), Ok(20_000_000)));
        assert_eq!(counts.tasks, Ok(vec![(7, Comm::new("kworker/1:0"), 5000)]));
        assert!(counts.n_smi.is_err());
    }

    #[test]
    fn the_tick_is_the_local_timer_or_the_number_of_the_timer_that_comes() {
        let cause = |table: &str| {
            let (host, sample) = (host_of(""), counters(table));
            tick(&Interval { host: &host, before: &sample, after: &sample })
        };
        assert_eq!(cause("at 0\nInterrupts 24+eth0 LOC\n0 9 5\n"), Cause::LocalTimer);
        let arm = "at 0\nInterrupts 10+arch_timer 11+arch_timer 24+eth0\n0 0 5 9\n";
        assert_eq!(cause(arm), Cause::Device(11));
    }

    #[test]
    fn a_count_that_went_back_makes_all_of_them_unknown() {
        let counts = counts("at 1000\nInterrupts LOC RES TLB 24 NMI\n1 99 5 9 0 1\n");
        assert_eq!(
            counts.interrupts.unwrap_err().to_string(),
            "/proc/interrupts (LOC): found \"99 after 100\", expected a counter that does not go backwards"
        );
        assert!(counts.tasks.is_err());
    }
}
