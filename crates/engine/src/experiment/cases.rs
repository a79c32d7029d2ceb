//! The published cases as experiments that are ready to run, each of what this machine has.

use super::trial_env::planned;
use anyhow::{Result, anyhow};
use facts::{Fact, HostView};
use host::Live;
use lab::experiment::{Design, Factor};

struct Case {
    name: &'static str,
    /// What it settles, in a line.
    title: &'static str,
    /// The machine of the test bench that has all of it.
    bench: &'static str,
    /// The experiment, or what the machine lacks for it.
    design: fn(&HostView) -> Result<Design, String>,
}

const CASES: &[Case] = &[
    Case {
        name: "ondemand",
        title: "a governor that scales the clock on demand, against performance",
        bench: "sound",
        design: ondemand,
    },
    Case {
        name: "tick",
        title: "a CPU without timer ticks (nohz_full), against an isolated one that has them",
        bench: "tickless",
        design: tick,
    },
    Case {
        name: "turbo",
        title: "idle states limited to C1, turbo and governor, with one thread and with all",
        bench: "throttled",
        design: turbo,
    },
    Case {
        name: "clock-modulation",
        title: "a duty cycle that firmware left on, against none",
        bench: "throttled",
        design: clock_modulation,
    },
    Case {
        name: "kipmid",
        title: "how long kipmi0 may poll a management controller, with the CPUs idle and busy",
        bench: "tickless",
        design: kipmid,
    },
];

/// Their names, for help.
pub fn names() -> String {
    let names: Vec<&str> = CASES.iter().map(|it| it.name).collect();
    names.join(", ")
}

/// The design of a case for this machine.
///
/// Errors: there is no such case; the machine lacks what it needs.
pub fn design(name: &str, host: &HostView) -> Result<Design> {
    let case = CASES.iter().find(|it| it.name == name).ok_or_else(|| {
        let list: Vec<String> =
            CASES.iter().map(|it| format!("case:{} ({})", it.name, it.title)).collect();
        anyhow!("there is no case {name:?}; there are {}", list.join(", "))
    })?;
    let design = (case.design)(host).map_err(|why| {
        anyhow!(
            "case:{name} cannot be run here: {why}. An emulated machine that has it is in the source tree: `cargo xtask guest \
             --boot {} -- SCRIPT`",
            case.bench
        )
    })?;
    // What it has to leave out.
    let rest = if design.name.is_empty() { String::new() } else { format!("; {}", design.name) };
    Ok(Design { name: format!("case:{name}: {}{rest}", case.title), ..design })
}

fn of(factors: Vec<Factor>, workloads: &[&str]) -> Design {
    let workloads = workloads.iter().map(|it| (*it).to_owned()).collect();
    Design { factors, workloads, ..Design::default() }
}

fn factor(name: &str, levels: &[&str]) -> Factor {
    Factor::named(name, levels.iter().map(|it| (*it).to_owned()).collect())
}

/// What a missing fact says, as the reason of a refusal.
fn known<T>(fact: &Fact<T>) -> Result<&T, String> {
    fact.as_ref().map_err(ToString::to_string)
}

/// Whether this machine takes all of these levels of a setting, by planning them; why not, where it does not.
fn takes(host: &HostView, factor: Factor) -> Result<Factor, String> {
    takes_with(host, factor, false)
}

fn takes_with(host: &HostView, factor: Factor, consent: bool) -> Result<Factor, String> {
    let requests = factor.levels.iter().filter_map(|level| factor.request(level));
    for request in requests {
        planned(&[request], host, &Live::this_machine(), consent).map_err(|why| why.to_string())?;
    }
    Ok(factor)
}

fn ondemand(host: &HostView) -> Result<Design, String> {
    // Under intel_pstate and amd-pstate in active mode powersave is the one that scales on demand.
    let scaling = ["ondemand", "schedutil", "conservative", "powersave"];
    let against = |it: &str| takes(host, factor("governor", &["performance", it]));
    let first = against(scaling[0]);
    let governor = scaling[1..].iter().fold(first, |found, it| found.or_else(|_| against(it)))?;
    Ok(of(vec![governor], &["cpu-loop", "wakeup"]))
}

