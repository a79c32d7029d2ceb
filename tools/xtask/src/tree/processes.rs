//! Kernel threads, most of them one for every CPU, and a database's processes.

use super::{Server, Tree, counters};

/// Flags of a kernel thread and of a process that has called exec, as in real /proc/PID/stat.
const KERNEL_THREAD: u32 = 69_238_848;
const PROCESS: u32 = 4_194_304;

/// Threads that a kernel starts on every CPU.
const PER_CPU: [&str; 5] = ["cpuhp", "idle_inject", "migration", "ksoftirqd", "kworker"];

const POSTGRES: u32 = 200;

pub(super) fn add(tree: &mut Tree, server: Server) {
    process(tree, 1, "systemd", PROCESS, 0);
    process(tree, 2, "kthreadd", KERNEL_THREAD, 0);
    let mut pid = 3;
    for cpu in server.cpus() {
        for name in PER_CPU {
            let suffix = if name == "kworker" { ":0H-events_highpri" } else { "" };
            process(tree, pid, &format!("{name}/{cpu}{suffix}"), KERNEL_THREAD, cpu);
            pid += 1;
        }
    }
    process(tree, pid, "kipmi0", KERNEL_THREAD, 0);
    tree.line(format!("/proc/{pid}/schedstat"), "15000000000 4000000 1234");
    for _ in 0..POSTGRES {
        pid += 1;
        process(tree, pid, "postgres", PROCESS, pid % server.n_cpus);
        tree.line(format!("/proc/{pid}/cgroup"), "0::/system.slice/postgresql.service");
    }
    let mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
    tree.line("/proc/self/mountinfo", mount);
    tree.line("/sys/fs/cgroup/system.slice/postgresql.service/cpu.max", "max 100000");
}

/// All 52 fields, for their length is part of the work.
fn process(tree: &mut Tree, pid: u32, name: &str, flags: u32, cpu: u32) {
    let line = format!(
        "{pid} ({name}) S 2 0 0 0 -1 {flags} 0 0 0 0 0 12 0 0 20 0 1 0 250 0 0 18446744073709551615 0 0 0 0 0 0 0 \
         2147483647 0 0 0 0 17 {cpu} 0 0 0 0 0 0 0 0 0 0 0 0 0"
    );
    counters::task(tree, pid, &line);
    tree.line(format!("/proc/{pid}/stat"), line);
}
