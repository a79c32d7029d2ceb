//! Who held the clock down on the machine of a result when it began, as the diagnosis of an audit says.

use facts::HostView;
use rules::diagnosis::{Chain, chains};
use rules::finding::Moment;
use rules::severity::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A chain of the diagnosis: what was lost, and who took it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// The severity of the chain.
    pub severity: String,
    /// The checks whose findings it joins, the cause first.
    pub findings: Vec<String>,
    /// What was lost: clock, turbo or time.
    pub lost: String,
    /// The share of that of each CPU concerned, 0 to 1; null where it is unknown.
    pub share: Option<f64>,
    /// What the share says of the true one: measured, at least or at most.
    pub bound: Option<String>,
    /// The CPUs, as an audit names them; null where it is not about CPUs.
    pub cpus: Option<String>,
    /// What caused it; null where only the sign was found.
    pub mechanism: Option<String>,
    /// What was seen, where the cause is unknown.
    pub sign: Option<String>,
    /// Whose the mechanism was; null where that is unknown.
    pub party: Option<String>,
    /// The program that did it, with its number.
    pub program: Option<String>,
    /// Whether a log or a count alone shows it, which proves no present.
    pub since_boot: bool,
}

/// The chains of a host that are medium or worse, the most severe first. A host that nobody looked at has none.
pub fn of(host: &HostView) -> Vec<Held> {
    let audit = rules::audit::audit(host);
    let chains = chains(&audit);
    chains.iter().filter(|it| it.severity() >= Severity::Medium).map(held).collect()
}

fn held(chain: &Chain<'_>) -> Held {
    let has_cause = chain.cause().is_some();
    let mechanism = || chain.mechanism().to_owned();
    let loss = chain.loss();
    Held {
        severity: chain.severity().name().to_owned(),
        findings: chain.links().map(|it| it.check.id.to_owned()).collect(),
        lost: chain.of().name().to_owned(),
        share: loss.map(|it| it.share),
        bound: loss.map(|it| it.bound.name().to_owned()),
        cpus: chain.cpus().map(|it| it.to_string()),
        mechanism: has_cause.then(mechanism),
        sign: (!has_cause).then(mechanism),
        party: chain.party().map(|it| it.name().to_owned()),
        program: chain.program().map(str::to_owned),
        since_boot: chain.moment() == Moment::SinceBoot,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::{Captured, view};

    fn host(limit: u32) -> HostView {
        let file = "//- /sys/devices/system/cpu/cpufreq/policy0";
        let text = format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 94\n\
             model name : X CPU @ 2.80GHz\nflags : ida\n//- /sys/devices/system/cpu/online\n0\n\
             {file}/affected_cpus\n0\n{file}/scaling_driver\nacpi-cpufreq\n{file}/scaling_governor\nperformance\n\
             {file}/scaling_max_freq\n{limit}\n{file}/scaling_min_freq\n800000\n{file}/cpuinfo_max_freq\n2801000\n\
             {file}/cpuinfo_min_freq\n800000\n"
        );
        view(&Captured::excerpt(&text).unwrap())
    }

    #[test]
    fn a_result_keeps_who_holds_the_clock_and_nothing_where_nobody_does() {
        let held = of(&host(1_500_000));
        assert_eq!(held.len(), 1);
        let Held { findings, mechanism, party, bound, .. } = &held[0];
        assert_eq!(*findings, ["capped-frequency"]);
        assert_eq!(mechanism.as_deref(), Some("scaling_max_freq (1500 MHz)"));
        assert_eq!(
            (party.as_deref(), bound.as_deref()),
            (Some("operating system"), Some("at most"))
        );
        assert_eq!(of(&host(2_801_000)), []);
    }
}
