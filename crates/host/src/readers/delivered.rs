//! Reads what the hardware delivers of the clock that is asked of it: counters, twice where the machine can be looked at, and the clocks that
//! frequency drivers read from the hardware.
//!
//! A reading interrupts the CPU it is about, and firmware answers some of them slowly. So levels are read once for all policies of the
//! same range, and nothing is read where no frequency driver asks for a clock. CPUs that are kept free of interruptions (isolated, nohz_full)
//! are not looked at.

use crate::{Counter, Source};
use facts::cpu::cpufreq::Policy;
use facts::cpu::delivered::{Counts, Delivered, Excursions, Feedback, Levels, Look};
use facts::{CpuSet, Fact, Hertz, HostView, Missing, PerCpu, Why, parse};
use std::time::Duration;

/// Reads all of it; in a guest nothing, whose counters are of the hypervisor's making.
pub(super) fn read(source: &dyn Source, host: &mut HostView) {
    let reason = host.platform.hides("the clock of the processor").err().or_else(|| {
        match &host.cpufreq.policies {
            Ok(policies) if !policies.is_empty() => None,
            Ok(_) => Some(Missing::not_here("frequency policy", "no CPU has one")),
            Err(missing) => Some(missing.clone()),
        }
    });
    if let Some(missing) = reason {
        host.delivered = Delivered {
            looks: [(0, Err(missing.clone()))].into_iter().collect(),
            feedback: [(0, Err(missing.clone()))].into_iter().collect(),
        };
        for policy in host.cpufreq.policies.iter_mut().flatten() {
            policy.cpuinfo_cur = Err(missing.clone());
            policy.cpuinfo_avg = Err(missing.clone());
            policy.auto_select = Err(missing.clone());
            policy.perf_limited = Err(missing.clone());
        }
        return;
    }
    let kept_free = kept_free(host);
    let looks = looks(source, host, &kept_free);
    let policies = host.cpufreq.policies.as_deref_mut().unwrap_or_default();
    read_clocks(source, policies);
    let is_seen = looks.known().next().is_some();
    let feedback = feedback(source, policies, (!is_seen).then_some(&kept_free));
    host.delivered = Delivered { looks, feedback };
}

/// CPUs that are isolated or nohz_full; each of the two may be known without the other.
pub(super) fn kept_free(host: &HostView) -> CpuSet {
    let mut kept_free = host.isolation.scheduler_isolated().unwrap_or_default();
    kept_free.extend(host.isolation.tickless().unwrap_or_default().iter());
    kept_free
}

/// Of x86, whose counters the kernel's msr module shows to root.
fn looks(source: &dyn Source, host: &HostView, kept_free: &CpuSet) -> PerCpu<Look> {
    let has_counters = host.cpuinfo.as_ref().is_ok_and(|it| it.has("aperfmperf"));
    let online = match &host.topology.online {
        Ok(online) if has_counters => online,
        Ok(_) => {
            let because = "/proc/cpuinfo has no flag aperfmperf";
            return alone(Missing::not_here("APERF and MPERF", because));
        }
        Err(missing) => return alone(missing.clone()),
    };
    let others = online.minus(kept_free);
    let counters: Vec<Counter> = others.iter().map(Counter::Clocks).collect();
    let look = |(cpu, seen): (u32, Fact<String>)| {
        let parsed = |text: String| parsed(&Counter::Clocks(cpu), &text, Look::parse);
        (cpu, seen.and_then(parsed))
    };
    let left_alone = online.and(kept_free);
    let left_alone = left_alone.iter().map(|cpu| (cpu, Err(free(Counter::Clocks(cpu).path()))));
    others.iter().zip(source.look(&counters)).map(look).chain(left_alone).collect()
}

/// Why the counters of a CPU were not looked at.
fn free(what: String) -> Missing {
    const KEPT_FREE: &str =
        "the CPU is kept free of interruptions (isolated or nohz_full) and was not looked at";
    Missing { what, why: Why::Failed(KEPT_FREE.to_owned()) }
}

fn alone<T>(missing: Missing) -> PerCpu<T> {
    [(0, Err(missing))].into_iter().collect()
}

