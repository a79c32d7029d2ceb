//! Bare metal or a guest, in a container or not: it decides what can be seen at all. And what firmware says of the machine.
//!
//! A guest sees emulated registers and a virtual clock: an MSR that reads 0 there says nothing about the
//! processor. Sources: CPUID.01H:ECX[31] (the kernel's `hypervisor` flag), /sys/hypervisor/type,
//! arch/s390/kernel/sysinfo.c, and the DMI names that hypervisors give themselves: /sys/class/dmi/id (drivers/firmware/dmi-id.c;
//! DMTF DSP0134 (SMBIOS), 7.4.1 for chassis types), where serial numbers and UUIDs are never read.
//!
//! Xen's control domain (Dom0) is between the two: it owns the machine's devices and firmware, and runs on virtual CPUs.

use crate::cpu::cpuinfo::CpuInfo;
use crate::{Elsewhere, Fact, Missing};

/// What is under the kernel, and what is around this process.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// The hypervisor's name where the kernel runs on virtual CPUs; `None` on bare metal.
    pub hypervisor: Fact<Option<String>>,
    /// Whether this is Xen's control domain (Dom0), which owns the machine's devices.
    pub is_control_domain: bool,
    /// The container this process runs in, where that shows.
    pub container: Fact<Option<String>>,
}

impl Platform {
    /// Whether the kernel runs on virtual CPUs: in a guest or in Xen's control domain. Unknown counts as no.
    pub fn is_guest(&self) -> bool {
        matches!(self.hypervisor, Ok(Some(_)))
    }

    /// Whether the machine's devices and firmware are another system's. Unknown counts as no.
    pub fn has_virtual_devices(&self) -> bool {
        self.is_guest() && !self.is_control_domain
    }

