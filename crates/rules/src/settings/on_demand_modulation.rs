//! `on-demand-modulation`: the switch by which the processor stops its own clock for a part of the time.
//!
//! Sources: Intel SDM vol. 3B, "Software Controlled Clock Modulation" (IA32_CLOCK_MODULATION, bit 4); drivers/acpi/
//! processor_throttling.c. Only ever cleared, thread by thread: since Sandy Bridge a core runs at the lowest duty
//! that one of its threads asks for. Passive cooling stops clocks by the same register once it has used up its three
//! steps of the clock (drivers/acpi/processor_thermal.c). The thread of a CPU that is offline cannot be seen, and neither can what
//! firmware writes later.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::register;
use facts::change::Write;
use facts::cpu::cooling::Kind;
use facts::msr::intel::{CLOCK_MODULATION, PACKAGE_THERM_STATUS, THERM_STATUS};
use facts::msr::thermal_status::{Cause, PROCHOT, TOO_HOT};
use facts::{CpuSet, Subject, Subjects};

pub(super) const SETTING: Setting = Setting {
    id: "on-demand-modulation",
    title: "the processor stopping its own clock for a part of the time",
    doc: "\
## What it changes
Bit 4 of register 0x19A (IA32_CLOCK_MODULATION), on every CPU where it is set, and only to off: one CPU first, and the
others when that one has kept the value and goes on working. The duty beside it stays as it is and counts for nothing.
`fullclock revert` leaves it off without `--i-know`, because on would be a fault. An experiment, which brings the fault back
for every other trial and at its end, takes `--i-know`, too.

## What it costs
The kernel is tainted by the write. Heat and power rise to those of a running clock, which the machine was built for.

## When to leave it alone
Where something holds the clock down on purpose, heat above all: fix that first. It is refused while a cooling device
of the kernel stops clocks, and while a processor says that it is too hot. On a Skylake-S (06_5E) a write of
this register has frozen the machine, and it is refused; on relatives of it, and on untested models it
needs `--i-know`.
",
    references: &[
        Reference {
            title: "Intel SDM vol. 3B, Software Controlled Clock Modulation",
            url: "https://www.intel.com/sdm",
        },
        Reference {
            title: "CoreFreq: a write of clock modulation that froze a Skylake-S",
            url: "https://github.com/cyring/CoreFreq/issues/61",
        },
    ],
    takes: "`off`",
    scope: Scope::Cpu,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: true, suspend: false },
    risk: Risk::Medium,
    power: "that of a clock which runs all the time",
    after: &["tuner", "cpu-online"],
    fixes: &["clock-modulation"],
    reads: &[register::LOCKDOWN, register::ALLOW_WRITES],
    looks_at: register::LOOKS_AT.and(Subjects::of(&[
        Subject::Cpus,
        Subject::Groups,
        Subject::Policies,
        Subject::Cooling,
        Subject::Cpuinfo,
    ])),
    plan,
};

/// The bit that enables it.
const ENABLE: u64 = 1 << 4;

/// The model on which a write froze the machine (CoreFreq, issues 61 and 101).
const SKYLAKE_S: u32 = 0x5e;

/// Models that are neither it nor its relatives: clients before Skylake, among them those that were fixed by clearing
/// the bit, and servers (arch/x86/include/asm/intel-family.h).
const TRIED: &[u32] = &[
    0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, // Nehalem, Westmere
    0x2a, 0x2d, 0x3a, 0x3e, // Sandy Bridge, Ivy Bridge
    0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56, // Haswell, Broadwell
    0x6a, 0x6c, 0x8f, 0xcf, // Ice Lake-SP to Emerald Rapids
];

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    if wanted.value != "off" {
        return Err(wanted.not_taken(&SETTING));
    }
    let values = register::values(scene, &CLOCK_MODULATION)?;
    let set = values.cpus_where(|value| value & ENABLE != 0);
    whole_cores(scene, wanted, &set)?;
    let meant = values.known().filter(|(cpu, _)| wanted.covers(*cpu));
    let writes: Vec<Write> = meant
        .filter_map(|(cpu, &value)| register::write(cpu, &CLOCK_MODULATION, ENABLE, value, 0))
        .collect();
    if !writes.is_empty() {
        cool(scene, wanted.i_know)?;
        allowed(scene, wanted)?;
    }
    let change = Change { canary: writes.len() > 1, ..Change::of(writes) }.note(register::TAINT);
    let offline = offline(scene);
    Ok(if offline.is_empty() {
        change
    } else {
        change.note(format!(
            "{} {} offline and cannot be read, and may keep a core slow: bring {} online and look again",
            offline.named(),
            offline.agree("is", "are"),
            offline.agree("it", "them")
        ))
    })
}

