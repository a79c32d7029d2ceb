//! When two texts are the same value: the kernel seldom prints a setting as it was written.

use crate::CpuSet;
use crate::parse::trimmed;

/// Whether a place that was given one of the texts and shows the other holds what it was given: the same but for white
/// space, letters of hexadecimal digits, leading zeros of numbers and of the groups of a mask.
///
/// Both have to be of one notation; `0-3` is not `f`.
pub fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (trimmed(one), trimmed(other));
    one == other || digits(one).is_some_and(|it| digits(other) == Some(it))
}

/// A number or mask without what does not matter in it; `None` where the text is neither.
fn digits(text: &str) -> Option<String> {
    let hexadecimal = text.strip_prefix("0x").unwrap_or(text);
    let mut groups = hexadecimal.split(',');
    let is_group = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_hexdigit());
    let first = groups.next().filter(|it| is_group(it))?;
    let mut digits = first.to_ascii_lowercase();
    for group in groups {
        // Lists of CPUs have commas, too; only masks have eight digits after each (lib/bitmap.c).
        if group.len() != 8 || !is_group(group) {
            return None;
        }
        digits.push_str(&group.to_ascii_lowercase());
    }
    let significant = digits.trim_start_matches('0');
    Some(if significant.is_empty() { "0".to_owned() } else { significant.to_owned() })
}

/// What a user puts before and behind the `@` of a value: `off@4-7` is `off` on the CPUs 4 to 7.
///
/// Errors: what follows the `@` is no list of CPUs, or an empty one.
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
