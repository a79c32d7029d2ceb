//! Whether a copy of a host lacks something because the host does, or because nobody collected it.
//!
//! Three things prove that the host lacks it: an object of the kernel, copied whole, without that file; an empty folder;
//! a collector that takes such paths. A listing does in a capture of our own, where the kernel wrote it. Nothing does where a part
//! of the copy was lost.

use facts::Missing;
use facts::collectors::{self, Known};

/// What a copy has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Nothing,
    Folder {
        is_empty: bool,
    },
    /// A file, or what cannot be followed, like a link that leads nowhere.
    Other,
}

/// A copy of a host, as far as this has to know it.
pub(super) trait Kept {
    /// What is at an absolute path, where links lead.
    fn at(&self, path: &str) -> At;

    /// Who made the copy.
    fn collector(&self) -> Option<Known>;

    /// Whether a part of the copy was lost: what is not there may have been in it.
    fn is_incomplete(&self) -> bool {
        false
    }

    /// Whether the folder at `path` was listed, and its listing has no `name`.
    fn is_listed_without(&self, _path: &str, _name: &str) -> bool {
        false
    }
}

/// Why nothing is at `path` of a copy.
pub(super) fn missing(path: &str, copy: &dyn Kept) -> Missing {
    if is_absent(path.trim_end_matches('/'), copy) {
        Missing::absent(path)
    } else {
        Missing::not_collected(path)
    }
}

fn is_absent(path: &str, copy: &dyn Kept) -> bool {
    let leads_elsewhere = path.split('/').any(|it| matches!(it, "." | ".."));
    if copy.is_incomplete() || leads_elsewhere || copy.at(path) != At::Nothing {
        return false;
    }
    let Some((folder, name, is_empty)) = nearest_folder(path, copy) else { return false };
    let first_missing = format!("{folder}/{name}");
    let known = copy.collector();
    if known.is_some_and(|it| it.collector.asks) {
        return copy.is_listed_without(folder, name);
    }
    if [path, &first_missing].into_iter().any(collectors::is_of_every_kernel) {
        return false;
    }
    let holds = |path: &str| copy.at(path) != At::Nothing;
    (is_empty && !collectors::is_never_empty(folder))
        || collectors::lacks(folder, name, |it| holds(&format!("{folder}/{it}")))
        || known.is_some_and(|it| it.takes(path, holds))
}

/// The last folder on the way to `path` that the copy has, the name in it that it lacks, and whether it is empty.
fn nearest_folder<'a>(path: &'a str, copy: &dyn Kept) -> Option<(&'a str, &'a str, bool)> {
    let mut rest = path;
    loop {
        let (folder, name) = rest.rsplit_once('/').filter(|(folder, _)| !folder.is_empty())?;
        match copy.at(folder) {
            At::Folder { is_empty } => return Some((folder, name, is_empty)),
            At::Other => return None,
            At::Nothing => rest = folder,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A copy that holds files at these paths, and empty folders at those that end with a slash.
    struct Paths(BTreeSet<&'static str>);

    impl Kept for Paths {
        fn at(&self, path: &str) -> At {
            let below = format!("{path}/");
            let is_below = |it: &&&str| it.starts_with(&below) && **it != below;
            match self.0.iter().find(is_below) {
                Some(_) => At::Folder { is_empty: false },
                None if self.0.contains(&*below) => At::Folder { is_empty: true },
                None if self.0.contains(path) => At::Other,
                None => At::Nothing,
            }
        }

        fn collector(&self) -> Option<Known> {
            Known::of_copy(|it| self.at(it) != At::Nothing, |_| Some("sosreport: 3.9".to_owned()))
        }
    }

    fn is_absent(path: &str, copy: &[&'static str]) -> bool {
        let why = missing(path, &Paths(copy.iter().copied().collect()));
        assert!(why.what == path && (why.is_absence() || why == Missing::not_collected(path)));
        why.is_absence()
    }

    const CPUS: &str = "/sys/devices/system/cpu";

    #[test]
    fn files_beside_it_prove_nothing_unless_they_are_of_the_same_object() {
        let three = [
            "/sys/devices/system/cpu/online",
            "/sys/devices/system/cpu/possible",
            "/sys/devices/system/cpu/present",
        ];
        for name in ["nohz_full", "cpuidle", "cpuidle/current_driver", "cpu0/cpufreq"] {
            assert!(!is_absent(&format!("{CPUS}/{name}"), &three), "{name}");
        }
        let root = [
            "/sys/devices/system/cpu/kernel_max",
            "/sys/devices/system/cpu/offline",
            "/sys/devices/system/cpu/uevent",
        ];
        let whole = [&three[..], &root].concat();
        assert!(is_absent(&format!("{CPUS}/nohz_full"), &whole));
        assert!(!is_absent(&format!("{CPUS}/cpuidle"), &whole));
    }

    #[test]
    fn an_empty_folder_proves_what_is_not_in_it() {
        let empty = ["/sys/devices/system/cpu/cpufreq/", "/sys/devices/system/cpu/cpu0/"];
        assert!(is_absent(&format!("{CPUS}/cpufreq/policy0"), &empty));
        assert!(is_absent(&format!("{CPUS}/cpufreq/policy0/scaling_driver"), &empty));
        // No CPU has an empty folder.
        assert!(!is_absent(&format!("{CPUS}/cpu0/cpufreq"), &empty));
        assert!(!is_absent("/sys/class/net", &["/sys/class/"]));
    }

    #[test]
    fn a_collector_proves_what_it_would_have_taken() {
        let copy = ["/sos_commands/x", "/sys/devices/system/cpu/cpu0/uevent"];
        assert!(is_absent(&format!("{CPUS}/cpuidle/current_driver"), &copy));
        assert!(is_absent(&format!("{CPUS}/cpu0/cpufreq/"), &copy));
        // sos takes the folders of some CPUs only, and no power limit.
        assert!(!is_absent(&format!("{CPUS}/cpu70/cpufreq"), &copy));
        assert!(!is_absent("/sys/class/powercap", &copy));
        assert!(!is_absent(&format!("{CPUS}/online"), &copy));
    }

    #[test]
    fn what_is_there_in_another_shape_is_not_absent() {
        let file = ["/sys/devices/system/cpu/cpufreq"];
        assert!(!is_absent(&format!("{CPUS}/cpufreq"), &file));
        assert!(!is_absent(&format!("{CPUS}/cpufreq/policy0"), &file));
        assert!(!is_absent("/sys/devices/../x", &["/sys/devices/"]));
    }
}
