//! /proc/timer_list: the time that each CPU has slept in the tickless idle loop.
//!
//! Source: kernel/time/timer_list.c, which says that its format may change; it has had `idle_sleeptime` and
//! `iowait_sleeptime` since Linux 2.6.21 and 3.2. The kernel computes idle and iowait of /proc/stat from them. They
//! are in nanoseconds and exclude the current sleep (kernel/time/tick-sched.c). A kernel without CONFIG_NO_HZ_COMMON
//! prints neither.

use super::scan::Scan;
use super::table::{Shape, Source, Table, Unfit};
use crate::Fact;

const PATH: &str = "/proc/timer_list";

const TIMES: [&str; 2] = ["idle_sleeptime", "iowait_sleeptime"];

const EXPECTED: &str = "idle_sleeptime and iowait_sleeptime in nanoseconds for every CPU";

/// Writes the times of the CPUs: [`Family::IdleSleep`](super::Family::IdleSleep).
pub fn fill(text: &[u8], read_at: u64, into: &mut Fact<Table>) {
    Source { path: PATH, text, read_at }.refill(into, write, table);
}

/// The next CPU with its two times.
fn next_cpu<'t>(rest: &mut Scan<'t>) -> Result<Option<(u32, [u64; 2])>, Unfit<'t>> {
    let (mut of, mut idle) = (None, None);
    while !rest.is_empty() {
        let found = rest.line();
        let mut line = Scan(found);
        let number = |line: &mut Scan<'_>| line.number();
        if line.prefix(b"cpu: ") {
            // The CPU before had no times.
            if of.is_some() {
                return Err(Unfit { found, expected: EXPECTED });
            }
            of = number(&mut line).and_then(|it| u32::try_from(it).ok());
        } else if line.prefix(b"  .idle_sleeptime :") {
            idle = number(&mut line);
        } else if line.prefix(b"  .iowait_sleeptime:") {
            let times = number(&mut line).zip(idle).zip(of);
            let ((iowait, idle), cpu) = times.ok_or(Unfit { found, expected: EXPECTED })?;
            return Ok(Some((cpu, [idle, iowait])));
        }
    }
    match of {
        Some(_) => Err(Unfit { found: b"a CPU without", expected: EXPECTED }),
        None => Ok(None),
    }
}

fn write<'t>(text: &'t [u8], table: &mut Table) -> Result<Shape, Unfit<'t>> {
    let rows = table.rows().clone();
    let mut rest = Scan(text);
    for (index, row) in rows.iter().enumerate() {
        match next_cpu(&mut rest)? {
            Some((cpu, [idle, iowait])) if cpu == *row => {
                table.set(index, 0, idle);
                table.set(index, 1, iowait);
            }
            _ => return Ok(Shape::Other),
        }
    }
    Ok(if next_cpu(&mut rest)?.is_none() { Shape::Same } else { Shape::Other })
}

fn table(text: &[u8]) -> Result<Table, Unfit<'_>> {
    let mut rest = Scan(text);
    let mut cpus = Vec::new();
    while let Some((cpu, _)) = next_cpu(&mut rest)? {
        cpus.push(cpu);
    }
    if cpus.is_empty() || !cpus.is_sorted_by(|a, b| a < b) {
        return Err(Unfit { found: text, expected: EXPECTED });
    }
    Ok(Table::new(cpus.into(), TIMES.iter().map(|&it| it.into()).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;

    const TEXT: &str = "Timer List Version: v0.10\nnow at 9 nsecs\n\ncpu: 0\n clock 0:\n  .index:      0\n\
        \x20 .idle_sleeptime : 1000 nsecs\n  .iowait_sleeptime: 20 nsecs\n  .last_jiffies   : 5\n\ncpu: 3\n\
        \x20 .idle_sleeptime : 3000 nsecs\n  .iowait_sleeptime: 40 nsecs\n\nTick Device: mode:     1\n";

    #[test]
    fn sleep_is_read_by_cpu() {
        assert_eq!(
            shown::after(&[TEXT, TEXT], fill),
            "idle_sleeptime iowait_sleeptime\n0: 1000 20\n3: 3000 40\n"
        );
    }

    #[test]
    fn a_cpu_without_its_times_is_refused() {
        for line in ["  .iowait_sleeptime: 20 nsecs\n", "  .iowait_sleeptime: 40 nsecs\n"] {
            let without = TEXT.replace(line, "");
            assert!(shown::after(&[TEXT, &without], fill).contains("for every CPU"), "{line}");
        }
        assert!(shown::after(&["Timer List Version: v0.10\n"], fill).contains("for every CPU"));
    }
}
