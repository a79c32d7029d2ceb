//! A sampler of the tests' own: who ran and who waited for a CPU, four times a second, and how long the CPUs were idle.
//!
//! It shares no code with the program, so that both are not wrong in the same way. Sources: /proc/PID/task/TID/schedstat
//! (Documentation/scheduler/sched-stats.rst), /proc/PID/stat and /proc/stat (proc_pid_stat(5), proc_stat(5)).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, SystemTime};

/// The time between two readings of /proc/stat; the tasks are read at each tenth.
const PERIOD: Duration = Duration::from_millis(25);
const TASKS_EVERY: u32 = 10;

/// A tick of the times in /proc/PID/stat and /proc/stat, in seconds (USER_HZ).
const TICK: f64 = 0.01;

/// What tasks ran and waited for a CPU, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    pub(super) run: f64,
    pub(super) wait: f64,
}

/// Sums since the sampler began, each with its moment in seconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Sums {
    roles: BTreeMap<String, Vec<(f64, Times)>>,
    idle: Vec<(f64, f64)>,
}

/// Samples until it is finished.
pub(super) struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Sums>,
}

impl Sampler {
    pub(super) fn start() -> Sampler {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = spawn(move || {
            let (mut sums, mut tasks) = (Sums::default(), Tasks::default());
            for turn in 0u32.. {
                sums.idle.push((now(), idle()));
                if turn.is_multiple_of(TASKS_EVERY) {
                    tasks.read(turn == 0);
                    tasks.put(&mut sums.roles);
                    if until.load(Ordering::Relaxed) {
                        break;
                    }
                }
                sleep(PERIOD);
            }
            sums
        });
        Sampler { is_over, thread }
    }

    pub(super) fn finish(self) -> Sums {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

impl Sums {
    /// What tasks of each role ran and waited from one moment to another; between two samples in proportion.
    pub(super) fn between(&self, from: f64, to: f64) -> BTreeMap<String, Times> {
        let one = |points: &Vec<(f64, Times)>| {
            let of = |of: fn(&Times) -> f64| {
                let at = |moment| value_at(points.iter().map(|it| (it.0, of(&it.1))), moment);
                at(to) - at(from)
            };
            Times { run: of(|it| it.run), wait: of(|it| it.wait) }
        };
        self.roles.iter().map(|(role, points)| (role.clone(), one(points))).collect()
    }

    /// All of it.
    pub(super) fn total(&self, role: &str) -> Times {
        self.roles.get(role).and_then(|it| it.last()).map_or_else(Times::default, |it| it.1)
    }

    /// How long CPUs were idle from one moment to another, all together.
    pub(super) fn idle_between(&self, from: f64, to: f64) -> f64 {
        value_at(self.idle.iter().copied(), to) - value_at(self.idle.iter().copied(), from)
    }

    /// From the last sample in which a role had not yet run to the first in which it did not run any more.
    pub(super) fn lifetime(&self, role: &str) -> (f64, f64) {
        let points = &self.roles[role];
        let end = points.last().unwrap().1.run;
        let begun = points.iter().rev().find(|it| it.1.run == 0.0).unwrap_or(&points[0]);
        (begun.0, points.iter().find(|it| it.1.run == end).unwrap().0)
    }

    /// The last sample in which a role was still to run. When it ended after that, and how fast it ran until then, no sample tells.
    pub(super) fn surely_until(&self, role: &str) -> f64 {
        let points = &self.roles[role];
        let end = points.last().unwrap().1.run;
        points.iter().rev().find(|it| it.1.run < end).unwrap_or(&points[0]).0
    }
}

/// The value of a line through points, ascending, at a moment; that of its ends beyond them.
fn value_at(points: impl Iterator<Item = (f64, f64)>, moment: f64) -> f64 {
    let mut last: Option<(f64, f64)> = None;
    for (at, value) in points {
        match last {
            _ if at < moment => last = Some((at, value)),
            Some((from, of)) => return of + (value - of) * (moment - from) / (at - from),
            None => return value,
        }
    }
    last.map_or(0.0, |it| it.1)
}

pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64()
}

/// Idle and waiting for a disk, of all CPUs, in seconds.
fn idle() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap();
    let fields = text.lines().next().unwrap().split_whitespace().skip(4).take(2);
    fields.map(|it| it.parse::<f64>().unwrap()).sum::<f64>() * TICK
}

