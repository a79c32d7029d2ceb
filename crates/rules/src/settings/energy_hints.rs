//! The hints by which a processor trades performance for energy: the energy performance preference (EPP), and the older
//! energy performance bias (EPB) for what the preference does not cover.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::scaling::{self, PolicyFile};
use crate::settings::{file, lost, value};
use facts::cpu::energy_bias::EnergyBias;
use facts::{Subject, Subjects};

const PREFERENCE: &str = "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference";
const AVAILABLE: &str =
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_available_preferences";
const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";

/// The preference of a processor that chooses its clock by itself.
///
/// Sources: Documentation/admin-guide/pm/{intel_pstate,amd-pstate}.rst; drivers/cpufreq/intel_pstate.c
/// (`store_energy_performance_preference`), drivers/cpufreq/amd-pstate.c. In active mode the governor `performance` fixes
/// it at `performance`, and the kernel answers any other value with EBUSY.
pub(super) const ENERGY_PERFORMANCE_PREFERENCE: Setting = Setting {
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
    plan: energy_performance_preference,
};

fn energy_performance_preference(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
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
            let is_number = |text: &str| value::whole(text).is_some_and(|it| it <= 255);
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

/// The older hint of Intel's processors.
///
/// Sources: Documentation/admin-guide/pm/intel_epb.rst; arch/x86/kernel/cpu/intel_epb.c; Intel SDM vol. 3B, "Performance
/// and Energy Bias Hint support". Intel does not say which parts of a processor with EPP still use it.
pub(super) const ENERGY_PERF_BIAS: Setting = Setting {
    id: "energy-perf-bias",
    title: "the bias between performance and energy",
    doc: "\
## What it changes
`power/energy_perf_bias` (EPB) of every CPU, from 0 (performance) to 15 (power); `normal` is 6, on some Alder Lake and Raptor
Lake laptops 7. On Westmere and Sandy Bridge all CPUs of a package share it: a list of CPUs changes their whole package. It shifts how soon
turbo comes, how deep the package sleeps and how the uncore follows the load.

## What it costs
0 gives up power savings of the package that are otherwise free of harm under full load.

## When to leave it alone
On a laptop. Firmware that keeps the bias for itself ignores what is written here.
",
    references: &[Reference {
        title: "Linux: Intel Performance and Energy Bias Hint",
        url: "https://docs.kernel.org/admin-guide/pm/intel_epb.html",
    }],
    takes: "0 to 15, `performance`, `balance-performance`, `normal`, `balance-power` or `power`",
    scope: Scope::Cpu,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "0 draws some watts more a socket under light load",
    after: &["tuner", "cpu-online", "governor", "energy-performance-preference"],
    fixes: &["power-saving-bias", "mixed-frequency-settings"],
    reads: &[lost::BIAS],
    looks_at: Subjects::of(&[Subject::Cpuinfo]),
    plan: energy_perf_bias,
};

fn energy_perf_bias(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    // The words of arch/x86/kernel/cpu/intel_epb.c (`energy_perf_strings`); the file shows the number.
    let bias = match wanted.value {
        "performance" => 0,
        "balance-performance" => 4,
        "normal" => scene.host.cpuinfo.as_ref().map_or(6, EnergyBias::normal),
        "balance-power" => 8,
        "power" => 15,
        _ => value::number(&ENERGY_PERF_BIAS, wanted, 0..=15)?,
    };
    let mut writes = Vec::new();
    let controls = scene.controls.matching(lost::BIAS);
    let meant = controls.iter().filter(|it| it.numbers().iter().all(|cpu| wanted.covers(*cpu)));
    let mut n_meant = 0;
    for control in meant {
        n_meant += 1;
        writes.extend(file::write(control, &bias.to_string())?);
    }
    if n_meant == 0 {
        let text = "no CPU that is meant has power/energy_perf_bias: the processor lacks the hint, or the kernel is older than 5.2";
        return Err(Refusal::Host(text.to_owned()));
    }
    Ok(Change::of(writes))
}

#[cfg(test)]
mod tests {
    use super::{ENERGY_PERF_BIAS, ENERGY_PERFORMANCE_PREFERENCE};
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
        let plan =
            |shown: &str| planned(&ENERGY_PERFORMANCE_PREFERENCE, "100", &host(shown, "powersave"));
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
            planned(&ENERGY_PERFORMANCE_PREFERENCE, "power", &host)
                .starts_with("cpu0/power/energy_perf_bias: 7 is forgotten\ncpufreq/")
        );
    }

    #[test]
    fn the_governor_performance_allows_no_other_preference() {
        let host = host("performance", "performance");
        assert_eq!(
            planned(&ENERGY_PERFORMANCE_PREFERENCE, "power", &host),
            "refused: /sys/devices/system/cpu/cpufreq/policy0 has governor performance, which allows no preference \
             but performance: change the governor, too"
        );
        assert_eq!(planned(&ENERGY_PERFORMANCE_PREFERENCE, "performance", &host), "nothing");
    }

    #[test]
    fn a_word_that_is_not_listed_and_a_number_too_large_are_refused() {
        let host = host("power", "powersave");
        assert!(planned(&ENERGY_PERFORMANCE_PREFERENCE, "256", &host).ends_with("and no \"256\""));
        assert!(
            planned(&ENERGY_PERFORMANCE_PREFERENCE, "default", &host)
                .starts_with("value: default is read back")
        );
        let no_numbers = host.replace("hwp_epp", "hwp");
        assert!(
            planned(&ENERGY_PERFORMANCE_PREFERENCE, "100", &no_numbers).ends_with("and no \"100\"")
        );
    }

    fn biased(bias: &str) -> String {
        files(&format!("cpu0/power/energy_perf_bias {bias}\ncpu1/power/energy_perf_bias 0"))
    }

    #[test]
    fn words_are_numbers_and_only_what_differs_is_written() {
        assert_eq!(
            planned(&ENERGY_PERF_BIAS, "performance", &biased("6")),
            "cpu0/power/energy_perf_bias: 6 -> 0"
        );
        assert!(planned(&ENERGY_PERF_BIAS, "normal", &biased("0")).contains("0 -> 6"));
        let mobile = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 154\n";
        assert!(
            planned(&ENERGY_PERF_BIAS, "normal", &format!("{mobile}{}", biased("0")))
                .contains("0 -> 7")
        );
        assert_eq!(
            planned(&ENERGY_PERF_BIAS, "15@1", &biased("6")),
            "cpu1/power/energy_perf_bias: 0 -> 15"
        );
    }

    #[test]
    fn cpus_without_it_are_refused() {
        assert!(
            planned(&ENERGY_PERF_BIAS, "0@7", &biased("6"))
                .starts_with("refused: no CPU that is meant")
        );
    }

    /// On every machine these lie beside the CPUs.
    #[test]
    fn folders_that_are_no_cpu_are_none() {
        let others = files("cpufreq/power/runtime_status active\ncpuidle/current_driver none");
        assert_eq!(
            planned(&ENERGY_PERF_BIAS, "performance", &format!("{}{others}", biased("6"))),
            "cpu0/power/energy_perf_bias: 6 -> 0"
        );
    }
}
