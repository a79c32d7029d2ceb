//! Bare metal or a guest, in a container or not: it decides what can be seen at all.
//!
//! A guest sees emulated registers and a virtual clock: an MSR that reads 0 there says nothing about the
//! processor. Sources: CPUID.01H:ECX[31] (the kernel's `hypervisor` flag), /sys/hypervisor/type,
//! arch/s390/kernel/sysinfo.c, and the DMI names that hypervisors give themselves.

use super::dmi::Dmi;
use crate::cpu::cpuinfo::CpuInfo;
use crate::{Fact, Missing};

/// What is under the kernel, and what is around this process.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// The hypervisor's name where there is one; `None` on bare metal.
    pub hypervisor: Fact<Option<String>>,
    /// The container this process runs in, where that shows.
    pub container: Fact<Option<String>>,
}

impl Platform {
    /// Whether the kernel runs in a virtual machine. Unknown counts as no.
    pub fn is_guest(&self) -> bool {
        matches!(self.hypervisor, Ok(Some(_)))
    }

    /// On a guest, the reason for which `what` cannot be known: the hypervisor shows its own.
    pub fn hides(&self, what: &str) -> Result<(), Missing> {
        match &self.hypervisor {
            Ok(Some(hypervisor)) => Err(Missing::hidden(what, hypervisor)),
            Ok(None) | Err(_) => Ok(()),
        }
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

/// Decides from the CPU's flag, `/sys/hypervisor/type`, the DMI names, s390's /proc/sysinfo and the signature of
/// [`SIGNATURE_LEAF`], where there is one.
pub fn hypervisor(
    cpuinfo: &Fact<CpuInfo>,
    dmi: &Dmi,
    xen_type: &Fact<String>,
    sysinfo: &Fact<String>,
    signature: Option<[u32; 4]>,
) -> Fact<Option<String>> {
    if let Some(name) = named_by_dmi(dmi) {
        return Ok(Some(name.to_owned()));
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
        Ok(info) if info.is_intel() || info.is_amd() => Ok(None),
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

/// DMI vendor and product names of hypervisors; the third column is what people call them.
const NAMES: &[(&str, &str, &str)] = &[
    ("QEMU", "", "QEMU/KVM"),
    ("", "KVM", "KVM"),
    ("Red Hat", "RHEV", "KVM"),
    ("Red Hat", "OpenStack", "KVM"),
    ("OpenStack Foundation", "", "KVM"),
    ("Apache Software Foundation", "CloudStack", "KVM"),
    ("VMware", "VMware", "VMware"),
    ("innotek GmbH", "", "VirtualBox"),
    ("Oracle Corporation", "VirtualBox", "VirtualBox"),
    ("Microsoft Corporation", "Virtual Machine", "Hyper-V"),
    ("Xen", "", "Xen"),
    ("Google", "Google Compute Engine", "KVM"),
    ("Parallels", "", "Parallels"),
    ("BHYVE", "", "bhyve"),
    ("Nutanix", "AHV", "KVM"),
    ("Alibaba Cloud", "", "KVM"),
    ("DigitalOcean", "", "KVM"),
];

fn named_by_dmi(dmi: &Dmi) -> Option<&'static str> {
    let vendor = dmi.vendor.as_deref().unwrap_or_default();
    let product = dmi.product.as_deref().unwrap_or_default();
    if vendor.is_empty() && product.is_empty() {
        return None;
    }
    // EC2 shows the instance type as product; its `.metal` types are bare metal.
    if vendor.starts_with("Amazon EC2") {
        return (!product.contains("metal")).then_some("KVM (Amazon EC2)");
    }
    let known = |(v, p, _): &&(&str, &str, &str)| vendor.starts_with(v) && product.starts_with(p);
    NAMES.iter().find(known).map(|(_, _, name)| *name)
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
}
