//! What the baselines of earlier boots say of the speed of this one: the file that `fullclock baseline` keeps beside its history.
//!
//! The history may be of years, and is judged where it is kept; this file has the verdict. It says nothing of a boot other than the
//! one that it names.

use crate::Fact;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where root keeps results, where its configuration says nothing else.
pub const RESULTS: &str = "/var/lib/fullclock";

/// The file in the folder of results.
pub const STANDING: &str = "baseline/standing.json";

/// The version of the file that this program writes; another one is not read.
pub const VERSION: u32 = 1;

/// What stands for a day or a time that is unknown.
pub const UNKNOWN: &str = "unknown";

/// The verdict of the last baseline, and the boot that it is looked at in.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// What the file holds.
    pub standing: Standing,
    /// The id of this boot, as in /proc/sys/kernel/random/boot_id.
    pub boot: Fact<String>,
}

impl Baseline {
    /// The verdict, where it is of the boot that it is looked at in.
    pub fn of_this_boot(&self) -> Option<&Standing> {
        let is_this = self.boot.as_ref().is_ok_and(|it| *it == self.standing.boot);
        is_this.then_some(&self.standing)
    }
}

/// How fast a machine is compared with its earlier boots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// [`VERSION`].
    pub version: u32,
    /// The boot of the last baseline that has a speed.
    pub boot: String,
    /// When that was taken, UTC (RFC 3339).
    pub at: String,
    /// How many boots have a speed.
    pub n_boots: usize,
    /// How fast it is, 1 being as fast as before.
    pub ratios: Vec<PartRatio>,
    /// What made it slower, and was not made up for since; the latest first.
    pub slower: Vec<Slower>,
}

/// The speed of one part in the last baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRatio {
    /// Which.
    pub part: Part,
    /// Over what was typical before the change that made it slower; else in the other boots since the last change.
    pub ratio: f64,
}

/// A change after which a machine was slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slower {
    /// The day of the first baseline after it.
    pub since: String,
    /// The number of that baseline.
    pub number: u64,
    /// Of how many boots before it the speed is known.
    pub n_before: usize,
    /// Of how many after it.
    pub n_after: usize,
    /// What changed, the most telling first; empty where nothing did that is recorded.
    pub changed: Vec<Changed>,
    /// What is slower.
    pub parts: Vec<PartChange>,
}

/// A setting of a machine with another value than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// As results of `fullclock bench` name it.
    pub name: String,
    /// The value before; `None` where it is not recorded.
    pub before: Option<String>,
    /// The value after.
    pub after: Option<String>,
}

/// By how much one part differs from before, as shares: -0.19 is 19 % less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartChange {
    /// Which.
    pub part: Part,
    /// In the part's own unit.
    pub change: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// With which chance the interval holds the truth.
    pub confidence: f64,
    /// With how many decimals percent are known.
    pub decimals: usize,
}

/// What a baseline measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Million simple operations a second of one core alone (workload `cpu-speed`).
    SingleCore,
    /// Million iterations a second of all cores at once (`all-cores`).
    AllCores,
    /// How late a sleeping thread wakes up, in microseconds (`wakeup`).
    WakeUp,
    /// How long an access to memory takes, in nanoseconds (`memory`).
    Memory,
}

impl Part {
    /// All of them, in the order in which they are measured and shown.
    pub const ALL: [Part; 4] = [Part::SingleCore, Part::AllCores, Part::WakeUp, Part::Memory];

    /// The name in output that programs read.
    pub fn name(self) -> &'static str {
        match self {
            Part::SingleCore => "single-core",
            Part::AllCores => "all-cores",
            Part::WakeUp => "wake-up",
            Part::Memory => "memory",
        }
    }

    /// What is measured, in words.
    pub fn quantity(self) -> &'static str {
        match self {
            Part::SingleCore => "single-core speed",
            Part::AllCores => "all-core speed",
            Part::WakeUp => "wake-up latency",
            Part::Memory => "memory latency",
        }
    }

    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Part::SingleCore | Part::AllCores => "M/s",
            Part::WakeUp => "us",
            Part::Memory => "ns",
        }
    }

    /// Whether more is faster.
    pub fn is_rate(self) -> bool {
        matches!(self, Part::SingleCore | Part::AllCores)
    }

    /// How many times as fast it is where its value is `times` as high.
    pub fn speed(self, times: f64) -> f64 {
        if self.is_rate() { times } else { 1.0 / times }
    }
}

impl PartChange {
    /// Whether it is slower than before.
    pub fn is_slower(&self) -> bool {
        self.speed() < 1.0
    }

    /// Its speed over that before.
    pub fn speed(&self) -> f64 {
        self.part.speed(1.0 + self.change)
    }
}

/// `single-core speed 19 % lower (18 to 20 %)`.
impl fmt::Display for PartChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PartChange { part, change, low, high, decimals, .. } = *self;
        let way = match (part.is_rate(), change < 0.0) {
            (true, true) => "lower",
            (true, false) => "higher",
            (false, true) => "shorter",
            (false, false) => "longer",
        };
        let [near, far] = if change < 0.0 { [high, low] } else { [low, high] };
        let [by, near, far] =
            [change, near, far].map(|it| format!("{:.decimals$}", 100.0 * it.abs()));
        write!(f, "{} {by} % {way} ({near} to {far} %)", part.quantity())
    }
}

