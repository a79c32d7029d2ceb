//! The tick, isolated CPUs, high-resolution timers and the scheduler's own throttling.
//!
//! Sources: kernel/time/tick-sched.c, tick-broadcast.c and hrtimer.c, kernel/sched/isolation.c, rt.c, deadline.c, fair.c,
//! core.c and ext.c, kernel/rcu/tree_plugin.h and tree_nocb.h, kernel/irq/cpuhotplug.c, init/main.c.

use super::{Kind, Weight};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        id: "hrtimer-late",
        title: "a timer interrupt took long",
        weight: Weight::Context,
        checks: &["smi-storm", "stolen-time", "clock-modulation"],
        means: "The handler of a high-resolution timer was held up: by system management mode, by a hypervisor that ran something else, or by a clock that is \
                held far down. It is printed once for each boot and names the longest so far: in a guest 1 ms is ordinary, on bare metal look for SMIs.",
        wordings: &[("", "hrtimer: interrupt took {ns} ns")],
    },
    Kind {
        id: "hrtimer-slow",
        title: "timer interrupts are too slow for their rate",
        weight: Weight::Low,
        checks: &["smi-storm", "stolen-time", "clock-modulation"],
        means: "The kernel spaced timers further apart, because each interrupt took too long.",
        wordings: &[("2.6.32", "hrtimer: interrupt too slow, forcing clock min delta to")],
    },
    Kind {
        id: "nohz-cpu-refused",
        title: "a CPU of nohz_full= keeps its tick",
        weight: Weight::Low,
        checks: &["isolated-without-nohz-full", "nohz-full-ineffective"],
        means: "One CPU keeps the time for all and cannot be without a tick; the kernel takes it out of the list. On x86 that is the CPU that it boots on, \
                mostly CPU 0: isolate others.",
        wordings: &[
            ("", "NO_HZ: Clearing {} from nohz_full range for timekeeping"),
            ("since 6.1", "Housekeeping: must include one present CPU, using boot CPU"),
        ],
    },
    Kind {
        id: "nohz-unsupported",
        title: "nohz_full= has no effect in this kernel",
        weight: Weight::Low,
        checks: &["nohz-full-unsupported", "nohz-full-ineffective"],
        means: "The kernel was built without NO_HZ_FULL, the architecture lacks what it needs, or the clock is unstable: the tick goes on on all CPUs.",
        wordings: &[
            ("since 4.20", "Housekeeping: nohz unsupported. Build with CONFIG_NO_HZ_FULL"),
            ("since 4.x", "NO_HZ: Can't run full dynticks because arch doesn't support"),
            ("3.10", "NO_HZ FULL will not work with unstable sched clock"),
            ("3.10", "NO_HZ: Can't allocate full dynticks cpumask"),
            ("3.10", "NO_HZ: Can't allocate not-full dynticks cpumask"),
        ],
    },
    Kind {
        id: "isolation-list-wrong",
        title: "a list of CPUs on the boot line was refused",
        weight: Weight::Low,
        checks: &["nonexistent-cpus-listed", "isolated-without-nohz-full", "nohz-full-ineffective"],
        means: "nohz_full=, isolcpus= or rcu_nocbs= contradict each other, name CPUs that do not exist or cannot be parsed. What is refused has no effect.",
        wordings: &[
            ("since 4.20", "Housekeeping: nohz_full= or isolcpus= incorrect CPU range"),
            ("since 4.20", "Housekeeping: nohz_full= must match isolcpus="),
            ("4.20", "isolcpus: Error, unknown flag"),
            ("since 6.1", "isolcpus: Invalid flag"),
            ("since 6.1", "isolcpus: Skipped unknown flag"),
            ("3.10", "sched: Error, all isolcpus= values must be between"),
            ("3.10", "NOHZ: Incorrect nohz_full cpumask"),
            ("", "contains nonexistent CPUs"),
            ("since 6.1", "rcu_nocbs= bad CPU range, all CPUs set"),
            ("since 6.12", "workqueue.unbound_cpus: incorrect CPU range, using default"),
            ("since 6.12", "Not compatible with \"isolcpus=\" domain isolation"),
        ],
    },
    Kind {
        id: "unknown-isolation-parameter",
        title: "the kernel does not know a parameter of its boot line that should isolate CPUs or choose a clock",
        weight: Weight::Low,
        checks: &["nohz-full-unsupported", "no-frequency-driver", "slow-clocksource"],
        means: "The parameter has no effect: its feature was not built into this kernel (nohz_full= without NO_HZ_FULL), or belongs to another version or architecture.",
        wordings: &[
            ("since 5.14", "Unknown kernel command line parameters {}nohz_full="),
            ("since 5.14", "Unknown kernel command line parameters {}isolcpus="),
            ("since 5.14", "Unknown kernel command line parameters {}rcu_nocbs="),
            ("since 5.14", "Unknown kernel command line parameters {}intel_pstate="),
            ("since 5.14", "Unknown kernel command line parameters {}amd_pstate="),
            ("since 5.14", "Unknown kernel command line parameters {}clocksource="),
            ("since 5.14", "Unknown kernel command line parameters {} tsc="),
            ("since 5.14", "Unknown kernel command line parameters {}nosmt"),
        ],
    },
    Kind {
        id: "unknown-boot-parameter",
        title: "the kernel does not know a parameter of its boot line",
        weight: Weight::Context,
        checks: &["nohz-full-unsupported", "nonexistent-cpus-listed"],
        means: "What is listed has no effect in this kernel: BOOT_IMAGE of a boot loader, a word for a program, or a \
                typing error.",
        wordings: &[
            ("since 5.14", "Unknown kernel command line parameters"),
            ("to 5.13", "Unknown boot option `{}': ignoring"),
            ("since 6.1", "Unable to set sched"),
        ],
    },
    Kind {
        id: "nohz-setup",
        title: "which CPUs run without a tick, and without RCU callbacks",
        weight: Weight::Context,
        checks: &["nohz-full-ineffective", "rcu-callbacks-on-isolated"],
        means: "Ordinary lines of the boot about isolated CPUs.",
        wordings: &[
            ("", "NO_HZ: Full dynticks CPUs"),
            ("", "Offload RCU callbacks from"),
            ("", "Poll for callbacks from no-CBs CPUs"),
            ("2.6.32", "Switched to NOHz mode on CPU"),
            ("", "RCU restricting CPUs from"),
            ("", "All grace periods are expedited"),
            ("", "No expedited grace period"),
            ("", "RCU calculated value of scheduler-enlistment delay"),
            ("since 6.1", "Dynamic Preempt: "),
        ],
    },
    Kind {
        id: "softirq-pending",
        title: "a CPU went idle with softirq work left",
        weight: Weight::Context,
        checks: &[],
        means: "Work of interrupts waits for the next tick: packets and timers of that CPU are late by up to a few milliseconds. A driver's bug, or a \
                real-time task that kept ksoftirqd from running.",
        wordings: &[
            ("to 4.20", "NOHZ: local_softirq_pending"),
            ("since 5.x", "NOHZ tick-stop error"),
        ],
    },
    Kind {
        id: "rt-throttling",
        title: "real-time tasks used up their share of a CPU and were stopped",
        weight: Weight::Info,
        checks: &[],
        means: "Real-time tasks ran for 95 % of a second (kernel.sched_rt_runtime_us), and were kept off the CPU for the rest of it. A real-time task spins; \
                other programs on that CPU stood still. It is printed once for each boot.",
        wordings: &[
            ("", "sched: RT throttling activated"),
            ("since 4.20", "sched: DL replenish lagged too much"),
            ("since 6.1", "sched: DL de-boosted task"),
        ],
    },
    Kind {
        id: "cfs-period",
        title: "the period of a CPU quota was too short",
        weight: Weight::Info,
        checks: &["cgroup-quota-throttling"],
        means: "The timer of a group's quota could not keep up with its period, and the kernel lengthened it (5.3 and before: it could hang the CPU). Many \
                groups with short periods cost CPU time on their own: use a period of 100 ms.",
        wordings: &[("", "cfs_period_timer[cpu{cpu}]: period too short")],
    },
    Kind {
        id: "affinity-broken",
        title: "a task or an interrupt lost the CPUs that it was bound to",
        weight: Weight::Info,
        checks: &["irqs-on-isolated", "offline-cpus"],
        means: "Its CPUs went offline or out of vectors, and the kernel let it run elsewhere, on isolated CPUs as well. When the CPUs come back the old \
                binding is not restored.",
        wordings: &[
            ("", "no longer affine to cpu{cpu}"),
            ("", "no longer affine to CPU{cpu}"),
            ("3.10", "Broke affinity for irq"),
            ("3.10", "Cannot set affinity for irq"),
            ("", "set affinity failed"),
            ("since 6.1", "Overriding affinity for process"),
            ("", "contains only offline CPUs after offlining CPU"),
            ("", "Set affinity failed, IRQ"),
        ],
    },
    Kind {
        id: "scheduler-replaced",
        title: "a scheduler of BPF (sched_ext) was loaded or thrown out",
        weight: Weight::Info,
        checks: &[],
        means: "A program of the user decides which task runs where and when. After an error or a stall the kernel goes back to its own scheduler.",
        wordings: &[
            ("since 6.12", "sched_ext: BPF scheduler {} enabled"),
            ("since 6.12", "sched_ext: BPF scheduler {} disabled"),
            ("since 6.12", "sched_ext: {} has zero slice in"),
            ("since 6.12", "does not implement cgroup cpu.weight"),
            ("since 6.12", "sched_ext: ops error detected"),
        ],
    },
    Kind {
        id: "topology-broken",
        title: "the scheduler found the topology of the CPUs inconsistent",
        weight: Weight::Info,
        checks: &["mixed-frequency-settings"],
        means: "Firmware or the hypervisor describes cores, caches or nodes in a way that makes no sense. Load is then balanced badly.",
        wordings: &[
            ("", "BUG: arch topology borken"),
            ("", "BUG: arch topology broken"),
            ("", "domain not a subset of the {} domain"),
            ("", "wrong sd_flags in topology description"),
            ("", "ERROR: domain->groups does not"),
            ("", "ERROR: groups don't span domain->span"),
            ("since 6.1", "Failed to find a NUMA topology type"),
            ("since 6.12", "APIC ID mismatch"),
            ("", "APIC id mismatch"),
        ],
    },
];
