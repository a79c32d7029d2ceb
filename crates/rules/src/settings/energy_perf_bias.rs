//! `energy-perf-bias`: the older hint of Intel's processors, for what the newer preference does not cover.
//!
//! Sources: Documentation/admin-guide/pm/intel_epb.rst; arch/x86/kernel/cpu/intel_epb.c; Intel SDM vol. 3B,
//! "Performance and Energy Bias Hint support". Which parts of a processor still go by it where there is EPP, Intel
//! does not say.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::{asked, file};
use facts::cpu::energy_bias::EnergyBias;
use facts::{Subject, Subjects};

const BIAS: &str = "/sys/devices/system/cpu/cpu*/power/energy_perf_bias";

pub(super) const SETTING: Setting = Setting {
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
    reads: &[BIAS],
    looks_at: Subjects::of(&[Subject::Cpuinfo]),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    // The words of arch/x86/kernel/cpu/intel_epb.c (`energy_perf_strings`); the file shows the number.
    let bias = match wanted.value {
        "performance" => 0,
        "balance-performance" => 4,
        "normal" => scene.host.cpuinfo.as_ref().map_or(6, EnergyBias::normal),
        "balance-power" => 8,
        "power" => 15,
        _ => asked::number(&SETTING, wanted, 0..=15)?,
    };
    let mut writes = Vec::new();
    let controls = scene.controls.matching(BIAS);
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
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(bias: &str) -> String {
        files(&format!("cpu0/power/energy_perf_bias {bias}\ncpu1/power/energy_perf_bias 0"))
    }

    #[test]
    fn words_are_numbers_and_only_what_differs_is_written() {
        assert_eq!(
            planned(&SETTING, "performance", &host("6")),
            "cpu0/power/energy_perf_bias: 6 -> 0"
        );
        assert!(planned(&SETTING, "normal", &host("0")).contains("0 -> 6"));
        let mobile = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 154\n";
        assert!(planned(&SETTING, "normal", &format!("{mobile}{}", host("0"))).contains("0 -> 7"));
        assert_eq!(planned(&SETTING, "15@1", &host("6")), "cpu1/power/energy_perf_bias: 0 -> 15");
    }

    #[test]
    fn cpus_without_it_are_refused() {
        assert!(planned(&SETTING, "0@7", &host("6")).starts_with("refused: no CPU that is meant"));
    }

    /// On every machine these lie beside the CPUs.
    #[test]
    fn folders_that_are_no_cpu_are_none() {
        let others = files("cpufreq/power/runtime_status active\ncpuidle/current_driver none");
        assert_eq!(
            planned(&SETTING, "performance", &format!("{}{others}", host("6"))),
            "cpu0/power/energy_perf_bias: 6 -> 0"
        );
    }
}