/// What settings are called in sentences, the most telling first.
const SPOKEN: [(&str, &str); 9] = [
    ("firmware version", "BIOS"),
    ("management controller firmware", "BMC firmware"),
    ("cpu microcode", "microcode"),
    ("kernel release", "kernel"),
    ("kernel boot line", "boot line"),
    ("cpu model", "CPU model"),
    ("cpus online", "CPUs online"),
    ("hypervisor", "hypervisor"),
    ("scaling_governor", "governor"),
];

/// How telling a setting is; less is more.
pub fn rank(setting: &str) -> usize {
    SPOKEN.iter().position(|it| it.0 == setting).unwrap_or(SPOKEN.len())
}

/// Longer values do not fit a sentence.
const LONGEST: usize = 40;

/// `BIOS 2.1 -> 2.3`; of the boot line what is new and what is gone; of long values that they changed.
impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spoken = SPOKEN.iter().find(|it| it.0 == self.name).map_or(&*self.name, |it| it.1);
        let [before, after] =
            [&self.before, &self.after].map(|it| it.as_deref().unwrap_or("unknown"));
        if self.name == "kernel boot line" {
            let moved = moved(before, after);
            if !moved.is_empty() && moved.chars().count() <= 2 * LONGEST {
                return write!(f, "{spoken} {moved}");
            }
        }
        match [before, after].iter().all(|it| it.chars().count() <= LONGEST) {
            true => write!(f, "{spoken} {before} -> {after}"),
            false => write!(f, "{spoken} changed"),
        }
    }
}

/// `with mitigations=off, without quiet`.
fn moved(before: &str, after: &str) -> String {
    let only = |these: &str, those: &str| -> Vec<String> {
        let those: Vec<&str> = those.split(' ').collect();
        these.split(' ').filter(|it| !those.contains(it)).map(str::to_owned).collect()
    };
    let parts = [("with", only(after, before)), ("without", only(before, after))];
    let parts = parts.into_iter().filter(|it| !it.1.is_empty());
    parts.map(|(word, list)| format!("{word} {}", list.join(" "))).collect::<Vec<_>>().join(", ")
}

/// `BIOS 2.1 -> 2.3, kernel 6.1.0 -> 6.1.4 and 3 more settings`; `nothing that is recorded` where there are none.
pub fn listed(changed: &[Changed]) -> String {
    const SHOWN: usize = 3;
    let mut sorted: Vec<&Changed> = changed.iter().collect();
    // The date of a firmware says nothing beside its version.
    if changed.iter().any(|it| it.name == "firmware version") {
        sorted.retain(|it| it.name != "firmware date");
    }
    sorted.sort_by_key(|it| (rank(&it.name), it.name.clone()));
    let shown: Vec<String> = sorted.iter().take(SHOWN).map(ToString::to_string).collect();
    match sorted.len().saturating_sub(SHOWN) {
        _ if shown.is_empty() => "nothing that is recorded".to_owned(),
        0 => shown.join(", "),
        1 => format!("{} and 1 more setting", shown.join(", ")),
        n => format!("{} and {n} more settings", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(name: &str, before: &str, after: &str) -> Changed {
        let own = |it: &str| Some(it.to_owned());
        Changed { name: name.to_owned(), before: own(before), after: own(after) }
    }

    #[test]
    fn firmware_comes_first_and_the_rest_is_counted() {
        let all = [
            changed("turbo", "0", "1"),
            changed("firmware date", "01/02/2025", "03/04/2026"),
            changed("kernel release", "6.1.0", "6.1.4"),
            changed("vm.stat_interval", "1", "10"),
            changed("firmware version", "2.1", "2.3"),
        ];
        assert_eq!(
            listed(&all),
            "BIOS 2.1 -> 2.3, kernel 6.1.0 -> 6.1.4, turbo 0 -> 1 and 1 more setting"
        );
        assert_eq!(listed(&all[1..2]), "firmware date 01/02/2025 -> 03/04/2026");
        assert_eq!(listed(&[]), "nothing that is recorded");
    }

    #[test]
    fn a_boot_line_says_what_came_and_went_and_long_values_that_they_changed() {
        let line = changed("kernel boot line", "quiet isolcpus=1", "quiet mitigations=off");
        assert_eq!(line.to_string(), "boot line with mitigations=off, without isolcpus=1");
        let long = changed("vulnerability: mds", &"x".repeat(41), "Mitigation");
        assert_eq!(long.to_string(), "vulnerability: mds changed");
        let gone = Changed { after: None, ..changed("turbo", "1", "") };
        assert_eq!(gone.to_string(), "turbo 1 -> unknown");
    }

    #[test]
    fn a_change_is_worded_in_the_direction_of_its_part() {
        let of = |part, change, low, high| {
            let it = PartChange { part, change, low, high, confidence: 0.9975, decimals: 0 };
            format!("{it}: {}", if it.is_slower() { "slower" } else { "faster" })
        };
        assert_eq!(
            of(Part::SingleCore, -0.19, -0.2, -0.18),
            "single-core speed 19 % lower (18 to 20 %): slower"
        );
        assert_eq!(
            of(Part::Memory, 0.12, 0.1, 0.14),
            "memory latency 12 % longer (10 to 14 %): slower"
        );
        assert_eq!(
            of(Part::WakeUp, -0.5, -0.6, -0.4),
            "wake-up latency 50 % shorter (40 to 60 %): faster"
        );
    }
}
