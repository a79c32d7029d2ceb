//! Hosts with counters of their clock, and without.

use crate::{Captured, Recording, view};
use facts::cpu::delivered::{Delivered, Excursions};
use facts::{Hertz, HostView};

const CPU: &str = "/sys/devices/system/cpu";

fn host(cpuinfo: &str, answers: &[(&str, &str)]) -> String {
    let answers: String =
        answers.iter().map(|(file, text)| format!("//- {CPU}/{file}\n{text}\n")).collect();
    format!("//- /proc/cpuinfo\nprocessor : 0\n{cpuinfo}//- {CPU}/online\n0-1\n{answers}")
}

fn seen(text: &str) -> HostView {
    view(&Captured::excerpt(text).unwrap())
}

const ARM: [(&str, &str); 9] = [
    ("cpufreq/policy0/affected_cpus", "0"),
    ("cpufreq/policy0/cpuinfo_cur_freq", "800000"),
    ("cpufreq/policy1/affected_cpus", "1"),
    ("cpufreq/policy1/cpuinfo_cur_freq", "900000"),
    ("cpu0/acpi_cppc/feedback_ctrs", "ref:1000 del:500"),
    ("cpu0/acpi_cppc/nominal_perf", "30"),
    ("cpu0/acpi_cppc/reference_perf", "10"),
    ("cpu0/acpi_cppc/nominal_freq", "3000"),
    ("cpu1/acpi_cppc/feedback_ctrs", "ref:1000 del:600"),
];

#[test]
fn policies_of_one_range_share_their_levels_and_a_capture_keeps_all_of_it() {
    let twice = format!(
        "//- twice {CPU}/cpu0/acpi_cppc/feedback_ctrs\nref:1000 del:500\nref:1010 del:505\n"
    );
    let source = Captured::excerpt(&(host("CPU part : 0xd80\n", &ARM) + &twice)).unwrap();
    let recording = Recording::new(&source);
    let host = view(&recording);
    let of = |cpu| host.delivered.feedback.get(cpu).unwrap().as_ref().unwrap();
    assert_eq!((of(0).since_boot.delivered, of(1).since_boot.delivered), (500, 600));
    assert_eq!(of(0).look.as_ref().unwrap().delivered, 5);
    assert!(of(1).look.is_err());
    assert_eq!((of(1).levels.nominal, of(1).levels.lowest), (30, 0));
    let clocks = host.cpufreq.policies.as_ref().unwrap().iter().map(|it| it.cpuinfo_cur.clone());
    assert_eq!(clocks.collect::<Vec<_>>(), [Ok(Hertz(800_000_000)), Ok(Hertz(900_000_000))]);
    let again = view(&Captured::parse(&recording.capture()).unwrap());
    assert_eq!((again.delivered, again.cpufreq), (host.delivered, host.cpufreq));
}

#[test]
fn the_log_of_the_platform_is_read_of_cppc_cpufreq_alone_and_may_be_unsupported() {
    let log = |driver: &str, texts: [&str; 2]| {
        let file = |number: usize| {
            format!(
                "//- {CPU}/cpufreq/policy{number}/affected_cpus\n{number}\n\
                 //- {CPU}/cpufreq/policy{number}/scaling_driver\n{driver}\n\
                 //- {CPU}/cpufreq/policy{number}/perf_limited\n{}\n",
                texts[number]
            )
        };
        let text = host("CPU part : 0xd4f\n", &[]) + &file(0) + &file(1);
        let policies = seen(&text).cpufreq.policies.unwrap();
        policies.into_iter().map(|it| it.perf_limited.map(Excursions::bits)).collect::<Vec<_>>()
    };
    assert_eq!(log("cppc_cpufreq", ["0", "3"]), [Ok(0), Ok(3)]);
    for none in [log("cppc_cpufreq", ["!absent", "1"]), log("amd-pstate-epp", ["1", "1"])] {
        assert!(none.iter().all(|it| it.as_ref().is_err_and(facts::Missing::is_absence)));
    }
    // Each policy has registers of its own.
    let one = log("cppc_cpufreq", ["<unsupported>", "1"]);
    assert!(one[0].as_ref().is_err_and(facts::Missing::is_absence) && one[1] == Ok(1));
    let failed = log("cppc_cpufreq", ["!failed Input/output error (os error 5)", "1"]);
    assert!(failed[0].as_ref().is_err_and(|it| !it.is_absence()) && failed[1] == Ok(1));
}

