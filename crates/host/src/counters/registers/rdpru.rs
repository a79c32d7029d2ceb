//! AMD's instruction that reads APERF and MPERF of the CPU it runs on, in user mode.
//!
//! Source: AMD APM vol. 3, RDPRU. Hypervisors intercept it, which ends the program with SIGILL
//! (arch/x86/kvm/svm/svm.c, Xen's x86_emulate.c): it is used on bare metal only.
#![expect(unsafe_code, reason = "instructions that no safe function wraps")]

use crate::Source;
use facts::HostView;
use std::arch::asm;

/// The registers that ECX names.
const MPERF: u32 = 0;
const APERF: u32 = 1;

/// Whether the processor has the instruction and nothing is known to intercept it.
pub(super) fn is_here(source: &dyn Source, host: &HostView) -> bool {
    let is_amd = host.cpuinfo.as_ref().is_ok_and(facts::cpu::cpuinfo::CpuInfo::is_amd);
    // CPUID 8000_0008: EBX[4] is the instruction, EDX[31:16] the highest register that it reads.
    let leaf = source.cpuid(0x8000_0008, 0);
    let has_it = leaf.is_ok_and(|[_, ebx, _, edx]| ebx >> 4 & 1 == 1 && edx >> 16 >= APERF);
    is_amd && has_it && host.platform.is_bare_metal()
}

/// APERF of this CPU; only where [`is_here`].
pub(super) fn aperf() -> u64 {
    read(APERF)
}

/// MPERF of this CPU; only where [`is_here`].
pub(super) fn mperf() -> u64 {
    read(MPERF)
}

/// The time stamp counter of this CPU.
pub(super) fn tsc() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user mode have it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

fn read(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: RDPRU writes EAX, EDX and flags, and touches no memory. Where the processor lacks it, the program
    // ends with SIGILL, which is safe; callers make sure that it does not come to that.
    unsafe {
        asm!(".byte 0x0f, 0x01, 0xfd", in("ecx") register, out("eax") low, out("edx") high,
             options(nomem, nostack));
    }
    u64::from(high) << 32 | u64::from(low)
}
