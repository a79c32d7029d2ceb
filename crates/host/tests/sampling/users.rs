//! Tasks of users that are added up by who they are: on a made-up /proc that changes between samples.

use facts::counters::users::{Kind, Owner, UserTimes};
use facts::counters::{Counters, Name};
use host::counters::{Processes, Sampler, Wanted};
use host::{Live, view};
use std::fs;
use std::path::Path;

pub(crate) const MS: u64 = 1_000_000;

/// A machine whose tasks are laid out by hand.
pub(crate) struct Machine {
    root: tempfile::TempDir,
    pub(crate) sampler: Sampler,
    pub(crate) counters: Counters,
    last: u32,
}

impl Machine {
    /// With the kernel's first thread, without which /proc is that of a container.
    pub(crate) fn new() -> Machine {
        let root = tempfile::tempdir().unwrap();
        lay(root.path(), Task { name: "kthreadd", is_kernel: true, ..Task::of(2, 2) });
        fs::write(root.path().join("proc/loadavg"), "0 0 0 1/1 1\n").unwrap();
        let wanted =
            Wanted { tasks: Some(Processes::AddedUp(vec![20])), ..Wanted::only(Vec::new()) };
        let open = || Live::copy(root.path()).unwrap();
        let sampler = Sampler::open(open(), &view(&open()), wanted);
        Machine { root, sampler, counters: Counters::unread(), last: 1 }
    }

    pub(crate) fn lay(&self, task: Task) {
        lay(self.root.path(), task);
    }

    pub(crate) fn end(&self, pid: u32, tid: u32) {
        let process = self.root.path().join(format!("proc/{pid}"));
        // A file that is open answers nothing once its task has ended.
        fs::write(process.join(format!("task/{tid}/schedstat")), "").unwrap();
        let gone = if pid == tid { process } else { process.join(format!("task/{tid}")) };
        fs::remove_dir_all(gone).unwrap();
    }

    /// The times of the next sample as text, without those of nothing.
    pub(crate) fn sample(&mut self) -> String {
        self.last += 1;
        fs::write(self.root.path().join("proc/loadavg"), format!("0 0 0 1/1 {}\n", self.last))
            .unwrap();
        self.sampler.sample(&mut self.counters);
        self.counters.users.as_ref().map_or_else(ToString::to_string, shown)
    }
}

fn shown(users: &UserTimes) -> String {
    let line = |it: &facts::counters::users::UserTime| {
        let role =
            it.kind.role.map_or(String::new(), |(product, role)| format!("{product}/{role} "));
        let owner = if it.kind.owner == Owner::Command { "command" } else { "other" };
        let ended = if it.kind.is_ended { " ended" } else { "" };
        let (run, wait) = (it.run_ns / MS, it.wait_ns / MS);
        format!("{owner} {role}{}{ended} CPU {}: {run} ms, waited {wait} ms", it.kind.name, it.cpu)
    };
    users.list.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A task, as /proc shows it.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) is_kernel: bool,
    pub(crate) parent: u32,
    pub(crate) cpu: u32,
    pub(crate) run_ms: u64,
    pub(crate) wait_ms: u64,
    /// What all threads of its process have run, where it is more than this one.
    pub(crate) process_ms: u64,
    pub(crate) children_ms: u64,
    /// How often it was given a CPU.
    pub(crate) slices: u64,
}

impl Task {
    pub(crate) fn of(pid: u32, tid: u32) -> Task {
        Task {
            pid,
            tid,
            name: "gzip",
            title: "gzip",
            is_kernel: false,
            parent: 1,
            cpu: 0,
            run_ms: 10,
            wait_ms: 0,
            process_ms: 0,
            children_ms: 0,
            slices: 1,
        }
    }

    fn stat(&self, process_ms: u64) -> String {
        let flags = if self.is_kernel { 0x0020_0000 } else { 0 };
        format!(
            "{} ({}) S {} 1 1 0 -1 {flags} 0 0 0 0 {} 0 {} 0 20 0 1 0 250 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 17 {} 0 0\n",
            self.tid,
            self.name,
            self.parent,
            process_ms / 10,
            self.children_ms / 10,
            self.cpu
        )
    }
}

fn lay(root: &Path, task: Task) {
    let process = root.join(format!("proc/{}", task.pid));
    let folder = process.join(format!("task/{}", task.tid));
    fs::create_dir_all(&folder).unwrap();
    if task.pid == task.tid {
        let process_ms = task.process_ms.max(task.run_ms);
        fs::write(process.join("stat"), task.stat(process_ms)).unwrap();
        fs::write(process.join("schedstat"), format!("{} 0 1\n", task.run_ms * MS)).unwrap();
        fs::write(process.join("cmdline"), task.title).unwrap();
    }
    fs::write(folder.join("stat"), task.stat(task.run_ms)).unwrap();
    let schedstat = format!("{} {} {}\n", task.run_ms * MS, task.wait_ms * MS, task.slices);
    fs::write(folder.join("schedstat"), schedstat).unwrap();
}