/// Refuses to leave out a thread that would keep its core as slow as it is.
fn whole_cores(scene: &Scene<'_>, wanted: &Wanted<'_>, set: &CpuSet) -> Result<(), Refusal> {
    let Some(asked) = wanted.cpus else { return Ok(()) };
    let cores =
        asked.iter().flat_map(|cpu| scene.host.topology.core_of(cpu).iter().collect::<Vec<_>>());
    let left_out = cores.collect::<CpuSet>().and(set).minus(asked);
    if left_out.is_empty() {
        return Ok(());
    }
    Err(Refusal::Value(format!(
        "a core runs at the duty of its slowest thread: add {left_out} to @{asked}, or leave them all out"
    )))
}

/// Refuses where the clock is known to be stopped for heat, and, without consent, while another device pulls PROCHOT#.
fn cool(scene: &Scene<'_>, i_know: bool) -> Result<(), Refusal> {
    /// Steps of the clock that come before stopped clocks, where there is cpufreq (`CPUFREQ_THERMAL_MAX_STEP`).
    const CLOCK_STEPS: u64 = 3;
    let has_cpufreq = scene.host.cpufreq.policies.as_ref().is_ok_and(|it| !it.is_empty());
    let harmless = if has_cpufreq { CLOCK_STEPS } else { 0 };
    let devices = scene.host.cooling.as_deref().unwrap_or_default();
    for device in devices.iter().filter(|it| it.kind == Kind::Processor) {
        if let Ok(level) = device.level()
            && level > harmless
        {
            return Err(Refusal::Host(format!(
                "{} is {level}: the kernel stops clocks to cool the machine; fix the cooling first",
                device.state_path()
            )));
        }
    }
    if let Some((register, cpus)) = active(scene, TOO_HOT) {
        return Err(Refusal::Host(format!(
            "{} {} too hot at this moment (bit 0 of register {register:#x}): fix the cooling first",
            cpus.named(),
            cpus.agree("is", "are")
        )));
    }
    match active(scene, PROCHOT) {
        Some((register, cpus)) if !i_know => Err(Refusal::NeedsConsent(format!(
            "another device pulls PROCHOT# of {} at this moment (bit 2 of register {register:#x}), perhaps for a lost power \
             supply: find out which, and why, first",
            cpus.named()
        ))),
        _ => Ok(()),
    }
}

/// The CPUs on which a cause is active now, of a core or of its package, and the register that says so.
fn active(scene: &Scene<'_>, cause: Cause) -> Option<(u32, CpuSet)> {
    [&THERM_STATUS, &PACKAGE_THERM_STATUS].into_iter().find_map(|register| {
        let values = scene.host.msrs.of(register).ok()?;
        let cpus = values.cpus_where(|value| cause.is_active(*value));
        (!cpus.is_empty()).then_some((register.address, cpus))
    })
}