/// All processes, and what their threads ran by role.
#[derive(Default)]
struct Tasks {
    processes: BTreeMap<u32, Process>,
    sums: BTreeMap<String, Times>,
    /// When each process was read, by role.
    moments: BTreeMap<String, Vec<f64>>,
    /// When the latest reading was over.
    read_until: f64,
}

#[derive(Default)]
struct Process {
    parent: u32,
    role: String,
    /// What each thread had run and waited when it was seen last.
    threads: BTreeMap<u32, Times>,
    /// What threads had run that are gone.
    gone: f64,
    /// What threads of it were found to have run after they were seen last.
    unseen: f64,
    /// What the processes had run that it has waited for, and what more of them it was found to have waited for.
    reaped: f64,
    reaped_unseen: f64,
}

impl Process {
    fn run(&self) -> f64 {
        self.threads.values().map(|it| it.run).sum::<f64>() + self.gone + self.unseen
    }
}

impl Tasks {
    /// What ran before the first reading is not counted.
    fn read(&mut self, is_first: bool) {
        // Before the list of processes: whose time is in its parent's by then is not in the list any more.
        let ticks: BTreeMap<u32, Stat> =
            self.processes.keys().filter_map(|pid| Some((*pid, stat_of(*pid)?))).collect();
        let alive: BTreeSet<u32> = numbers("/proc").collect();
        for &pid in &alive {
            self.read_process(pid, is_first);
        }
        let unseen_by = self.bury(&alive);
        for (pid, stat) in ticks {
            self.settle(pid, &stat, &unseen_by);
        }
    }

    /// Adds what was read. On a busy machine reading all processes takes a while: each role has its own moment.
    fn put(&mut self, roles: &mut BTreeMap<String, Vec<(f64, Times)>>) {
        let (moments, now) = (std::mem::take(&mut self.moments), now());
        for (role, sum) in &self.sums {
            let read = moments.get(role).map_or(now, |it| it.iter().sum::<f64>() / it.len() as f64);
            // A role that is new ran nothing before.
            let points = roles
                .entry(role.clone())
                .or_insert_with(|| vec![(self.read_until, Times::default())]);
            points.push((read, *sum));
        }
        self.read_until = now;
    }

    fn read_process(&mut self, pid: u32, is_first: bool) {
        let Some(stat) = stat_of(pid) else { return };
        let process = self.processes.entry(pid).or_default();
        process.parent = stat.parent;
        let title = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        process.role = role(&stat.name, &String::from_utf8_lossy(&title).replace('\0', " "));
        self.moments.entry(process.role.clone()).or_default().push(now());
        let mut threads = BTreeMap::new();
        for tid in numbers(&format!("/proc/{pid}/task")) {
            let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat"));
            let Some(times) = text.ok().as_deref().and_then(scheduled) else { continue };
            let before = process.threads.remove(&tid).unwrap_or_default();
            let before = if is_first { times } else { before };
            let sum = self.sums.entry(process.role.clone()).or_default();
            sum.run += (times.run - before.run).max(0.0);
            sum.wait += (times.wait - before.wait).max(0.0);
            threads.insert(tid, times);
        }
        process.gone += process.threads.values().map(|it| it.run).sum::<f64>();
        process.threads = threads;
        if is_first {
            process.gone = (stat.own - process.run()).max(0.0);
            process.reaped = stat.children;
        }
    }

