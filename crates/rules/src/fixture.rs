//! What the tests of checks share: a host from an excerpt, and a verdict as one line of text.

use crate::check::Check;
use crate::finding::Finding;
use crate::interval::Interval;
use crate::metric::{Metric, Series, Values};
use facts::counters::users::{Kind, Owner, UserTime, UserTimes};
use facts::counters::{Counters, Family, Group, Groups, Moment, Name, Table, Task, Tasks};
use facts::system::roles::by_id;
use facts::{CpuSet, Fact, HostView};
use host::Captured;

pub(crate) mod advised;
pub(crate) mod books;
pub(crate) mod boot_loaders;
mod hostile;
pub(crate) mod planned;
pub(crate) mod watched;

/// Two cores of a Xeon Scalable, threads 0 and 2, 1 and 3, whose registers are real ones.
pub(crate) const XEON: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
cpu family : 6
model : 85
flags : acpi tm2 est ida pln pts epb hwp
//- /sys/devices/system/cpu/online
0-3
//- /sys/devices/system/cpu/cpu0/topology/core_cpus_list
0,2
//- /sys/devices/system/cpu/cpu1/topology/core_cpus_list
1,3
//- /sys/devices/system/cpu/cpu0/topology/package_cpus_list
0-3
//- /dev/cpu/0/msr 0xce
0xa0080001800
";

/// The host that answers as `excerpt` says; whatever it does not name is absent. A text with a capture's first
/// line is a whole capture, and what it does not name is not known.
pub(crate) fn host_of(excerpt: &str) -> HostView {
    host::view(&captured(excerpt))
}

/// The same as the source of its facts.
pub(crate) fn captured(excerpt: &str) -> Captured {
    let is_whole = excerpt.starts_with("fullclock capture ");
    let captured = if is_whole { Captured::parse(excerpt) } else { Captured::excerpt(excerpt) };
    captured.unwrap()
}

/// The findings of a check that has some, with what they advise on that host.
pub(crate) fn findings(check: &'static Check, excerpt: &str) -> Vec<Finding> {
    advised::verdict(check, excerpt).unwrap()
}