#[test]
fn what_ran_before_the_first_sample_is_nobodys_and_what_is_born_later_counts_from_its_birth() {
    let mut machine = Machine::new();
    machine.lay(Task::of(10, 10));
    machine.lay(Task { name: "fullclock", ..Task::of(20, 20) });
    assert!(machine.sample().contains("run times of users' tasks"));
    machine.lay(Task { run_ms: 40, wait_ms: 5, cpu: 1, ..Task::of(10, 10) });
    machine.lay(Task { name: "fullclock", run_ms: 90, ..Task::of(20, 20) });
    machine.lay(Task { name: "xz", run_ms: 7, ..Task::of(30, 30) });
    assert_eq!(
        machine.sample(),
        "other gzip CPU 1: 30 ms, waited 5 ms\nother xz CPU 0: 7 ms, waited 0 ms"
    );
    let listed = |machine: &Machine| -> Vec<u32> {
        machine.counters.tasks.as_ref().unwrap().list.iter().map(|it| it.tid).collect()
    };
    assert_eq!(listed(&machine), [2, 20]);
    assert_eq!(machine.sample(), "");
}

#[test]
fn threads_of_a_process_that_differ_by_a_number_are_one_kind_and_a_new_program_is_another() {
    let mut machine = Machine::new();
    machine.lay(Task { name: "java", ..Task::of(10, 10) });
    machine.lay(Task { name: "pool-1", ..Task::of(10, 11) });
    machine.sample();
    machine.lay(Task { name: "pool-1", run_ms: 20, ..Task::of(10, 11) });
    machine.lay(Task { name: "pool-2", run_ms: 30, ..Task::of(10, 12) });
    machine.lay(Task { name: "bzip2", run_ms: 15, process_ms: 65, ..Task::of(10, 10) });
    assert_eq!(
        machine.sample(),
        "other bzip2 CPU 0: 5 ms, waited 0 ms\nother pool CPU 0: 40 ms, waited 0 ms"
    );
}

#[test]
fn what_a_thread_ran_at_last_is_found_in_its_process() {
    let mut machine = Machine::new();
    machine.lay(Task { name: "sysbench", process_ms: 1030, ..Task::of(10, 10) });
    machine.lay(Task { name: "sysbench", run_ms: 20, ..Task::of(10, 11) });
    machine.sample();
    machine.end(10, 11);
    // A second of earlier threads, 20 ms of this one that were seen, 300 ms that were not.
    machine.lay(Task { name: "sysbench", run_ms: 20, process_ms: 1340, ..Task::of(10, 10) });
    assert_eq!(
        machine.sample(),
        "other sysbench CPU 0: 10 ms, waited 0 ms\nother sysbench ended CPU 0: 300 ms, waited 0 ms"
    );
    assert_eq!(machine.counters.users.as_ref().unwrap().ended, 1);
    assert_eq!(machine.sample(), "");
}

#[test]
fn what_connections_ran_at_last_is_time_of_the_database() {
    let mut machine = Machine::new();
    let server = Task { name: "mariadbd", title: "mariadbd", ..Task::of(10, 10) };
    machine.lay(Task { process_ms: 30, ..server });
    machine.lay(Task { name: "connection", run_ms: 20, ..Task::of(10, 11) });
    machine.sample();
    machine.end(10, 11);
    machine.lay(Task { process_ms: 330, ..server });
    let connection = "other mariadb/connection mariadbd ended CPU 0: 300 ms, waited 0 ms";
    assert_eq!(machine.sample(), connection);
    // A connection that came and went between two samples.
    machine.lay(Task { name: "connection", run_ms: 0, ..Task::of(10, 12) });
    machine.lay(Task { process_ms: 380, ..server });
    machine.sample();
    machine.end(10, 12);
    let connection = "other mariadb/connection mariadbd ended CPU 0: 50 ms, waited 0 ms";
    assert_eq!(machine.sample(), connection);
}

#[test]
fn what_backends_ran_that_came_and_went_is_time_of_the_database() {
    let mut machine = Machine::new();
    let server = Task { name: "postgres", title: "postgres\0-D\0/data\0", ..Task::of(10, 10) };
    machine.lay(server);
    machine.sample();
    machine.lay(Task { run_ms: 20, children_ms: 70, ..server });
    assert_eq!(
        machine.sample(),
        "other postgresql/other postgres ended CPU 0: 70 ms, waited 0 ms\n\
         other postgresql/postmaster postgres CPU 0: 10 ms, waited 0 ms"
    );
}

