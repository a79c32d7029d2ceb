//! A host of which nothing is known, because nothing was asked.
//!
//! Readers fill in the subjects that somebody asks for. Whatever is left says so where it is looked at, so that nothing
//! passes for absent that only was not asked for.

use crate::cpu::cpufreq::{Cpufreq, Policy};
use crate::cpu::cpuidle::Cpuidle;
use crate::cpu::delivered::Delivered;
use crate::cpu::pstate::{AmdPstate, IntelPstate, Pstate};
use crate::cpu::throttling::Throttling;
use crate::cpu::topology::Topology;
use crate::links::infiniband::Infiniband;
use crate::links::network::{Adapter, Network};
use crate::links::pcie::Pcie;
use crate::msr::Msrs;
use crate::power::board::BoardPower;
use crate::power::cap::PowerCap;
use crate::power::plr;
use crate::power::speed_select;
use crate::redfish;
use crate::site::Thresholds;
use crate::system::ipmi::Ipmi;
use crate::system::isolation::Isolation;
use crate::system::kernel::Clocksource;
use crate::system::kernel::Kernel;
use crate::system::platform::Dmi;
use crate::system::platform::Platform;
use crate::system::scheduler::Scheduler;
use crate::system::sysctl::Sysctls;
use crate::system::tuners::Tuners;
use crate::{CpuSet, Fact, HostView, Missing, Origin, PerCpu};

impl HostView {
    /// A host of which nothing was asked.
    pub fn unasked(origin: Origin) -> HostView {
        HostView {
            origin,
            incomplete: None,
            kernel: kernel(),
            distribution: none("distribution"),
            dmi: dmi(),
            platform: Platform {
                hypervisor: none("hypervisor"),
                is_control_domain: false,
                container: none("container"),
            },
            cpuinfo: none("/proc/cpuinfo"),
            topology: topology(),
            cpufreq: cpufreq(),
            pstate: pstate(),
            energy_bias: none("energy bias"),
            tuners: tuners(),
            msrs: Msrs::none(Missing::unasked("MSRs")),
            throttling: throttling(),
            delivered: delivered(),
            cooling: none("cooling devices"),
            thermal_zones: none("thermal zones"),
            cpuidle: cpuidle(),
            isolation: isolation(),
            scheduler: scheduler(),
            interrupts: none("/proc/interrupts"),
            cpu_times: none("/proc/stat"),
            power_limits: none("power limits"),
            power_cap: PowerCap::none(Missing::unasked("power limit of the management controller")),
            redfish: none(redfish::NAME),
            bmc_firmware: None,
            hsmp: none("HSMP"),
            plr: none(plr::NAME),
            speed_select: none(speed_select::NAME),
            uncore: none("uncore domains"),
            memory_bandwidth: none("groups of resctrl"),
            board_power: board_power(),
            vulnerabilities: none("vulnerabilities"),
            sysctls: sysctls(),
            clocksource: Clocksource {
                current: none("clock source"),
                available: none("clock sources"),
            },
            limited_groups: none("control groups"),
            throttled_groups: none("control groups of all processes"),
            clamped_groups: none("clamps of control groups"),
            processes: none("processes"),
            ipmi: ipmi(),
            infiniband: Infiniband { ports: none("InfiniBand ports") },
            pcie: Pcie { links: none("PCIe links") },
            network: network(),
            log: none("the kernel's log"),
            baseline: none("baselines of earlier boots"),
            watched: None,
            thresholds: Thresholds::default(),
            advisories: Vec::new(),
        }
    }
}

fn delivered() -> Delivered {
    Delivered {
        looks: no_cpu("a look at APERF and MPERF"),
        feedback: no_cpu("feedback_ctrs"),
        worked: None,
    }
}

fn throttling() -> Throttling {
    Throttling {
        cores: no_cpu("throttling"),
        packages: no_cpu("throttling"),
        occ: no_cpu("throttling"),
        core_power: no_cpu("power limit events"),
        package_power: no_cpu("power limit events"),
    }
}

fn scheduler() -> Scheduler {
    Scheduler {
        ext: none("state of sched_ext"),
        clamp_of_all: none("sched_util_clamp_max"),
        cpu_time: none("CPU time of the root group"),
        fair_servers: no_cpu("servers of the fair class"),
    }
}

fn tuners() -> Tuners {
    Tuners {
        tuned_profile: none("TuneD's profile"),
        tlp_state: none("TLP's state"),
        boot_units: Vec::new(),
    }
}

