//! Tasks that end, as the kernel tells: on a made-up /proc and a socket of the test's own.

use crate::users::{MS, Machine, Task};
use facts::netlink::{attribute, request};
use host::counters::Exits;
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};

/// The number that the family has here.
const FAMILY: u16 = 31;

/// What tells the sampler of a machine.
struct Kernel(OwnedFd);

impl Kernel {
    fn of(machine: &mut Machine) -> Kernel {
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let (theirs, own) = socketpair(AddressFamily::UNIX, kind, flags, None).unwrap();
        machine.sampler.listen_to(Exits::of(theirs, FAMILY));
        Kernel(own)
    }

    /// Tells of the end of a task, as `struct taskstats` of version 14 has it.
    fn tell(&self, task: Task) {
        let mut stats = vec![0; 400];
        let mut put = |at: usize, bytes: &[u8]| stats[at..][..bytes.len()].copy_from_slice(bytes);
        put(0, &14u16.to_ne_bytes());
        put(16, &1u64.to_ne_bytes());
        put(24, &(task.wait_ms * MS).to_ne_bytes());
        put(72, &(task.run_ms * MS).to_ne_bytes());
        put(80, task.name.as_bytes());
        put(128, &task.tid.to_ne_bytes());
        put(132, &task.parent.to_ne_bytes());
        put(368, &task.pid.to_ne_bytes());
        let of_task = [attribute(1, &task.tid.to_ne_bytes()), attribute(3, &stats)].concat();
        let body = [vec![2, 1, 0, 0], attribute(4, &of_task)].concat();
        send(&self.0, &request(FAMILY, 0, &body), SendFlags::empty()).unwrap();
    }
}

#[test]
fn what_a_thread_ran_and_waited_at_last_is_its_own_and_is_not_found_in_its_process_again() {
    let mut machine = Machine::new();
    let kernel = Kernel::of(&mut machine);
    machine.lay(Task { name: "sysbench", process_ms: 1030, ..Task::of(10, 10) });
    machine.lay(Task { name: "sysbench", run_ms: 20, wait_ms: 5, ..Task::of(10, 11) });
    machine.sample();
    machine.end(10, 11);
    kernel.tell(Task { name: "sysbench", run_ms: 320, wait_ms: 95, ..Task::of(10, 11) });
    machine.lay(Task { name: "sysbench", run_ms: 20, process_ms: 1340, ..Task::of(10, 10) });
    assert_eq!(machine.sample(), "other sysbench CPU 0: 310 ms, waited 90 ms");
    assert_eq!(machine.counters.users.as_ref().unwrap().ended, 0);
    assert_eq!(machine.sample(), "");
}

#[test]
fn a_thread_that_came_and_went_has_its_name_and_its_wait() {
    let mut machine = Machine::new();
    let kernel = Kernel::of(&mut machine);
    let server = Task { name: "mariadbd", title: "mariadbd", ..Task::of(10, 10) };
    machine.lay(Task { process_ms: 30, ..server });
    machine.lay(Task { name: "pgbench", ..Task::of(12, 12) });
    machine.sample();
    let connection = Task { name: "connection", run_ms: 50, wait_ms: 30, ..Task::of(10, 11) };
    kernel.tell(connection);
    kernel.tell(Task { name: "pool-3", run_ms: 40, wait_ms: 20, ..Task::of(12, 13) });
    // The process of the program that measures is none of users'.
    kernel.tell(Task { name: "trace", run_ms: 40, ..Task::of(20, 21) });
    machine.lay(Task { process_ms: 80, ..server });
    assert_eq!(
        machine.sample(),
        "other pool ended CPU 0: 40 ms, waited 20 ms\n\
         other mariadb/connection mariadbd ended CPU 0: 50 ms, waited 30 ms"
    );
    assert_eq!(machine.sample(), "");
}

