//! What the kernel counts and an audit does not ask for: softirqs, run time of CPUs and tasks, sleep, pressure,
//! energy, temperatures.

use super::{Server, Tree};

const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

pub(super) fn add(tree: &mut Tree, server: Server) {
    tree.text("/proc/softirqs", softirqs(server));
    tree.text("/proc/schedstat", schedstat(server));
    tree.text("/proc/timer_list", timer_list(server));
    for resource in ["cpu", "io", "memory"] {
        let line = |kind| format!("{kind} avg10=0.00 avg60=0.10 avg300=0.20 total=123456789\n");
        tree.text(format!("/proc/pressure/{resource}"), line("some") + &line("full"));
    }
    tree.line("/proc/loadavg", "12.00 11.00 10.00 13/5400 987654");
    for package in 0..server.n_packages {
        let folder = format!("/sys/devices/virtual/powercap/intel-rapl/intel-rapl:{package}");
        tree.lines(
            &folder,
            &[("energy_uj", "123456789012"), ("max_energy_range_uj", "262143328850")],
        );
    }
}

/// The files of one task of one process. All 52 fields of its line, for their length is part of the work.
pub(super) fn task(tree: &mut Tree, pid: u32, line: &str) {
    let folder = format!("/proc/{pid}/task/{pid}");
    tree.line(format!("{folder}/stat"), line);
    tree.line(
        format!("{folder}/schedstat"),
        format_args!("{} 4000000 1234", 15_000 * u64::from(pid)),
    );
}

fn softirqs(server: Server) -> String {
    let header: String = server.cpus().map(|cpu| format!("{:<11}", format!("CPU{cpu}"))).collect();
    let line = |name| {
        let counts: String = server.cpus().map(|cpu| format!(" {:>10}", 4_000_000 + cpu)).collect();
        format!("{name:>12}:{counts}\n")
    };
    format!("{:20}{header}\n", "") + &SOFTIRQS.map(line).concat()
}

fn schedstat(server: Server) -> String {
    let cpu = |cpu| {
        let domain = "0 ".repeat(36);
        format!(
            "cpu{cpu} 0 0 4000000 2000000 3000000 1000000 98765432109876 12345678901 2000000\n\
             domain0 SMT ffffffff {domain}\ndomain1 MC ffffffff {domain}\ndomain2 NUMA ffffffff {domain}\n"
        )
    };
    format!("version 17\ntimestamp 4295000000\n{}", server.cpus().map(cpu).collect::<String>())
}

/// A dozen timers wait on each CPU.
fn timer_list(server: Server) -> String {
    const TIMER: &str = " #0: <0000000012345678>, hrtimer_wakeup, S:01\n # expires at 3600000000000000-3600000000050000 \
        nsecs [in 38719246 to 38769246 nsecs]\n";
    let cpu = |cpu| {
        format!(
            "cpu: {cpu}\n clock 0:\n  .base:       0000000012345678\n  .index:      0\nactive timers:\n{}  \
             .idle_sleeptime : 2600000000000000 nsecs\n  .iowait_sleeptime: 10000000000 nsecs\n  \
             .last_jiffies   : 4295000000\n\n",
            TIMER.repeat(12)
        )
    };
    let head =
        "Timer List Version: v0.10\nHRTIMER_MAX_CLOCK_BASES: 8\nnow at 3600000000000000 nsecs\n\n";
    format!("{head}{}", server.cpus().map(cpu).collect::<String>())
}
