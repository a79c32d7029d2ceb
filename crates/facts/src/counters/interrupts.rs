//! /proc/interrupts: how often each CPU took each interrupt.
//!
//! Sources: proc_interrupts(5), kernel/irq/proc.c (show_interrupts), arch/*/kernel/irq.c. The header names the online
//! CPUs. A line has a name, a count per CPU, and then the chip and the device. The kernel writes line by line, and a
//! CPU may come or go in between: a line with one count too many or too few invalidates the whole text. Most counts
//! are 32 bits wide and wrap.

use super::scan::Scan;
use super::table::{Shape, Source, Table, Unfit};
use crate::Fact;

const PATH: &str = "/proc/interrupts";

const HEADER: &str = "a first line like `CPU0 CPU1`, by ascending CPU";
const COUNTS: &str = "a count for every CPU of the first line";

/// Lines with one count for the whole machine: arch/x86/kernel/irq.c, arch/arm/kernel/irq.c and
/// arch/arm64/kernel/smp.c.
const OF_THE_MACHINE: &[&[u8]] = &[b"ERR", b"MIS", b"Err"];

/// Writes the counts of the CPUs: [`Family::Interrupts`](super::Family::Interrupts).
pub fn fill(text: &[u8], read_at: u64, into: &mut Fact<Table>) {
    Source { path: PATH, text, read_at }.refill(into, write, table);
}

/// The next CPU number in a header, after `CPU`.
pub(super) fn next_cpu(header: &mut Scan<'_>) -> Option<u32> {
    header.skip_blanks();
    header.prefix(b"CPU").then(|| header.number()).flatten().and_then(|it| it.try_into().ok())
}

fn write<'t>(text: &'t [u8], table: &mut Table) -> Result<Shape, Unfit<'t>> {
    let (rows, columns) = (table.rows().clone(), table.columns().clone());
    let mut rest = Scan(text);
    let mut header = Scan(rest.line());
    let is_same = rows.iter().all(|row| next_cpu(&mut header) == Some(*row));
    if !is_same || !header.0.trim_ascii().is_empty() {
        return Ok(Shape::Other);
    }
    let mut n_written = 0;
    while let Some(line) = Line::next(&mut rest, rows.len(), |row, n| table.set(row, n_written, n))?
    {
        if !columns.get(n_written).is_some_and(|name| line.is_named(name)) {
            return Ok(Shape::Other);
        }
        n_written += 1;
    }
    if n_written == columns.len() { Ok(Shape::Same) } else { Ok(Shape::Other) }
}

fn table(text: &[u8]) -> Result<Table, Unfit<'_>> {
    let mut rest = Scan(text);
    let header = rest.line();
    let mut left = Scan(header);
    let cpus: Vec<u32> = std::iter::from_fn(|| next_cpu(&mut left)).collect();
    if cpus.is_empty() || !left.0.trim_ascii().is_empty() || !cpus.is_sorted_by(|a, b| a < b) {
        return Err(Unfit { found: header, expected: HEADER });
    }
    let mut columns = Vec::new();
    while let Some(line) = Line::next(&mut rest, cpus.len(), |_, _| ())? {
        columns.push(line.name());
    }
    Ok(Table::new(cpus.into(), columns.into()))
}

/// A line with a count per CPU, without its counts.
struct Line<'t> {
    label: &'t [u8],
    /// The last word, which is the device of a numbered line.
    device: &'t [u8],
}

impl<'t> Line<'t> {
    /// The next line with a count per CPU; `take` gets each count with the index of its row. Lines with one count for
    /// the whole machine are skipped.
    fn next(
        rest: &mut Scan<'t>,
        n_cpus: usize,
        mut take: impl FnMut(usize, u64),
    ) -> Result<Option<Line<'t>>, Unfit<'t>> {
        while !rest.is_empty() {
            let start = *rest;
            let unfit = |expected| Unfit { found: { start }.line(), expected };
            let label = rest.label().ok_or_else(|| unfit("a name and a colon"))?;
            if OF_THE_MACHINE.contains(&label) {
                rest.line();
                continue;
            }
            for place in 0..n_cpus {
                take(place, rest.number().ok_or_else(|| unfit(COUNTS))?);
            }
            // One count too many is that of a CPU that came online after the header was written.
            if { *rest }.number().is_some() {
                return Err(unfit(COUNTS));
            }
            let device = last_word(rest.line());
            return Ok(Some(Line { label, device }));
        }
        Ok(None)
    }

