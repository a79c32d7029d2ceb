//! The documentation of every list there is: checks, metrics, lines of the ledger, settings, workloads, advisories, terms.

use rules::documentation::Entry;
use rules::metrics::METRICS;

/// Every entry of every list, in display order.
pub fn entries() -> impl Iterator<Item = Entry> {
    rules::documentation::entries().chain(lab::workloads::entries())
}

/// The entries that a word names: those with this id, at most one of each list (`ticks` is a metric and a line of the ledger);
/// of a term, also what it is about, after it; else those that the word stands for, the most likely one first.
pub fn find(word: &str) -> Vec<Entry> {
    let word = word.trim().trim_end_matches([':', ',', '.']).to_lowercase();
    let id = word.trim_end_matches('#').replace(['_', ' '], "-");
    let named: Vec<Entry> = entries().filter(|entry| entry.id == id).collect();
    // A term says what a word stands for; what is about that comes after it.
    if named.iter().any(|it| it.list != TERM) {
        return named;
    }
    let of_column = METRICS.iter().filter(|it| it.column.to_lowercase() == word).map(|it| it.id);
    let synonyms = SYNONYMS.iter().filter(|(words, _)| words.contains(&&*word));
    let of_column = of_column.chain(residency_of(&word));
    let ids: Vec<&str> = of_column.chain(synonyms.flat_map(|(_, ids)| *ids).copied()).collect();
    let about = ids.iter().flat_map(|id| entries().filter(move |entry| entry.id == *id));
    named.into_iter().chain(about.filter(|it| it.list != TERM)).collect()
}

/// The list of words.
const TERM: &str = "term";

/// The metric of a column of residencies, which turbostat has for every state: `CPU%c6`, `Pkg%pc2`.
fn residency_of(word: &str) -> Option<&'static str> {
    let (of, state) = word.split_once('%')?;
    let state = state.trim_start_matches('p').strip_prefix('c')?;
    let is_state = !state.is_empty() && state.chars().all(|it| it.is_ascii_alphanumeric());
    match of {
        "cpu" | "core" if is_state => Some("core-residency"),
        "pkg" if is_state => Some("package-residency"),
        _ => None,
    }
}

