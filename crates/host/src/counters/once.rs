//! The files of /proc that have everything of their kind: stat, interrupts, softirqs, timer_list.

use super::clock;
use super::files::{File, Files};
use super::wanted::Wanted;
use facts::counters::{Counters, Family, Table, interrupts, softirqs, stat, timer_list};
use facts::{CpuSet, Fact};

#[derive(Debug)]
pub(super) struct Once {
    stat: File,
    interrupts: File,
    softirqs: File,
    timer_list: File,
}

impl Once {
    pub(super) fn new() -> Once {
        Once {
            stat: File::new("/proc/stat"),
            interrupts: File::of_lines("/proc/interrupts"),
            softirqs: File::new("/proc/softirqs"),
            timer_list: File::of_lines("/proc/timer_list"),
        }
    }

    /// Reads what is wanted of them.
    pub(super) fn sample(
        &mut self,
        files: &mut Files,
        wanted: &Wanted,
        online: &CpuSet,
        into: &mut Counters,
    ) {
        let mut fill = |file: &mut File, parsers: &[(Family, &Parser<'_>)]| {
            if !parsers.iter().any(|(family, _)| wanted.has(*family)) {
                return;
            }
            let read_at = clock::now_ns();
            let text = files.read(file);
            for (family, parser) in parsers.iter().filter(|(family, _)| wanted.has(*family)) {
                let table = into.table_mut(*family);
                match &text {
                    Ok(text) => parser(text, read_at, table),
                    Err(missing) => *table = Err(missing.clone()),
                }
            }
        };
        let softirqs = |text: &[u8], read_at: u64, table: &mut Fact<Table>| {
            softirqs::fill(text, read_at, online, table);
        };
        fill(
            &mut self.stat,
            &[(Family::CpuTimes, &stat::cpu_times), (Family::Totals, &stat::totals)],
        );
        fill(&mut self.timer_list, &[(Family::IdleSleep, &timer_list::fill)]);
        fill(&mut self.interrupts, &[(Family::Interrupts, &interrupts::fill)]);
        fill(&mut self.softirqs, &[(Family::Softirqs, &softirqs)]);
    }
}

/// Writes a text into a table, with the time it was read at.
type Parser<'a> = dyn Fn(&[u8], u64, &mut Fact<Table>) + 'a;
