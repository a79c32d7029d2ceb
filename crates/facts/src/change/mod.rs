//! A change of a host before anything is written: where, from which value, to which value.
//!
//! A setting plans writes, a journal records them, and one module of `host` carries them out.

mod controls;
mod target;

pub use controls::{Control, Controls, WRITABLE, is_writable, matched};
pub use target::{REGISTERS, Target, WritableRegister};

use crate::CpuSet;
use crate::parse::trimmed;
use serde::{Deserialize, Serialize};

/// One planned change of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// The target.
    pub target: Target,
    /// Its value when the plan was made; `None` where a file does not exist yet.
    pub from: Option<String>,
    /// The new value; `None` where a file is to be removed, and for [`Aim::Forgotten`].
    pub to: Option<String>,
    /// What is expected of it.
    pub aim: Aim,
}

/// The expected result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// The target reads back what was written; anything else fails the whole plan.
    Sticks,
    /// The kernel may refuse the write, for reasons that it does not show before (managed interrupts, bound threads).
    /// A refusal is reported, and the plan continues.
    IfTaken,
    /// A later write of the group makes the kernel forget the value (a governor's tunables). Nothing is written here;
    /// reverting the group, in reverse order, restores the value.
    Forgotten,
}

/// The writes of one setting. They are journaled together, made in order, and reverted in reverse order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The ID of the setting.
    pub setting: String,
    /// The requested value, in the user's notation: `performance`, `off@4-7`.
    pub value: String,
    /// Whether the first write is a canary: it must stick, and its CPU must respond, before any other write.
    pub canary: bool,
    /// The writes, in order.
    pub writes: Vec<Write>,
}

impl Write {
    /// A write that must stick.
    pub fn of(target: Target, from: impl Into<String>, to: impl Into<String>) -> Write {
        Write { target, from: Some(from.into()), to: Some(to.into()), aim: Aim::Sticks }
    }

    /// The same write, where the kernel may refuse it.
    #[must_use]
    pub fn if_taken(mut self) -> Write {
        self.aim = Aim::IfTaken;
        self
    }

    /// A value that a later write of the group makes the kernel forget: it is restored when the group is reverted.
    pub fn forgotten(target: Target, from: impl Into<String>) -> Write {
        Write { target, from: Some(from.into()), to: None, aim: Aim::Forgotten }
    }

    /// Whether the target already has the new value.
    pub fn is_idle(&self) -> bool {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => is_same(from, to),
            (from, to) => from == to,
        }
    }
}

/// Whether two texts are the same value. The kernel seldom prints a setting as it was written: white space, the case
/// of hexadecimal digits, and leading zeros of numbers and of groups of a mask may differ. Both texts must use one
/// notation; `0-3` is not `f`.
pub fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (trimmed(one), trimmed(other));
    one == other || digits(one).is_some_and(|it| digits(other) == Some(it))
}

/// A number or mask in normal form; `None` where the text is neither.
fn digits(text: &str) -> Option<String> {
    let hexadecimal = text.strip_prefix("0x").unwrap_or(text);
    let mut groups = hexadecimal.split(',');
    let is_group = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_hexdigit());
    let first = groups.next().filter(|it| is_group(it))?;
    let mut digits = first.to_ascii_lowercase();
    for group in groups {
        // Lists of CPUs have commas, too; only a mask has eight digits after each (lib/bitmap.c).
        if group.len() != 8 || !is_group(group) {
            return None;
        }
        digits.push_str(&group.to_ascii_lowercase());
    }
    let significant = digits.trim_start_matches('0');
    Some(if significant.is_empty() { "0".to_owned() } else { significant.to_owned() })
}

/// Splits a value at its `@`: `off@4-7` is `off` on CPUs 4 to 7. Fails where the text after the `@` is not a list of
/// CPUs, or is empty.
pub fn cpus_of(text: &str) -> Result<(&str, Option<CpuSet>), String> {
    let Some((value, list)) = text.rsplit_once('@') else { return Ok((text, None)) };
    let cpus = CpuSet::parse_list(list).map_err(|error| format!("{list:?}: {error}"))?;
    if cpus.is_empty() {
        return Err(format!("{text:?} names no CPU behind the @"));
    }
    Ok((value, Some(cpus)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_however_the_kernel_prints_it() {
        assert!(is_same("performance", "performance\n"));
        assert!(is_same("f", "00000000,0000000f"));
        assert!(is_same("0x14", "0X14".to_lowercase().as_str()));
        assert!(is_same("0", "00000000"));
    }

    #[test]
    fn values_that_differ_are_never_taken_for_the_same() {
        assert!(!is_same("performance", "powersave"));
        assert!(!is_same("0-3", "f"));
        assert!(!is_same("1,2", "12"));
        assert!(!is_same("10", "1"));
        assert!(!is_same("", "0"));
    }

    #[test]
    fn a_value_may_be_for_some_cpus() {
        assert_eq!(cpus_of("off"), Ok(("off", None)));
        let some = CpuSet::parse_list("4-7").ok();
        assert_eq!(cpus_of("off@4-7"), Ok(("off", some)));
        assert!(cpus_of("off@").is_err() && cpus_of("off@x").is_err());
    }
}
