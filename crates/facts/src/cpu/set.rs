//! Sets of CPUs, and the two ways the kernel writes them.
//!
//! Lists are documented in Documentation/admin-guide/cputopology.rst and, for boot parameters,
//! Documentation/admin-guide/kernel-parameters.rst ("cpu lists"); masks in Documentation/core-api/irq/irq-affinity.rst.

use crate::parse::{Expected, trimmed};
use std::fmt;

/// A set of CPU numbers; prints as the kernel does: `0-3,8`.
///
/// Kept as ranges, first and last, in order, with gaps between them: most sets of a large machine are a few
/// ranges of many CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(Vec<(u32, u32)>);

/// No kernel is built for more CPUs than this (the largest NR_CPUS is 8192; s390 and x86), and a text
/// that names more must not make us work for them.
pub(crate) const MOST_CPUS: u32 = 1 << 14;

/// Ranges that the groups of one list may make: the kernel's own lists make some hundreds.
const MOST_RANGES: usize = 4 * MOST_CPUS as usize;

/// The length of a list of every other of that many CPUs, and room to spare.
const LONGEST_TEXT: usize = 1 << 18;

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
        let text = trimmed(text);
        if text.is_empty() || text == "(null)" {
            return Ok(CpuSet::default());
        }
        if text.len() > LONGEST_TEXT {
            return Err(LIST);
        }
        let mut ranges = Vec::new();
        let mut n_grouped = 0;
        // The kernel skips empty parts: `2,3,` is `2,3` (lib/bitmap-str.c, bitmap_find_region).
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (range, every) = part.split_once(':').unwrap_or((part, "1/1"));
            let (first, last) = range_of(range, last_possible)?;
            let (used, group) = every.split_once('/').ok_or(LIST)?;
            let used: u32 = used.parse().map_err(|_| LIST)?;
            let group: u32 = group.parse().ok().filter(|&group| group > 0).ok_or(LIST)?;
            match used {
                0 => {}
                _ if used >= group => ranges.push((first, last)),
                _ => {
                    let starts = (first..=last).step_by(group as usize);
                    n_grouped += ((last - first) / group + 1) as usize;
                    if n_grouped > MOST_RANGES {
                        return Err(LIST);
                    }
                    ranges.extend(starts.map(|start| (start, last.min(start + used - 1))));
                }
            }
        }
        Ok(CpuSet::of_ranges(ranges))
    }

    /// Parses a hexadecimal mask of 32-bit groups: `ff,ffffffff`.
    pub fn parse_mask(text: &str) -> Result<CpuSet, Expected> {
        let mut cpus = CpuSet::default();
        for (group, digits) in (0u32..).zip(trimmed(text).rsplit(',')) {
            let bits = u32::from_str_radix(digits, 16).map_err(|_| MASK)?;
            if group >= MOST_CPUS / 32 || digits.len() > 8 {
                return Err(MASK);
            }
            cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| group * 32 + bit));
        }
        Ok(cpus)
    }

    /// Sorts ranges and joins those that overlap or touch.
    fn of_ranges(mut ranges: Vec<(u32, u32)>) -> CpuSet {
        ranges.sort_unstable();
        ranges.dedup_by(|next, range| {
            let joins = next.0 <= range.1.saturating_add(1);
            if joins {
                range.1 = range.1.max(next.1);
            }
            joins
        });
        CpuSet(ranges)
    }

    /// The ranges from the one that ends at `cpu` or later.
    fn ranges_from(&self, cpu: u32) -> impl Iterator<Item = (u32, u32)> {
        let start = self.0.partition_point(|&(_, last)| last < cpu);
        self.0.iter().skip(start).copied()
    }

    /// The CPU numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }

    /// How many CPUs there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|&(first, last)| (last - first) as usize + 1).sum()
    }

    /// What to call them in a sentence: `CPU 3`, `CPUs 0-3,8`.
    pub fn named(&self) -> String {
        format!("{} {self}", self.agree("CPU", "CPUs"))
    }

    /// The form of a word that agrees with their number: `one` of one CPU, `many` of none or several.
    pub fn agree<'a>(&self, one: &'a str, many: &'a str) -> &'a str {
        if self.len() == 1 { one } else { many }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `cpu` is one of them.
    pub fn contains(&self, cpu: u32) -> bool {
        self.ranges_from(cpu).next().is_some_and(|(first, _)| first <= cpu)
    }

    /// Adds a CPU, unless it is in the set.
    pub fn insert(&mut self, cpu: u32) {
        let at = self.0.partition_point(|&(_, last)| last < cpu);
        if self.0.get(at).is_some_and(|&(first, _)| first <= cpu) {
            return;
        }
        let joins_next = self.0.get(at).is_some_and(|&(first, _)| first - 1 == cpu);
        match self.0[..at].last_mut() {
            Some((_, last)) if *last + 1 == cpu => {
                *last = cpu;
                if joins_next {
                    self.0[at - 1].1 = self.0.remove(at).1;
                }
            }
            _ if joins_next => self.0[at].0 = cpu,
            _ => self.0.insert(at, (cpu, cpu)),
        }
    }

    /// The lowest CPU; `None` of an empty set.
    pub fn first(&self) -> Option<u32> {
        self.0.first().map(|&(first, _)| first)
    }

    /// The highest CPU; `None` of an empty set.
    pub fn last(&self) -> Option<u32> {
        self.0.last().map(|&(_, last)| last)
    }

    /// Those that are not in `other`.
    #[must_use]
    pub fn minus(&self, other: &CpuSet) -> CpuSet {
        let mut left = Vec::new();
        for &(first, last) in &self.0 {
            let mut start = Some(first);
            for (from, to) in other.ranges_from(first).take_while(|&(from, _)| from <= last) {
                left.extend(start.filter(|&start| start < from).map(|start| (start, from - 1)));
                start = to.checked_add(1);
            }
            left.extend(start.filter(|&start| start <= last).map(|start| (start, last)));
        }
        CpuSet(left)
    }

    /// Those that are in `other` too.
    #[must_use]
    pub fn and(&self, other: &CpuSet) -> CpuSet {
        let common = |&(first, last): &(u32, u32)| {
            let others = other.ranges_from(first).take_while(move |&(from, _)| from <= last);
            others.map(move |(from, to)| (first.max(from), last.min(to)))
        };
        CpuSet(self.0.iter().flat_map(common).collect())
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
        let mut set = CpuSet::default();
        set.extend(cpus);
        set
    }
}