#[test]
fn processes_that_came_and_went_have_their_names_and_are_not_found_in_their_ancestor_again() {
    let mut machine = Machine::new();
    let kernel = Kernel::of(&mut machine);
    let shell = Task { name: "sh", ..Task::of(10, 10) };
    machine.lay(shell);
    machine.sample();
    // The first is a grandchild, whose parent ended after it; nobody knows the last one's parent.
    kernel.tell(Task { name: "gzip", parent: 11, run_ms: 60, wait_ms: 9, ..Task::of(12, 12) });
    kernel.tell(Task { name: "timeout", parent: 10, run_ms: 10, ..Task::of(11, 11) });
    kernel.tell(Task { name: "stray", parent: 4711, run_ms: 10, ..Task::of(15, 15) });
    machine.lay(Task { run_ms: 20, children_ms: 70, ..shell });
    assert_eq!(
        machine.sample(),
        "other gzip ended CPU 0: 60 ms, waited 9 ms\nother sh CPU 0: 10 ms, waited 0 ms\n\
         other timeout ended CPU 0: 10 ms, waited 0 ms"
    );
    assert_eq!(machine.sample(), "");
}

#[test]
fn a_child_of_the_command_that_lost_its_parent_is_the_commands() {
    let mut machine = Machine::new();
    let kernel = Kernel::of(&mut machine);
    machine.lay(Task { name: "fullclock", ..Task::of(20, 20) });
    machine.sample();
    machine.sampler.follow(10);
    machine.lay(Task { name: "sh", parent: 20, ..Task::of(10, 10) });
    machine.sample();
    kernel.tell(Task { name: "gzip", parent: 20, run_ms: 60, wait_ms: 9, ..Task::of(12, 12) });
    assert_eq!(machine.sample(), "command gzip ended CPU 0: 60 ms, waited 9 ms");
}

#[test]
fn a_zombie_is_told_once_and_entered_when_it_is_gone() {
    let mut machine = Machine::new();
    let kernel = Kernel::of(&mut machine);
    machine.lay(Task { name: "sh", ..Task::of(10, 10) });
    machine.lay(Task { name: "gzip", parent: 10, ..Task::of(11, 11) });
    machine.sample();
    let last = Task { name: "gzip", parent: 10, run_ms: 40, wait_ms: 4, ..Task::of(11, 11) };
    kernel.tell(last);
    machine.lay(last);
    assert_eq!(machine.sample(), "other gzip CPU 0: 30 ms, waited 4 ms");
    machine.end(11, 11);
    machine.lay(Task { name: "sh", children_ms: 40, ..Task::of(10, 10) });
    assert_eq!(machine.sample(), "");
    assert_eq!(machine.counters.users.as_ref().unwrap().ended, 0);
}

#[test]
fn a_worker_that_came_and_went_is_autovacuums_where_its_launcher_ran_for_it() {
    let mut machine = Machine::new();
    let kernel = Kernel::of(&mut machine);
    let server = Task { name: "postgres", title: "postgres\0-D\0/data\0", ..Task::of(10, 10) };
    let title = "postgres: autovacuum launcher ";
    let launcher = Task { name: "postgres", title, parent: 10, ..Task::of(11, 11) };
    machine.lay(server);
    machine.lay(launcher);
    machine.sample();
    let child = |tid| Task { name: "postgres", parent: 10, run_ms: 40, ..Task::of(tid, tid) };
    kernel.tell(child(12));
    machine.lay(Task { run_ms: 20, slices: 4, ..launcher });
    machine.lay(Task { children_ms: 40, ..server });
    assert_eq!(
        machine.sample(),
        "other postgresql/autovacuum-launcher postgres CPU 0: 10 ms, waited 0 ms\n\
         other postgresql/autovacuum-worker postgres ended CPU 0: 40 ms, waited 0 ms"
    );
    // Two of these are too many for one launch, and without one none is.
    kernel.tell(child(13));
    kernel.tell(child(14));
    machine.lay(Task { run_ms: 20, slices: 7, ..launcher });
    machine.lay(Task { children_ms: 120, ..server });
    let others = "other postgresql/other postgres ended CPU 0: 80 ms, waited 0 ms";
    assert_eq!(machine.sample(), others);
    kernel.tell(child(15));
    machine.lay(Task { children_ms: 160, ..server });
    assert_eq!(machine.sample(), others.replace("80 ms", "40 ms"));
}
