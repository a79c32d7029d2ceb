//! Files of /proc that hold a whole family each: CPU times, interrupts, softirqs, timers, run time and pressure.

use super::Wanted;
use super::files::{File, Files};
use crate::{Source, clock};
use facts::counters::pressure::{stalled, stalled_by_interrupts};
use facts::counters::{
    Counters, Family, Table, cpuacct, interrupts, schedstat, softirqs, stat, timer_list,
};
use facts::{CpuSet, Fact, Missing};

/// /proc/stat, interrupts, softirqs and timer_list.
#[derive(Debug)]
pub(super) struct ProcFiles {
    stat: File,
    interrupts: File,
    softirqs: File,
    timer_list: File,
}

impl ProcFiles {
    pub(super) fn new() -> ProcFiles {
        ProcFiles {
            stat: File::new("/proc/stat"),
            interrupts: File::of_lines("/proc/interrupts"),
            softirqs: File::new("/proc/softirqs"),
            timer_list: File::of_lines("/proc/timer_list"),
        }
    }

    /// Reads the families that are wanted.
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
            let read_at = clock::raw_ns();
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

/// How long tasks have run on each CPU: /proc/schedstat, else the root group of cpuacct.
///
/// The first needs CONFIG_SCHEDSTATS, the second a cgroup v1 hierarchy with cpuacct that is mounted from its
/// root. They count by different clocks: see [`facts::counters::schedstat`] and [`facts::counters::cpuacct`].
#[derive(Debug)]
pub(super) struct RunTime {
    schedstat: File,
    /// Where there is no schedstat; `Err` where there is none of either.
    usage: Fact<(File, CpuSet)>,
}

impl RunTime {
    pub(super) fn of(source: &dyn Source, possible: &Fact<CpuSet>) -> RunTime {
        let usage = usage_path(source).and_then(|path| Ok((File::new(path), possible.clone()?)));
        RunTime { schedstat: File::of_lines("/proc/schedstat"), usage }
    }

    pub(super) fn sample(
        &mut self,
        files: &mut Files,
        into: &mut Counters,
        online: &CpuSet,
        read_at: u64,
    ) {
        let table = into.table_mut(Family::RunTime);
        match (files.read(&mut self.schedstat), &mut self.usage) {
            (Ok(text), _) => schedstat::fill(text, read_at, table),
            (Err(missing), Err(_)) => *table = Err(missing),
            (Err(no_schedstat), Ok((file, possible))) => match files.read(file) {
                Ok(text) => {
                    let cpus = cpuacct::Cpus { possible, online };
                    cpuacct::fill(&file.path, text, read_at, cpus, table);
                    if let Ok(table) = table {
                        table.set_source("cpuacct.usage_percpu of the root control group");
                        // Waiting time is in the first source alone.
                        table.blank_column("wait", no_schedstat);
                    }
                }
                Err(missing) => *table = Err(missing),
            },
        }
    }
}

/// The file of the root group, where the root is what is mounted: in a container it is the container's group.
fn usage_path(source: &dyn Source) -> Fact<String> {
    let mounts = source.text("/proc/self/mountinfo")?;
    let point = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - cgroup ")?;
        let options = kind.split(' ').nth(1)?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        (root == "/" && options.split(',').any(|it| it == "cpuacct")).then_some(point)
    });
    let point = point.ok_or_else(|| Missing::absent("a mounted cpuacct control group"))?;
    // A cgroup namespace calls its own group the root (cgroup_namespaces(7)); only the true one has this file.
    if !source.list(point)?.iter().any(|name| name == "release_agent") {
        let why = "the mounted control group is a container's, not the root";
        return Err(Missing::not_here("cpuacct of the whole host", why));
    }
    Ok(format!("{point}/cpuacct.usage_percpu"))
}

const RESOURCES: [&str; 3] = ["cpu", "io", "memory"];

/// Pressure stall information: how long tasks waited for CPUs, I/O and memory, and how long interrupts held them up.
///
/// Source: Documentation/accounting/psi.rst. A kernel that was built with it and booted with `psi=0` has the
/// files, and refuses them with EOPNOTSUPP.
#[derive(Debug)]
pub(super) struct Pressure {
    files: [File; 3],
    /// Since Linux 6.1, and only where the kernel accounts the time of interrupts; `None` once it could not be read.
    interrupts: Option<File>,
}

impl Pressure {
    pub(super) fn new() -> Pressure {
        let file = |name: &str| File::new(format!("/proc/pressure/{name}"));
        Pressure { files: RESOURCES.map(file), interrupts: Some(file("irq")) }
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters, read_at: u64) {
        let table = into.table_mut(Family::Pressure);
        if let Err(missing) = self.fill(files, table, read_at) {
            *table = Err(missing);
        }
    }

    /// All files or none: a kernel has the first three of them together.
    fn fill(&mut self, files: &mut Files, into: &mut Fact<Table>, read_at: u64) -> Fact<()> {
        let mut totals = [(None, None); 3];
        for (total, file) in totals.iter_mut().zip(&mut self.files) {
            let stalled = stalled(files.read(file)?);
            let stalled = stalled.map_err(|expected| files.malformed(&file.path, expected))?;
            *total = (Some(stalled.some), stalled.full);
        }
        let read = self.interrupts.as_mut().and_then(|it| files.read(it).ok());
        let interrupts = read.and_then(|it| stalled_by_interrupts(it).ok());
        if interrupts.is_none() {
            self.interrupts = None;
        }
        let values = || totals.iter().flat_map(|(some, full)| [*some, *full]).chain([interrupts]);
        let n_columns = values().flatten().count();
        if !into.as_ref().is_ok_and(|table| table.columns().len() == n_columns) {
            let named = NAMES.iter().zip(values()).filter(|(_, value)| value.is_some());
            *into = Ok(Table::new([0].into(), named.map(|(&name, _)| name.into()).collect()));
        }
        let Ok(table) = into else { return Ok(()) };
        table.begin(read_at);
        for (column, value) in values().flatten().enumerate() {
            table.set(0, column, value);
        }
        for (name, _) in NAMES.iter().zip(values()).filter(|(_, value)| value.is_none()) {
            table.blank_column(name, Missing::absent(format!("{name} in /proc/pressure")));
        }
        Ok(())
    }
}

const NAMES: [&str; 7] =
    ["cpu.some", "cpu.full", "io.some", "io.full", "memory.some", "memory.full", "irq.full"];