pub(super) fn parsed<T>(
    counter: &Counter,
    text: &str,
    parse: fn(&str) -> Result<T, parse::Expected>,
) -> Fact<T> {
    parse(text).map_err(|parse::Expected(it)| Missing::malformed(counter.path(), text, it))
}

/// A kernel has one driver: what the first policy has no file of, none has.
fn read_clocks(source: &dyn Source, policies: &mut [Policy]) {
    let mut lacks: [Option<Why>; 4] = [const { None }; 4];
    for policy in policies {
        let mut file = |at: usize, name: &str, read: &dyn Fn(&str) -> Fact<String>| {
            let path = policy.path(name);
            if let Some(why) = &lacks[at] {
                return Err(Missing { what: path, why: why.clone() });
            }
            let text = read(&path);
            // A copy that left it out of the first policy left it out of all.
            if let Err(Missing { why: why @ (Why::Absent | Why::NotCollected), .. }) = &text {
                lacks[at] = Some(why.clone());
            }
            text
        };
        let text = |path: &str| source.text(path);
        let of_cppc = |path: &str| by_cppc(source, policy, path);
        let clocks = [(0, "cpuinfo_cur_freq"), (1, "cpuinfo_avg_freq")]
            .map(|(at, name)| file(at, name, &text));
        let (auto_select, log) =
            (file(2, "auto_select", &of_cppc), file(3, "perf_limited", &of_cppc));
        let [cur, avg] = clocks;
        policy.cpuinfo_cur = of_text(&policy.path("cpuinfo_cur_freq"), cur, parse::kilohertz);
        policy.cpuinfo_avg = of_text(&policy.path("cpuinfo_avg_freq"), avg, parse::kilohertz);
        policy.auto_select = of_text(&policy.path("auto_select"), auto_select, parse::switch);
        policy.perf_limited = of_text(&policy.path("perf_limited"), log, Excursions::parse);
    }
}

fn of_text<T>(
    path: &str,
    text: Fact<String>,
    parse: fn(&str) -> Result<T, parse::Expected>,
) -> Fact<T> {
    let text = text?;
    parse(&text).map_err(|parse::Expected(it)| Missing::malformed(path, &text, it))
}

/// The log of the platform of one policy.
pub(super) fn read_log(source: &dyn Source, policy: &Policy) -> Fact<Excursions> {
    let path = policy.path("perf_limited");
    of_text(&path, by_cppc(source, policy, &path), Excursions::parse)
}

/// A file that cppc_cpufreq alone makes, and which says `<unsupported>` where the firmware has no such register (cppc_cpufreq_sysfs_show_u64).
fn by_cppc(source: &dyn Source, policy: &Policy, path: &str) -> Fact<String> {
    if policy.driver.as_ref().is_ok_and(|it| it != "cppc_cpufreq") {
        return Err(Missing::not_here(path, "the frequency driver is not cppc_cpufreq"));
    }
    let text = source.text(path)?;
    if parse::trimmed(&text) == "<unsupported>" {
        return Err(Missing::not_here(path, "the firmware does not support it"));
    }
    Ok(text)
}

/// The counters of the first CPU of each policy. They are looked at, but for CPUs that are kept free, where nothing better was seen.
fn feedback(
    source: &dyn Source,
    policies: &[Policy],
    kept_free: Option<&CpuSet>,
) -> PerCpu<Feedback> {
    let mut found: Vec<(u32, Fact<Feedback>)> = Vec::new();
    let mut known: Vec<([Option<Hertz>; 2], Fact<Levels>)> = Vec::new();
    for policy in policies {
        let Some(cpu) = policy.cpus.first() else { continue };
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/acpi_cppc");
        let counts = source.parsed(&format!("{folder}/feedback_ctrs"), Counts::parse);
        let is_first = found.is_empty();
        match &counts {
            Err(missing) if is_first && missing.is_absence() => {
                return alone(Missing::absent(format!("{folder}/feedback_ctrs")));
            }
            // A copy that left out those of the first CPU left out all.
            Err(missing) if is_first && missing.why == Why::NotCollected => {
                return alone(missing.clone());
            }
            _ => {}
        }
        let range = [&policy.cpuinfo_min, &policy.cpuinfo_max].map(|it| it.as_ref().ok().copied());
        let levels = match known.iter().find(|(it, _)| *it == range) {
            Some((_, levels)) => levels.clone(),
            None => {
                let levels = levels(source, &folder);
                known.push((range, levels.clone()));
                levels
            }
        };
        let feedback = |since_boot, levels| Feedback {
            look: Err(Missing::not_here("a second reading", "APERF and MPERF were looked at")),
            wraps_in: source
                .parsed(&format!("{folder}/wraparound_time"), parse::number)
                .map(Duration::from_secs),
            folder,
            levels,
            since_boot,
        };
        found.push((cpu, counts.and_then(|counts| Ok(feedback(counts, levels?)))));
    }
    if let Some(kept_free) = kept_free {
        look_at(source, &mut found, kept_free);
    }
    found.into_iter().collect()
}