#[test]
fn what_children_ran_that_no_sample_shows_is_found_in_their_parent_and_what_was_seen_is_not_entered_twice()
 {
    let mut machine = Machine::new();
    machine.lay(Task { name: "make", children_ms: 5000, ..Task::of(10, 10) });
    machine.sample();
    machine.sampler.follow(10);
    machine.lay(Task { name: "cc1", run_ms: 400, parent: 10, ..Task::of(11, 11) });
    machine.lay(Task { name: "make", run_ms: 20, children_ms: 5100, ..Task::of(10, 10) });
    let ended = "other make ended CPU 0: 100 ms, waited 0 ms";
    assert_eq!(
        machine.sample(),
        format!(
            "other cc1 CPU 0: 400 ms, waited 0 ms\nother make CPU 0: 10 ms, waited 0 ms\n{ended}"
        )
    );
    // It ran 250 ms more before it ended.
    machine.end(11, 11);
    machine.sample();
    machine.lay(Task { name: "make", run_ms: 30, children_ms: 5750, ..Task::of(10, 10) });
    assert_eq!(
        machine.sample(),
        "other cc1 ended CPU 0: 250 ms, waited 0 ms\nother make CPU 0: 10 ms, waited 0 ms"
    );
}

#[test]
fn what_was_seen_of_a_tree_that_ended_at_once_is_not_entered_again_by_its_ancestor() {
    let mut machine = Machine::new();
    let shell = Task { name: "sh", ..Task::of(10, 10) };
    machine.lay(shell);
    machine.sample();
    machine.lay(Task { name: "timeout", parent: 10, ..Task::of(11, 11) });
    machine.lay(Task { name: "gzip", parent: 11, run_ms: 900, ..Task::of(12, 12) });
    machine.sample();
    // It ran 60 ms more, and nobody saw that its parent waited for it.
    machine.end(12, 12);
    machine.end(11, 11);
    machine.lay(Task { run_ms: 20, children_ms: 970, ..shell });
    assert_eq!(
        machine.sample(),
        "other gzip ended CPU 0: 60 ms, waited 0 ms\nother sh CPU 0: 10 ms, waited 0 ms"
    );
}

#[test]
fn descendants_of_the_command_are_the_commands_whatever_their_numbers() {
    let mut machine = Machine::new();
    machine.sample();
    machine.sampler.follow(10);
    machine.lay(Task { name: "sh", ..Task::of(10, 10) });
    machine.lay(Task { name: "tclsh", parent: 10, ..Task::of(11, 11) });
    machine.lay(Task { name: "gzip", ..Task::of(12, 12) });
    machine.lay(Task { name: "wrapped", parent: 11, ..Task::of(5, 5) });
    machine.sample();
    machine.lay(Task { name: "wrapped", parent: 11, run_ms: 20, ..Task::of(5, 5) });
    machine.lay(Task { name: "tclsh", parent: 10, run_ms: 20, ..Task::of(11, 11) });
    machine.lay(Task { name: "gzip", run_ms: 20, ..Task::of(12, 12) });
    assert_eq!(
        machine.sample(),
        "command tclsh CPU 0: 10 ms, waited 0 ms\ncommand wrapped CPU 0: 10 ms, waited 0 ms\n\
         other gzip CPU 0: 10 ms, waited 0 ms"
    );
}

#[test]
fn a_backend_is_known_by_the_title_that_it_writes_after_it_was_forked() {
    let mut machine = Machine::new();
    let server = Task {
        name: "postgres",
        title: "/usr/lib/postgresql/15/bin/postgres\0-D\0/data\0",
        ..Task::of(10, 10)
    };
    machine.lay(server);
    machine.sample();
    machine.lay(Task { parent: 10, pid: 11, tid: 11, ..server });
    machine.sample();
    let backend = Task {
        title: "postgres: app orders 10.0.0.7(4711) UPDATE",
        parent: 10,
        pid: 11,
        tid: 11,
        run_ms: 60,
        ..server
    };
    machine.lay(backend);
    let role = Some(("postgresql", "backend"));
    machine.sample();
    let kind = Kind { owner: Owner::Other, role, name: Name::new(b"postgres"), is_ended: false };
    let users = machine.counters.users.as_ref().unwrap();
    assert_eq!(
        users.list.iter().map(|it| (it.kind, it.run_ns / MS)).collect::<Vec<_>>(),
        [(kind, 50)]
    );
}