impl Extend<u32> for CpuSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, cpus: I) {
        cpus.into_iter().for_each(|cpu| self.insert(cpu));
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (first, last)) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { "," };
            match last - first {
                0 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
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
    fn a_list_of_groups_without_end_is_refused_and_not_worked_off() {
        let boot_line = "0-16383:1/2,".repeat(20_000);
        assert_eq!(list(&boot_line), LIST.to_string());
        assert_eq!(list("0-7:1/4,8-11"), "0,4,8-11");
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

    #[test]
    fn a_set_does_not_depend_on_the_order_in_which_it_grew() {
        let set: CpuSet = [7, 3, 5, 4, u32::MAX, 0, 4].into_iter().collect();
        assert_eq!(set.to_string(), "0,3-5,7,4294967295");
        assert_eq!(list("3-5,1-3,0,4-8"), "0-8");
    }

    #[test]
    fn sets_are_cut_where_ranges_overlap() {
        let set = |text| CpuSet::parse_list(text).unwrap();
        assert_eq!(set("0-9,12").minus(&set("2-3,5,8-12")).to_string(), "0-1,4,6-7");
        assert_eq!(set("0-9,12").and(&set("2-3,5,8-12")).to_string(), "2-3,5,8-9,12");
        let top: CpuSet = [u32::MAX].into_iter().collect();
        assert!(top.minus(&top).is_empty() && top.contains(u32::MAX));
    }
}
