//! /proc/stat: the time of each CPU by use, context switches and forks.
//!
//! Source: proc_stat(5), fs/proc/stat.c. The lines of the CPUs come first. The long line `intr`, the sum of
//! /proc/interrupts over all CPUs, is skipped. `irq` and `softirq` are measured with CONFIG_IRQ_TIME_ACCOUNTING and
//! sampled at the tick without it; the file does not say which.

use super::scan::Scan;
use super::table::{Shape, Source, Table, Unfit};
use crate::{Fact, Missing};

const PATH: &str = "/proc/stat";

/// In the order of the file. Linux 2.6.11 and 2.6.24 to 2.6.33 added the last three; the first four have always
/// existed.
const TIMES: [&str; 10] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];

const FEWEST_TIMES: usize = 4;

const CPU_LINE: &str = "lines like `cpu0 1 2 3 4`, by ascending CPU";

/// Writes the times of the CPUs: [`Family::CpuTimes`](super::Family::CpuTimes).
pub fn cpu_times(text: &[u8], read_at: u64, into: &mut Fact<Table>) {
    Source { path: PATH, text, read_at }.refill(into, write_times, table_of_times);
}

/// Writes the totals of the machine: [`Family::Totals`](super::Family::Totals).
pub fn totals(text: &[u8], read_at: u64, into: &mut Fact<Table>) {
    let make = |_| Ok(Table::new([0].into(), ["ctxt".into(), "processes".into()].into()));
    Source { path: PATH, text, read_at }.refill(into, write_totals, make);
}

/// The next line of a CPU: its number, and a scan of its times.
fn next_cpu<'t>(rest: &mut Scan<'t>) -> Option<(u32, Scan<'t>)> {
    loop {
        let mut line = Scan(rest.0.strip_prefix(b"cpu")?);
        rest.line();
        // The first line is the sum over all CPUs, and has no number.
        if line.0.first() != Some(&b' ') {
            let cpu = u32::try_from(line.number()?).ok()?;
            return Some((cpu, line));
        }
    }
}

fn write_times<'t>(text: &'t [u8], table: &mut Table) -> Result<Shape, Unfit<'t>> {
    let rows = table.rows().clone();
    let n_columns = table.columns().len();
    let mut rest = Scan(text);
    for (index, row) in rows.iter().enumerate() {
        let Some((cpu, mut line)) = next_cpu(&mut rest) else { return Ok(Shape::Other) };
        if cpu != *row {
            return Ok(Shape::Other);
        }
        for column in 0..n_columns {
            let Some(time) = line.number() else { return Ok(Shape::Other) };
            table.set(index, column, time);
        }
        if n_columns < TIMES.len() && line.number().is_some() {
            return Ok(Shape::Other);
        }
    }
    for name in TIMES.get(n_columns..).unwrap_or_default() {
        table.blank_column(name, Missing::absent(format!("{name} in {PATH}")));
    }
    if rest.0.starts_with(b"cpu") { Ok(Shape::Other) } else { Ok(Shape::Same) }
}

fn table_of_times(text: &[u8]) -> Result<Table, Unfit<'_>> {
    let mut rest = Scan(text);
    let (mut cpus, mut n_columns) = (Vec::new(), TIMES.len());
    while let Some((cpu, mut line)) = next_cpu(&mut rest) {
        if cpus.is_empty() {
            n_columns = (0..TIMES.len()).take_while(|_| line.number().is_some()).count();
        }
        cpus.push(cpu);
    }
    if cpus.is_empty() || n_columns < FEWEST_TIMES || !cpus.is_sorted_by(|a, b| a < b) {
        return Err(Unfit { found: text, expected: CPU_LINE });
    }
    let columns = TIMES.iter().take(n_columns).map(|&it| it.into()).collect();
    Ok(Table::new(cpus.into(), columns))
}

fn write_totals<'t>(text: &'t [u8], table: &mut Table) -> Result<Shape, Unfit<'t>> {
    let mut rest = Scan(text);
    let (mut switches, mut forks) = (None, None);
    while !rest.is_empty() {
        let mut line = Scan(rest.line());
        if line.prefix(b"ctxt ") {
            switches = line.number();
        } else if line.prefix(b"processes ") {
            forks = line.number();
        }
    }
    let both = switches.zip(forks);
    let (switches, forks) =
        both.ok_or(Unfit { found: text, expected: "lines `ctxt` and `processes`" })?;
    table.set(0, 0, switches);
    table.set(0, 1, forks);
    Ok(Shape::Same)
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;

    const STAT: &str = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu2 11 12 13 14 15 16 17 18 19 20\n\
        intr 5 0 0\nctxt 77\nbtime 1\nprocesses 88\nsoftirq 1 2\n";

    fn times(texts: &[&str]) -> String {
        shown::after(texts, cpu_times)
    }

    #[test]
    fn the_sum_of_all_cpus_is_no_row() {
        assert_eq!(
            times(&[STAT]),
            "user nice system idle iowait irq softirq steal guest guest_nice\n0: 1 2 3 4 5 6 7 8 9 10\n\
             2: 11 12 13 14 15 16 17 18 19 20\n"
        );
    }

    #[test]
    fn a_cpu_that_comes_or_goes_makes_another_table() {
        let with_1 = STAT.replace("cpu2", "cpu1 0 0 0 0 0 0 0 0 0 0\ncpu2");
        assert_eq!(times(&[STAT, &with_1]), times(&[&with_1]));
        assert_eq!(times(&[&with_1, STAT]), times(&[STAT]));
    }

    #[test]
    fn a_time_that_an_old_kernel_lacks_is_absent_and_not_0() {
        assert_eq!(
            times(&["cpu0 1 2 3 4 5 6 7 8\n"]),
            "user nice system idle iowait irq softirq steal\n0: 1 2 3 4 5 6 7 8\n\
             guest: guest in /proc/stat does not exist\nguest_nice: guest_nice in /proc/stat does not exist\n"
        );
    }

    #[test]
    fn a_text_that_is_cut_is_refused() {
        assert!(times(&[STAT, "cpu0 1 2 3 4 5 6 7 8 9 1"]).contains("the last one whole"));
        assert!(times(&[STAT, "cpu0 1 2 3\n"]).contains("lines like `cpu0 1 2 3 4`"));
        assert!(times(&["cpu1 1 2 3 4\ncpu0 1 2 3 4\n"]).contains("by ascending CPU"));
        assert!(times(&["cpu0 1 2 3 4\ncpu1 1 2 x 4\n"]).contains("in all of its lines"));
    }

    #[test]
    fn totals_stand_behind_the_interrupts() {
        assert_eq!(shown::after(&[STAT], totals), "ctxt processes\n0: 77 88\n");
        assert!(shown::after(&["ctxt 5\n"], totals).contains("expected lines `ctxt`"));
    }
}
