//! What the settings of MSR_POWER_CTL share: one bit of it on every core.
//!
//! Source: Intel SDM vol. 4, MSR_POWER_CTL (0x1FC). Some firmware locks it, which shows only when a write fails.

use super::{asked, register};
use crate::setting::{Change, Planned, Refusal, Scene, Setting, Wanted};
use facts::msr::intel::POWER_CTL;
use facts::{Subject, Subjects};

/// What is looked at for one bit of it.
pub(super) const LOOKS_AT: Subjects = register::LOOKS_AT.and(Subjects::of(&[Subject::Groups]));

/// The change of one bit on every core that is meant, with the user's consent to what `harm` says; a core is meant with any
/// of its threads.
pub(super) fn switch(
    setting: &Setting,
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
    bit: u32,
    harm: &str,
) -> Planned {
    let on = asked::switch(setting, wanted)?;
    if !wanted.i_know {
        return Err(Refusal::NeedsConsent(harm.to_owned()));
    }
    let values = register::values(scene, &POWER_CTL)?;
    let mask = 1u64 << bit;
    let bits = if on { mask } else { 0 };
    let is_meant = |cpu: u32| scene.host.topology.core_of(cpu).iter().any(|it| wanted.covers(it));
    let meant = values.known().filter(|(cpu, _)| is_meant(*cpu));
    let writes: Vec<_> = meant
        .filter_map(|(cpu, &value)| register::write(cpu, &POWER_CTL, mask, value, bits))
        .collect();
    Ok(Change { canary: writes.len() > 1, ..Change::of(writes) }.note(register::TAINT))
}
