//! Rows of `ps` as /proc/PID/stat: of kernel threads alone, which no other program can be taken for.
//!
//! Source: procps, ps(1): "%CPU" is the CPU time over the time since the start, so that both tell how old a thread is.

use super::Facts;

/// Ticks of /proc/PID/stat in a second (USER_HZ).
const TICKS: f64 = 100.0;

/// PF_KTHREAD of include/linux/sched.h.
const KERNEL_THREAD: u32 = 0x0020_0000;

/// Names of columns by what they hold (ps(1), STANDARD FORMAT SPECIFIERS).
const COLUMNS: [(Column, &[&str]); 5] = [
    (Column::Pid, &["PID", "TGID"]),
    (Column::Share, &["%CPU", "C", "CP"]),
    (Column::Time, &["TIME", "CPUTIME"]),
    (Column::Age, &["ELAPSED"]),
    (Column::Name, &["COMMAND", "CMD", "COMM"]),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Pid,
    Share,
    Time,
    Age,
    Name,
}

/// A kernel thread as a row shows it.
struct Thread<'a> {
    pid: u32,
    name: &'a str,
    /// The CPU time that it took, and how old it is, in seconds.
    time: f64,
    age: f64,
}

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let mut heading: Option<Vec<&str>> = None;
    let (mut first, mut threads) = (None, Vec::new());
    for (at, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if is_heading(&cells) {
            first.get_or_insert(at);
            heading = Some(cells);
            continue;
        }
        let thread = match &heading {
            Some(names) => named(names, &cells),
            None => unnamed(&cells),
        };
        if let Some(thread) = thread {
            first.get_or_insert(at);
            threads.push(thread);
        }
    }
    let oldest = threads.iter().map(|it| it.age).fold(0.0, f64::max);
    if !threads.is_empty() {
        facts.line("/proc/uptime", format!("{oldest:.2} 0.00"));
    }
    for Thread { pid, name, time, age } in &threads {
        let (time, started) = ((time * TICKS).round(), ((oldest - age) * TICKS).round());
        // Behind the name: state ppid pgrp session tty_nr tpgid flags, four counts of faults, utime stime and six others, the start.
        let stat = format!(
            "{pid} ({name}) S 2 0 0 0 -1 {KERNEL_THREAD} 0 0 0 0 0 {time:.0} 0 0 20 0 1 0 {started:.0}"
        );
        facts.line(&format!("/proc/{pid}/stat"), stat);
    }
    first
}

fn is_heading(cells: &[&str]) -> bool {
    let has = |wanted: Column| column(cells, wanted).is_some();
    has(Column::Pid)
        && has(Column::Name)
        && (has(Column::Time) || has(Column::Share))
        && !cells.contains(&"TIME+")
}

fn column(names: &[&str], wanted: Column) -> Option<usize> {
    let known = COLUMNS.iter().find(|it| it.0 == wanted)?.1;
    names.iter().position(|it| known.contains(it))
}

/// A row below a heading. The name is the last column, or the row is not read.
fn named<'a>(names: &[&str], cells: &[&'a str]) -> Option<Thread<'a>> {
    let cell = |wanted: Column| cells.get(column(names, wanted)?).copied();
    if column(names, Column::Name)? + 1 != names.len() || cells.len() != names.len() {
        return None;
    }
    let is_in_memory = |name: &str| {
        names.iter().position(|it| *it == name).is_some_and(|at| cells.get(at) != Some(&"0"))
    };
    if is_in_memory("RSS") || is_in_memory("VSZ") {
        return None;
    }
    let name = cell(Column::Name)?;
    // Without the memory that it has, brackets say that it is the kernel's.
    let is_cut = name.starts_with('[') && !is_bracketed(name);
    let is_kernels =
        is_bracketed(name) || names.contains(&"RSS") || is_child_of_kthreadd(names, cells);
    let age = cell(Column::Age).and_then(seconds);
    thread(cell(Column::Pid)?, name, cell(Column::Share), cell(Column::Time), age)
        .filter(|_| is_kernels && !is_cut)
}

/// Whether a name stands in brackets, as that of a thread without a command line does.
fn is_bracketed(name: &str) -> bool {
    name.starts_with('[') && name.ends_with(']')
}

/// Every kernel thread has process 2 as its parent (kernel/kthread.c, kthreadd).
fn is_child_of_kthreadd(names: &[&str], cells: &[&str]) -> bool {
    names.iter().position(|it| *it == "PPID").is_some_and(|at| cells.get(at) == Some(&"2"))
}

/// A row of `ps aux` without its heading: USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND.
fn unnamed<'a>(cells: &[&'a str]) -> Option<Thread<'a>> {
    let &[_, pid, share, _, "0", "0", "?", _, _, time, name] = cells else { return None };
    is_bracketed(name).then(|| thread(pid, name, Some(share), Some(time), None))?
}

fn thread<'a>(
    pid: &str,
    name: &'a str,
    share: Option<&str>,
    time: Option<&str>,
    age: Option<f64>,
) -> Option<Thread<'a>> {
    let pid: u32 = pid.parse().ok()?;
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_plain = !name.is_empty() && !name.contains(['(', ')']);
    let time = time.and_then(seconds)?;
    let share = share.and_then(|it| it.replace(',', ".").parse::<f64>().ok()).map(|it| it / 100.0);
    let age = match (age, share) {
        (Some(age), _) => age,
        (None, Some(share)) if share > 0.0 => time / share,
        // So little that it shows as none.
        (None, Some(_)) => time * 2000.0 + 86_400.0,
        (None, None) => return None,
    };
    (is_plain && age.is_finite() && age < 1e9 && time <= 1e9).then_some(Thread {
        pid,
        name,
        time,
        age,
    })
}

/// `33621:07` (minutes), `23:10:05`, `3-04:05:06` and `00:12` in seconds.
fn seconds(text: &str) -> Option<f64> {
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let mut total = 0.0;
    let parts: Vec<&str> = rest.split(':').collect();
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    for part in parts {
        let number: u32 = part.parse().ok()?;
        total = total * 60.0 + f64::from(number);
    }
    Some(f64::from(days.parse::<u32>().ok()?) * 86_400.0 + total)
}
