//! Strict parsing of the values that settings take: a text that is nearly a value is refused.

use crate::setting::{Refusal, Scene, Setting, Wanted};
use facts::{CpuSet, Hertz, Subject, Subjects};
use std::ops::RangeInclusive;

/// The value that stands for the CPUs which are not isolated.
pub(super) const HOUSEKEEPING: &str = "housekeeping";

/// What is looked at for a list of CPUs.
pub(super) const CPUS_LOOK_AT: Subjects = Subjects::of(&[Subject::Cpus, Subject::Isolation]);

/// `on` or `off`, or the kernel's 1 or 0.
pub(super) fn switch(setting: &Setting, wanted: &Wanted<'_>) -> Result<bool, Refusal> {
    match wanted.value {
        "on" | "1" => Ok(true),
        "off" | "0" => Ok(false),
        _ => Err(wanted.not_taken(setting)),
    }
}

/// A whole number within what the kernel accepts.
pub(super) fn number(
    setting: &Setting,
    wanted: &Wanted<'_>,
    accepted: RangeInclusive<u64>,
) -> Result<u64, Refusal> {
    let number = whole(wanted.value).filter(|it| accepted.contains(it));
    number.ok_or_else(|| wanted.not_taken(setting))
}

/// Digits and nothing else, no `+`, no space.
pub(super) fn whole(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// A clock: `2.4GHz`, `2400MHz`, `2400000kHz`, or `2400000`, which is kHz as in the kernel's files.
pub(super) fn clock(text: &str) -> Option<Hertz> {
    /// How many digits behind the point make no Hz any more.
    const UNITS: [(&str, usize); 3] = [("GHz", 9), ("MHz", 6), ("kHz", 3)];
    let unit = UNITS.iter().find_map(|(unit, digits)| Some((text.strip_suffix(unit)?, *digits)));
    let (number, digits) = unit.unwrap_or((text, 3));
    let (before, behind) = number.split_once('.').unwrap_or((number, "0"));
    let is_short = before.len() <= 9 && behind.len() <= digits;
    let padded = format!("{behind:0<digits$}");
    let hertz = whole(before)?.checked_mul(10u64.pow(u32::try_from(digits).ok()?))?;
    let hertz = hertz.checked_add(whole(&padded)?)?;
    is_short.then_some(Hertz(hertz))
}

/// A list of online CPUs, or `housekeeping`: those that are online and not isolated.
pub(super) fn cpus(setting: &Setting, scene: &Scene<'_>, text: &str) -> Result<CpuSet, Refusal> {
    let online = scene.host.topology.online.as_ref()?;
    if text == HOUSEKEEPING {
        return housekeeping(scene);
    }
    let cpus = CpuSet::parse_list(text).ok().filter(|it| !it.is_empty() && text != "(null)");
    let cpus = cpus.ok_or_else(|| {
        Refusal::Value(format!("{} takes {}, not {text:?}", setting.id, setting.takes))
    })?;
    let offline = cpus.minus(online);
    if offline.is_empty() {
        Ok(cpus)
    } else {
        Err(Refusal::Value(format!(
            "{} {} not online; those that are: {online}",
            offline.named(),
            offline.agree("is", "are")
        )))
    }
}

/// The CPUs that take the work which isolated ones are spared.
pub(super) fn housekeeping(scene: &Scene<'_>) -> Result<CpuSet, Refusal> {
    let online = scene.host.topology.online.as_ref()?;
    let isolated = scene.host.isolation.kept_free().map_err(|missing| {
        if missing.is_absence() {
            Refusal::Host(format!("{missing}, so that there is nothing to move work away from"))
        } else {
            Refusal::Unknown(missing)
        }
    })?;
    let cpus = online.minus(&isolated);
    if cpus.is_empty() {
        return Err(Refusal::Host(format!("every online CPU ({online}) is isolated")));
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_read_in_every_unit_and_to_the_hertz() {
        for text in ["2.4GHz", "2400MHz", "2400.000MHz", "2400000kHz", "2400000"] {
            assert_eq!(clock(text), Some(Hertz(2_400_000_000)), "{text}");
        }
    }

    #[test]
    fn what_is_nearly_a_clock_is_none() {
        for text in ["", "GHz", ".5GHz", "2.GHz ", "-1", "+1", "1e9", "2,4GHz", "2.4ghz", "2.4 GHz"]
        {
            assert_eq!(clock(text), None, "{text}");
        }
        assert_eq!(clock("99999999999999999999GHz"), None);
        assert_eq!(clock("1.0000000001GHz"), None);
    }

    #[test]
    fn a_number_is_digits_only() {
        assert_eq!(whole("12"), Some(12));
        assert_eq!([whole(""), whole("+1"), whole(" 1"), whole("0x1")], [None; 4]);
    }
}
