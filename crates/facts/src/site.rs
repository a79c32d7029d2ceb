//! From which amount on a host has a fault, where that is for its site to say, and the advisories that a site adds.
//!
//! A guest that was bought with a share of a CPU has stolen time; a build server has quotas. What is worth a finding there is no
//! fact of any kernel, so that a site may say it. Everything else that a check compares with is measured or documented, and fixed.

/// An amount that a site may raise. A check with one finds nothing below it.
#[derive(Debug, PartialEq)]
pub struct Threshold {
    /// The id of the check.
    pub check: &'static str,
    /// What is compared with it.
    pub what: &'static str,
    /// Its unit, in words.
    pub unit: &'static str,
    /// What holds where the site says nothing.
    pub default: f64,
    /// The least, which is the default, and the most that a site may say.
    pub range: (f64, f64),
}

/// Time that a hypervisor gave to others.
pub const STOLEN_TIME: Threshold = Threshold {
    check: "stolen-time",
    what: "stolen time since boot",
    unit: "percent of the time that the CPUs had work for",
    default: 1.0,
    range: (1.0, 50.0),
};

/// Periods in which a quota stopped a group.
pub const THROTTLED_PERIODS: Threshold = Threshold {
    check: "cgroup-quota-throttling",
    what: "periods in which a CPU quota stopped a control group of programs that are no known database",
    unit: "percent of its periods",
    default: 1.0,
    range: (1.0, 50.0),
};

/// Time of a thread of the kernel.
pub const KERNEL_THREAD: Threshold = Threshold {
    check: "busy-kernel-threads",
    what: "the time of one kernel thread since it started",
    unit: "percent of a CPU",
    default: 5.0,
    range: (5.0, 100.0),
};

/// Interrupts of devices on isolated CPUs.
pub const ISOLATED_INTERRUPTS: Threshold = Threshold {
    check: "irqs-on-isolated",
    what: "interrupts of devices on isolated CPUs since boot",
    unit: "a second, of all isolated CPUs together",
    default: 1.0,
    range: (1.0, 1000.0),
};

/// Every threshold that a site may set.
pub const THRESHOLDS: &[&Threshold] =
    &[&STOLEN_TIME, &THROTTLED_PERIODS, &KERNEL_THREAD, &ISOLATED_INTERRUPTS];

/// An advisory of a site, as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvisoryFile {
    /// What errors call it: its path.
    pub name: String,
    /// Its name without `.toml`, which is the advisory's id.
    pub stem: String,
    /// What it says.
    pub text: String,
}

/// The thresholds of a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds(Vec<(&'static Threshold, f64)>);

impl Thresholds {
    /// What holds here.
    pub fn of(&self, threshold: &Threshold) -> f64 {
        let set = self.0.iter().find(|(it, _)| it.check == threshold.check);
        set.map_or(threshold.default, |(_, value)| *value)
    }

    /// The same as a share of 1, of a threshold in percent.
    pub fn share_of(&self, threshold: &Threshold) -> f64 {
        self.of(threshold) / 100.0
    }

    /// Those that the site has set.
    pub fn set(&self) -> &[(&'static Threshold, f64)] {
        &self.0
    }

    /// Sets one.
    ///
    /// Errors: no number of its range.
    pub fn insert(&mut self, threshold: &'static Threshold, value: f64) -> Result<(), String> {
        let (least, most) = threshold.range;
        if !(least..=most).contains(&value) {
            return Err(format!(
                "{} = {value}: expected {least} to {most} ({})",
                threshold.check, threshold.unit
            ));
        }
        self.0.retain(|(it, _)| it.check != threshold.check);
        self.0.push((threshold, value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_site_says_holds_within_its_range_and_else_the_default() {
        let mut site = Thresholds::default();
        assert_eq!(site.of(&STOLEN_TIME), 1.0);
        site.insert(&STOLEN_TIME, 3.0).unwrap();
        site.insert(&STOLEN_TIME, 2.0).unwrap();
        assert_eq!((site.share_of(&STOLEN_TIME), site.set().len()), (0.02, 1));
        for value in [0.99, 50.1, f64::NAN, f64::INFINITY] {
            assert!(site.insert(&STOLEN_TIME, value).is_err(), "{value}");
        }
        assert_eq!(site.of(&STOLEN_TIME), 2.0);
    }

    #[test]
    fn every_default_is_the_least_of_its_range_and_no_check_has_two() {
        for (index, it) in THRESHOLDS.iter().enumerate() {
            assert!(it.range.0 == it.default && it.default < it.range.1, "{}", it.check);
            assert!(THRESHOLDS[..index].iter().all(|other| other.check != it.check));
        }
    }
}