    /// Forgets processes that are gone: the nearest ancestor that is left was given their time. Says which role ran longest of
    /// those that each ancestor lost.
    fn bury(&mut self, alive: &BTreeSet<u32>) -> BTreeMap<u32, (f64, String)> {
        let dead: Vec<u32> =
            self.processes.keys().filter(|it| !alive.contains(it)).copied().collect();
        let mut longest: BTreeMap<u32, (f64, String)> = BTreeMap::new();
        for &pid in &dead {
            let mut ancestor = self.processes[&pid].parent;
            for _ in 0..dead.len() {
                if let (Some(it), false) =
                    (self.processes.get(&ancestor), alive.contains(&ancestor))
                {
                    ancestor = it.parent;
                }
            }
            let it = &self.processes[&pid];
            let (run, role) = (it.run(), it.role.clone());
            let all = run + it.reaped + it.reaped_unseen;
            if let Some(living) = self.processes.get_mut(&ancestor) {
                living.reaped += all;
                let most = longest.entry(ancestor).or_default();
                if run >= most.0 {
                    *most = (run, role);
                }
            }
        }
        self.processes.retain(|pid, _| alive.contains(pid));
        longest
    }

    /// Enters what threads and children ran after they were seen last. /proc/PID/stat rounds down.
    fn settle(&mut self, pid: u32, stat: &Stat, longest: &BTreeMap<u32, (f64, String)>) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let of_threads = stat.own - process.run();
        if of_threads > 0.0 {
            process.unseen += of_threads;
            self.sums.entry(process.role.clone()).or_default().run += of_threads;
        }
        let of_children = stat.children - process.reaped - process.reaped_unseen;
        if of_children > 0.0 {
            process.reaped_unseen += of_children;
            let role = longest.get(&pid).map_or(&process.role, |it| &it.1);
            self.sums.entry(role.clone()).or_default().run += of_children;
        }
    }
}

/// A process's times.
pub(super) struct Stat {
    name: String,
    parent: u32,
    /// User and system time of all its threads, in seconds.
    own: f64,
    /// The same of the children that it has waited for.
    pub(super) children: f64,
}

/// Of the text of /proc/PID/stat.
pub(super) fn stat(text: &str) -> Option<Stat> {
    let (name, rest) = text.split_once('(')?.1.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let seconds = |at: usize| Some(fields.get(at)?.parse::<f64>().ok()? * TICK);
    Some(Stat {
        name: name.to_owned(),
        parent: fields.get(1)?.parse().ok()?,
        own: seconds(11)? + seconds(12)?,
        children: seconds(13)? + seconds(14)?,
    })
}

fn stat_of(pid: u32) -> Option<Stat> {
    stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn scheduled(text: &str) -> Option<Times> {
    let mut fields = text.split_whitespace().map(|it| it.parse::<f64>().ok());
    Some(Times { run: fields.next()?? / 1e9, wait: fields.next()?? / 1e9 })
}

fn numbers(folder: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|it| it.file_name().to_str()?.parse().ok())
}

/// What PostgreSQL's processes that serve no session write into their titles (src/backend/utils/activity/backend_status.c).
const AUXILIARY: &[(&str, &str)] = &[
    ("checkpointer", "checkpointer"),
    ("background writer", "background writer"),
    ("walwriter", "WAL writer"),
    ("autovacuum launcher", "autovacuum launcher"),
    ("autovacuum worker", "autovacuum worker"),
    ("parallel worker", "parallel worker"),
    ("logical replication", "logical replication"),
];

/// A role of PostgreSQL by the title, MariaDB, or the name of the program.
fn role(name: &str, title: &str) -> String {
    if let Some(title) = title.strip_prefix("postgres: ") {
        let known = AUXILIARY.iter().find(|it| title.starts_with(it.0));
        return format!("PostgreSQL {}", known.map_or("backend", |it| it.1));
    }
    match name {
        "mariadbd" => "MariaDB".to_owned(),
        "postgres" => "PostgreSQL postmaster".to_owned(),
        _ if title.is_empty() => "kernel".to_owned(),
        _ => name.to_owned(),
    }
}
