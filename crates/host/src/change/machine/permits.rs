//! What may be written at all, whatever a plan, a profile or a journal says.

use super::{NO_REQUEST, file, register, service};
use crate::change::Trouble;
use facts::CpuSet;
use facts::change::{Aim, REGISTERS, Target, Write, is_writable};

/// No value of a control is longer: a page of sysfs (Documentation/filesystems/sysfs.rst).
const LONGEST_CONTROL: usize = 4096;
/// Configuration files that people read are shorter.
const LONGEST_FILE: usize = 1 << 20;

pub(super) fn write(write: &Write) -> Result<(), Trouble> {
    target(&write.target)?;
    let is_file = matches!(write.target, Target::File { .. });
    if write.from.is_none() && !is_file {
        return Err(Trouble::new(&write.target, "its plan does not say what it held: plan again"));
    }
    if write.aim == Aim::Forgotten {
        return recorded(&write.target, write.from.as_deref());
    }
    recorded(&write.target, write.from.as_deref())?;
    value(&write.target, write.to.as_deref())
}

/// What a place held before, and is given back. A list that was never given is empty (kernel/params.c, `param_array_get`).
pub(super) fn recorded(target: &Target, held: Option<&str>) -> Result<(), Trouble> {
    match (target, held) {
        (Target::Control { .. }, Some("")) => Ok(()),
        _ => value(target, held),
    }
}

pub(super) fn target(target: &Target) -> Result<(), Trouble> {
    let refused = |why: &str| Err(Trouble::new(target, why));
    match target {
        Target::Control { path } if !is_writable(path) => {
            refused("is none of the files that may be written")
        }
        Target::Register { address, mask, .. } => {
            let known = REGISTERS.iter().find(|it| it.address == *address);
            match known {
                None => refused("is none of the registers that may be written"),
                Some(known) if mask & !known.mask != 0 || *mask == 0 => {
                    refused("only some of its bits may be written, and others are requested")
                }
                Some(_) => Ok(()),
            }
        }
        Target::Affinity { tid, .. } if *tid == 0 || i32::try_from(*tid).is_err() => {
            refused("is no task")
        }
        Target::Service { name } if !service::is_name(name) => refused("is no name of a service"),
        Target::File { path } => file::permits(path),
        Target::Firmware(place) => place.refusal().map_or(Ok(()), refused),
        Target::Control { .. }
        | Target::Affinity { .. }
        | Target::Service { .. }
        | Target::LatencyRequest => Ok(()),
    }
}

pub(super) fn value(target: &Target, value: Option<&str>) -> Result<(), Trouble> {
    let Some(value) = value else {
        return match target {
            Target::File { .. } => Ok(()),
            _ => Err(Trouble::new(target, "only a file can be gone")),
        };
    };
    let is_fit = match target {
        Target::Control { .. } => {
            !value.trim().is_empty()
                && value.len() <= LONGEST_CONTROL
                && !value.trim_end().chars().any(char::is_control)
        }
        Target::Register { .. } => register::parse(value).is_some(),
        Target::Affinity { .. } => CpuSet::parse_list(value).is_ok_and(|it| !it.is_empty()),
        Target::Service { .. } => value == service::RUNNING || value == service::STOPPED,
        Target::File { .. } => value.len() <= LONGEST_FILE && !value.contains('\0'),
        Target::LatencyRequest => {
            value == NO_REQUEST || value.parse::<i32>().is_ok_and(|it| it >= 0)
        }
        Target::Firmware(place) => place.values(value).is_some(),
    };
    if is_fit {
        Ok(())
    } else {
        Err(Trouble::new(target, format!("takes no value like {value:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_permitted(target: Target, from: &str, to: &str) -> bool {
        write(&Write::of(target, from, to)).is_ok()
    }

    #[test]
    fn only_what_is_listed_is_written() {
        let governor = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
        assert!(is_permitted(Target::control(governor), "powersave", "performance"));
        assert!(!is_permitted(Target::control("/proc/sys/kernel/core_pattern"), "core", "|/x"));
        assert!(!is_permitted(Target::control(governor), "powersave", "a\nb"));
        assert!(!is_permitted(Target::control(governor), "powersave", " "));
        assert!(is_permitted(Target::file("/etc/sysctl.d/90-fullclock.conf"), "a", "b"));
        assert!(!is_permitted(Target::file("/etc/passwd"), "a", "b"));
        let service = |name: &str| Target::Service { name: name.to_owned() };
        assert!(is_permitted(service("tuned.service"), "running", "stopped"));
        assert!(!is_permitted(service("--root=/x"), "running", "stopped"));
        assert!(!is_permitted(service("tuned.service"), "running", "masked"));
    }

    #[test]
    fn a_list_that_was_never_given_may_be_given_and_taken_away_again_and_no_other_is_emptied() {
        let list = "/sys/module/ipmi_si/parameters/kipmid_max_busy_us";
        assert!(is_permitted(Target::control(list), "", "0"));
        assert!(!is_permitted(Target::control(list), "0", ""));
    }

    #[test]
    fn only_listed_bits_of_listed_registers_are_written() {
        let register = |address, mask| Target::Register { cpu: 0, address, mask };
        assert!(is_permitted(register(0x19a, 0x1f), "0x14", "0x0"));
        assert!(!is_permitted(register(0x19a, 0x3f), "0x14", "0x0"));
        assert!(!is_permitted(register(0x19a, 0), "0x14", "0x0"));
        assert!(!is_permitted(register(0x1a0, 0x1), "0x1", "0x0"));
        assert!(!is_permitted(register(0x19a, 0x1f), "0x14", "zero"));
    }

    #[test]
    fn of_the_firmware_only_listed_settings_are_written_and_only_with_all_their_values() {
        let place = |settings: &str, names: &[&str]| {
            Target::Firmware(Box::new(facts::change::FirmwarePlace {
                controller: "https://bmc7".to_owned(),
                bios: "/redfish/v1/Systems/1/Bios".to_owned(),
                settings: settings.to_owned(),
                names: names.iter().map(|it| (*it).to_owned()).collect(),
            }))
        };
        let settings = "/redfish/v1/Systems/1/Bios/Settings";
        let (off, on) = (r#"{"ProcTurbo": "Disabled"}"#, r#"{"ProcTurbo": "Enabled"}"#);
        assert!(is_permitted(place(settings, &["ProcTurbo"]), off, on));
        assert!(!is_permitted(place("/login", &["ProcTurbo"]), off, on));
        assert!(!is_permitted(place(settings, &["ProcTurbo", "SysProfile"]), off, on));
        let password = r#"{"AdminPassword": "x"}"#;
        assert!(!is_permitted(place(settings, &["AdminPassword"]), password, password));
        assert!(!is_permitted(place(settings, &["ProcTurbo"]), off, "{}"));
    }

    #[test]
    fn what_held_nobody_knows_what_is_not_written() {
        let governor = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
        let mut blind = Write::of(Target::control(governor), "powersave", "performance");
        blind.from = None;
        assert!(write(&blind).is_err());
        let mut gone = Write::of(Target::file("/etc/fullclock/a.toml"), "a", "b");
        gone.from = None;
        assert!(write(&gone).is_ok());
    }
}
