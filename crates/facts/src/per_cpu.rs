//! One answer per CPU, each with its own reason when there is none.

use crate::{CpuSet, Fact, Missing};

/// A fact of every CPU that was asked, by CPU number.
///
/// Partial answers keep the reason per CPU: an offline or denied CPU does not hide its neighbours, and
/// its neighbours do not vouch for it. Kept in one piece, ascending by CPU: a metric makes one for each sample.
#[derive(Clone, Debug, PartialEq)]
pub struct PerCpu<T>(Vec<(u32, Fact<T>)>);

impl<T> Default for PerCpu<T> {
    fn default() -> Self {
        PerCpu(Vec::new())
    }
}

/// Of a CPU that answers twice, the last answer counts.
impl<T> FromIterator<(u32, Fact<T>)> for PerCpu<T> {
    fn from_iter<I: IntoIterator<Item = (u32, Fact<T>)>>(answers: I) -> Self {
        let mut answers: Vec<(u32, Fact<T>)> = answers.into_iter().collect();
        if !answers.is_sorted_by(|(a, _), (b, _)| a < b) {
            let order = order(answers.iter().map(|(cpu, _)| *cpu).collect());
            let mut places: Vec<Option<(u32, Fact<T>)>> = answers.into_iter().map(Some).collect();
            let taken = order.into_iter().filter_map(|at| places.get_mut(at)?.take());
            answers = taken.collect();
        }
        PerCpu(answers)
    }
}

/// Where the last answer of each CPU is, ascending by CPU. Apart from the answers: the program has one sort for all kinds of them.
fn order(cpus: Vec<u32>) -> Vec<usize> {
    let mut order: Vec<(u32, usize)> =
        cpus.into_iter().enumerate().map(|(at, cpu)| (cpu, at)).collect();
    // The last of each CPU first, which is then the one that is kept.
    order.sort_unstable_by_key(|(cpu, at)| (*cpu, std::cmp::Reverse(*at)));
    order.dedup_by_key(|(cpu, _)| *cpu);
    order.into_iter().map(|(_, at)| at).collect()
}

impl<T> PerCpu<T> {
    /// The answer of one CPU; `None` where it was not asked.
    pub fn get(&self, cpu: u32) -> Option<&Fact<T>> {
        let found = self.0.binary_search_by_key(&cpu, |(cpu, _)| *cpu);
        found.ok().and_then(|at| self.0.get(at)).map(|(_, fact)| fact)
    }

    /// Every CPU that was asked, with its answer, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Fact<T>)> {
        self.0.iter().map(|(cpu, fact)| (*cpu, fact))
    }

    /// The CPUs that answered, with their values, in order.
    pub fn known(&self) -> impl Iterator<Item = (u32, &T)> {
        self.iter().filter_map(|(cpu, fact)| Some((cpu, fact.as_ref().ok()?)))
    }

    /// The CPUs whose value is one that `wanted` accepts.
    pub fn cpus_where(&self, wanted: impl Fn(&T) -> bool) -> CpuSet {
        self.known().filter(|(_, value)| wanted(value)).map(|(cpu, _)| cpu).collect()
    }

    /// The number of CPUs that were asked.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no CPU was asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first reason for which a CPU's value is not known: one that says "we do not know" before one
    /// that says "the CPU has none", because the first makes a verdict unknown and the second does not.
    pub fn missing(&self) -> Option<&Missing> {
        let mut reasons = self.0.iter().filter_map(|(_, fact)| fact.as_ref().err());
        let first = reasons.next()?;
        if !first.is_absence() {
            return Some(first);
        }
        reasons.find(|missing| !missing.is_absence()).or(Some(first))
    }

    /// `Err` with the reason when any CPU's value is not known, so that a check that found nothing on the
    /// CPUs it could see says *unknown* and not *clean*.
    pub fn all_known(&self) -> Result<(), &Missing> {
        self.missing().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_denied_cpu_outweighs_the_absent_ones() {
        let facts: PerCpu<u8> =
            [(0, Err(Missing::absent("/cpu0"))), (1, Ok(1)), (2, Err(Missing::denied("/cpu2")))]
                .into_iter()
                .collect();
        assert_eq!(facts.missing(), Some(&Missing::denied("/cpu2")));
        assert_eq!(facts.all_known(), Err(&Missing::denied("/cpu2")));
        assert_eq!(facts.cpus_where(|_| true).to_string(), "1");
    }

    #[test]
    fn the_last_answer_of_a_cpu_counts_whatever_the_order() {
        let facts: PerCpu<u8> =
            [(2, Ok(1)), (0, Ok(2)), (2, Ok(3)), (0, Ok(4))].into_iter().collect();
        assert_eq!(facts.known().collect::<Vec<_>>(), [(0, &4), (2, &3)]);
        assert_eq!((facts.get(2), facts.get(1)), (Some(&Ok(3)), None));
    }
}
