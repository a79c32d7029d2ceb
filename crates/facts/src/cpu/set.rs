//! Sets of CPUs, and the two ways the kernel writes them.
//!
//! Lists are documented in Documentation/admin-guide/cputopology.rst and, for boot parameters,
//! Documentation/admin-guide/kernel-parameters.rst ("cpu lists"); masks in Documentation/core-api/irq/irq-affinity.rst.

use crate::parse::{Expected, trimmed};
use std::collections::BTreeSet;
use std::fmt;

/// A set of CPU numbers; prints as the kernel does: `0-3,8`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(BTreeSet<u32>);

/// No kernel is built for more CPUs than this (the largest NR_CPUS is 8192; s390 and x86), and a text
/// that names more must not make us allocate for them.
const MOST_CPUS: u32 = 1 << 16;

const LIST: Expected = Expected("a list of CPUs like 0-3,8");
const MASK: Expected = Expected("a mask of CPUs like ff,ffffffff");

impl CpuSet {
    /// Parses `0-3,8`; nothing, or the kernel's `(null)`, is the empty set.
    ///
    /// Kernels before 2024 print an unset list as `(null)` (drivers/base/cpu.c, `print_cpus_nohz_full`).
    pub fn parse_list(text: &str) -> Result<CpuSet, Expected> {
        CpuSet::parse_boot_list(text, 0)
    }

    /// Parses a list as the boot line may hold it: `N` stands for the last possible CPU, `all` for every
    /// one, and `0-31:2/4` for the first two of every four.
    pub fn parse_boot_list(text: &str, last_possible: u32) -> Result<CpuSet, Expected> {
        let mut cpus = BTreeSet::new();
        let text = trimmed(text);
        if text.is_empty() || text == "(null)" {
            return Ok(CpuSet(cpus));
        }
        // The kernel skips empty parts: `2,3,` is `2,3` (lib/bitmap-str.c, bitmap_find_region).
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (range, every) = part.split_once(':').unwrap_or((part, "1/1"));
            let (first, last) = range_of(range, last_possible)?;
            let (used, group) = every.split_once('/').ok_or(LIST)?;
            let used: u32 = used.parse().map_err(|_| LIST)?;
            let group: u32 = group.parse().ok().filter(|&group| group > 0).ok_or(LIST)?;
            cpus.extend((first..=last).filter(|cpu| (cpu - first) % group < used));
        }
        Ok(CpuSet(cpus))
    }

    /// Parses a hexadecimal mask of 32-bit groups: `ff,ffffffff`.
    pub fn parse_mask(text: &str) -> Result<CpuSet, Expected> {
        let mut cpus = BTreeSet::new();
        for (group, digits) in (0u32..).zip(trimmed(text).rsplit(',')) {
            let bits = u32::from_str_radix(digits, 16).map_err(|_| MASK)?;
            if group >= MOST_CPUS / 32 || digits.len() > 8 {
                return Err(MASK);
            }
            cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| group * 32 + bit));
        }
        Ok(CpuSet(cpus))
    }

    /// The CPU numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// How many CPUs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `cpu` is one of them.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// Adds one.
    pub fn insert(&mut self, cpu: u32) {
        self.0.insert(cpu);
    }

    /// The lowest.
    pub fn first(&self) -> Option<u32> {
        self.0.first().copied()
    }

    /// The highest.
    pub fn last(&self) -> Option<u32> {
        self.0.last().copied()
    }

    /// Those that are not in `other`.
    #[must_use]
    pub fn minus(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 - &other.0)
    }

    /// Those that are in `other` too.
    #[must_use]
    pub fn and(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 & &other.0)
    }
}

fn range_of(range: &str, last_possible: u32) -> Result<(u32, u32), Expected> {
    let cpu = |text: &str| match text {
        "N" => Ok(last_possible),
        _ => text.parse::<u32>().ok().filter(|&cpu| cpu < MOST_CPUS).ok_or(LIST),
    };
    match range.split_once('-') {
        _ if range == "all" => Ok((0, last_possible)),
        None => cpu(range).map(|only| (only, only)),
        Some((first, last)) => {
            let (first, last) = (cpu(first)?, cpu(last)?);
            if first <= last { Ok((first, last)) } else { Err(LIST) }
        }
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        CpuSet(cpus.into_iter().collect())
    }
}

impl Extend<u32> for CpuSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, cpus: I) {
        self.0.extend(cpus);
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if(|&next| next == last + 1) {
                last = next;
            }
            match last - first {
                0 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> String {
        CpuSet::parse_list(text).map_or_else(|it| it.to_string(), |it| it.to_string())
    }

    #[test]
    fn a_list_prints_as_the_kernel_writes_it() {
        assert_eq!(list("0-3,8,10-11\n"), "0-3,8,10-11");
    }

    #[test]
    fn an_unset_list_is_empty_however_the_kernel_spells_it() {
        assert_eq!((list(""), list("\0\n"), list(" (null)\n")), Default::default());
    }

    #[test]
    fn a_backward_or_endless_range_is_refused() {
        assert_eq!(list("3-1"), LIST.to_string());
        assert_eq!(list("0-4294967295"), LIST.to_string());
    }

    #[test]
    fn boot_lists_know_groups_and_the_last_cpu() {
        let cpus = |text| CpuSet::parse_boot_list(text, 7).map(|it| it.to_string());
        assert_eq!(cpus("0-7:2/4"), Ok("0-1,4-5".into()));
        assert_eq!(cpus("6-N"), Ok("6-7".into()));
        assert_eq!(cpus("all"), Ok("0-7".into()));
    }

    #[test]
    fn masks_count_from_the_right() {
        assert_eq!(
            CpuSet::parse_mask("1,80000001\n").map(|it| it.to_string()),
            Ok("0,31-32".into())
        );
    }
}
