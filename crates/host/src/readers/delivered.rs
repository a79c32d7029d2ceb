//! Reads what the hardware delivers of the clock that is asked of it: counters, twice where the machine can be looked at, and the clocks that
//! frequency drivers read from the hardware.
//!
//! A reading interrupts the CPU it is about, and firmware answers some of them slowly. So levels are read once for all policies of the
//! same range, and nothing is read where no frequency driver asks for a clock. CPUs that are kept free of interruptions (isolated, nohz_full)
//! are not looked at.

use crate::{Counter, Source};
use facts::cpu::cpufreq::Policy;
use facts::cpu::delivered::{Counts, Delivered, Excursions, Feedback, Levels, Look};
use facts::system::cpu_times::Worked;
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
            worked: None,
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
    let mut meanwhile = Meanwhile { source, worked: None };
    let looks = looks(&mut meanwhile, host, &kept_free);
    let policies = host.cpufreq.policies.as_deref_mut().unwrap_or_default();
    read_clocks(source, policies);
    let is_seen = looks.known().next().is_some();
    let feedback = feedback(&mut meanwhile, policies, (!is_seen).then_some(&kept_free));
    if meanwhile.worked.is_none() {
        // Without a counter of the clock the samples of the kernel tell it, of CPUs that work.
        meanwhile.look(&[]);
    }
    host.delivered = Delivered { looks, feedback, worked: meanwhile.worked };
}

/// Looks at counters, and at how much the CPUs work meanwhile.
struct Meanwhile<'a> {
    source: &'a dyn Source,
    worked: Option<Worked>,
}

impl Meanwhile<'_> {
    fn look(&mut self, counters: &[Counter]) -> Vec<Fact<String>> {
        let mut all = counters.to_vec();
        all.push(Counter::Times);
        let mut seen = self.source.look(&all);
        let times = seen.pop().and_then(Result::ok);
        self.worked = times.and_then(|it| Worked::parse(&it).ok()).or(self.worked.take());
        seen
    }
}

/// CPUs that are isolated or nohz_full; each of the two may be known without the other.
pub(super) fn kept_free(host: &HostView) -> CpuSet {
    let mut kept_free = host.isolation.scheduler_isolated().unwrap_or_default();
    kept_free.extend(host.isolation.tickless().unwrap_or_default().iter());
    kept_free
}

/// Of x86, whose counters the kernel's msr module shows to root.
fn looks(meanwhile: &mut Meanwhile<'_>, host: &HostView, kept_free: &CpuSet) -> PerCpu<Look> {
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
    others.iter().zip(meanwhile.look(&counters)).map(look).chain(left_alone).collect()
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
    meanwhile: &mut Meanwhile<'_>,
    policies: &[Policy],
    kept_free: Option<&CpuSet>,
) -> PerCpu<Feedback> {
    let source = meanwhile.source;
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
        look_at(meanwhile, &mut found, kept_free);
    }
    found.into_iter().collect()
}

fn look_at(meanwhile: &mut Meanwhile<'_>, found: &mut [(u32, Fact<Feedback>)], kept_free: &CpuSet) {
    for (_, it) in found.iter_mut().filter(|(cpu, _)| kept_free.contains(*cpu)) {
        if let Ok(feedback) = it {
            feedback.look = Err(free(feedback.path("feedback_ctrs")));
        }
    }
    let is_left = |cpu: u32| !kept_free.contains(cpu);
    let known =
        found.iter().filter(|(cpu, _)| is_left(*cpu)).filter_map(|(_, it)| it.as_ref().ok());
    let counters: Vec<Counter> = known.map(|it| Counter::File(it.path("feedback_ctrs"))).collect();
    let seen = meanwhile.look(&counters);
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
mod tests;