/// The verdict in short: `severity: message [CPUs]` a line, or `clean`, or why there is none.
pub(crate) fn verdict(check: &'static Check, excerpt: &str) -> String {
    match advised::verdict(check, excerpt) {
        Err(missing) if missing.is_absence() => format!("not applicable: {missing}"),
        Err(missing) => format!("unknown: {missing}"),
        Ok(findings) if findings.is_empty() => "clean".to_owned(),
        Ok(findings) => {
            let line = |finding: &Finding| {
                let scope = finding.cpus.as_ref().map_or(String::new(), |it| format!(" [{it}]"));
                format!("{}: {}{scope}", finding.severity.name(), finding.message)
            };
            findings.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Counters from text: `at MILLISECONDS`, then tables, each `Family column column ...` and a line `row cell
/// cell ...` for each row, `+` in a column's name standing for a space; `task tid pid name kernel|user cpu run_ns
/// wait_ns` for each task; `users MILLISECONDS` where users' tasks were added up over that time, then `unread COUNT` and
/// `user command|other NAME PRODUCT/ROLE|- cpu run_ns wait_ns` for each kind; `groups` where control groups were read, then
/// `group path throttled_ns` for each.
pub(crate) fn counters(text: &str) -> Counters {
    let mut counters = Counters::unread();
    let mut lines = text.lines().peekable();
    let mut tasks = Vec::new();
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["at", ms] => {
                let ns = ms.parse::<u64>().unwrap() * 1_000_000 + 1;
                counters.at = Moment { raw_ns: ns, boot_ns: ns, real_ns: ns };
            }
            ["task", tid, pid, name, kind, cpu, run, wait] => tasks.push(Task {
                tid: tid.parse().unwrap(),
                pid: pid.parse().unwrap(),
                name: Name::new(name.as_bytes()),
                is_kernel_thread: kind == "kernel",
                started: 1,
                cpu: cpu.parse().unwrap(),
                run_ns: run.parse().unwrap(),
                wait_ns: wait.parse().unwrap(),
                slices: 1,
            }),
            ["users", ms] => {
                let over_ns = ms.parse::<u64>().unwrap() * 1_000_000;
                counters.users = Ok(UserTimes { over_ns, ..UserTimes::default() });
            }
            ["unread", tasks] => {
                counters.users.as_mut().unwrap().unread = tasks.parse().unwrap();
            }
            ["user", owner, name, role, cpu, run, wait] => {
                let kind = kind([owner, name, role]);
                let [run_ns, wait_ns] = [run, wait].map(|it| it.parse().unwrap());
                let time = UserTime { kind, cpu: cpu.parse().unwrap(), run_ns, wait_ns };
                counters.users.as_mut().unwrap().list.push(time);
            }
            ["groups"] => counters.groups = Ok(Groups::default()),
            ["group", path, throttled] => {
                let group = Group {
                    path: path.to_owned(),
                    periods: 1,
                    throttled_periods: 1,
                    throttled_ns: throttled.parse().unwrap(),
                };
                counters.groups.as_mut().unwrap().list.push(group);
            }
            [family, ref columns @ ..] => {
                let family = Family::ALL.iter().find(|it| format!("{it:?}") == family).unwrap();
                let is_row = |line: &&str| line.starts_with(|it: char| it.is_ascii_digit());
                let rows: Vec<&str> = std::iter::from_fn(|| lines.next_if(is_row)).collect();
                *counters.table_mut(*family) = Ok(table(columns, &rows, counters.at.raw_ns));
                counters.online = online(&counters);
            }
            [] => {}
        }
    }
    if !tasks.is_empty() {
        let read_at = counters.at.raw_ns;
        // Where users' tasks were added up they are not listed.
        let complete = counters.users.is_err();
        counters.tasks = Ok(Tasks { complete, read_at, list: tasks });
    }
    counters
}

/// `command|other NAME PRODUCT/ROLE|-`.
fn kind([owner, name, role]: [&str; 3]) -> Kind {
    let owner = if owner == "command" { Owner::Command } else { Owner::Other };
    let role = role.split_once('/').and_then(|(product, role)| by_id(product, role));
    let role = role.map(|(product, role)| (product.id, role.id));
    Kind { owner, role, name: Name::new(name.as_bytes()), is_ended: false }
}

fn table(columns: &[&str], rows: &[&str], read_at: u64) -> Table {
    let numbers =
        |row: &str| -> Vec<u64> { row.split_whitespace().map(|it| it.parse().unwrap()).collect() };
    let rows: Vec<Vec<u64>> = rows.iter().map(|row| numbers(row)).collect();
    let mut table = Table::new(
        rows.iter().map(|row| row[0] as u32).collect(),
        columns.iter().map(|&column| column.replace('+', " ").into()).collect(),
    );
    for (index, row) in rows.iter().enumerate() {
        table.row_mut(index, read_at).copy_from_slice(&row[1..]);
    }
    table
}

/// Every CPU of any table.
fn online(counters: &Counters) -> CpuSet {
    let tables = counters.tables().filter_map(|(_, table)| table.as_ref().ok());
    tables.flat_map(|table| table.rows().to_vec()).collect()
}

/// What a metric makes of two samples: `row: value` a line, with the part before it where it has parts, or the
/// reason there is none.
pub(crate) fn measured(metric: &Metric, before: &str, after: &str) -> String {
    measured_on("", metric, before, after)
}

/// The same on the host of an excerpt.
pub(crate) fn measured_on(excerpt: &str, metric: &Metric, before: &str, after: &str) -> String {
    let (host, before, after) = (host_of(excerpt), counters(before), counters(after));
    let interval = Interval { host: &host, before: &before, after: &after };
    let value = |value: &Fact<f64>| match value {
        Ok(value) => format!("{value:.2}"),
        Err(missing) => missing.to_string(),
    };
    let lines = |series: &Series| -> Vec<String> {
        let part = match series.part.as_str() {
            "" => String::new(),
            part => format!("{part} "),
        };
        match &series.values {
            Values::Host(fact) => vec![format!("{part}host: {}", value(fact))],
            Values::Cpus(facts) | Values::Cores(facts) | Values::Packages(facts) => {
                facts.iter().map(|(row, fact)| format!("{part}{row}: {}", value(fact))).collect()
            }
        }
    };
    match (metric.measure)(&interval) {
        Err(missing) => missing.to_string(),
        Ok(series) => series.iter().flat_map(lines).collect::<Vec<_>>().join("\n"),
    }
}