#[test]
fn x86_is_looked_at_by_its_registers() {
    let policy = [("cpufreq/policy0/affected_cpus", "0 1")];
    let look =
        "//- twice TSC, MPERF and APERF of CPU 1\n0 1 1 1\n50000000 125000001 12500001 5000001\n";
    let x86 = host("vendor_id : GenuineIntel\nflags : aperfmperf\n", &policy) + look;
    let Delivered { looks, feedback, .. } = seen(&x86).delivered;
    assert_eq!(looks.get(1).unwrap().as_ref().unwrap().clock(), Hertz::from_mhz(1000));
    assert_eq!(looks.get(0).unwrap().as_ref().unwrap_err().reason(), "not-collected");
    assert!(feedback.all_known().is_err_and(facts::Missing::is_absence));
    assert!(seen(&x86.replace("aperfmperf", "apic")).delivered.looks.get(1).is_none());
}

#[test]
fn how_much_the_cpus_worked_meanwhile_is_known_with_counters_and_without_and_a_capture_keeps_it() {
    let times =
        "//- twice /proc/stat\n1000 0:100:1000 1:100:1000\n50001000 0:105:1005 1:100:1005\n";
    let policy = [("cpufreq/policy0/affected_cpus", "0 1")];
    for text in [host("CPU part : 0xd80\n", &ARM), host("vendor_id : GenuineIntel\n", &policy)] {
        let source = Captured::excerpt(&(text + times)).unwrap();
        let recording = Recording::new(&source);
        let worked = view(&recording).delivered.worked.unwrap();
        assert_eq!(worked.busy().to_string(), "0");
        let again = view(&Captured::parse(&recording.capture()).unwrap());
        assert_eq!(again.delivered.worked, Some(worked));
    }
    let guest = host("vendor_id : GenuineIntel\nflags : hypervisor\n", &policy) + times;
    assert_eq!(seen(&guest).delivered.worked, None);
}

#[test]
fn a_cpu_that_is_kept_free_is_not_looked_at() {
    let policy = [("cpufreq/policy0/affected_cpus", "0 1"), ("nohz_full", "1")];
    let look = |cpu| {
        format!(
            "//- twice TSC, MPERF and APERF of CPU {cpu}\n0 1 1 1\n50000000 125000001 12500001 5000001\n"
        )
    };
    let x86 = host("vendor_id : GenuineIntel\nflags : aperfmperf\n", &policy);
    let source = Captured::excerpt(&(x86 + &look(0) + &look(1))).unwrap();
    let recording = Recording::new(&source);
    let looks = view(&recording).delivered.looks;
    assert!(looks.get(0).unwrap().is_ok());
    let reason = looks.get(1).unwrap().as_ref().unwrap_err().to_string();
    assert!(reason.contains("is kept free of interruptions"), "{reason}");
    assert!(!recording.capture().contains("APERF of CPU 1"));
    let arm = host("CPU part : 0xd80\n", &ARM) + &format!("//- {CPU}/nohz_full\n1\n");
    let feedback = seen(&arm).delivered.feedback;
    assert!(
        feedback
            .get(1)
            .unwrap()
            .as_ref()
            .unwrap()
            .look
            .as_ref()
            .unwrap_err()
            .to_string()
            .contains("kept free")
    );
}

#[test]
fn a_guest_and_a_host_without_a_driver_are_asked_for_nothing() {
    let guest = host("vendor_id : GenuineIntel\nflags : aperfmperf hypervisor\n", &ARM);
    let source = Captured::excerpt(&guest).unwrap();
    let recording = Recording::new(&source);
    let host = view(&recording);
    assert!(host.delivered.feedback.all_known().is_err_and(|it| it.reason() == "hidden"));
    let capture = recording.capture();
    assert!(!capture.contains("feedback_ctrs") && !capture.contains("cpuinfo_cur"), "{capture}");
    let without = "//- /proc/cpuinfo\nprocessor : 0\n//- /sys/devices/system/cpu/online\n0\n";
    assert!(seen(without).delivered.looks.all_known().is_err_and(facts::Missing::is_absence));
}
