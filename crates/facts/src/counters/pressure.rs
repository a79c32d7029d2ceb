//! /proc/pressure/{cpu,io,memory,irq}: for how long tasks were held up for want of something.
//!
//! Source: Documentation/accounting/psi.rst. `some`: at least one task waited; `full`: all that could run did.
//! The file of the CPU has had `full` since Linux 5.13, and it is always 0 for the whole system. That of interrupts (Linux 6.1,
//! CONFIG_IRQ_TIME_ACCOUNTING) has `full` only: time that interrupts took from tasks that were running (kernel/sched/psi.c, `psi_show`).

use super::scan::Scan;
use crate::Expected;

/// Since boot, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// While at least one task waited.
    pub some: u64,
    /// While no task got on; `None` where the kernel does not say.
    pub full: Option<u64>,
}

const LINES: Expected = Expected("lines like `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`");

/// Parses the file of the CPU, of I/O or of memory.
pub fn stalled(text: &[u8]) -> Result<Stalled, Expected> {
    let (some, full) = totals(text)?;
    Ok(Stalled { some: some.ok_or(LINES)?, full })
}

/// Parses the file of interrupts: since boot, in microseconds, while they held tasks up.
pub fn stalled_by_interrupts(text: &[u8]) -> Result<u64, Expected> {
    totals(text)?.1.ok_or(LINES)
}

/// The totals of the lines `some` and `full`.
fn totals(text: &[u8]) -> Result<(Option<u64>, Option<u64>), Expected> {
    let (mut some, mut full) = (None, None);
    let mut rest = Scan(text);
    while !rest.is_empty() {
        let mut line = Scan(rest.line());
        let total = if line.prefix(b"some ") {
            &mut some
        } else if line.prefix(b"full ") {
            &mut full
        } else {
            continue;
        };
        let word = line.0.split(|it| *it == b' ').next_back().unwrap_or_default();
        let number = word.strip_prefix(b"total=").and_then(|it| Scan(it).number());
        *total = Some(number.ok_or(LINES)?);
    }
    Ok((some, full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_averages_are_not() {
        let some = "some avg10=87.98 avg60=94.10 avg300=78.16 total=7147887670\n";
        assert_eq!(stalled(some.as_bytes()), Ok(Stalled { some: 7_147_887_670, full: None }));
        let both = format!("{some}full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
        assert_eq!(stalled(both.as_bytes()).map(|it| it.full), Ok(Some(5)));
    }

    #[test]
    fn interrupts_have_only_the_full_line() {
        let irq = b"full avg10=0.00 avg60=0.00 avg300=0.00 total=4711\n";
        assert_eq!((stalled_by_interrupts(irq), stalled(irq).is_err()), (Ok(4711), true));
        assert!(stalled_by_interrupts(b"some avg10=0.00 total=5\n").is_err());
    }

    #[test]
    fn a_line_that_is_cut_is_refused() {
        assert!(stalled(b"some avg10=87.98 avg60=94.1").is_err());
        assert!(stalled(b"full avg10=0 total=5\n").is_err() && stalled(b"").is_err());
    }
}