fn look_at(source: &dyn Source, found: &mut [(u32, Fact<Feedback>)], kept_free: &CpuSet) {
    for (_, it) in found.iter_mut().filter(|(cpu, _)| kept_free.contains(*cpu)) {
        if let Ok(feedback) = it {
            feedback.look = Err(free(feedback.path("feedback_ctrs")));
        }
    }
    let is_left = |cpu: u32| !kept_free.contains(cpu);
    let known =
        found.iter().filter(|(cpu, _)| is_left(*cpu)).filter_map(|(_, it)| it.as_ref().ok());
    let counters: Vec<Counter> = known.map(|it| Counter::File(it.path("feedback_ctrs"))).collect();
    let seen = source.look(&counters);
    let others = found.iter_mut().filter(|(cpu, _)| is_left(*cpu));
    let known = others.filter_map(|(_, it)| it.as_mut().ok());
    for ((feedback, counter), seen) in known.zip(&counters).zip(seen) {
        feedback.look = seen.and_then(|text| parsed(counter, &text, Counts::parse_rise));
    }
}

/// The reference level is the nominal one where the firmware tells none (cppc_get_perf_caps in drivers/acpi/cppc_acpi.c); a clock of 0 is none.
fn levels(source: &dyn Source, folder: &str) -> Fact<Levels> {
    let number = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::number);
    let clock = |file: &str| number(file).ok().filter(|it| *it > 0).map(Hertz::from_mhz);
    let nominal = number("nominal_perf")?;
    if nominal == 0 {
        return Err(Missing::not_here(
            format!("{folder}/nominal_perf"),
            "the firmware leaves it at 0",
        ));
    }
    let reference = match number("reference_perf") {
        Ok(level) if level > 0 => level,
        Ok(_) => nominal,
        Err(missing) if missing.is_absence() => nominal,
        Err(missing) => return Err(missing),
    };
    Ok(Levels {
        reference,
        nominal,
        lowest: number("lowest_perf").unwrap_or(0),
        guaranteed: number("guaranteed_perf").ok().filter(|it| *it > 0),
        nominal_clock: clock("nominal_freq"),
        lowest_clock: clock("lowest_freq"),
    })
}

#[cfg(test)]
mod tests {
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
        let clocks =
            host.cpufreq.policies.as_ref().unwrap().iter().map(|it| it.cpuinfo_cur.clone());
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
        let look = "//- twice TSC, MPERF and APERF of CPU 1\n0 1 1 1\n50000000 125000001 12500001 5000001\n";
        let x86 = host("vendor_id : GenuineIntel\nflags : aperfmperf\n", &policy) + look;
        let Delivered { looks, feedback } = seen(&x86).delivered;
        assert_eq!(looks.get(1).unwrap().as_ref().unwrap().clock(), Hertz::from_mhz(1000));
        assert_eq!(looks.get(0).unwrap().as_ref().unwrap_err().reason(), "not-collected");
        assert!(feedback.all_known().is_err_and(facts::Missing::is_absence));
        assert!(seen(&x86.replace("aperfmperf", "apic")).delivered.looks.get(1).is_none());
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
        assert!(
            !capture.contains("feedback_ctrs") && !capture.contains("cpuinfo_cur"),
            "{capture}"
        );
        let without = "//- /proc/cpuinfo\nprocessor : 0\n//- /sys/devices/system/cpu/online\n0\n";
        assert!(seen(without).delivered.looks.all_known().is_err_and(facts::Missing::is_absence));
    }
}
