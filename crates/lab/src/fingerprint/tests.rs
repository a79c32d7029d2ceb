//! The questions about a machine, and the text where there is no answer.

use super::*;
use host::Captured;
use std::collections::BTreeSet;

const MACHINE: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
cpu family : 6
model : 85
model name : Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz
stepping : 7
microcode : 0x5003604
flags : acpi ida epb
processor : 1
microcode : 0x5003604
//- /sys/devices/system/cpu/online
0-1
//- /proc/cmdline
BOOT_IMAGE=/vmlinuz root=UUID=1234 ro rd.luks.uuid=9 ip=10.0.0.1 mitigations=off -- secret
//- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus
0
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor
performance
//- /sys/devices/system/cpu/cpufreq/policy1/affected_cpus
1
//- /sys/devices/system/cpu/cpufreq/policy1/scaling_governor
powersave
//- /sys/devices/system/cpu/cpu0/cpuidle/state0/name
POLL
//- /sys/devices/system/cpu/cpu0/cpuidle/state3/name
C6
//- /sys/devices/system/cpu/cpu0/cpuidle/state3/disable
1
//- /sys/devices/system/cpu/cpu1/cpuidle/state0/name
POLL
//- /sys/devices/system/cpu/cpu1/cpuidle/state3/name
C6
//- /sys/devices/system/cpu/cpu1/cpuidle/state3/disable
0
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq
2001000
//- /sys/devices/system/cpu/cpufreq/policy1/scaling_max_freq
2001000
//- /sys/class/powercap/intel-rapl:0/name
package-0
//- /sys/class/powercap/intel-rapl:0/enabled
1
//- /sys/class/powercap/intel-rapl:0/constraint_0_name
long_term
//- /sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw
150500000
//- /dev/cpu/0/msr 0xce
0xa0080001800
//- /dev/cpu/0/msr 0x19a
0x14
//- /dev/cpu/1/msr 0x19a
0x4
//- /proc/sys/kernel/timer_migration
0
//- /sys/devices/system/cpu/vulnerabilities/meltdown
Not affected
//- /sys/devices/system/cpu/vulnerabilities/spectre_v2
Mitigation: Retpolines; IBPB: conditional
";

fn of(excerpt: &str) -> Fingerprint {
    Fingerprint::of(&host::view(&Captured::excerpt(excerpt).unwrap()))
}

#[test]
fn a_machine_is_described_by_what_decides_its_speed_and_nothing_that_names_it() {
    let fingerprint = of(MACHINE);
    let says = |name: &str| fingerprint.0[name].as_str();
    assert_eq!(says("cpu model"), "Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz");
    assert_eq!(says("cpu family, model, stepping"), "GenuineIntel 6-85-7");
    assert_eq!(says("cpu microcode"), "0x5003604");
    assert_eq!(says("scaling_governor"), "performance on 0, powersave on 1");
    assert_eq!(says("scaling_max_freq"), "2001 MHz");
    assert_eq!(says("idle states"), "POLL C6:disabled on 0, POLL C6 on 1");
    assert_eq!(says("power limits"), "package-0: long 150.5 W, short none");
    assert_eq!(says("clock modulation"), "25 % on 0, off on 1");
    assert_eq!(says("kernel boot line"), "ro mitigations=off");
    assert_eq!(says("kernel.timer_migration"), "0");
    assert_eq!(says("turbo: offered by CPUID"), "yes");
    assert_eq!(says("vulnerability: meltdown"), "Not affected");
    assert_eq!(says("vulnerability: spectre_v2"), "Mitigation: Retpolines; IBPB: conditional");
}

#[test]
fn what_was_not_told_has_a_reason_and_is_no_value() {
    let empty = of("");
    assert_eq!(empty.0.len(), QUESTIONS.len() + 1);
    assert!(empty.0["vulnerabilities"].contains("/sys/devices/system/cpu/vulnerabilities"));
    assert_eq!((empty.cpu_model(), empty.kernel()), (None, None));
    let is_reasoned = |it: &str| it.starts_with(UNKNOWN) || it.starts_with(NONE);
    let known: Vec<String> = empty
        .0
        .iter()
        .filter(|(_, value)| !is_reasoned(value))
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    // No file of a container is there, and that is how a host without one looks.
    assert_eq!(known, ["container: none", "scheduler: the kernel's"]);
}

#[test]
fn a_scheduler_of_sched_ext_is_part_of_the_machine() {
    let folder = "//- /sys/kernel/sched_ext";
    let machine = |state| of(&format!("{folder}/state\n{state}\n{folder}/root/ops\nlavd\n"));
    assert_eq!(machine("enabled").0["scheduler"], "sched_ext lavd");
    assert_eq!(machine("disabled").0["scheduler"], "the kernel's");
    assert!(machine("!denied").0["scheduler"].starts_with(UNKNOWN));
}

#[test]
fn what_the_idle_driver_was_told_is_part_of_the_machine() {
    let folder = "//- /sys/module/intel_idle/parameters";
    let machine = of(&format!(
        "{folder}/max_cstate\n9\n{folder}/states_off\n0\n{folder}/table\n\n{folder}/use_acpi\nN\n"
    ));
    assert_eq!(machine.0["idle driver's parameters"], "max_cstate=9 states_off=0 use_acpi=N");
    let tuned = of(&format!("{folder}/table\nC6::400\n"));
    assert_eq!(tuned.0["idle driver's parameters"], "table=C6::400");
}

#[test]
fn every_question_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = QUESTIONS.iter().map(|it| it.0).collect();
    assert_eq!(names.len(), QUESTIONS.len());
}

#[test]
fn labels_are_questions_and_labels_of_a_host() {
    for (question, label) in LABELS {
        assert!(QUESTIONS.iter().any(|it| it.0 == question), "{question}");
        assert!(rules::host_labels::LABELS.contains(&label), "{label}");
        assert_eq!(Fingerprint::label_of(question), Some(label));
    }
    assert_eq!(Fingerprint::label_of("tuners"), None);
}
