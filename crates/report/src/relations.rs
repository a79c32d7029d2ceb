//! What part a check's findings have in the diagnosis, in words: what they explain, and what explains them.

use crate::wording::capital;
use rules::diagnosis::explains::{Condition, EXPLAINS, Relation};
use rules::diagnosis::parts::{Kind, Part, part_of};

/// The part of a check in the diagnosis, a paragraph each; nothing where it has none.
pub(crate) fn paragraphs(check: &str) -> Vec<String> {
    let Some(part) = part_of(check) else { return Vec::new() };
    let mut paragraphs = vec![itself(part)];
    let relation = |it: &Relation, other: &str| format!("{other}{}", conditions(it.holds));
    let explains: Vec<String> = effects(check).map(|it| relation(it, it.effect)).collect();
    if !explains.is_empty() {
        paragraphs.push(format!("Its findings explain those of {}.", explains.join("; ")));
    }
    let explained: Vec<String> = causes(check).map(|it| relation(it, it.cause)).collect();
    if !explained.is_empty() {
        paragraphs.push(format!("They are explained by those of {}.", explained.join("; ")));
    }
    paragraphs
}

/// The relations in which a check's findings are the cause.
pub(crate) fn effects(check: &str) -> impl Iterator<Item = &'static Relation> {
    EXPLAINS.iter().filter(move |it| it.cause == check)
}

/// The relations in which they are the effect.
pub(crate) fn causes(check: &str) -> impl Iterator<Item = &'static Relation> {
    EXPLAINS.iter().filter(move |it| it.effect == check)
}

fn itself(part: &Part) -> String {
    let of = part.of.name();
    match (part.kind, part.party) {
        (Kind::Symptom, _) => {
            format!("A finding is a sign: {}. Something else causes it.", part.name)
        }
        (Kind::Mechanism, Some(party)) => {
            format!(
                "{} can take {of}; the party is, where a finding says no other: {}.",
                capital(part.name),
                party.name()
            )
        }
        (Kind::Mechanism, None) => {
            format!(
                "{} can take {of}; whose it is, each finding says where that is known.",
                capital(part.name)
            )
        }
    }
}

/// " where ...": what has to hold besides that both are on the same CPUs.
fn conditions(holds: &[Condition]) -> String {
    let words: Vec<String> = holds.iter().map(|it| condition(*it)).collect();
    if words.is_empty() { String::new() } else { format!(" (where {})", words.join(", and ")) }
}

fn condition(condition: Condition) -> String {
    match condition {
        Condition::CauseIsLive => "the cause was in force when the host was read".to_owned(),
        Condition::CauseMatters => {
            "the cause was in force when the host was read and is at least medium".to_owned()
        }
        Condition::CauseHolds => {
            "the cause held the clock down for at least half of a look".to_owned()
        }
        Condition::EffectIsLive => "the effect was seen at that time".to_owned(),
        Condition::EffectIsUnowned => {
            "the effect was seen at that time, is at least medium and its party is unknown"
                .to_owned()
        }
        Condition::AsPredicted => "the effect is as large as the cause predicts".to_owned(),
        Condition::EffectIsOf(party) => format!("the effect's party is: {}", party.name()),
        Condition::EffectIsAtLimit => "the effect is at the limit that it was given".to_owned(),
        Condition::CauseIsSeenByIt => "the fault is one that does this".to_owned(),
        Condition::Unprovable => "nothing that is read proves it: a candidate only".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::diagnosis::parts::PARTS;

    #[test]
    fn a_check_says_what_it_explains_and_what_explains_it() {
        assert_eq!(
            paragraphs("slow-governor"),
            [
                "The frequency governor can take clock; the party is, where a finding says no other: operating system.",
                "They are explained by those of prochot-asserted (where the cause was in force when the host was read and is at least medium); \
                 capped-frequency (where the cause was in force when the host was read, \
                 and the effect is at the limit that it was given)."
            ]
        );
        let prochot = paragraphs("prochot-asserted").join(" ");
        assert!(prochot.contains("explain those of clock-below-minimum (where "), "{prochot}");
        assert!(prochot.contains("bmc-power-cap (where "), "{prochot}");
        assert_eq!(paragraphs("offline-cpus"), [""; 0]);
    }

    #[test]
    fn every_relation_is_told_at_both_ends() {
        for it in EXPLAINS {
            assert!(paragraphs(it.cause).join(" ").contains(it.effect), "{}", it.cause);
            assert!(paragraphs(it.effect).join(" ").contains(it.cause), "{}", it.effect);
        }
        assert!(PARTS.iter().all(|it| !paragraphs(it.check).is_empty()));
    }
}