fn tick(host: &HostView) -> Result<Design, String> {
    let tickless = known(&host.isolation.nohz_full).map_err(|why| {
        format!("{why}: it takes a kernel with CONFIG_NO_HZ_FULL, and nohz_full= at boot")
    })?;
    let isolated = known(&host.isolation.isolated)?;
    let quiet = tickless.last().ok_or("no CPU is nohz_full: boot with nohz_full=")?;
    let ticking = isolated.iter().find(|it| !tickless.contains(*it));
    let ticking = ticking.ok_or(
        "no CPU is isolated and has its ticks: boot with isolcpus= of one CPU more than nohz_full=",
    )?;
    let (ticking, quiet) = (ticking.to_string(), quiet.to_string());
    Ok(of(vec![factor("cpu", &[&ticking, &quiet])], &["cpu-loop"]))
}

fn turbo(host: &HostView) -> Result<Design, String> {
    let tables = known(&host.cpuidle.tables)?;
    let states = tables.first().ok_or("no CPU lists its idle states")?;
    let mut latencies: Vec<u64> =
        states.states.iter().filter_map(|it| it.latency.as_ref().ok().copied()).collect();
    latencies.retain(|it| *it > 0);
    latencies.sort_unstable();
    let [shallow, _deeper, ..] = latencies[..] else {
        return Err("it has no idle state deeper than C1".to_owned());
    };
    let limit =
        takes(host, factor("cpu-dma-latency", &[Factor::AS_FOUND, &format!("{shallow}us")]))?;
    let turbo = takes(host, factor("turbo", &["on", "off"]));
    let governor = takes(host, factor("governor", &["performance", "powersave"]));
    let (factors, without) = taken([Ok(limit), turbo, governor]);
    Ok(Design { name: without, ..of(factors, &["cpu-loop", "all-cores", "wakeup"]) })
}

/// Those that this machine takes, and in words which it does not, with why.
fn taken<const N: usize>(of: [Result<Factor, String>; N]) -> (Vec<Factor>, String) {
    let refused = of.iter().filter_map(|it| it.as_ref().err());
    let told: Vec<String> = refused.map(|why| format!("left out: {why}")).collect();
    (of.into_iter().flatten().collect(), told.join("; "))
}

fn clock_modulation(host: &HostView) -> Result<Design, String> {
    let check = rules::checks::find("clock-modulation").ok_or("there is no such check")?;
    if (check.run)(host).map_err(|missing| missing.to_string())?.is_empty() {
        return Err("no CPU has its clock modulated".to_owned());
    }
    // Whether it may be brought back for every other trial is asked where the arms are planned.
    let consent = true;
    let off =
        takes_with(host, factor("on-demand-modulation", &[Factor::AS_FOUND, "off"]), consent)?;
    Ok(of(vec![off], &["cpu-loop", "all-cores"]))
}

fn kipmid(host: &HostView) -> Result<Design, String> {
    let values = ["0", "5000", "2000", "1000", "500", "200", "100", "50"];
    let busy = takes(host, factor("kipmid-max-busy", &values))?;
    // A load is beside the work, which has to have a CPU of its own for it.
    let cpu =
        host::probe::allowed().map_err(|why| why.to_string())?.last().ok_or("it has no CPU")?;
    let work = format!("ipmi-roundtrip --cpus {cpu}");
    Ok(of(vec![busy, factor("load", &[Factor::IDLE, Factor::ALL_CORES])], &[&work]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_says_what_it_leaves_out_and_why() {
        let turbo = Ok(factor("turbo", &["on", "off"]));
        let refused = |why: &str| Err(format!("{why}=performance: there is no driver"));
        let (factors, told) = taken([turbo, refused("governor")]);
        assert_eq!((factors.len(), &*factors[0].name), (1, "turbo"));
        assert_eq!(told, "left out: governor=performance: there is no driver");
        assert_eq!(taken([Ok(factor("turbo", &["on", "off"]))]).1, "");
    }
}
