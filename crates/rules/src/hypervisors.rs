//! What people who run virtual machines can change, in the words of each hypervisor: the clock source of a guest, the time that it
//! does not get, and the clock of the processor under it.

use facts::elsewhere::{DOM0_SHOWS_CLOCK, XEN_SHOWS_CLOCK};
use facts::system::platform::Platform;

/// One hypervisor's words.
struct Words {
    /// How its name begins, in any case.
    name: &'static str,
    /// Who offers a guest a clock that it can read without a system call.
    fast_clock: &'static str,
    /// What gives a guest the CPU time that others get.
    less_steal: &'static str,
    /// Where the clock of the processor is decided.
    frequency: &'static str,
}

const HYPERVISORS: &[Words] = &[
    // EC2 User Guide: burstable performance instances, processor state control, stop and start. The DMI name is that of the
    // Nitro system; instances on Xen are named by that.
    Words {
        name: "KVM (Amazon EC2)",
        fast_clock: "an instance type of the Nitro system: it offers kvm-clock and a steady TSC",
        less_steal: "an instance type without CPU credits (T3, T3a and T4g have them: more credits, or unlimited mode), a larger one, or a \
                     stop and a start, which moves the instance to another host",
        frequency: "EC2 leaves P-states and C-states to the largest sizes of some instance types only",
    },
    XEN,
    QEMU,
    Words { name: "KVM", ..QEMU },
    // VMware, Timekeeping in VMware Virtual Machines (monitor_control.virtual_rdtsc); arch/x86/kernel/cpu/vmware.c. VMware KB
    // 1017926 and 2002181 (%RDY, %CSTP, %MLMTD); vSphere Guest SDK Programming Guide (vm.cpu.contention.cpu); vSphere Resource
    // Management, Host Power Management Policies.
    Words {
        name: "VMware",
        fast_clock: "in the virtual machine's settings, the virtual hardware of this version of ESXi and `monitor_control.virtual_rdtsc` left alone; \
                     the kernel trusts the TSC that VMware keeps, where it is built with CONFIG_HYPERVISOR_GUEST",
        less_steal: "on ESXi, fewer virtual CPUs per host (esxtop shows the wait as %RDY and %CSTP), no CPU limit (%MLMTD), or a CPU \
                     reservation; in this guest `vmware-toolbox-cmd stat raw text resources` shows it as vm.cpu.contention.cpu",
        frequency: "on ESXi it is the policy High Performance under Power Management of the host, and in the host's firmware OS control",
    },
    // Documentation/virt/hyperv/clocks.rst; Set-VMProcessor; Hyper-V Hypervisor Virtual Processor counters.
    Words {
        name: "Hyper-V",
        fast_clock: "a kernel that is built with CONFIG_HYPERV: it takes the reference TSC page of Hyper-V (hyperv_clocksource_tsc_page) by \
                     itself",
        less_steal: "on the Hyper-V host, fewer virtual processors, a Reserve and no Maximum below 100 (Set-VMProcessor); its counter CPU Wait \
                     Time Per Dispatch shows the wait; in Azure, a size that is not burstable (B series), or a larger one",
        frequency: "on the Hyper-V host it is the power plan of Windows, High performance",
    },
    // VBoxManage modifyvm, --paravirt-provider and --cpu-execution-cap.
    Words {
        name: "VirtualBox",
        fast_clock: "`VBoxManage modifyvm NAME --paravirtprovider kvm`, which offers kvm-clock",
        less_steal: "fewer virtual CPUs than the host has cores, and `VBoxManage modifyvm NAME --cpuexecutioncap 100`",
        frequency: "it is a setting of the system under VirtualBox",
    },
    // FreeBSD, bhyve(8), cpufreq(4); Propolis, the hypervisor of Oxide, is based on it.
    Words {
        name: "bhyve",
        fast_clock: "ask whoever runs the bhyve host for an invariant TSC (CPUID 80000007H EDX bit 8), or for the reference TSC page of \
                     Hyper-V where bhyve has it",
        less_steal: "on the bhyve host, fewer virtual CPUs, or each on a CPU of its own (bhyve's option -p)",
        frequency: "on FreeBSD under bhyve it is dev.cpu.0.freq, which powerd(8) or hwpstate_intel(4) sets",
    },
];

/// Xen sets the mark with which a kernel reads its clock by itself only where its own clock source is the TSC
/// (XEN_PVCLOCK_TSC_STABLE_BIT in xen/arch/x86/time.c); Linux takes the TSC of a domain that Xen promises never to emulate it
/// (xen_tsc_safe_clocksource in arch/x86/xen/time.c). Xen: xen-command-line, xl.cfg(5), xen-tscmode(7), xl(1).
const XEN: Words = Words {
    name: "Xen",
    fast_clock: "on the Xen host, the TSC as Xen's own clock source (clocksource=tsc on Xen's boot line, with tsc=stable:socket on several \
                 sockets), or tsc_mode=\"native\" in the domain's xl.cfg; where others run it, a machine type that promises a steady TSC",
    less_steal: "on the Xen host, fewer virtual CPUs (`xl vcpu-list` shows who shares a CPU), no cap, and a higher weight (`xl sched-credit2`)",
    frequency: DOM0_SHOWS_CLOCK,
};

