//! Many values as one: those of a package, or of the machine.

use super::{Kind, Series, Values};
use facts::{CpuSet, Fact, Missing};

/// What the values of several CPUs come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Of the values that are known.
    pub value: f64,
    /// How many those are.
    pub known: usize,
    /// How many more there should have been.
    pub missing: usize,
}

impl Series {
    /// The values of the rows in `cpus` as one; of a core or a package, where the CPU is that was asked for it.
    ///
    /// Missing where none of them is known, with the reason that weighs most, and where the value is one of
    /// the whole host.
    pub fn over(&self, cpus: &CpuSet, kind: Kind) -> Fact<Summary> {
        let rows = match &self.values {
            Values::Cpus(rows) | Values::Cores(rows) | Values::Packages(rows) => rows,
            Values::Host(_) => {
                return Err(Missing::not_here("value of some CPUs", "the whole host has one"));
            }
        };
        let (mut known, mut asked, mut sum, mut peak) = (0, 0, 0.0, f64::NEG_INFINITY);
        let mut reason: Option<&Missing> = None;
        for fact in cpus.iter().filter_map(|cpu| rows.get(cpu)) {
            asked += 1;
            match fact {
                Ok(value) => {
                    known += 1;
                    sum += value;
                    peak = peak.max(*value);
                }
                // "We do not know" outweighs "there is none", as in `PerCpu::missing`.
                Err(why) if reason.is_none_or(|it| it.is_absence() && !why.is_absence()) => {
                    reason = Some(why);
                }
                Err(_) => {}
            }
        }
        if known == 0 {
            return Err(reason
                .cloned()
                .unwrap_or_else(|| Missing::absent(format!("a value of CPUs {cpus}"))));
        }
        let value = match kind {
            Kind::Sum => sum,
            Kind::Mean => sum / known as f64,
            Kind::Peak => peak,
        };
        Ok(Summary { value, known, missing: asked - known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::PerCpu;

    fn over(cpus: &str, kind: Kind) -> String {
        let rows: PerCpu<f64> = [
            (0, Ok(10.0)),
            (1, Ok(30.0)),
            (2, Err(Missing::not_here("clock", "was not busy"))),
            (3, Err(Missing::denied("/dev/cpu/3/msr"))),
        ]
        .into_iter()
        .collect();
        let series = Series::part("", Values::Cpus(rows));
        match series.over(&CpuSet::parse_list(cpus).unwrap(), kind) {
            Ok(Summary { value, known, missing }) => {
                format!("{value} of {known}, {missing} missing")
            }
            Err(missing) => missing.to_string(),
        }
    }

    #[test]
    fn values_go_together_as_their_kind_says() {
        assert_eq!(over("0-1", Kind::Sum), "40 of 2, 0 missing");
        assert_eq!(over("0-1", Kind::Mean), "20 of 2, 0 missing");
        assert_eq!(over("0-1", Kind::Peak), "30 of 2, 0 missing");
    }

    #[test]
    fn what_is_missing_is_counted_and_not_taken_for_zero() {
        assert_eq!(over("0-9", Kind::Mean), "20 of 2, 2 missing");
    }

    #[test]
    fn with_nothing_known_the_weightiest_reason_remains() {
        assert_eq!(over("2", Kind::Sum), "no clock here: was not busy");
        assert_eq!(over("2-3", Kind::Sum), "/dev/cpu/3/msr may not be read");
        assert_eq!(over("7", Kind::Sum), "a value of CPUs 7 does not exist");
    }

    #[test]
    fn a_value_of_the_host_is_not_that_of_some_cpus() {
        let series = Series::part("", Values::Host(Ok(1.0)));
        let all = CpuSet::parse_list("0-3").unwrap();
        assert!(series.over(&all, Kind::Sum).unwrap_err().is_absence());
    }
}
