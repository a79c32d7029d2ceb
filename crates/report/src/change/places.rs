//! Many places as few lines: files that differ in one number, and hold and get the same, are shown as one.

use facts::CpuSet;
use facts::change::{Target, WRITABLE, matched};

/// Places of one kind, with what they have in common.
pub(crate) struct Places<T> {
    /// `/sys/devices/system/cpu/cpufreq/policy{0-15}/scaling_governor`.
    name: Name,
    pub n: usize,
    /// What all of them have.
    pub common: T,
}

struct Name {
    before: String,
    after: String,
    numbers: Option<CpuSet>,
}

impl<T> Places<T> {
    /// The name of all of them: numbers in braces where there are several.
    pub(crate) fn name(&self) -> String {
        let Name { before, after, numbers } = &self.name;
        match numbers {
            None => before.clone(),
            Some(numbers) if numbers.len() == 1 => format!("{before}{numbers}{after}"),
            Some(numbers) => format!("{before}{{{numbers}}}{after}"),
        }
    }

    /// Their name, `words` about them, and how many they are.
    pub(super) fn line(&self, words: &str) -> String {
        match self.n {
            0 | 1 => format!("{}: {words}", self.name()),
            n => format!("{}: {words} ({n} places)", self.name()),
        }
    }
}

/// Joins places whose names differ in one number and that have the same in common, in order of their first.
pub(crate) fn join<'a, T: PartialEq>(
    places: impl IntoIterator<Item = (&'a Target, T)>,
) -> Vec<Places<T>> {
    let mut joined: Vec<Places<T>> = Vec::new();
    for (target, common) in places {
        let (name, number) = name_of(target);
        let same = joined.iter_mut().find(|it| {
            it.common == common
                && it.name.numbers.is_some()
                && number.is_some()
                && (&it.name.before, &it.name.after) == (&name.before, &name.after)
        });
        match (same, number) {
            (Some(places), Some(number)) => {
                places.n += 1;
                if let Some(numbers) = &mut places.name.numbers {
                    numbers.extend([number]);
                }
            }
            _ => joined.push(Places { name, n: 1, common }),
        }
    }
    joined
}

/// What stands around the first number of a place's name, and the number.
fn name_of(target: &Target) -> (Name, Option<u32>) {
    let whole = || Name { before: target.to_string(), after: String::new(), numbers: None };
    let numbered = |before: String, number: u32, after: String| {
        (Name { before, after, numbers: Some([number].into_iter().collect()) }, Some(number))
    };
    match target {
        Target::Register { cpu, address, .. } => {
            numbered("/dev/cpu/".to_owned(), *cpu, format!("/msr {address:#x}"))
        }
        Target::Control { path } => {
            let star = WRITABLE.iter().find_map(|pattern| {
                let star = matched(pattern, path)?.first()?.parse().ok()?;
                Some((pattern.split('*').next()?, star))
            });
            match star {
                Some((before, number)) => {
                    let rest = path.trim_start_matches(before);
                    let after = rest.trim_start_matches(|it: char| it.is_ascii_digit());
                    numbered(before.to_owned(), number, after.to_owned())
                }
                None => (whole(), None),
            }
        }
        Target::Affinity { .. }
        | Target::Service { .. }
        | Target::File { .. }
        | Target::LatencyRequest
        | Target::Firmware(_) => (whole(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(paths: &[(&str, &str)]) -> Vec<String> {
        let targets: Vec<(Target, &str)> =
            paths.iter().map(|(path, value)| (Target::control(*path), *value)).collect();
        let places = join(targets.iter().map(|(target, value)| (target, *value)));
        places.iter().map(|it| format!("{} {} {}", it.name(), it.common, it.n)).collect()
    }

    #[test]
    fn files_that_differ_in_a_number_are_one_line_for_each_value() {
        let governor = |policy: u32| {
            format!("/sys/devices/system/cpu/cpufreq/policy{policy}/scaling_governor")
        };
        let (zero, one, two) = (governor(0), governor(1), governor(2));
        assert_eq!(
            joined(&[(&zero, "a"), (&one, "b"), (&two, "a")]),
            [
                "/sys/devices/system/cpu/cpufreq/policy{0,2}/scaling_governor a 2",
                "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor b 1",
            ]
        );
    }

    #[test]
    fn idle_states_of_different_depth_stay_apart() {
        let state = |cpu: u32, state: u32| {
            format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/disable")
        };
        let paths = [state(0, 1), state(0, 2), state(1, 1), state(1, 2)];
        let places: Vec<(&str, &str)> = paths.iter().map(|it| (it.as_str(), "1")).collect();
        assert_eq!(
            joined(&places),
            [
                "/sys/devices/system/cpu/cpu{0-1}/cpuidle/state1/disable 1 2",
                "/sys/devices/system/cpu/cpu{0-1}/cpuidle/state2/disable 1 2",
            ]
        );
    }

    #[test]
    fn a_file_without_a_number_stands_alone() {
        assert_eq!(
            joined(&[("/proc/sys/vm/stat_interval", "1")]),
            ["/proc/sys/vm/stat_interval 1 1"]
        );
    }
}