    /// On virtual CPUs, the reason for which `what` of the processor cannot be known: the hypervisor shows its own.
    pub fn hides(&self, what: &str) -> Result<(), Missing> {
        match &self.hypervisor {
            Ok(Some(_)) if self.is_control_domain => Err(Missing::elsewhere(what, Elsewhere::Xen)),
            Ok(Some(hypervisor)) => Err(Missing::hidden(what, hypervisor)),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// On virtual CPUs, whose `what` is: a guest has none of its own, and Xen keeps that of the machine from Dom0.
    pub fn leaves_to_hypervisor(&self, what: &str) -> Result<(), Missing> {
        match &self.hypervisor {
            Ok(Some(hypervisor)) if !self.is_control_domain => {
                Err(Missing::not_here(what, format!("a guest of {hypervisor}")))
            }
            _ => self.hides(what),
        }
    }

    /// On a guest, the reason for which `what` of the devices or the firmware cannot be known.
    pub fn hides_devices(&self, what: &str) -> Result<(), Missing> {
        if self.is_control_domain { Ok(()) } else { self.hides(what) }
    }

    /// On a guest whose hypervisor keeps it to itself, the reason for which a stolen time of 0 says nothing.
    pub fn tells_of_steal(&self) -> Result<(), Missing> {
        match &self.hypervisor {
            Ok(Some(it)) if KEEP_STEAL_TO_THEMSELVES.iter().any(|name| it.starts_with(name)) => {
                Err(Missing::hidden("stolen time", it))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Whether the kernel is known to run on the hardware itself.
    pub fn is_bare_metal(&self) -> bool {
        matches!(self.hypervisor, Ok(None))
    }
}

/// Hypervisors that tell their guests of no stolen time, or only where an administrator asked for it (VMware's
/// `stealclock.enable`).
const KEEP_STEAL_TO_THEMSELVES: &[&str] =
    &["VMware", "VirtualBox", "Hyper-V", "Parallels", "bhyve"];

/// The CPUID leaf in which a hypervisor signs with twelve letters in EBX, ECX and EDX
/// (Documentation/virt/kvm/x86/cpuid.rst). Means nothing without the CPU's `hypervisor` flag.
pub const SIGNATURE_LEAF: u32 = 0x4000_0000;

/// Whether a Xen domain is the control domain: by /proc/xen/capabilities, or by the UUID in /sys/hypervisor/uuid,
/// which is all zeros there (Documentation/ABI/stable/sysfs-hypervisor-xen).
pub fn is_control_domain(capabilities: &Fact<String>, uuid: &Fact<String>) -> bool {
    let controls = |text: &String| text.split([',', '\n']).any(|it| it.trim() == "control_d");
    let is_zero = |text: &String| {
        text.contains('0') && text.trim().bytes().all(|it| matches!(it, b'0' | b'-'))
    };
    match capabilities {
        // An empty file is that of a guest.
        Ok(text) => controls(text),
        Err(_) => uuid.as_ref().is_ok_and(is_zero),
    }
}

/// Decides from the CPU's flag, `/sys/hypervisor/type`, the DMI names, s390's /proc/sysinfo and the signature of
/// [`SIGNATURE_LEAF`], where there is one.
pub fn hypervisor(
    cpuinfo: &Fact<CpuInfo>,
    dmi: &Dmi,
    xen_type: &Fact<String>,
    sysinfo: &Fact<String>,
    signature: Option<[u32; 4]>,
) -> Fact<Option<String>> {
    let has_no_flag = matches!(cpuinfo, Ok(info) if info.is_x86() && !info.has("hypervisor"));
    let name = named_by_dmi(dmi).filter(|it| !(has_no_flag && it.rents_machines));
    if let Some(Named { name, .. }) = name {
        return Ok(Some((*name).to_owned()));
    }
    if let Ok(name) = xen_type {
        return Ok(Some(name.clone()));
    }
    if sysinfo.as_ref().is_ok_and(|text| text.contains("VM00 ")) {
        return Ok(Some("z/VM or KVM".to_owned()));
    }
    match cpuinfo {
        Ok(info) if info.has("hypervisor") => {
            let name = signature.and_then(named_by_signature).unwrap_or("an unnamed hypervisor");
            Ok(Some(name.to_owned()))
        }
        Ok(info) if info.is_x86() => Ok(None),
        // Other architectures have no such flag. Firmware tables that name a real vendor will do.
        Ok(info) if info.model_name.to_ascii_lowercase().contains("qemu") => {
            Ok(Some("QEMU".to_owned()))
        }
        Ok(_) => dmi.vendor.as_ref().map(|_| None).map_err(Missing::from),
        Err(missing) => Err(missing.clone()),
    }
}

/// Signatures of hypervisors: arch/x86/include/uapi/asm/kvm_para.h, arch/x86/kernel/cpu/{mshyperv,vmware,acrn}.c,
/// QEMU's target/i386/cpu.c. Hyper-V's is imitated by others for its guests' sake, and stays unnamed.
const SIGNATURES: &[(&[u8; 12], &str)] = &[
    (b"KVMKVMKVM\0\0\0", "KVM"),
    (b"VMwareVMware", "VMware"),
    (b"XenVMMXenVMM", "Xen"),
    (b"TCGTCGTCGTCG", "QEMU"),
    (b"VBoxVBoxVBox", "VirtualBox"),
    (b"bhyve bhyve ", "bhyve"),
    (b"ACRNACRNACRN", "ACRN"),
];

fn named_by_signature([_, ebx, ecx, edx]: [u32; 4]) -> Option<&'static str> {
    let letters = [ebx, ecx, edx].map(u32::to_le_bytes);
    SIGNATURES.iter().find(|(known, _)| known.as_slice() == letters.as_flattened()).map(|it| it.1)
}

/// Names that a firmware table gives a virtual machine.
struct Named {
    /// How the vendor's name starts.
    vendor: &'static str,
    /// How the product's name starts.
    product: &'static str,
    /// What people call the hypervisor.
    name: &'static str,
    /// Whether machines without a hypervisor are rented under the same names. On x86, the CPU's flag tells them from
    /// virtual machines: these clouds do not hide it. (systemd, src/basic/virt.c, for Google's c3 metal instances.)
    rents_machines: bool,
}

const fn named(vendor: &'static str, product: &'static str, name: &'static str) -> Named {
    Named { vendor, product, name, rents_machines: false }
}

const fn rented(vendor: &'static str, product: &'static str, name: &'static str) -> Named {
    Named { vendor, product, name, rents_machines: true }
}

static NAMES: &[Named] = &[
    rented("Amazon EC2", "", "KVM (Amazon EC2)"),
    named("QEMU", "", "QEMU/KVM"),
    named("", "KVM", "KVM"),
    named("Red Hat", "RHEV", "KVM"),
    named("Red Hat", "OpenStack", "KVM"),
    named("RDO", "OpenStack", "KVM"),
    named("oVirt", "", "KVM"),
    named("Hetzner", "vServer", "KVM"),
    rented("Tencent Cloud", "", "KVM"),
    rented("Scaleway", "", "KVM"),
    named("OpenStack Foundation", "", "KVM"),
    named("Apache Software Foundation", "CloudStack", "KVM"),
    named("VMware", "VMware", "VMware"),
    named("innotek GmbH", "", "VirtualBox"),
    named("Oracle Corporation", "VirtualBox", "VirtualBox"),
    named("Microsoft Corporation", "Virtual Machine", "Hyper-V"),
    named("Xen", "", "Xen"),
    rented("Google", "Google Compute Engine", "KVM"),
    named("Parallels", "", "Parallels"),
    named("BHYVE", "", "bhyve"),
    // Oxide's Propolis.
    named("OxVM", "", "bhyve"),
    named("Nutanix", "AHV", "KVM"),
    rented("Alibaba Cloud", "Alibaba Cloud ECS", "KVM"),
    named("DigitalOcean", "", "KVM"),
];

fn named_by_dmi(dmi: &Dmi) -> Option<&'static Named> {
    let vendor = dmi.vendor.as_deref().unwrap_or_default();
    let product = dmi.product.as_deref().unwrap_or_default();
    if vendor.is_empty() && product.is_empty() {
        return None;
    }
    // EC2 shows the instance type as product; its `.metal` types are bare metal on every architecture.
    if vendor.starts_with("Amazon EC2") && product.contains("metal") {
        return None;
    }
    NAMES.iter().find(|it| vendor.starts_with(it.vendor) && product.starts_with(it.product))
}

/// The machine, by its firmware's word.
#[derive(Clone, Debug, PartialEq)]
pub struct Dmi {
    /// `sys_vendor`: Dell Inc.
    pub vendor: Fact<String>,
    /// `product_name`: PowerEdge R740.
    pub product: Fact<String>,
    /// `board_name`: 0WXD1Y. Products of one name have boards of several.
    pub board: Fact<String>,
    /// `bios_vendor`.
    pub firmware_vendor: Fact<String>,
    /// `bios_version`.
    pub firmware_version: Fact<String>,
    /// `bios_date`.
    pub firmware_date: Fact<String>,
    /// `chassis_type`, SMBIOS 7.4.1.
    pub chassis: Fact<u64>,
}

impl Dmi {
    /// Whether the chassis runs on a battery: portable, laptop, notebook, sub notebook, tablet,
    /// convertible, detachable.
    pub fn is_portable(&self) -> bool {
        matches!(self.chassis, Ok(8..=10 | 14 | 30..=32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hypervisor_is_named_by_its_signature() {
        let signed = |text: &[u8; 12]| {
            let word = |at: usize| u32::from_le_bytes(text[at..at + 4].try_into().unwrap());
            named_by_signature([0x4000_0010, word(0), word(4), word(8)])
        };
        assert_eq!(signed(b"KVMKVMKVM\0\0\0"), Some("KVM"));
        assert_eq!(signed(b"Microsoft Hv"), None);
        assert_eq!(named_by_signature([0; 4]), None);
    }

    fn judged(vendor: &str, product: &str, cpuinfo: &str) -> Fact<Option<String>> {
        let dmi = Dmi {
            vendor: Ok(vendor.into()),
            product: Ok(product.into()),
            board: Err(Missing::absent("board_name")),
            firmware_vendor: Err(Missing::absent("bios_vendor")),
            firmware_version: Err(Missing::absent("bios_version")),
            firmware_date: Err(Missing::absent("bios_date")),
            chassis: Err(Missing::absent("chassis_type")),
        };
        let absent = || Err(Missing::absent("/a"));
        let info = CpuInfo::parse(cpuinfo).unwrap();
        hypervisor(&Ok(info), &dmi, &absent(), &absent(), None)
    }

    const X86: &str = "processor : 0\nvendor_id : GenuineIntel\nflags : acpi\n";
    const VIRTUAL: &str = "processor : 0\nvendor_id : GenuineIntel\nflags : acpi hypervisor\n";
    const ARM: &str = "processor : 0\nCPU implementer : 0x41\n";

    #[test]
    fn a_rented_machine_without_the_flag_is_bare_metal_whatever_its_firmware_calls_it() {
        for (vendor, product) in [
            ("Google", "Google Compute Engine"),
            ("Alibaba Cloud", "Alibaba Cloud ECS"),
            ("Amazon EC2", "m5.metal"),
        ] {
            assert_eq!(judged(vendor, product, X86), Ok(None), "{vendor}");
        }
        assert_eq!(judged("Google", "Google Compute Engine", VIRTUAL), Ok(Some("KVM".into())));
        // A virtual machine may hide the flag; one of QEMU is one all the same.
        assert_eq!(judged("QEMU", "Standard PC", X86), Ok(Some("QEMU/KVM".into())));
    }

    #[test]
    fn without_a_flag_to_go_by_the_names_decide() {
        assert_eq!(judged("Google", "Google Compute Engine", ARM), Ok(Some("KVM".into())));
        assert_eq!(judged("Alibaba Cloud", "Alibaba Cloud ECS", ARM), Ok(Some("KVM".into())));
        assert_eq!(judged("Amazon EC2", "c6g.metal", ARM), Ok(None));
        assert_eq!(judged("Amazon EC2", "c6g.large", ARM), Ok(Some("KVM (Amazon EC2)".into())));
    }

    #[test]
    fn a_control_domain_is_known_by_its_capability_or_by_its_uuid_of_zeros() {
        let absent = || Err(Missing::absent("/proc/xen/capabilities"));
        let zeros = || Ok("00000000-0000-0000-0000-000000000000".to_owned());
        let other = || Ok("0004fb00-0000-0000-0000-00000000000a".to_owned());
        assert!(is_control_domain(&Ok("control_d\n".into()), &other()));
        assert!(!is_control_domain(&Ok(String::new()), &zeros()));
        assert!(is_control_domain(&absent(), &zeros()));
        assert!(!is_control_domain(&absent(), &other()));
        assert!(!is_control_domain(&absent(), &absent()));
    }
}
