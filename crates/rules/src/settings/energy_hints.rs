//! The hints by which a processor trades performance for energy: the energy performance preference (EPP), and the older
//! energy performance bias (EPB) for what the preference does not cover.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::scaling::{self, PolicyFile};
use crate::settings::{file, reset_state, value};
use facts::cpu::energy_bias::{EnergyBias, Preference};
use facts::{Subject, Subjects};

const PREFERENCE: &str = "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference";
const AVAILABLE: &str =
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_available_preferences";
const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
const DYNAMIC: &str = "/sys/devices/system/cpu/amd_pstate/dynamic_epp";

/// The preference of a processor that chooses its clock by itself.
///
/// Sources: Documentation/admin-guide/pm/{intel_pstate,amd-pstate}.rst; drivers/cpufreq/intel_pstate.c
/// (`store_energy_performance_preference`), drivers/cpufreq/amd-pstate.c. In active mode the governor `performance` fixes
/// it at `performance`, and the kernel answers any other value with EBUSY. With `dynamic_epp` (some kernels of 2026) amd-pstate chooses it by the power
/// supply and the platform's profile, and answers every value with EBUSY; later kernels have a preference `dynamic` instead, which they show
/// with the word that is in force, and which cannot be written as it is shown.
pub(super) const ENERGY_PERFORMANCE_PREFERENCE: Setting = Setting {
    id: "energy-performance-preference",
    title: "what the processor leans to when it chooses its clock",
    doc: "\
## What it changes
`energy_performance_preference` (EPP) of every cpufreq policy: a word that energy_performance_available_preferences
lists, or, with HWP and where the file shows a number, one from 0 (performance) to 255 (power): which numbers are read
back as words differs by model. amd-pstate takes any number where it lists `custom`. It decides how fast the clock follows the load, and
how much of turbo a lightly loaded core is given.

## What it costs
`performance` keeps clocks up between bursts of work.

## When to leave it alone
Under the governor `performance`, where it is `performance` by itself and takes no other value. Where amd-pstate chooses it
by itself (`amd_pstate/dynamic_epp`, or a preference that reads `dynamic(...)`), it takes no value, or none that could be brought back:
that is switched off first.
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
    takes: "a word that energy_performance_available_preferences lists, or 0 to 255 with HWP where it shows a number, and where it lists `custom`",
    scope: Scope::Policy,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "leaning to performance draws some watts more a socket under light load",
    after: &["tuner", "cpu-online", "intel-pstate-status", "amd-pstate-status", "governor"],
    fixes: &["power-saving-bias", "mixed-frequency-settings"],
    reads: &[PREFERENCE, AVAILABLE, GOVERNOR, DYNAMIC, reset_state::BIAS],
    looks_at: scaling::LOOKS_AT.and(reset_state::BIAS_LOOKS_AT),
    plan: energy_performance_preference,
};

fn energy_performance_preference(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let (mut reset, mut writes) = (Vec::new(), Vec::new());
    for policy in scaling::policies(scene, wanted, PREFERENCE)? {
        let value = value(scene, wanted, &policy)?;
        let Some(write) = policy.write(value) else { continue };
        chosen_by_user(scene, &policy)?;
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
            reset.extend(reset_state::bias(scene, &policy.cpus));
        }
        writes.push(write);
    }
    Ok(Change::of(reset.into_iter().chain(writes)))
}