impl Policy {
    /// A policy of which only this is known.
    pub fn unasked(folder: String, cpus: CpuSet, driver: Fact<String>) -> Policy {
        Policy {
            folder,
            cpus,
            driver,
            governor: none("scaling_governor"),
            scaling_min: none("scaling_min_freq"),
            scaling_max: none("scaling_max_freq"),
            scaling_cur: none("scaling_cur_freq"),
            cpuinfo_cur: none("cpuinfo_cur_freq"),
            cpuinfo_avg: none("cpuinfo_avg_freq"),
            auto_select: none("auto_select"),
            perf_limited: none("perf_limited"),
            cpuinfo_min: none("cpuinfo_min_freq"),
            cpuinfo_max: none("cpuinfo_max_freq"),
            base_frequency: none("base_frequency"),
            bios_limit: none("bios_limit"),
            preference: none("energy_performance_preference"),
            boost: none("boost"),
            lowest_nonlinear: none("amd_pstate_lowest_nonlinear_freq"),
            ranking: none("amd_pstate_prefcore_ranking"),
        }
    }
}

impl Adapter {
    /// An adapter of which only its place is known.
    pub fn unasked(folder: String) -> Adapter {
        Adapter {
            folder,
            numa_node: none("numa_node"),
            payload: none("MaxPayloadSize"),
            interrupts: none("interrupts of an adapter"),
        }
    }
}

fn none<T>(what: &str) -> Fact<T> {
    Err(Missing::unasked(what))
}

fn no_cpu<T>(what: &str) -> PerCpu<T> {
    [(0, none(what))].into_iter().collect()
}

fn kernel() -> Kernel {
    Kernel {
        release: none("kernel release"),
        boot_line: none("/proc/cmdline"),
        uptime: none("uptime"),
        runnable: none("runnable threads"),
        config: none("kernel configuration"),
        suspends: none("count of suspends"),
        preempt_mode: none("preemption model"),
    }
}

fn dmi() -> Dmi {
    Dmi {
        vendor: none("vendor"),
        product: none("product"),
        board: none("board"),
        firmware_vendor: none("firmware's vendor"),
        firmware_version: none("firmware's version"),
        firmware_date: none("firmware's date"),
        chassis: none("chassis"),
    }
}

fn topology() -> Topology {
    Topology {
        online: none("list of online CPUs"),
        present: none("list of present CPUs"),
        is_by_folders: false,
        standby: CpuSet::default(),
        smt_control: none("smt/control"),
        possible: none("list of possible CPUs"),
        cores: none("cores"),
        packages: none("packages"),
        core_types: none("kinds of cores"),
    }
}

fn cpufreq() -> Cpufreq {
    Cpufreq {
        policies: none("cpufreq policies"),
        table: none("scaling_available_frequencies"),
        boost: none("cpufreq/boost"),
        cppc_nominal: none("acpi_cppc/nominal_freq"),
    }
}

fn pstate() -> Pstate {
    Pstate {
        intel: IntelPstate {
            status: none("intel_pstate/status"),
            no_turbo: none("intel_pstate/no_turbo"),
            max_perf_pct: none("intel_pstate/max_perf_pct"),
            min_perf_pct: none("intel_pstate/min_perf_pct"),
            hwp_dynamic_boost: none("intel_pstate/hwp_dynamic_boost"),
        },
        amd: AmdPstate {
            status: none("amd_pstate/status"),
            prefcore: none("amd_pstate/prefcore"),
            dynamic_epp: none("amd_pstate/dynamic_epp"),
        },
    }
}

fn board_power() -> BoardPower {
    BoardPower {
        throttled: none("get_throttled"),
        alarm: none("in0_lcrit_alarm"),
        cap: none("powercap-current"),
    }
}

fn cpuidle() -> Cpuidle {
    Cpuidle {
        driver: none("cpuidle/current_driver"),
        governor: none("cpuidle/current_governor"),
        parameters: none("parameters of intel_idle"),
        tables: none("idle states"),
        latency_limit: none("/dev/cpu_dma_latency"),
        latency_holders: none("holders of /dev/cpu_dma_latency"),
        resume_latency: no_cpu("pm_qos_resume_latency_us"),
    }
}

fn isolation() -> Isolation {
    Isolation {
        asked: none("isolation on the boot line"),
        isolated: none("list of isolated CPUs"),
        nohz_full: none("list of nohz_full CPUs"),
        partitions: none("list of CPUs in partitions"),
        requested_partitions: none("partitions of cpusets"),
        interrupt_affinities: none("affinities of interrupts"),
        rcu_threads: none("threads of RCU"),
    }
}

fn sysctls() -> Sysctls {
    Sysctls {
        nmi_watchdog: none("kernel.nmi_watchdog"),
        watchdog_cpumask: none("kernel.watchdog_cpumask"),
        timer_migration: none("kernel.timer_migration"),
        split_lock_mitigate: none("kernel.split_lock_mitigate"),
        stat_interval: none("vm.stat_interval"),
    }
}

fn ipmi() -> Ipmi {
    Ipmi {
        interfaces: none("IPMI interfaces"),
        threads: none("threads of IPMI"),
        max_busy_us: none("kipmid_max_busy_us"),
    }
}

fn network() -> Network {
    Network {
        interfaces: none("network interfaces"),
        rdma: none("RDMA devices"),
        adapters: none("network adapters"),
        nodes: none("NUMA nodes"),
    }
}
