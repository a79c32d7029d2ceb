//! /proc/softirqs: how often each CPU ran each kind of softirq.
//!
//! Source: proc_softirqs(5), fs/proc/softirqs.c. The header names every possible CPU, online or not; those that
//! are not online have no row. Counts are 32 bits wide and wrap.

use super::interrupts::next_cpu;
use super::scan::Scan;
use super::table::{Shape, Source, Table, Unfit};
use crate::{CpuSet, Fact};

const PATH: &str = "/proc/softirqs";

const HEADER: &str = "a first line like `CPU0 CPU1`, by ascending CPU";
const LINE: &str = "a name, a colon, and a count for every CPU of the first line";

/// Writes the counts of the CPUs in `online`: [`Family::Softirqs`](super::Family::Softirqs).
pub fn fill(text: &[u8], read_at: u64, online: &CpuSet, into: &mut Fact<Table>) {
    let make = |text| table(text, online);
    Source { path: PATH, text, read_at }.refill(
        into,
        |text, table| write(text, online, table),
        make,
    );
}

fn write<'t>(text: &'t [u8], online: &CpuSet, table: &mut Table) -> Result<Shape, Unfit<'t>> {
    let (rows, columns) = (table.rows().clone(), table.columns().clone());
    let mut rest = Scan(text);
    let header = Scan(rest.line());
    let mut left = header;
    // CPUs that are not online count for the order of the header, too.
    let (mut last, mut is_sorted) = (None, true);
    let possible = std::iter::from_fn(|| {
        let cpu = next_cpu(&mut left)?;
        is_sorted &= last.replace(cpu).is_none_or(|it| it < cpu);
        Some(cpu)
    });
    let is_same = possible.filter(|cpu| online.contains(*cpu)).eq(rows.iter().copied());
    if !is_same || !is_sorted || !left.0.trim_ascii().is_empty() {
        return Ok(Shape::Other);
    }
    for (column, name) in columns.iter().enumerate() {
        if rest.is_empty() {
            return Ok(Shape::Other);
        }
        let label = write_line(&mut rest, header, &rows, |row, n| table.set(row, column, n))?;
        if label != name.as_bytes() {
            return Ok(Shape::Other);
        }
    }
    if rest.is_empty() { Ok(Shape::Same) } else { Ok(Shape::Other) }
}

/// Calls `set` with the counts of a line for the CPUs of `rows`, and returns the name of the line.
fn write_line<'t>(
    rest: &mut Scan<'t>,
    mut header: Scan<'_>,
    rows: &[u32],
    mut set: impl FnMut(usize, u64),
) -> Result<&'t [u8], Unfit<'t>> {
    let found = rest.line();
    let unfit = || Unfit { found, expected: LINE };
    let mut line = Scan(found);
    let label = line.label().ok_or_else(unfit)?;
    let mut row = 0;
    while let Some(cpu) = next_cpu(&mut header) {
        let count = line.number().ok_or_else(unfit)?;
        if rows.get(row) == Some(&cpu) {
            set(row, count);
            row += 1;
        }
    }
    if line.0.trim_ascii().is_empty() { Ok(label) } else { Err(unfit()) }
}

fn table<'t>(text: &'t [u8], online: &CpuSet) -> Result<Table, Unfit<'t>> {
    let mut rest = Scan(text);
    let header = rest.line();
    let mut left = Scan(header);
    let possible: Vec<u32> = std::iter::from_fn(|| next_cpu(&mut left)).collect();
    let is_header = left.0.trim_ascii().is_empty() && possible.is_sorted_by(|a, b| a < b);
    let cpus: Vec<u32> = possible.into_iter().filter(|cpu| online.contains(*cpu)).collect();
    if cpus.is_empty() || !is_header {
        return Err(Unfit { found: header, expected: HEADER });
    }
    let mut columns = Vec::new();
    while !rest.is_empty() {
        let label = write_line(&mut rest, Scan(header), &cpus, |_, _| ())?;
        let label = std::str::from_utf8(label);
        columns.push(label.map_err(|_| Unfit { found: text, expected: LINE })?.into());
    }
    Ok(Table::new(cpus.into(), columns.into()))
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;

    const TEXT: &str = "                    CPU0       CPU1       CPU2\n          HI:          1          2          3\n\
        \x20  NET_RX:         10         20         30\n";

    fn filled(online: &str, texts: &[&str]) -> String {
        let online = CpuSet::parse_list(online).unwrap();
        shown::after(texts, |text, read_at, into| fill(text, read_at, &online, into))
    }

    #[test]
    fn a_cpu_that_is_not_online_has_no_row() {
        assert_eq!(filled("0,2", &[TEXT, TEXT]), "HI NET_RX\n0: 1 10\n2: 3 30\n");
    }

    #[test]
    fn a_line_with_a_count_too_many_or_too_few_is_refused() {
        for line in ["  NET_RX:  10  20\n", "  NET_RX:  10  20  30  40\n", "  NET_RX  10  20  30\n"]
        {
            let (before, _) = TEXT.split_once("  NET_RX").unwrap();
            let text = format!("{before}{line}");
            assert!(filled("0-2", &[TEXT, &text]).contains("a count for every CPU"), "{line}");
        }
    }

    #[test]
    fn a_kind_that_comes_makes_another_table() {
        let more = format!("{TEXT}  RCU: 7 8 9\n");
        assert_eq!(filled("0", &[TEXT, &more]), "HI NET_RX RCU\n0: 1 10 7\n");
        assert_eq!(filled("0", &[&more, TEXT]), filled("0", &[TEXT]));
    }

    #[test]
    fn a_header_out_of_order_is_refused_also_where_only_a_cpu_that_is_not_online_is_out_of_order() {
        let odd = "CPU5 CPU0\nHI: 1 2\n";
        let expected = filled("0", &[odd]);
        assert!(expected.contains("by ascending CPU"), "{expected}");
        assert_eq!(filled("0", &["CPU0 CPU2\nHI: 1 2\n", odd]), expected);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(filled("0", &["HI: 1\n"]).contains("CPU0 CPU1"));
        assert!(filled("5", &[TEXT]).contains("CPU0 CPU1"));
        let cut = "CPU0 CP_3\nHI: 1\n";
        assert_eq!(filled("0", &["CPU0\nHI: 1\n", cut]), filled("0", &[cut]));
    }
}