/// Refuses where the driver chooses the preference by itself.
fn chosen_by_user(scene: &Scene<'_>, policy: &PolicyFile<'_>) -> Result<(), Refusal> {
    if scene.controls.get(DYNAMIC).is_ok_and(|it| it == "enabled") {
        return Err(Refusal::Host(format!(
            "{DYNAMIC} is enabled: amd-pstate chooses the preference by itself and answers whoever writes one with EBUSY; \
             write disabled there first, or boot with amd_dynamic_epp=disable"
        )));
    }
    if Preference::is_dynamic(policy.text) {
        return Err(Refusal::Host(format!(
            "{} is {}: amd-pstate chooses it by itself, and what it shows cannot be brought back; write a word there by hand \
             first, and dynamic to go back",
            policy.beside("energy_performance_preference"),
            policy.text
        )));
    }
    Ok(())
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
        "custom" => Err(Refusal::Value("custom stands for numbers: name one, 0 to 255".to_owned())),
        "dynamic" => Err(Refusal::Value(
            "dynamic leaves the choice to the driver and is not read back as such: write it by hand"
                .to_owned(),
        )),
        word if lists(available, word) => Ok(word),
        number => {
            let has_numbers = scene.host.cpuinfo.as_ref().is_ok_and(|it| it.has("hwp_epp"));
            let is_number = |text: &str| value::whole(text).is_some_and(|it| it <= 255);
            // A number is read back as it was written, and a word is written again as it was.
            if lists(available, "custom") && is_number(number) && !is_octal(number) {
                return Ok(number);
            }
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

fn lists(available: &str, word: &str) -> bool {
    available.split_whitespace().any(|it| it == word)
}

/// The kernel takes a number with a zero in front for octal (`kstrtou8` with base 0).
fn is_octal(number: &str) -> bool {
    number.len() > 1 && number.starts_with('0')
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
    reads: &[reset_state::BIAS],
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
    let controls = scene.controls.matching(reset_state::BIAS);
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

    /// An EPYC whose amd-pstate shows this preference.
    fn epyc(preference: &str, more: &str) -> String {
        files(&format!(
            "cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/scaling_driver amd-pstate-epp
             cpufreq/policy0/scaling_governor powersave
             cpufreq/policy0/energy_performance_preference {preference}
             cpufreq/policy0/energy_performance_available_preferences default performance balance_performance balance_power power{more}
             /proc/cpuinfo processor : 0\\nvendor_id : AuthenticAMD"
        ))
    }

    #[test]
    fn a_driver_that_chooses_the_preference_by_itself_is_refused_beforehand() {
        let enabled = epyc("balance_performance", "") + &files("amd_pstate/dynamic_epp enabled");
        assert_eq!(
            planned(&ENERGY_PERFORMANCE_PREFERENCE, "performance", &enabled),
            "refused: /sys/devices/system/cpu/amd_pstate/dynamic_epp is enabled: amd-pstate chooses the preference by itself \
             and answers whoever writes one with EBUSY; write disabled there first, or boot with amd_dynamic_epp=disable"
        );
        let path = "cpufreq/policy0/energy_performance_preference";
        for disabled in ["amd_pstate/dynamic_epp disabled", ""] {
            let host = epyc("balance_performance", "") + &files(disabled);
            assert_eq!(
                planned(&ENERGY_PERFORMANCE_PREFERENCE, "performance", &host),
                format!("{path}: balance_performance -> performance")
            );
        }
        // Kernels after it show in the preference itself that it is the driver's.
        let dynamic = epyc("dynamic(profile:balance_power)", " custom dynamic");
        assert_eq!(
            planned(&ENERGY_PERFORMANCE_PREFERENCE, "performance", &dynamic),
            format!(
                "refused: /sys/devices/system/cpu/{path} is dynamic(profile:balance_power): amd-pstate chooses it by itself, \
                 and what it shows cannot be brought back; write a word there by hand first, and dynamic to go back"
            )
        );
    }

    #[test]
    fn amd_pstate_takes_numbers_where_it_lists_custom_and_no_word_that_stands_for_something_else() {
        let path = "cpufreq/policy0/energy_performance_preference";
        let plan = |value: &str, more: &str| {
            planned(&ENERGY_PERFORMANCE_PREFERENCE, value, &epyc("power", more))
        };
        assert_eq!(plan("100", " custom"), format!("{path}: power -> 100"));
        for (value, more) in [("100", ""), ("256", " custom"), ("010", " custom")] {
            assert!(plan(value, more).starts_with("value: "), "{}", plan(value, more));
        }
        assert!(plan("custom", " custom").starts_with("value: custom stands for numbers"));
        assert!(plan("dynamic", " custom dynamic").starts_with("value: dynamic leaves the choice"));
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
