//! What part a check's findings have in the diagnosis, in words: what they explain, and what explains them.

use crate::wording::listed;
use rules::diagnosis::explains::{Condition, EXPLAINS, Relation};
use rules::diagnosis::parts::{Kind, Part, part_of};
use rules::party::Party;

/// The part of a check in the diagnosis, a paragraph each; nothing where it has none.
pub(crate) fn paragraphs(check: &str) -> Vec<String> {
    let Some(part) = part_of(check) else { return Vec::new() };
    let explains = grouped(effects(check), |it| it.effect);
    let explained = grouped(causes(check), |it| it.cause);
    let of_effects = explains.into_iter().map(|(holds, ids)| sentence(End::Cause, holds, &ids));
    let of_causes = explained.into_iter().map(|(holds, ids)| sentence(End::Effect, holds, &ids));
    let sentences = [of_effects.collect::<Vec<_>>(), of_causes.collect()];
    let told = sentences.into_iter().filter(|it| !it.is_empty()).map(|it| it.join(" "));
    std::iter::once(itself(part)).chain(told).collect()
}

/// Relations with the same conditions, each with the checks at their other end.
fn grouped<'a>(
    relations: impl Iterator<Item = &'a Relation>,
    other: fn(&Relation) -> &'static str,
) -> Vec<(&'static [Condition], Vec<&'static str>)> {
    let mut groups: Vec<(&'static [Condition], Vec<&'static str>)> = Vec::new();
    for it in relations {
        match groups.iter_mut().find(|(holds, _)| *holds == it.holds) {
            Some((_, ids)) => ids.push(other(it)),
            None => groups.push((it.holds, vec![other(it)])),
        }
    }
    groups
}

/// At which end of a relation the check stands that the text is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Cause,
    Effect,
}

/// "It explains x on the same CPUs if it was there when the host was read."
fn sentence(end: End, holds: &[Condition], others: &[&str]) -> String {
    let others = listed(others, if end == End::Cause { "and" } else { "or" });
    if holds.contains(&Condition::Unprovable) {
        return match end {
            End::Cause => format!(
                "It is only a possible cause of {others}: nothing that can be read proves it."
            ),
            End::Effect => {
                format!("A possible cause only is {others}: nothing that can be read proves it.")
            }
        };
    }
    let clauses: Vec<String> = holds.iter().map(|it| condition(*it, end)).collect();
    let clauses: Vec<&str> = clauses.iter().map(String::as_str).collect();
    let first = match end {
        End::Cause => format!("It explains {others} on the same CPUs"),
        End::Effect => format!("It is explained by {others} on the same CPUs"),
    };
    match clauses.is_empty() {
        true => format!("{first}."),
        false => format!("{first} if {}.", listed(&clauses, "and")),
    }
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
    let Part { name, .. } = part;
    let of = part.of.name();
    match (part.kind, part.party) {
        (Kind::Symptom, _) => {
            format!(
                "In a diagnosis it is a sign, {name}: its cause is another finding, where one is found."
            )
        }
        (Kind::Mechanism, Some(party)) => {
            format!(
                "In a diagnosis it is a cause: {name} can cost {of}. Whose it is, unless a finding says otherwise: {}.",
                whose(party)
            )
        }
        (Kind::Mechanism, None) => {
            format!(
                "In a diagnosis it is a cause: {name} can cost {of}. The finding says whose it is, where that is known."
            )
        }
    }
}

fn whose(party: Party) -> String {
    match party {
        Party::Firmware => "the firmware's".to_owned(),
        Party::Physics => "that of power and heat".to_owned(),
        Party::Program => "a program's".to_owned(),
        party => format!("the {}'s", party.name()),
    }
}

/// What has to hold, as a clause after "if". "It" is the finding that the text is about.
fn condition(condition: Condition, end: End) -> String {
    let [cause, effect] = match end {
        End::Cause => ["it", "the other finding"],
        End::Effect => ["the other finding", "it"],
    };
    match condition {
        Condition::CauseIsLive => format!("{cause} was there when the host was read"),
        Condition::CauseMatters => {
            format!("{cause} was there when the host was read and is medium or worse")
        }
        Condition::CauseHolds => {
            format!("{cause} held the clock down for at least half of the time that was watched")
        }
        Condition::EffectIsLive => format!("{effect} was seen at that moment"),
        Condition::EffectIsUnowned => {
            format!(
                "{effect} was seen at that moment, is medium or worse and does not say whose it is"
            )
        }
        Condition::AsPredicted => format!("the clock is about as low as {cause} predicts"),
        Condition::EffectIsOf(party) => {
            format!("{effect} says that {} set the limit", who(party))
        }
        Condition::EffectIsAtLimit => format!("{effect} shows a clock at that limit"),
        Condition::CauseIsSeenByIt => "the fault is known to do that".to_owned(),
        Condition::Unprovable => "it can be proved".to_owned(),
    }
}

fn who(party: Party) -> String {
    match party {
        Party::Physics => "power or heat".to_owned(),
        Party::Firmware => "firmware".to_owned(),
        Party::Program => "a program".to_owned(),
        party => format!("the {}", party.name()),
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
                "In a diagnosis it is a cause: the frequency governor can cost clock. Whose it is, unless a finding says otherwise: the operating system's.",
                "It is explained by prochot-asserted on the same CPUs if the other finding was there when the host was read and is medium or worse. \
                 It is explained by capped-frequency on the same CPUs if the other finding was there when the host was read and it shows a clock at that limit."
            ]
        );
        let prochot = paragraphs("prochot-asserted").join(" ");
        let same = "It explains clock-below-minimum, clock-not-delivered and slow-governor on the same CPUs if it was there";
        assert!(prochot.contains(same), "{prochot}");
        assert!(prochot.contains("does not say whose it is"), "{prochot}");
        let limit = paragraphs("low-power-limit").join(" ");
        assert!(
            limit.contains(
                "It is only a possible cause of clock-below-minimum and clock-not-delivered: "
            ),
            "{limit}"
        );
        assert_eq!(paragraphs("offline-cpus"), [""; 0]);
    }

    #[test]
    fn every_relation_is_told_at_both_ends_in_words_of_its_own() {
        for it in EXPLAINS {
            assert!(paragraphs(it.cause).join(" ").contains(it.effect), "{}", it.cause);
            assert!(paragraphs(it.effect).join(" ").contains(it.cause), "{}", it.effect);
            let told = [paragraphs(it.cause), paragraphs(it.effect)].concat().join(" ");
            // Words of the code are none of the reader's.
            for word in ["the cause was", "the effect", "party is"] {
                assert!(!told.contains(word), "{told}");
            }
        }
        assert!(PARTS.iter().all(|it| !paragraphs(it.check).is_empty()));
    }
}
