//! `energy-performance-preference`: what a processor that chooses its clock by itself leans to.
//!
//! Sources: Documentation/admin-guide/pm/{intel_pstate,amd-pstate}.rst; drivers/cpufreq/intel_pstate.c
//! (`store_energy_performance_preference`), drivers/cpufreq/amd-pstate.c. In active mode the governor `performance`
//! fixes it at `performance`, and the kernel answers any other value with EBUSY.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::scaling::{self, PolicyFile};
use crate::settings::{asked, lost};

const PREFERENCE: &str = "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference";
const AVAILABLE: &str =
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_available_preferences";
const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";

pub(super) const SETTING: Setting = Setting {
    id: "energy-performance-preference",
    title: "what the processor leans to when it chooses its clock",
    doc: "\
## What it changes
`energy_performance_preference` (EPP) of every cpufreq policy: a word that energy_performance_available_preferences
lists, or, with HWP and where the file shows a number, one from 0 (performance) to 255 (power): which numbers are read
back as words differs by model. It decides how fast the clock follows the load, and
how much of turbo a lightly loaded core is given.

## What it costs
`performance` keeps clocks up between bursts of work.

## When to leave it alone
Under the governor `performance`, where it is `performance` by itself and takes no other value.
",
    references: &[
        Reference {
            title: "Linux: intel_pstate, Energy vs Performance Hints",
            url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#energy-vs-performance-hints",
        },
        Reference {
            title: "Linux: amd-pstate CPU Performance Scaling Driver",
            url: "https://docs.kernel.org/admin-guide/pm/amd-pstate.html",
        },
    ],
    takes: "a word that energy_performance_available_preferences lists, or 0 to 255 with HWP where it shows a number",
    scope: Scope::Policy,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "leaning to performance draws some watts more a socket under light load",
    after: &["tuner", "cpu-online", "intel-pstate-status", "amd-pstate-status", "governor"],
    fixes: &["power-saving-bias", "mixed-frequency-settings"],
    reads: &[PREFERENCE, AVAILABLE, GOVERNOR, lost::BIAS],
    looks_at: scaling::LOOKS_AT.and(lost::BIAS_LOOKS_AT),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let (mut lost, mut writes) = (Vec::new(), Vec::new());
    for policy in scaling::policies(scene, wanted, PREFERENCE)? {
        let value = value(scene, wanted, &policy)?;
        let Some(write) = policy.write(value) else { continue };
        let drives_itself = match scaling::of_host(scene, policy.folder()) {
            Some(it) => it.drives_itself()?,
            None => true,
        };
        let governor = scene.controls.get(&policy.beside("scaling_governor"))?;
        if drives_itself && governor == "performance" && value != "performance" {
            return Err(Refusal::Host(format!(
                "{} has governor performance, which allows no preference but performance: change the governor, too",
                policy.folder()
            )));
        }
        if let Some(policy) = scaling::of_host(scene, policy.folder()) {
            lost.extend(lost::bias(scene, &policy.cpus));
        }
        writes.push(write);
    }
    Ok(Change::of(lost.into_iter().chain(writes)))
}

/// The value as the file shows it once it is written.
fn value<'a>(
    scene: &Scene<'_>,
    wanted: &Wanted<'a>,
    policy: &PolicyFile<'_>,
) -> Result<&'a str, Refusal> {
    let path = policy.beside("energy_performance_available_preferences");
    let available = scene.controls.get(&path)?;
    match wanted.value {
        "default" => {
            Err(Refusal::Value("default is read back as what it stands for: name that".to_owned()))
        }
        word if available.split_whitespace().any(|it| it == word) => Ok(word),
        number => {
            let has_numbers = scene.host.cpuinfo.as_ref().is_ok_and(|it| it.has("hwp_epp"));
            let is_number = |text: &str| asked::whole(text).is_some_and(|it| it <= 255);
            if !has_numbers || !is_number(number) {
                return Err(Refusal::Value(format!("{path} lists {available}, and no {number:?}")));
            }
            // `epp_values` in intel_pstate.c: 32, 102, 128 or 179 are one and the same word on different models.
            if !is_number(policy.text) {
                return Err(Refusal::Value(format!(
                    "{} shows the word {}, and which numbers it would show as words differs by model: name one of {available}",
                    policy.beside("energy_performance_preference"),
                    policy.text
                )));
            }
            Ok(number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(preference: &str, governor: &str) -> String {
        files(&format!(
            "cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/scaling_driver intel_pstate
             cpufreq/policy0/scaling_governor {governor}
             cpufreq/policy0/energy_performance_preference {preference}
             cpufreq/policy0/energy_performance_available_preferences default performance balance_power power
             /proc/cpuinfo processor : 0\\nflags : hwp hwp_epp"
        ))
    }

    #[test]
    fn numbers_are_taken_only_where_the_file_shows_one() {
        let plan = |shown: &str| planned(&SETTING, "100", &host(shown, "powersave"));
        let path = "cpufreq/policy0/energy_performance_preference";
        assert_eq!(plan("70"), format!("{path}: 70 -> 100"));
        assert_eq!(
            plan("power"),
            format!(
                "value: /sys/devices/system/cpu/{path} shows the word power, and which numbers it would show as words \
                 differs by model: name one of default performance balance_power power"
            )
        );
    }

    #[test]
    fn a_preference_that_is_kept_in_the_older_bias_brings_back_its_number() {
        let host = host("balance_power", "powersave").replace("hwp hwp_epp", "hwp")
            + &files("cpu0/power/energy_perf_bias 7");
        assert!(
            planned(&SETTING, "power", &host)
                .starts_with("cpu0/power/energy_perf_bias: 7 is forgotten\ncpufreq/")
        );
    }

    #[test]
    fn the_governor_performance_allows_no_other_preference() {
        let host = host("performance", "performance");
        assert_eq!(
            planned(&SETTING, "power", &host),
            "refused: /sys/devices/system/cpu/cpufreq/policy0 has governor performance, which allows no preference \
             but performance: change the governor, too"
        );
        assert_eq!(planned(&SETTING, "performance", &host), "nothing");
    }

    #[test]
    fn a_word_that_is_not_listed_and_a_number_too_large_are_refused() {
        let host = host("power", "powersave");
        assert!(planned(&SETTING, "256", &host).ends_with("and no \"256\""));
        assert!(planned(&SETTING, "default", &host).starts_with("value: default is read back"));
        let no_numbers = host.replace("hwp_epp", "hwp");
        assert!(planned(&SETTING, "100", &no_numbers).ends_with("and no \"100\""));
    }
}
