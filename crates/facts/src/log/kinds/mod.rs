//! The table of messages: what the kernel says, in which words, and what it means for the clock.
//!
//! One file for each family, which names the sources of its wordings. An entry is a [`Kind`]; every wording was found in
//! the sources of 2.6.32, 3.10 (RHEL 7), 4.20, 6.1 or 6.12, or in a report.

mod adapters;
mod boot;
mod clocksource;
mod counters;
mod errors;
mod firmware;
mod frequency;
mod frequency_elsewhere;
mod guests;
mod heat;
mod idle;
mod ipmi;
mod links;
mod power;
mod stalls;
mod ticks;

/// What several wordings of the kernel have in common: one thing that happened.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// A noun for the thing, unique in the table.
    pub id: &'static str,
    /// What happened, as the end of a sentence: "the kernel gave up the TSC as unstable".
    pub title: &'static str,
    /// How much it matters where no check explains it.
    pub weight: Weight,
    /// The checks that it is evidence for, the likeliest first.
    pub checks: &'static [&'static str],
    /// What it means for the clock: whole sentences.
    pub means: &'static str,
    /// What to do: whole sentences; empty where there is nothing to do.
    pub fix: &'static str,
    /// The words.
    pub wordings: &'static [Wording],
}

/// Kernels, and the text of a message in them.
///
/// The kernels are those in whose sources the wording was found where it is not in all of them; empty for all, or where it was
/// not looked up. In the text `{}` stands for anything, `{n}` for a number and other names in braces for the number of that
/// name: `{cpu}`, `{total}`, `{ns}`, `{gbps}`. It is found anywhere in a message where a word begins, so that drivers' and devices'
/// names may stand before it.
pub type Wording = (&'static str, &'static str);

/// How much a message matters by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It explains others, and is nothing to report.
    Context,
    /// Worth knowing.
    Info,
    /// Costs little, or at times.
    Low,
    /// Costs some percent, or much at times.
    Medium,
    /// Costs tens of percent.
    High,
}

/// Every family, in the order of the files.
const FAMILIES: &[&[Kind]] = &[
    heat::KINDS,
    power::KINDS,
    clocksource::KINDS,
    frequency::KINDS,
    frequency_elsewhere::KINDS,
    firmware::KINDS,
    idle::KINDS,
    ticks::KINDS,
    stalls::KINDS,
    counters::KINDS,
    errors::KINDS,
    links::KINDS,
    adapters::KINDS,
    ipmi::KINDS,
    guests::KINDS,
    boot::KINDS,
];

/// Families about the machine itself, whose clock, power and firmware are not those of a guest on it.
const OF_MACHINE: &[&[Kind]] = &[
    heat::KINDS,
    power::KINDS,
    frequency::KINDS,
    frequency_elsewhere::KINDS,
    firmware::KINDS,
    idle::KINDS,
];

/// Kinds that say that what another one reports is over, each with the id of that.
const ENDS: &[(&str, &str)] = &[
    ("voltage-normal", "under-voltage"),
    ("occ-active", "occ-throttled"),
    ("power-supply-back", "power-supply-lost"),
    ("idle-injection-ended", "idle-injection"),
    ("machine-check-storm-over", "machine-check-storm"),
    ("adapter-cooler", "adapter-hot"),
];

impl Kind {
    /// The id of the kind whose end it reports.
    pub fn ends(&self) -> Option<&'static str> {
        ENDS.iter().find(|(end, _)| *end == self.id).map(|it| it.1)
    }

    /// Whether it is about the machine itself: in a guest such a message says what its hypervisor leaves out, and is no fault.
    pub fn is_of_machine(&self) -> bool {
        const OTHERS: [&str; 5] = [
            "tsc-calibration-doubtful",
            "microcode-failed",
            "energy-bias-changed",
            "fast-strings-off",
            "counters-taken",
        ];
        OTHERS.contains(&self.id) || OF_MACHINE.iter().copied().flatten().any(|it| it == self)
    }
}

/// Every kind of message.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    FAMILIES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_kinds_share_an_id_or_a_wording() {
        let (mut ids, mut texts) = (BTreeSet::new(), BTreeSet::new());
        let mut twice: Vec<&str> = Vec::new();
        for kind in kinds() {
            assert!(ids.insert(kind.id), "{}", kind.id);
            twice.extend(
                kind.wordings.iter().map(|(_, text)| *text).filter(|it| !texts.insert(*it)),
            );
        }
        assert_eq!(twice, [""; 0]);
    }

    #[test]
    fn what_ends_and_what_is_ended_are_kinds() {
        let has = |id: &str| kinds().any(|it| it.id == id);
        assert!(ENDS.iter().all(|(end, ended)| has(end) && has(ended)));
    }

    #[test]
    fn a_kind_says_what_it_means_and_what_to_do_in_sentences_and_its_title_is_none() {
        let is_right = |it: &&Kind| {
            let Kind { title, means, fix, wordings, .. } = it;
            let is_sentence =
                |it: &str| it.ends_with(['.', ')']) && !it.contains("  ") && !it.starts_with(' ');
            let is_advised = it.weight == Weight::Context || is_sentence(fix);
            is_sentence(means)
                && is_advised
                && !title.ends_with('.')
                && !title.contains(": ")
                && !wordings.is_empty()
        };
        let wrong: Vec<&str> = kinds().filter(|it| !is_right(it)).map(|it| it.id).collect();
        assert_eq!(wrong, [""; 0]);
    }
}