/// Refuses models on which a write is known to harm, and, without consent, those of which nothing is known.
fn allowed(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Result<(), Refusal> {
    let info = scene.host.cpuinfo.as_ref()?;
    match (info.family, info.model) {
        (6, SKYLAKE_S) => Err(Refusal::Host(
            "a write of register 0x19a has frozen this model (06_5E): clear it in firmware, or by a cold start".to_owned(),
        )),
        (6, model) if TRIED.contains(&model) => Ok(()),
        (family, model) if !wanted.i_know => Err(Refusal::NeedsConsent(format!(
            "clearing register 0x19a is untested on family {family:#x} model {model:#x}, and a write has frozen a \
             Skylake-S"
        ))),
        _ => Ok(()),
    }
}

/// The CPUs that are plugged in and do not run.
fn offline(scene: &Scene<'_>) -> CpuSet {
    let topology = &scene.host.topology;
    match (&topology.present, &topology.online) {
        (Ok(present), Ok(online)) => present.minus(online).minus(&topology.standby),
        _ => CpuSet::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::XEON;
    use crate::fixture::planned::{files, planned, planned_knowing};

    fn host(values: [&str; 4]) -> String {
        let register =
            |(cpu, value): (usize, &&str)| format!("//- /dev/cpu/{cpu}/msr 0x19a\n{value}\n");
        XEON.replace("model : 85", "model : 106")
            + &values.iter().enumerate().map(register).collect::<String>()
    }

    #[test]
    fn every_thread_that_has_it_is_cleared_one_first_and_no_other_is_touched() {
        assert_eq!(
            planned(&SETTING, "off", &host(["0x14", "0x4", "0x1e", "0x0"])),
            "one first\n\
             /dev/cpu/0/msr 0x19a: 0x14 -> 0x4\n\
             /dev/cpu/2/msr 0x19a: 0x1e -> 0xe\n\
             note: writing a register taints the kernel (S in /proc/sys/kernel/tainted) until the next boot"
        );
        assert_eq!(planned(&SETTING, "off", &host(["0x4", "0x0", "0x0", "0x0"])), "nothing");
    }

    #[test]
    fn it_is_never_switched_on_and_no_thread_of_a_core_is_left_out() {
        let slow = host(["0x14", "0x0", "0x14", "0x0"]);
        assert_eq!(
            planned(&SETTING, "on", &slow),
            "value: on-demand-modulation takes `off`, not \"on\""
        );
        assert_eq!(
            planned(&SETTING, "off@0", &slow),
            "value: a core runs at the duty of its slowest thread: add 2 to @0, or leave them all out"
        );
        assert!(planned(&SETTING, "off@0,2", &slow).starts_with("one first\n"));
    }

    #[test]
    fn the_model_that_froze_is_refused_and_its_relatives_need_consent() {
        let model = |model: &str| {
            host(["0x14", "0x0", "0x0", "0x0"]).replace("model : 106", &format!("model : {model}"))
        };
        assert!(planned_knowing(&SETTING, "off", &model("94")).starts_with("refused: a write of"));
        assert!(
            planned(&SETTING, "off", &model("158"))
                .starts_with("consent: clearing register 0x19a is untested")
        );
        assert!(
            planned(&SETTING, "off", &model("85"))
                .starts_with("consent: clearing register 0x19a is untested")
        );
        assert!(planned_knowing(&SETTING, "off", &model("158")).contains(": 0x14 -> 0x4\n"));
    }

    #[test]
    fn a_clock_that_another_device_holds_down_takes_consent() {
        let pulled = host(["0x14", "0x0", "0x0", "0x0"]) + "//- /dev/cpu/1/msr 0x19c\n0x8800000c\n";
        assert!(
            planned(&SETTING, "off", &pulled)
                .starts_with("consent: another device pulls PROCHOT# of CPU 1 at this moment")
        );
        assert!(planned_knowing(&SETTING, "off", &pulled).contains(": 0x14 -> 0x4\n"));
    }

    #[test]
    fn a_clock_that_is_stopped_for_heat_stays_so() {
        let slow = host(["0x14", "0x0", "0x0", "0x0"]);
        let hot = slow.clone() + "//- /dev/cpu/1/msr 0x19c\n0x88000003\n";
        assert_eq!(
            planned_knowing(&SETTING, "off", &hot),
            "refused: CPU 1 is too hot at this moment (bit 0 of register 0x19c): fix the cooling first"
        );
        let package = slow.clone() + "//- /dev/cpu/0/msr 0x1b1\n0x88000003\n";
        assert!(planned_knowing(&SETTING, "off", &package).contains("(bit 0 of register 0x1b1)"));
        let device = "/sys/class/thermal/cooling_device0";
        let cooling = |state: u32| {
            files(&format!(
                "{device}/type Processor\n{device}/cur_state {state}\n{device}/max_state 10"
            ))
        };
        let steps =
            "cpufreq/policy0/affected_cpus 0-3\ncpufreq/policy0/scaling_driver acpi-cpufreq";
        let plan = |state, more: &str| {
            planned(&SETTING, "off", &(slow.clone() + &cooling(state) + &files(more)))
        };
        assert!(plan(1, "").starts_with(&format!("refused: {device}/cur_state is 1: the kernel")));
        assert!(plan(3, steps).contains(": 0x14 -> 0x4"));
        assert!(
            plan(4, steps).starts_with(&format!("refused: {device}/cur_state is 4: the kernel"))
        );
    }

    #[test]
    fn a_locked_down_kernel_is_refused() {
        let slow = host(["0x14", "0x0", "0x0", "0x0"]);
        let locked = files("/sys/kernel/security/lockdown none [integrity] confidentiality");
        assert!(
            planned(&SETTING, "off", &(slow.clone() + &locked))
                .starts_with("refused: the kernel is locked")
        );
        let off = files("/sys/module/msr/parameters/allow_writes off");
        assert!(
            planned(&SETTING, "off", &(slow + &off)).ends_with("the kernel writes no register")
        );
    }

    #[test]
    fn an_offline_thread_is_told_of() {
        let slow = host(["0x14", "0x0", "0x0", "0x0"]) + &files("present 0-4");
        assert!(planned(&SETTING, "off", &slow).contains("\nnote: CPU 4 is offline"));
    }

    #[test]
    fn a_cpu_that_does_not_answer_is_unknown() {
        assert_eq!(
            planned(&SETTING, "off", &host(["0x14", "!failed EIO", "0x0", "0x0"])),
            "unknown: /dev/cpu/1/msr 0x19a cannot be read: EIO"
        );
    }
}
