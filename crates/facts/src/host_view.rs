//! Everything that is known about one host at one moment.

use crate::baseline::Baseline;
use crate::cpu::cooling::CoolingDevice;
use crate::cpu::cpufreq::Cpufreq;
use crate::cpu::cpuidle::Cpuidle;
use crate::cpu::cpuinfo::CpuInfo;
use crate::cpu::delivered::Delivered;
use crate::cpu::energy_bias::{EnergyBias, Preference};
use crate::cpu::mobile::is_mobile;
use crate::cpu::pstate::Pstate;
use crate::cpu::thermal_zone::ThermalZone;
use crate::cpu::throttling::Throttling;
use crate::cpu::topology::Topology;
use crate::links::infiniband::Infiniband;
use crate::links::network::Network;
use crate::links::pcie::Pcie;
use crate::log::KernelLog;
use crate::msr::{Msrs, hwp, intel};
use crate::power::board::BoardPower;
use crate::power::cap::PowerCap;
use crate::power::hsmp::HsmpSockets;
use crate::power::limit::PowerLimits;
use crate::power::plr;
use crate::power::speed_select::SpeedSelect;
use crate::power::uncore::UncoreDomains;
use crate::redfish::Redfish;
use crate::site::{AdvisoryFile, Thresholds};
use crate::system::cgroup::{LimitedGroup, ThrottledGroups};
use crate::system::cpu_times::CpuTimes;
use crate::system::distribution::Distribution;
use crate::system::interrupts::Interrupts;
use crate::system::ipmi::Ipmi;
use crate::system::isolation::Isolation;
use crate::system::kernel::Clocksource;
use crate::system::kernel::Kernel;
use crate::system::kernel::Vulnerability;
use crate::system::platform::Dmi;
use crate::system::platform::Platform;
use crate::system::process::Process;
use crate::system::resctrl::BandwidthLimits;
use crate::system::scheduler::{ClampedGroups, Scheduler};
use crate::system::sysctl::Sysctls;
use crate::system::tuners::Tuners;
use crate::watched::Watched;
use crate::{Elsewhere, Fact, Missing, PerCpu};

/// One host, live or captured: one field per subject, each made by the reader of the same name in `host`.
///
/// A check takes this and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct HostView {
    /// Where the answers come from.
    pub origin: Origin,
    /// What a copy lost a part of itself by, in words without its name: what it lacks is unknown. `None` of one that is whole.
    pub incomplete: Option<String>,
    /// Kernel release, boot line, uptime.
    pub kernel: Kernel,
    /// Whose tools it has.
    pub distribution: Fact<Distribution>,
    /// What the firmware says of the machine and of itself.
    pub dmi: Dmi,
    /// Bare metal, or a guest of what; in a container or not.
    pub platform: Platform,
    /// Model, flags, microcode and reported clocks, from /proc/cpuinfo.
    pub cpuinfo: Fact<CpuInfo>,
    /// Which CPUs there are, and which share a core and a package.
    pub topology: Topology,
    /// Frequency drivers, governors and limits.
    pub cpufreq: Cpufreq,
    /// What intel_pstate and amd-pstate say of themselves.
    pub pstate: Pstate,
    /// Energy bias (EPB) of the CPUs.
    pub energy_bias: Fact<EnergyBias>,
    /// Programs that tune frequencies.
    pub tuners: Tuners,
    /// Model-specific registers of the processors.
    pub msrs: Msrs,
    /// Thermal throttling since boot.
    pub throttling: Throttling,
    /// What counters say of the CPUs' clocks.
    pub delivered: Delivered,
    /// Cooling devices that stop or slow CPUs.
    pub cooling: Fact<Vec<CoolingDevice>>,
    /// Zones with passive trip points. Read only where a cooling device is on.
    pub thermal_zones: Fact<Vec<ThermalZone>>,
    /// Idle states and what limits their use.
    pub cpuidle: Cpuidle,
    /// Which CPUs are kept free of other work.
    pub isolation: Isolation,
    /// Who chooses what runs next, and what the scheduler holds back.
    pub scheduler: Scheduler,
    /// How often each CPU took each interrupt.
    pub interrupts: Fact<Interrupts>,
    /// What each CPU has spent its time on.
    pub cpu_times: Fact<CpuTimes>,
    /// Power limits of the packages.
    pub power_limits: PowerLimits,
    /// The board's power and the limit on it, as the management controller tells them.
    pub power_cap: PowerCap,
    /// What the management controller says over Redfish; absent where no configuration names it.
    pub redfish: Fact<Redfish>,
    /// The version of the management controller's firmware; `None` if the controller was not asked, as in every copy.
    pub bmc_firmware: Option<Fact<String>>,
    /// What AMD's system management reports of each socket.
    pub hsmp: HsmpSockets,
    /// What has held the clock down since boot, as Intel's servers with TPMI log it.
    pub plr: plr::Domains,
    /// Which Speed Select profile is in force on Intel's servers.
    pub speed_select: SpeedSelect,
    /// Clocks of the uncore.
    pub uncore: UncoreDomains,
    /// Groups of resctrl whose memory bandwidth is limited; absent where it is not mounted.
    pub memory_bandwidth: Fact<BandwidthLimits>,
    /// Whether a Raspberry Pi has enough voltage.
    pub board_power: BoardPower,
    /// What the kernel does about faults of the processor.
    pub vulnerabilities: Fact<Vec<Vulnerability>>,
    /// Settings in /proc/sys.
    pub sysctls: Sysctls,
    /// The clock that programs tell the time by.
    pub clocksource: Clocksource,
    /// Control groups with a CPU quota that limits this program or a database server.
    pub limited_groups: Fact<Vec<LimitedGroup>>,
    /// Control groups that a CPU quota has stopped, whatever runs in them.
    pub throttled_groups: Fact<ThrottledGroups>,
    /// Control groups whose tasks may not ask for the highest clock, where a governor looks at that.
    pub clamped_groups: Fact<ClampedGroups>,
    /// Every process and kernel thread.
    pub processes: Fact<Vec<Process>>,
    /// The interfaces to the BMC, and the threads that poll them.
    pub ipmi: Ipmi,
    /// InfiniBand ports.
    pub infiniband: Infiniband,
    /// Links of network, storage and graphics devices to their slots.
    pub pcie: Pcie,
    /// Network adapters, and the NUMA nodes they can be near to.
    pub network: Network,
    /// The messages of the kernel that tell of the clock.
    pub log: Fact<KernelLog>,
    /// How fast it is compared with earlier boots, where baselines are kept; absent where none are.
    pub baseline: Fact<Baseline>,
    /// What was seen in a look of some seconds; `None` where nobody looked, as in every copy.
    pub watched: Option<Watched>,
    /// The thresholds that the site has set; the defaults where no configuration is read.
    pub thresholds: Thresholds,
    /// The advisories that the site adds to those of the program; none where no configuration is read.
    pub advisories: Vec<AdvisoryFile>,
}