    fn has_device(&self) -> bool {
        self.label.iter().all(u8::is_ascii_digit) && !self.device.is_empty()
    }

    fn is_named(&self, name: &str) -> bool {
        let rest = name.as_bytes().strip_prefix(self.label);
        match rest {
            Some([]) => !self.has_device(),
            // A name with replacement characters is compared only if the kernel's name is not UTF-8.
            Some([b' ', device @ ..]) if self.has_device() => {
                device == self.device || *name == *self.name()
            }
            _ => name.contains(char::REPLACEMENT_CHARACTER) && *name == *self.name(),
        }
    }

    fn name(&self) -> Box<str> {
        let label = String::from_utf8_lossy(self.label);
        if self.has_device() {
            format!("{label} {}", String::from_utf8_lossy(self.device)).into()
        } else {
            label.into()
        }
    }
}

fn last_word(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    text.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;

    const TEXT: &str = "           CPU0       CPU2\n  8:        1         2  IO-APIC   8-edge      rtc0\n\
        LOC:       30         40   Local timer interrupts\nERR:          0\nMIS:          0\n";

    fn filled(texts: &[&str]) -> String {
        shown::after(texts, fill)
    }

    #[test]
    fn cpus_are_rows_and_lines_are_columns() {
        assert_eq!(filled(&[TEXT]), "8 rtc0, LOC\n0: 1 30\n2: 2 40\n");
        let later = TEXT.replace("30 ", "31 ");
        assert_eq!(filled(&[TEXT, &later]), "8 rtc0, LOC\n0: 1 31\n2: 2 40\n");
    }

    #[test]
    fn an_interrupt_that_comes_or_changes_its_device_makes_another_table() {
        let with_9 = TEXT.replace("LOC", "  9:   5   6  IO-APIC   9-fasteoi   acpi\nLOC");
        assert_eq!(filled(&[TEXT, &with_9]), "8 rtc0, 9 acpi, LOC\n0: 1 5 30\n2: 2 6 40\n");
        assert_eq!(filled(&[&with_9, TEXT]), filled(&[TEXT]));
        let renamed = TEXT.replace("rtc0", "eth0");
        assert_eq!(filled(&[TEXT, &renamed]), "8 eth0, LOC\n0: 1 30\n2: 2 40\n");
        let without_device = TEXT.replace("IO-APIC   8-edge      rtc0", "");
        assert_eq!(filled(&[TEXT, &without_device]), "8 LOC\n0: 1 30\n2: 2 40\n");
        assert_eq!(filled(&[&without_device, TEXT]), filled(&[TEXT]));
    }

    #[test]
    fn a_cpu_that_goes_offline_makes_another_table() {
        let only_0 = "    CPU0\n  8:  1  IO-APIC  8-edge  rtc0\nLOC:  30  Local\nERR: 7\n";
        assert_eq!(filled(&[TEXT, only_0]), "8 rtc0, LOC\n0: 1 30\n");
    }

    #[test]
    fn a_cpu_that_comes_while_the_kernel_writes_makes_no_wrong_cell() {
        let came = TEXT.replace("30         40 ", "30     7    40 ");
        assert!(filled(&[TEXT, &came]).contains("a count for every CPU"));
        let went = TEXT.replace("30         40 ", "30 ");
        assert!(filled(&[TEXT, &went]).contains("a count for every CPU"));
    }

    #[test]
    fn a_device_without_a_name_in_utf8_keeps_its_table() {
        let mut text = TEXT.as_bytes().to_vec();
        let at = text.iter().position(|it| *it == b'r').unwrap();
        text[at] = 0xff;
        let mut table = Err(crate::Missing::absent("table"));
        fill(&text, 1, &mut table);
        let before = table.clone().unwrap();
        fill(&text, 1, &mut table);
        assert!(std::sync::Arc::ptr_eq(before.columns(), table.unwrap().columns()));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(filled(&["LOC: 1\n"]).contains("CPU0 CPU1"));
        assert!(filled(&["CPU1 CPU0\nLOC: 1 2\n"]).contains("CPU0 CPU1"));
        let cut = TEXT.replace("CPU2", "CPU2 CP_3");
        assert_eq!(filled(&[TEXT, &cut]), filled(&[&cut]));
        assert!(filled(&["CPU0\nnonsense\n"]).contains("a name and a colon"));
        assert!(filled(&[""]).contains("the last one whole"));
    }
}