/// Words that people type, in lower case, and the ids of what they are about.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["hwp", "speed shift", "epp"], &["energy-performance-preference", "power-saving-bias"]),
    (&["epb", "x86_energy_perf_policy"], &["energy-perf-bias", "power-saving-bias"]),
    (&["prochot", "prochot#"], &["prochot-asserted", "bd-prochot"]),
    (&["chtc", "ppt", "hsmp", "apml"], &["capped-frequency", "prochot-asserted"]),
    (&["pbf", "sst-bf", "sst-tf", "sst-cp", "sst-pp"], &["speed-select-profile"]),
    (&["elc"], &["uncore-capped"]),
    (&["bd prochot"], &["bd-prochot", "prochot-asserted"]),
    (&["hpet", "acpi_pm", "tsc", "kvm-clock"], &["slow-clocksource", "clocksource"]),
    (&["kipmi0", "kipmid"], &["kipmid-busy", "kipmid-max-busy", "ipmi-without-interrupt"]),
    (&["ipmi", "bmc"], &["kipmid-busy", "bmc-power-cap", "ipmi-without-interrupt"]),
    (&["dcmi", "power cap", "power capping"], &["bmc-power-cap", "low-power-limit"]),
    (
        &["scaling_governor", "powersave", "performance", "schedutil", "ondemand", "conservative"],
        &["governor", "slow-governor"],
    ),
    (&["scaling_max_freq", "bios_limit"], &["capped-frequency", "scaling-max"]),
    (&["scaling_min_freq"], &["scaling-min"]),
    (&["no_turbo", "boost", "turbo boost", "cpb"], &["turbo", "turbo-off"]),
    (&["intel_pstate"], &["intel-pstate", "intel-pstate-status"]),
    (&["amd_pstate"], &["amd-pstate-status"]),
    (
        &["cpupower", "tuned", "tuned-adm", "tlp", "power-profiles-daemon"],
        &["tuner", "rival-tuner"],
    ),
    (
        &["c-state", "c-states", "cstate", "cstates", "c6", "idle states"],
        &["idle-state", "max-cstate", "core-residency", "turbo-headroom-lost"],
    ),
    (&["intel_idle", "max_cstate", "processor.max_cstate"], &["max-cstate", "no-idle-driver"]),
    (&["haltpoll", "menu", "teo"], &["idle-governor", "slow-idle-governor"]),
    (&["pl1", "pl2", "rapl", "tdp", "power limit"], &["low-power-limit", "watts"]),
    (
        &["t-state", "t-states", "duty cycle", "clock_modulation", "throttling"],
        &["clock-modulation", "on-demand-modulation", "thermal-throttling"],
    ),
    (&["uncore", "mesh", "ring"], &["uncore-capped", "uncore-max"]),
    (&["nohz", "nohz_full", "tickless"], &["nohz-full", "nohz-full-ineffective", "tick-stops"]),
    (&["rcu_nocbs", "rcu"], &["rcu-nocbs", "rcu-callbacks-on-isolated"]),
    (&["steal time", "%st", "st"], &["steal", "stolen-time", "stolen"]),
    (
        &["cpu.max", "cfs quota", "quota", "nr_throttled", "cgroup"],
        &["cgroup-quota-throttling", "cgroup-quota"],
    ),
    (
        &[
            "kworker",
            "kworkers",
            "ksoftirqd",
            "kswapd",
            "kswapd0",
            "kcompactd",
            "khugepaged",
            "cppc_fie",
            "kthread",
        ],
        &["busy-kernel-threads", "kernel-threads"],
    ),
    (&["smis", "system management interrupt"], &["smi", "smi-storm"]),
    (&["irqbalance", "smp_affinity"], &["irq-affinity", "irqs-on-isolated"]),
    (&["watchdog", "nmi watchdog"], &["nmi-watchdog", "nmi-watchdog-tick"]),
    (&["split lock", "split_lock_detect"], &["split-lock-mitigate", "split-lock-penalty"]),
    (&["aperf", "mperf"], &["busy-mhz", "average-mhz"]),
    (&["pkgtmp", "coretmp"], &["temperature"]),
    (&["pkgwatt", "corwatt", "ramwatt", "gfxwatt"], &["watts"]),
    (&["pkg_%", "ram_%", "corethr"], &["throttle-time", "throttle-events"]),
    (&["uncmhz"], &["uncore-capped", "uncore-max"]),
    (&["ipc"], &["productive-cycles"]),
    (&["poll"], &["idle-requested"]),
    (&["nmi"], &["interrupts", "nmi-watchdog-tick"]),
    (&["numa", "numa node"], &["nic-far-from-cpu"]),
    (&["pcie", "lnksta"], &["pcie-link-degraded", "slot-narrower-than-ports"]),
    (&["fsync", "commit latency", "pg_test_fsync"], &["commit"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(word: &str) -> Vec<&'static str> {
        find(word).iter().map(|it| it.id).collect()
    }

    #[test]
    fn words_that_people_type_lead_to_what_they_are_about() {
        assert_eq!(found("Bzy_MHz"), ["busy-mhz"]);
        assert_eq!(found("HWP"), ["hwp", "energy-performance-preference", "power-saving-bias"]);
        assert_eq!(found("PROCHOT#"), ["prochot", "prochot-asserted", "bd-prochot"]);
        assert_eq!(found("PLR"), ["plr"]);
        assert_eq!(found("SMI"), ["smi", "smi"]);
        assert_eq!(found("hpet")[0], "slow-clocksource");
        assert_eq!(found("kipmi0:")[0], "kipmid-busy");
        assert_eq!(found("Slow_Governor"), ["slow-governor"]);
        assert_eq!(found("ticks"), ["ticks", "ticks"]);
        assert!(found("perf: interrupt took too long").is_empty());
    }

    #[test]
    fn every_synonym_is_in_lower_case_and_of_ids_that_exist() {
        for (words, ids) in SYNONYMS {
            for word in *words {
                assert_eq!(*word, word.to_lowercase());
                let is_id = entries().any(|it| it.id == *word && it.list != TERM);
                assert!(!is_id, "{word} is an id");
            }
            for id in *ids {
                assert!(entries().any(|it| it.id == *id), "{id}");
            }
        }
    }
}