/// Where the answers about a host come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The running machine: what is absent, is absent.
    Live,
    /// A capture by this program: it asked, so what is absent, is absent.
    Capture,
    /// A folder or archive of somebody else's choosing (an sosreport, a support bundle): what it lacks is absent where
    /// that is proven ([`crate::collectors`]), and else not collected.
    Tree,
}

impl HostView {
    /// Whether this is a laptop or a tablet: by its chassis, or by its processor where firmware names none.
    pub fn is_portable(&self) -> bool {
        let is_mobile = || self.topology.is_hybrid() || self.cpuinfo.as_ref().is_ok_and(is_mobile);
        self.dmi.chassis.as_ref().map_or_else(|_| is_mobile(), |_| self.dmi.is_portable())
    }

    /// Whether the kernel shows `what` (heat, power limits, PROCHOT#) on this processor.
    ///
    /// Errors: a guest cannot see it; or the processor is not Intel's, and who reports it there, `on_amd` or the firmware. Where the
    /// processor is unknown, it is up to what can be read.
    pub fn shows(&self, what: &str, on_amd: Elsewhere) -> Result<(), Missing> {
        self.platform.hides(what)?;
        match &self.cpuinfo {
            Ok(info) if info.is_intel() => Ok(()),
            Ok(info) if info.is_amd() => Err(Missing::elsewhere(what, on_amd)),
            Ok(_) => Err(Missing::elsewhere(what, Elsewhere::Firmware)),
            Err(_) => Ok(()),
        }
    }

    /// EPP of every CPU that has one: from sysfs, or from the HWP request where the driver has no file for it.
    pub fn energy_preferences(&self) -> PerCpu<Preference> {
        let mut preferences: Vec<(u32, Fact<Preference>)> = Vec::new();
        let policies = self.cpufreq.policies.as_deref().unwrap_or_default();
        for policy in policies {
            let path = policy.path("energy_performance_preference");
            let preference = |text: &String| Preference { text: text.clone(), path: path.clone() };
            let fact = policy.preference.as_ref().map(preference).map_err(Into::into);
            preferences.extend(policy.cpus.iter().map(|cpu| (cpu, fact.clone())));
        }
        let is_told = preferences.iter().any(|(_, it)| !matches!(it, Err(it) if it.is_absence()));
        let has_preference = self.cpuinfo.as_ref().is_ok_and(|it| it.has("hwp_epp"));
        match self.msrs.of(&intel::HWP_REQUEST) {
            Ok(requests) if !is_told && has_preference => {
                requests.iter().map(|(cpu, _)| (cpu, self.preference_of_request(cpu))).collect()
            }
            _ => preferences.into_iter().collect(),
        }
    }

    fn preference_of_request(&self, cpu: u32) -> Fact<Preference> {
        let request = hwp::request(&self.msrs, &self.topology, cpu, hwp::Field::Preference);
        request.map(|(path, request)| Preference { text: request.preference().to_string(), path })
    }
}
