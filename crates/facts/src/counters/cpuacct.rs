//! cpuacct.usage_percpu of the root group: the time that tasks have run on each CPU.
//!
//! Source: Documentation/admin-guide/cgroup-v1/cpuacct.rst, kernel/sched/cpuacct.c. One line of nanoseconds, with a
//! number for every *possible* CPU. The kernel updates it whenever the scheduler updates the run time of a task, at
//! each tick at the latest if there is one. It is on the task clock: see [`Tasks`](super::Tasks). The root group
//! contains every task of the host, kernel threads too.

use super::scan::Scan;
use super::table::{Shape, Source, Table, Unfit};
use crate::{CpuSet, Fact};

/// The CPUs in the file, and those of them that are online.
#[derive(Clone, Copy, Debug)]
pub struct Cpus<'a> {
    /// Every possible CPU: each has a number in the file.
    pub possible: &'a CpuSet,
    /// The online CPUs: each has a row.
    pub online: &'a CpuSet,
}

/// Writes the times of the CPUs: [`Family::RunTime`](super::Family::RunTime), without waiting time.
pub fn fill(path: &str, text: &[u8], read_at: u64, cpus: Cpus<'_>, into: &mut Fact<Table>) {
    let write = |text, table: &mut Table| write(text, cpus, table);
    let make = |_| Ok(Table::new(cpus.rows().collect(), ["run".into()].into()));
    Source { path, text, read_at }.refill(into, write, make);
}

impl Cpus<'_> {
    fn rows(&self) -> impl Iterator<Item = u32> {
        self.possible.iter().filter(|cpu| self.online.contains(*cpu))
    }
}

fn write<'t>(text: &'t [u8], cpus: Cpus<'_>, table: &mut Table) -> Result<Shape, Unfit<'t>> {
    let is_ours = table.columns().iter().map(|it| &**it).eq(["run"]);
    if !is_ours || !cpus.rows().eq(table.rows().iter().copied()) {
        return Ok(Shape::Other);
    }
    let unfit =
        || Unfit { found: text, expected: "a run time in nanoseconds for every possible CPU" };
    let mut rest = Scan(text);
    let mut row = 0;
    for cpu in cpus.possible.iter() {
        let run = rest.number().ok_or_else(unfit)?;
        if cpus.online.contains(cpu) {
            table.set(row, 0, run);
            row += 1;
        }
    }
    if !rest.0.trim_ascii().is_empty() {
        return Err(unfit());
    }
    Ok(Shape::Same)
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;

    fn filled(online: &str, texts: &[&str]) -> String {
        let (possible, online) =
            (CpuSet::parse_list("0-3").unwrap(), CpuSet::parse_list(online).unwrap());
        let cpus = Cpus { possible: &possible, online: &online };
        shown::after(texts, |text, read_at, into| fill("/usage", text, read_at, cpus, into))
    }

    #[test]
    fn numbers_are_those_of_possible_cpus() {
        assert_eq!(filled("1,3", &["5 6 7 8 \n", "10 20 30 40 \n"]), "run\n1: 20\n3: 40\n");
    }

    #[test]
    fn a_number_too_many_or_too_few_is_refused() {
        assert!(filled("0-3", &["1 2 3 4 5\n"]).contains("every possible CPU"));
        assert!(filled("0-3", &["1 2 3\n"]).contains("every possible CPU"));
    }
}
