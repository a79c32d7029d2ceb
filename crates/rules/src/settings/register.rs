//! What the settings that write a register share: whether it may be written, and what that leaves behind.
//!
//! Source: arch/x86/kernel/msr.c. A locked-down kernel lets registers be read and refuses every write; a write that
//! it lets through taints it, whatever comes of it.

use crate::setting::{Refusal, Scene};
use facts::change::{Target, Write};
use facts::msr::Register;
use facts::{PerCpu, Subject, Subjects};

/// Tells whether the kernel is locked down: `none [integrity] confidentiality`.
pub(super) const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

/// Tells whether the msr module writes at all.
pub(super) const ALLOW_WRITES: &str = "/sys/module/msr/parameters/allow_writes";

/// What is looked at to tell what a register holds.
pub(super) const LOOKS_AT: Subjects = Subjects::of(&[Subject::Msrs]);

/// What every write of a register brings along.
pub(super) const TAINT: &str =
    "writing a register taints the kernel (S in /proc/sys/kernel/tainted) until the next boot";

/// The values of a register on every CPU that was asked; one that did not answer may hold anything.
///
/// Refuses where the processor has no such register, and where the kernel writes none.
pub(super) fn values<'a>(
    scene: &Scene<'a>,
    register: &Register,
) -> Result<&'a PerCpu<u64>, Refusal> {
    let values = scene.host.msrs.of(register).map_err(|missing| {
        if missing.is_absence() {
            Refusal::Host(missing.to_string())
        } else {
            Refusal::Unknown(missing.clone())
        }
    })?;
    values.all_known()?;
    if let Ok(state) = scene.controls.get(LOCKDOWN)
        && !state.contains("[none]")
    {
        let text =
            format!("the kernel is locked down ({LOCKDOWN}: {state}) and writes no register");
        return Err(Refusal::Host(text));
    }
    if scene.controls.get(ALLOW_WRITES) == Ok("off") {
        return Err(Refusal::Host(format!("{ALLOW_WRITES} is off: the kernel writes no register")));
    }
    Ok(values)
}

/// The write of some bits of a register of one CPU; none where they are as they should be.
pub(super) fn write(
    cpu: u32,
    register: &Register,
    mask: u64,
    from: u64,
    bits: u64,
) -> Option<Write> {
    let to = from & !mask | bits & mask;
    let target = Target::Register { cpu, address: register.address, mask };
    (from != to).then(|| Write::of(target, format!("{from:#x}"), format!("{to:#x}")))
}
