//! The list of kernel threads about which something is known.

use Kind::{Overhead, Shortage, Work};

/// What is known about threads with certain names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Patterns of names: of threads, and of the workqueues that workers show.
    pub(crate) names: &'static [&'static str],
    /// Whether the time is lost.
    pub(crate) kind: Kind,
    /// What they do, as in "kswapd0 (frees memory)".
    pub(crate) what: &'static str,
    /// What to do about their time.
    pub(crate) fix: &'static str,
    /// The first kernel with a change that ends a known fault, and which; said where the host's is older.
    pub(crate) fixed: Option<((u32, u32), &'static str)>,
}

/// Whose time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The kernel's own: no program gains by it.
    Overhead,
    /// A sign that something is short, broken or floods the kernel.
    Shortage,
    /// Done for programs: input and output, encryption, guests. It is lost only where they could do with less of it.
    Work,
}

/// Every entry; of several that fit a name, the first counts.
pub(crate) const KNOWN: &[Known] = &[
    // drivers/cpufreq/cppc_cpufreq.c; the commit says what registers in PCC regions cost; bugs.launchpad.net/bugs/2127016.
    Known {
        fixed: Some((
            (6, 1),
            "Linux 6.1 no longer starts it where the counters are read through the firmware's mailbox, PCC (ae2df912d1a5); before, only a \
             kernel that is built without CONFIG_ACPI_CPPC_CPUFREQ_FIE does without it",
        )),
        ..known(
            &["cppc_fie"],
            Overhead,
            "reads the CPPC counters of every busy CPU at each tick, for the scheduler",
            "`cppc_cpufreq.fie_disabled=1` on the boot line, since 6.1: the scheduler then takes the clock that was requested for the one that runs",
        )
    },
    // mm/vmscan.c; Documentation/admin-guide/sysctl/vm.rst.
    Known {
        fixed: Some((
            (3, 19),
            "before Linux 3.19 it can loop for ever after a process was killed for lack of memory (9e5e3661727e)",
        )),
        ..known(
            &["kswapd#"],
            Shortage,
            "frees memory that has become short",
            "more memory for the host, or less for its programs and their caches: pgscan_kswapd in /proc/vmstat and /proc/pressure/memory show how short it \
             is. vm.min_free_kbytes and vm.watermark_scale_factor far above their defaults make it work without need",
        )
    },
    // mm/compaction.c; Documentation/admin-guide/sysctl/vm.rst (compaction_proactiveness, since 5.9).
    known(
        &["kcompactd#"],
        Shortage,
        "moves pages to make room for huge ones",
        "huge pages that are reserved (vm.nr_hugepages) in place of transparent ones; `vm.compaction_proactiveness=0` since Linux 5.9",
    ),
    // mm/khugepaged.c; Documentation/admin-guide/mm/transhuge.rst: 4096 pages each 10 s by default.
    known(
        &["khugepaged"],
        Overhead,
        "looks for pages that can become transparent huge ones",
        "pages_to_scan and scan_sleep_millisecs in /sys/kernel/mm/transparent_hugepage/khugepaged at their defaults, 4096 and 10000; or transparent huge \
         pages for those programs only that request them (madvise)",
    ),
    // mm/ksm.c; Documentation/admin-guide/mm/ksm.rst.
    known(
        &["ksmd"],
        Overhead,
        "compares pages of guests and programs to keep equal ones once",
        "0 in /sys/kernel/mm/ksm/run where memory is not short, or a lower pages_to_scan there; ksmtuned sets both again where it runs",
    ),
    // mm/oom_kill.c.
    known(
        &["oom_reaper"],
        Shortage,
        "frees the memory of processes that were killed for lack of it",
        "memory limits that fit: the kernel's log names who was killed, and in which control group",
    ),
    // arch/x86/kvm/mmu/mmu.c; Documentation/admin-guide/hw-vuln/multihit.rst.
    known(
        &["kvm-nx-lpage-re*"],
        Overhead,
        "joins the small pages of guests that were split against iTLB multihit",
        "a lower rate, kvm.nx_huge_pages_recovery_ratio; processors without the fault do without it",
    ),
    // drivers/acpi/acpi_pad.c: at the request of firmware it holds a CPU idle with real-time priority.
    known(
        &["acpi_pad/*"],
        Overhead,
        "holds CPUs idle because the firmware requests it, mostly to keep a power limit",
        "the power limit of the board or of its management controller; an update of the firmware where there is none",
    ),
    // drivers/thermal/intel/intel_powerclamp.c, drivers/powercap/idle_inject.c.
    known(
        &["kidle_inject/*", "kidle_inj/*", "idle_inject/*"],
        Overhead,
        "holds CPUs idle against heat",
        "the cooling; `fullclock explain forced-idle` says who requests it",
    ),
    // drivers/acpi/osl.c; Documentation/admin-guide/kernel-parameters.txt (acpi_mask_gpe, since 4.10).
    known(
        &["kacpid*", "kacpi_notify*", "kacpi_hotplug*", "irq/*-acpi"],
        Overhead,
        "runs ACPI code of the firmware after an ACPI event",
        "the event (GPE) whose count rises in /sys/firmware/acpi/interrupts: firmware that does not send it, or `acpi_mask_gpe=` with its number on the boot \
         line, since Linux 4.10",
    ),
    // kernel/softirq.c.
    known(
        &["ksoftirqd/*"],
        Shortage,
        "runs softirqs that a CPU does not get done otherwise, mostly of network packets",
        "the kind whose count rises in /proc/softirqs: for NET_RX more queues, and their interrupts on more CPUs; for TIMER and RCU what causes them",
    ),
    // kernel/stop_machine.c.
    known(
        &["migration/*"],
        Shortage,
        "moves tasks to other CPUs, and stops CPUs where the kernel has to",
        "fewer changes of affinity and cpusets, and of the kernel's own code (tracing, live patches, modules)",
    ),
    // kernel/rcu/tree.c, kernel/rcu/tree_nocb.h, kernel/rcu/tasks.h.
    known(
        &["rcu_*", "rcuc/*", "rcuo*", "rcub/*", "rcu_par_gp"],
        Shortage,
        "RCU: waits for all CPUs, and frees what was kept until then",
        "what frees so much: files and sockets that are opened and closed at a high rate, containers that begin and end, changes of routes and firewalls",
    ),
    // kernel/sched/cpufreq_schedutil.c; drivers/cpufreq/cpufreq_ondemand.c of Linux 2.6.
    known(
        &["sugov:*", "kondemand/*", "kconservative/*"],
        Overhead,
        "changes the clock for the governor",
        "`governor=performance`, which changes it once; a driver that changes it without a thread, as intel_pstate and amd-pstate do",
    ),
    // mm/vmstat.c.
    known(
        &["mm_percpu_wq", "vmstat"],
        Overhead,
        "adds up the memory counters of each CPU",
        "a longer vm.stat_interval",
    ),
    // kernel/audit.c.
    known(
        &["kauditd"],
        Overhead,
        "hands audit records to auditd, or writes them to the kernel's log",
        "fewer audit rules: /etc/audit/rules.d",
    ),
    // drivers/usb/core/hub.c; the BMC of a server has a keyboard, a mouse and disks on USB.
    known(
        &["usb_hub_wq", "khubd"],
        Shortage,
        "looks after USB ports",
        "the device that comes and goes, which the kernel's log names; on a server often the virtual media of the management controller",
    ),
    // fs/fs-writeback.c.
    Known {
        fixed: Some((
            (6, 18),
            "before Linux 6.18 the workers wait for each other's lock when a group with many files ends (e1b849cfa6b6, 66c14dccd810, 9a6ebbdbd412)",
        )),
        ..known(
            &["inode_switch_wbs*"],
            Overhead,
            "moves files of ended control groups to the groups above",
            "fewer containers that end with many files in memory",
        )
    },
    // kernel/cgroup/cgroup.c, net/core/net_namespace.c.
    known(
        &["cgroup_*", "css_*", "netns", "memcg_*"],
        Overhead,
        "makes and removes control groups and network namespaces",
        "fewer containers and services that begin and end: probes that start a process, jobs that run each minute",
    ),
    // drivers/hv/hv_balloon.c, drivers/misc/vmw_balloon.c, drivers/xen/balloon.c, drivers/virtio/virtio_balloon.c.
    known(
        &["hv_balloon", "vmmemctl", "vmware_balloon", "xen-balloon", "balloon"],
        Shortage,
        "gives memory back to the hypervisor",
        "a reservation of memory for this guest",
    ),
    // drivers/scsi/scsi_error.c, drivers/ata/libata-eh.c.
    known(
        &["scsi_eh_*", "scsi_tmf_*", "ata_sff"],
        Shortage,
        "deals with errors of disks and paths to them",
        "the disk, cable or path that the kernel's log names",
    ),
    // fs/jbd2/journal.c, fs/jbd/journal.c.
    known(
        &["jbd2/*", "kjournald*"],
        Work,
        "writes the journal of an ext4 or ext3 file system",
        "fewer calls of fsync, or several in one: group commit of the database",
    ),
    // fs/fs-writeback.c, mm/page-writeback.c.
    known(
        &["flush-*", "writeback", "bdi-default", "pdflush", "wb_*"],
        Work,
        "writes changed pages to disks",
        "programs that write less; vm.dirty_background_bytes says from how much on it works",
    ),
    // fs/btrfs; btrfs-quota(8).
    known(
        &["btrfs-*", "btrfs_*"],
        Work,
        "works for a btrfs file system",
        "no quotas (qgroups) where nobody looks at them, and fewer snapshots: both make each transaction longer",
    ),
    // fs/xfs, fs/ext4, and the modules of ZFS (module/os/linux/spl/spl-taskq.c).
    known(
        &["xfs*", "ext4*", "z_*", "txg_*", "arc_*", "dbuf_*", "dbu_evict", "spl_*", "bcachefs*"],
        Work,
        "works for a file system",
        "what programs write and read there; compression and checksums where it has them",
    ),
    // drivers/md/md.c, drivers/md/raid5.c (group_thread_cnt); Documentation/admin-guide/md.rst.
    known(
        &["md*_raid*", "md*_resync", "md*_reshape", "md*_recovery", "md", "md_*", "raid5wq"],
        Work,
        "works for a RAID of md",
        "for RAID 5 and 6 several threads: group_thread_cnt in /sys/block/mdN/md; for a check or rebuild a lower dev.raid.speed_limit_max",
    ),
    // drivers/md/dm-crypt.c; Documentation/admin-guide/device-mapper/dm-crypt.rst (since 5.9).
    known(
        &["kcryptd*", "dmcrypt_*"],
        Work,
        "encrypts disks",
        "the module that uses the processor's instructions (aesni_intel, aes_ce_blk); no_read_workqueue and no_write_workqueue since Linux 5.9",
    ),
    // drivers/nvme/host/tcp.c, drivers/nvme/target.
    known(
        &["nvme*"],
        Work,
        "works for NVMe disks, over TCP with the whole network protocol",
        "the kernel's log where paths come and go; less input and output",
    ),
    // block/blk-core.c, drivers/scsi, drivers/block, drivers/md/dm.c, bcache.
    known(
        &[
            "kblockd*",
            "kdmflush*",
            "kcopyd*",
            "dm-*",
            "dm_*",
            "loop*",
            "bcache*",
            "bch_*",
            "drbd*",
            "rbd*",
            "ceph-*",
            "iscsi*",
            "qla*",
            "lpfc*",
            "mpt*",
            "fc_*",
            "scsi_*",
            "kthrotld*",
            "aio/*",
            "dio/*",
        ],
        Work,
        "works for the block layer and its drivers",
        "less input and output; a driver that the profile names",
    ),
    // fs/nfsd, net/sunrpc, fs/smb.
    known(
        &[
            "nfsd*", "rpciod*", "xprtiod*", "nfsiod*", "lockd", "cifs*", "ksmbd*", "gfs2*",
            "glock_*", "dlm_*", "kafs*", "ptlrpcd*", "ll_ost*", "ldlm_*",
        ],
        Work,
        "works for files on the network",
        "what its clients, or programs here, read and write",
    ),
    // drivers/vhost/vhost.c, drivers/net/xen-netback, drivers/xen.
    known(
        &["vhost-*", "kvm-pit/*", "vif*", "xenwatch", "xenbus*", "*.xvda*"],
        Work,
        "works for a guest",
        "what the guest sends and receives",
    ),
    // drivers/net/ethernet, drivers/infiniband.
    known(
        &[
            "mlx4*", "mlx5*", "ib_*", "ib-*", "iw_*", "rdma*", "bnxt*", "ixgbe*", "i40e*", "ice",
            "ice-*", "hns3*", "napi/*", "gve", "ena", "bond*",
        ],
        Work,
        "works for network adapters",
        "the adapter's events in the kernel's log: links that come and go, resets; fewer monitors that ask for all statistics of it",
    ),
    // kernel/irq/manage.c.
    known(
        &["irq/*"],
        Work,
        "handles interrupts of a device",
        "the rate of the interrupt in /proc/interrupts: its driver's moderation, and the device if it sends without need",
    ),
    // kernel/workqueue.c.
    known(
        &["events*"],
        Shortage,
        "runs what drivers hand to the system workqueue",
        "the driver whose function the trace or the stack names",
    ),
    // kernel/kthread.c.
    known(
        &["kthreadd"],
        Shortage,
        "starts the other threads of the kernel",
        "what starts so many: modules that are loaded again and again, mounts, workers that end at once",
    ),
];

const fn known(
    names: &'static [&'static str],
    kind: Kind,
    what: &'static str,
    fix: &'static str,
) -> Known {
    Known { names, kind, what, fix, fixed: None }
}
