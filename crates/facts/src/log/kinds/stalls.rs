//! CPUs and tasks that did not move on: lockups, RCU stalls, hung tasks, work that hogs a CPU, locks across CPUs.
//!
//! Sources: kernel/watchdog.c (before 2.6.36 softlockup.c), kernel/watchdog_hld.c, arch/powerpc/kernel/watchdog.c,
//! kernel/rcu/tree_stall.h (before 5.1 tree.c), kernel/hung_task.c, kernel/workqueue.c, kernel/smp.c, kernel/softirq.c,
//! kernel/irq/spurious.c, arch/x86/kernel/cpu/bus_lock.c.

use super::{Kind, Weight};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        id: "soft-lockup",
        title: "a CPU ran kernel code for many seconds without a break",
        weight: Weight::Medium,
        checks: &["stolen-time", "clock-below-minimum", "clock-modulation"],
        means: "Nothing else was scheduled on that CPU for at least 20 s (twice kernel.watchdog_thresh). In a guest the usual reason \
                is a hypervisor that did not run the virtual CPU; on bare metal a loop in a driver, or a clock that is held so low \
                that ordinary work takes seconds.",
        fix: "In a guest, look at steal on the host; on bare metal, at the call trace after the line, and at clock-below-minimum.",
        wordings: &[
            ("", "BUG: soft lockup - CPU#{cpu} stuck for {n}s"),
            ("", "BUG: soft lockup detected on CPU#{cpu}"),
            ("", "soft lockup - CPU"),
            ("", "softlockup: hung tasks"),
        ],
    },
    Kind {
        id: "hard-lockup",
        title: "a CPU did not even take interrupts for seconds",
        weight: Weight::Medium,
        checks: &["stolen-time", "smi-storm", "clock-below-minimum"],
        means: "The CPU stood still with interrupts off for some 10 s: a loop in a driver, system management mode, or a hypervisor \
                that did not run it.",
        fix: "Look at the call trace after the line; in a guest at the host, on bare metal at smi-storm.",
        wordings: &[
            ("", "Watchdog detected hard LOCKUP on cpu"),
            ("", "self-detected hard LOCKUP"),
            ("", "detected hard LOCKUP on other CPUs"),
            ("", "watchdog: CPU {cpu} Hard LOCKUP"),
            ("", "Watchdog CPU:{cpu} Hard LOCKUP"),
            ("", "last heartbeat TB"),
            ("", "last SMP heartbeat TB"),
            ("", "became unstuck TB"),
            ("2.6.32", "NMI Watchdog detected LOCKUP on CPU"),
            ("since 6.12", "Detect HardIRQ Time exceeds"),
            ("since 6.12", "Utilization every {}s during lockup"),
        ],
    },
    Kind {
        id: "rcu-stall",
        title: "a CPU or task held up RCU for many seconds",
        weight: Weight::Medium,
        checks: &["stolen-time", "clock-below-minimum", "smi-storm"],
        means: "A CPU did not pass through a quiescent state within the limit (21 s, 60 s in RHEL): it ran with interrupts or \
                preemption off, stood still under a hypervisor, or was kept busy by a real-time task. Memory that waits for RCU piles \
                up meanwhile.",
        fix: "Look at the call trace of the CPU that the line names; in a guest, at steal on the host.",
        wordings: &[
            ("", "self-detected stall on CPU"),
            ("", "detected stalls on CPUs/tasks"),
            ("since 4.20", "detected expedited stalls on CPUs/tasks"),
            ("2.6.32", "INFO: RCU detected CPU {cpu} stall"),
            ("2.6.32", "INFO: RCU detected CPU stalls"),
            ("", "rcu_tasks detected stalls on tasks"),
            ("since 6.1", "rcu_tasks_trace detected stalls"),
            ("3.10", "{} stall on CPU ({} ticks this GP)"),
            ("since 6.12", "detected stall, but suppressed full report due to a stuck CSD-lock"),
            (
                "since 6.12",
                "detected expedited stalls, but suppressed full report due to a stuck CSD-lock",
            ),
        ],
    },
    Kind {
        id: "rcu-stall-details",
        title: "details of an RCU stall",
        weight: Weight::Context,
        checks: &["stolen-time"],
        means: "Lines after \"detected stalls\": t is how long in ticks, g the grace period, q the callbacks that wait. \"All QSes \
                seen\" means that the CPUs were fine and RCU's own thread did not run.",
        fix: "",
        wordings: &[
            ("since 5.x", "Offline CPU {} blocking current GP"),
            ("since 5.x", "RCU GP kthread last ran on offline CPU"),
            ("", "ticks this GP) idle="),
            ("", "GPs behind) idle="),
            ("since 6.1", "hardirqs softirqs csw/system"),
            ("since 6.1", "cputime: {n} {n} {n} ==>"),
            ("", "(detected by {}, t={} jiffies"),
            ("", "(t={} jiffies g={}"),
            ("2.6.32", "(detected by {}, t={} jiffies)"),
            ("", "INFO: Stall ended before state dump start"),
            ("", "All QSes seen, last"),
            ("", "RCU grace-period kthread stack dump"),
            ("", "Stack dump where RCU GP kthread last ran"),
            ("", "Tasks blocked on level-{n} rcu_node"),
            ("", "RCU-based detection of stalled CPUs is enabled"),
            ("", "RCU CPU stall warnings timeout set to"),
            ("", "RCU CPU stall warnings suppressed"),
            ("since 6.1", "ncpus={})"),
        ],
    },
    Kind {
        id: "rcu-thread-starved",
        title: "RCU's own thread got no CPU time",
        weight: Weight::Medium,
        checks: &["stolen-time", "rcu-callbacks-on-isolated"],
        means: "rcu_sched or rcu_preempt did not run, because a real-time task or other load kept it off its CPU, or a timer did not \
                fire. Memory that waits for RCU is not freed.",
        fix: "Leave time for the thread: fewer real-time tasks on its CPU, or `rcutree.kthread_prio=` on the boot line.",
        wordings: &[
            ("", "kthread starved for {} jiffies"),
            ("since 5.x", "kthread timer wakeup didn't happen for {} jiffies"),
            ("since 6.1", "Possible timer handling issue on cpu="),
            ("since 5.x", "kthread gets sufficient CPU time, OOM is now expected behavior"),
        ],
    },
    Kind {
        id: "hung-task",
        title: "a task waited in the kernel for minutes",
        weight: Weight::Low,
        checks: &[],
        means: "The task waited uninterrupted for 120 s (kernel.hung_task_timeout_secs), for a disk, a file server or a lock. It is \
                about storage and locks, hardly ever about the clock; with a clock held far down it comes with soft lockups.",
        fix: "Look at the disk, file server or lock that the call trace names.",
        wordings: &[
            ("", "blocked for more than {n} seconds"),
            ("", "/proc/sys/kernel/hung_task_timeout_secs\" disables this message"),
            ("since 6.1", "Future hung task reports are suppressed"),
            ("", "hung_task: blocked tasks"),
        ],
    },
    Kind {
        id: "workqueue-hog",
        title: "a work item of the kernel hogged a CPU",
        weight: Weight::Low,
        checks: &[],
        means: "The function named ran for more than 10 ms at a time on a CPU that other work is bound to. Many times means a driver \
                that polls or a slow device; the kworker's CPU time shows what it takes. A host with a very low clock has many of \
                them.",
        fix: "Find the driver by the function's name; update it, or the firmware of its device.",
        wordings: &[
            ("since 6.5", "hogged CPU for >{}us {} times, consider switching to WQ_UNBOUND"),
            ("since 6.5", "hogged CPU for >{}us"),
        ],
    },
    Kind {
        id: "workqueue-lockup",
        title: "work of the kernel made no progress for tens of seconds",
        weight: Weight::Medium,
        checks: &["stolen-time", "nohz-full-ineffective"],
        means: "The workers of a CPU did not get to run, mostly because a real-time task or a loop has the CPU to itself. On isolated \
                CPUs with a spinning real-time program this ends in hung tasks.",
        fix: "Leave the workers a part of each CPU, or keep their CPUs free of real-time tasks.",
        wordings: &[
            ("", "BUG: workqueue lockup - pool"),
            (
                "since 6.12",
                "Showing backtraces of running workers in stalled CPU-bound worker pools",
            ),
        ],
    },
    Kind {
        id: "workqueue-placement",
        title: "where work of the kernel may run",
        weight: Weight::Context,
        checks: &["irqs-on-isolated"],
        means: "The mask of CPUs for unbound work was refused, or a debugging option spreads work over all CPUs.",
        fix: "",
        wordings: &[
            ("", "workqueue: round-robin CPU selection forced, expect performance impact"),
            ("since 6.12", "workqueue: Restricting unbound_cpumask"),
            ("to 6.1", "workqueue: NUMA affinity support disabled"),
            ("", "NUMA node mapping not available for cpu"),
        ],
    },
    Kind {
        id: "csd-lock",
        title: "a CPU did not answer another one's request",
        weight: Weight::Medium,
        checks: &["stolen-time", "smi-storm", "clock-below-minimum"],
        means: "A function call to another CPU was not taken up for seconds: that CPU ran with interrupts off, or did not run at all.",
        fix: "Look at the call trace of the CPU that did not answer; in a guest, at steal on the host.",
        wordings: &[
            ("since 6.1", "non-responsive CSD lock"),
            ("since 6.1", "got unstuck on CPU#{}, CPU#{} released the lock"),
            ("since 6.1", "csd: Re-sending CSD lock"),
            ("since 6.1", "handling prior {} request"),
            ("", "csd: CSD lock"),
        ],
    },
    Kind {
        id: "split-lock",
        title: "a program locked memory across two cache lines",
        weight: Weight::Low,
        checks: &["split-lock-penalty"],
        means: "A split lock stops the memory bus for all cores for about a microsecond. With kernel.split_lock_mitigate=1 (the \
                default since 5.19) the kernel also slows the program down by 10 ms for each, which turns a game or an old database \
                binary into a slide show.",
        fix: "Fix the program; 0 takes away the penalty only.",
        wordings: &[
            ("since 5.7", "took a split_lock trap at address"),
            ("since 5.7", "took a bus_lock trap at address"),
            ("since 6.12", "split_lock trap at address"),
        ],
    },
    Kind {
        id: "split-lock-setup",
        title: "how split and bus locks are handled here",
        weight: Weight::Context,
        checks: &["split-lock-penalty"],
        means: "Ordinary lines of the boot, by `split_lock_detect=` on the boot line.",
        fix: "",
        wordings: &[
            ("since 5.7", "crashing the kernel on kernel split_locks and"),
            ("since 6.1", "warning on user-space bus_locks"),
            ("since 6.1", "sending SIGBUS on user-space bus_locks"),
            ("since 6.1", "setting system wide bus lock rate limit to"),
            ("since 5.7", "x86/split lock detection: disabled"),
            ("since 6.1", "x86/split lock detection: MSR access failed"),
            ("since 6.1", "x86/split lock detection: No splitlock CPU offline handler"),
            ("5.7", "warning about user-space split_locks"),
        ],
    },
    Kind {
        id: "irq-nobody-cared",
        title: "an interrupt that no driver wanted was disabled",
        weight: Weight::Low,
        checks: &["kipmid-busy", "ipmi-without-interrupt"],
        means: "After 100,000 interrupts without an owner the kernel disables the line and polls its devices. Whatever shares it (a \
                BMC, a disk, a network adapter) is slow from then on, and the storm before it took a whole CPU.",
        fix: "Update the driver or firmware of the devices on that line; `irqpoll` is a test only.",
        wordings: &[
            ("", "nobody cared (try booting with the \"irqpoll\" option)"),
            ("", "Disabling IRQ #{n}"),
            ("", "Misrouted IRQ fixup support enabled"),
            ("", "Misrouted IRQ fixup and polling support enabled"),
            ("", "This may significantly impact system performance"),
            ("", "This may impact system performance"),
        ],
    },
    Kind {
        id: "scheduling-bug",
        title: "kernel code broke a rule of scheduling or locking",
        weight: Weight::Context,
        checks: &[],
        means: "A bug in the kernel or a driver. It says nothing about the clock, but a host in this state is not worth measuring.",
        fix: "",
        wordings: &[
            ("", "BUG: scheduling while atomic"),
            ("", "BUG: sleeping function called from invalid context"),
            ("", "BUG: workqueue leaked"),
            ("", "huh, entered softirq"),
            ("", "psi: inconsistent task state"),
            ("", "psi: task underflow"),
            ("", "Thread overran stack, or stack corrupted"),
            ("", "IPI callback {} sent to offline CPU"),
            ("", "schedule_timeout: wrong timeout value"),
        ],
    },
];
