//! What people who run virtual machines can change, in the words of each hypervisor.

use facts::system::platform::Platform;

/// Who offers a guest which clock that it can read without a system call.
const CLOCKS: &[(&str, &str)] = &[
    // Documentation/virt/kvm/x86/timekeeping.rst; QEMU, docs/system/cpu-models-x86.rst.in ("invtsc").
    (
        "KVM (Amazon EC2)",
        "an instance type of the Nitro system: it offers kvm-clock and a steady TSC",
    ),
    ("QEMU", KVM),
    ("KVM", KVM),
    // VMware, Timekeeping in VMware Virtual Machines: `monitor_control.virtual_rdtsc`; arch/x86/kernel/cpu/vmware.c.
    (
        "VMware",
        "in the virtual machine's settings, the virtual hardware of this version of ESXi and `monitor_control.virtual_rdtsc` left alone; the kernel trusts the TSC \
         that VMware keeps, where it is built with CONFIG_HYPERVISOR_GUEST",
    ),
    // Documentation/virt/hyperv/clocks.rst.
    (
        "Hyper-V",
        "a kernel that is built with CONFIG_HYPERV: it takes the reference TSC page of Hyper-V (hyperv_clocksource_tsc_page) by itself",
    ),
    // VBoxManage modifyvm, --paravirt-provider.
    ("VirtualBox", "`VBoxManage modifyvm NAME --paravirtprovider kvm`, which offers kvm-clock"),
    // FreeBSD, bhyve(8); Propolis, the hypervisor of Oxide, is based on it.
    (
        "bhyve",
        "ask whoever runs the bhyve host for an invariant TSC (CPUID 80000007H EDX bit 8), or for the reference TSC page of Hyper-V where bhyve has it",
    ),
];

const KVM: &str = "on the KVM host, an invariant TSC for this guest (QEMU: `-cpu host,+invtsc`) or kvm-clock, which `-cpu ...,-kvmclock` takes away";

/// What gives this host a clock that can be read without a system call, where its kernel has none.
pub(crate) fn fast_clock(platform: &Platform) -> &'static str {
    match &platform.hypervisor {
        Ok(None) => "firmware that keeps the TSCs of all cores together: look for an update",
        Ok(Some(name)) => of(CLOCKS, name).unwrap_or(
            "a machine type whose hypervisor shows an invariant TSC or a clock of its own",
        ),
        Err(_) => {
            "firmware that keeps the TSCs of all cores together; in a guest, a hypervisor that shows an invariant TSC"
        }
    }
}

/// The first entry whose name a hypervisor's begins with.
fn of(words: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    words.iter().find(|(known, _)| name.starts_with(known)).map(|it| it.1)
}
