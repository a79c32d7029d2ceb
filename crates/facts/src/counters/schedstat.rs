//! /proc/schedstat: the time that tasks have run on each CPU, and waited for it.
//!
//! Source: Documentation/scheduler/sched-stats.rst, kernel/sched/stats.{c,h}. Versions 15 to 17 have the same lines
//! for CPUs, in nanoseconds. The kernel adds a task's time when the task *leaves* the CPU (sched_info_depart), on the
//! clock of the run queue, which includes interrupts and stolen time: a task that runs without a break does not show
//! until something else runs there.

use super::scan::Scan;
use super::table::{Shape, Source, Table, Unfit};
use crate::Fact;

const PATH: &str = "/proc/schedstat";

const VERSIONS: std::ops::RangeInclusive<u64> = 15..=17;

const CPU_LINE: &str = "lines like `cpu0 1 2 3 4 5 6 7 8 9`, by ascending CPU";

/// Writes the times of the CPUs: [`Family::RunTime`](super::Family::RunTime).
pub fn fill(text: &[u8], read_at: u64, into: &mut Fact<Table>) {
    Source { path: PATH, text, read_at }.refill(into, write, table);
}

/// The next CPU with its run time and waiting time: fields 7 and 8 of 9.
fn next_cpu<'t>(rest: &mut Scan<'t>) -> Result<Option<(u32, [u64; 2])>, Unfit<'t>> {
    while !rest.is_empty() {
        let found = rest.line();
        let mut line = Scan(found);
        if line.prefix(b"cpu") {
            let fields = [(); 10].map(|()| line.number());
            let [Some(cpu), .., Some(run), Some(wait), Some(_)] = fields else {
                return Err(Unfit { found, expected: CPU_LINE });
            };
            let cpu = u32::try_from(cpu).map_err(|_| Unfit { found, expected: CPU_LINE })?;
            return Ok(Some((cpu, [run, wait])));
        }
    }
    Ok(None)
}

fn after_version(text: &[u8]) -> Result<Scan<'_>, Unfit<'_>> {
    let mut rest = Scan(text);
    let found = rest.line();
    let mut line = Scan(found);
    let version = line.prefix(b"version ").then(|| line.number()).flatten();
    if version.is_some_and(|it| VERSIONS.contains(&it)) {
        Ok(rest)
    } else {
        Err(Unfit { found, expected: "`version 15`, 16 or 17" })
    }
}

fn write<'t>(text: &'t [u8], table: &mut Table) -> Result<Shape, Unfit<'t>> {
    let rows = table.rows().clone();
    let mut rest = after_version(text)?;
    for (index, row) in rows.iter().enumerate() {
        match next_cpu(&mut rest)? {
            Some((cpu, [run, wait])) if cpu == *row => {
                table.set(index, 0, run);
                table.set(index, 1, wait);
            }
            _ => return Ok(Shape::Other),
        }
    }
    Ok(if next_cpu(&mut rest)?.is_none() { Shape::Same } else { Shape::Other })
}

fn table(text: &[u8]) -> Result<Table, Unfit<'_>> {
    let mut rest = after_version(text)?;
    let mut cpus = Vec::new();
    while let Some((cpu, _)) = next_cpu(&mut rest)? {
        cpus.push(cpu);
    }
    if cpus.is_empty() || !cpus.is_sorted_by(|a, b| a < b) {
        return Err(Unfit { found: text, expected: CPU_LINE });
    }
    Ok(Table::new(cpus.into(), ["run".into(), "wait".into()].into()))
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;

    const TEXT: &str = "version 15\ntimestamp 4295\ncpu0 0 0 9 9 9 9 1000 200 3\n\
        domain0 00000003 1 2 3\ncpu1 0 0 9 9 9 9 4000 500 6\ndomain0 00000003 1 2 3\n";

    #[test]
    fn run_and_waiting_time_are_the_seventh_and_eighth_field() {
        assert_eq!(shown::after(&[TEXT, TEXT], fill), "run wait\n0: 1000 200\n1: 4000 500\n");
    }

    #[test]
    fn a_version_with_fields_of_its_own_is_refused() {
        let next = TEXT.replace("version 15", "version 18");
        assert!(shown::after(&[TEXT, &next], fill).contains("expected `version 15`, 16 or 17"));
    }

    #[test]
    fn a_line_without_all_fields_is_refused() {
        let short = TEXT.replace("500 6", "500");
        assert!(shown::after(&[TEXT, &short], fill).contains("expected lines like `cpu0"));
    }

    #[test]
    fn a_cpu_that_comes_makes_another_table() {
        let more = format!("{TEXT}cpu7 0 0 9 9 9 9 7 8 9\n");
        assert_eq!(
            shown::after(&[TEXT, &more], fill),
            "run wait\n0: 1000 200\n1: 4000 500\n7: 7 8\n"
        );
        assert_eq!(shown::after(&[&more, TEXT], fill), shown::after(&[TEXT], fill));
    }
}