/// The control domain is one of Xen's domains, and whoever runs it runs Xen.
const DOM0: Words = Words {
    name: "Xen",
    fast_clock: "the TSC as Xen's own clock source: clocksource=tsc on Xen's boot line (not Linux's), with tsc=stable:socket on several sockets",
    less_steal: "CPUs of its own for Dom0 (dom0_max_vcpus= and dom0_vcpus_pin on Xen's boot line), or a higher weight than the 256 of other \
                 domains (`xl sched-credit2 -d Domain-0 -w 512`); `xl vcpu-list` shows who shares its CPUs",
    frequency: XEN_SHOWS_CLOCK,
};

/// Documentation/virt/kvm/x86/timekeeping.rst; QEMU, docs/system/cpu-models-x86.rst.in ("invtsc"); virsh(1).
const QEMU: Words = Words {
    name: "QEMU",
    fast_clock: "on the KVM host, an invariant TSC for this guest (QEMU: `-cpu host,+invtsc`) or kvm-clock, which `-cpu ...,-kvmclock` takes away",
    less_steal: "on the KVM host, no more virtual CPUs than threads, each pinned (`virsh vcpupin`), and no quota (`virsh schedinfo`); of a cloud, a \
                 dedicated or larger instance",
    frequency: "on the KVM host, Linux decides it",
};

/// What gives this host a clock that can be read without a system call, where its kernel has none.
pub(crate) fn fast_clock(platform: &Platform) -> &'static str {
    match (&platform.hypervisor, words(platform)) {
        (_, Some(words)) => words.fast_clock,
        (Ok(None), None) => {
            "firmware that keeps the TSCs of all cores together: look for an update"
        }
        (Ok(Some(_)), None) => {
            "a machine type whose hypervisor shows an invariant TSC or a clock of its own"
        }
        (Err(_), None) => {
            "firmware that keeps the TSCs of all cores together; in a guest, a hypervisor that shows an invariant TSC"
        }
    }
}

/// The same on Xen, also where only the clock source says that it is Xen.
pub(crate) fn fast_clock_on_xen(platform: &Platform) -> &'static str {
    words(platform).unwrap_or(&XEN).fast_clock
}

/// What gives this guest the CPU time that its hypervisor gives to others.
pub(crate) fn less_steal(platform: &Platform) -> &'static str {
    words(platform).map_or(
        "a dedicated or larger instance, pinned virtual CPUs, or fewer of them on that host",
        |it| it.less_steal,
    )
}

/// Where the clock of this guest's processor is decided; `None` where its hypervisor has no name here.
pub fn frequency(platform: &Platform) -> Option<&'static str> {
    words(platform).map(|it| it.frequency)
}

/// The words of the first hypervisor whose name this one's begins with.
fn words(platform: &Platform) -> Option<&'static Words> {
    if platform.is_control_domain {
        return Some(&DOM0);
    }
    let name = platform.hypervisor.as_ref().ok()?.as_ref()?;
    HYPERVISORS.iter().find(|it| {
        name.get(..it.name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(it.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Missing;

    fn platform(hypervisor: &str) -> Platform {
        Platform {
            hypervisor: Ok(Some(hypervisor.to_owned())),
            is_control_domain: false,
            container: Err(Missing::absent("container")),
        }
    }

    #[test]
    fn each_name_has_words_of_its_own() {
        for (name, word) in [
            ("KVM (Amazon EC2)", "CPU credits"),
            ("xen", "xl sched-credit2"),
            ("Xen", "xl vcpu-list"),
            ("KVM", "virsh vcpupin"),
            ("QEMU/KVM", "virsh schedinfo"),
            ("VMware", "%RDY"),
            ("Hyper-V", "Set-VMProcessor"),
            ("VirtualBox", "cpuexecutioncap"),
            ("bhyve", "bhyve's option -p"),
        ] {
            assert!(less_steal(&platform(name)).contains(word), "{name}");
            assert!(frequency(&platform(name)).is_some(), "{name}");
        }
        assert!(less_steal(&platform("z/VM or KVM")).starts_with("a dedicated or larger instance"));
        assert_eq!(frequency(&platform("z/VM or KVM")), None);
    }

    #[test]
    fn the_control_domain_is_told_of_xens_boot_line_and_not_of_instances() {
        let dom0 = Platform { is_control_domain: true, ..platform("xen") };
        for words in [fast_clock(&dom0), less_steal(&dom0), fast_clock_on_xen(&dom0)] {
            assert!(words.contains("Xen's boot line") && !words.contains("instance"), "{words}");
        }
        assert!(fast_clock(&platform("Xen")).contains("tsc_mode=\"native\""));
    }
}
