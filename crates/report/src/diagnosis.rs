//! A chain of a diagnosis in words: how much is lost, who takes it, by what, and what to do.

use crate::wording::{capital, listed};
use facts::watched;
use lab::held::Held;
use rules::diagnosis::parts::Lost;
use rules::diagnosis::{Because, Bound, Candidate, Chain, ChainLoss};
use rules::finding::Moment;
use rules::looks::sights_of;
use rules::party::Party;

/// How many candidates a sentence names.
const MOST_NAMED: usize = 3;

/// The chain in two or three sentences.
pub fn sentences(chain: &Chain<'_>) -> String {
    let scope = chain.cpus().map_or(String::new(), |it| format!(" on {it}"));
    let whole = match chain.loss().filter(|_| chain.moment() == Moment::Now) {
        Some(loss) => format!("{}{scope}{}", lost(chain, loss), cause(chain)),
        None => without_loss(chain, &scope),
    };
    match to_do(chain) {
        Some(action) => format!("{whole}. {action}."),
        None => whole + ".",
    }
}

/// What a result has kept of a chain, as the audit of that moment said it, without what to do and without a stop.
pub fn recorded(held: &Held) -> String {
    let named = |all: [Lost; 3]| all.into_iter().find(|it| it.name() == held.lost);
    let of = named([Lost::Clock, Lost::Turbo, Lost::Time]).unwrap_or(Lost::Clock);
    let scope = held.cpus.as_ref().map_or(String::new(), |it| format!(" on {it}"));
    let party = Party::ALL.into_iter().find(|it| Some(it.name()) == held.party.as_deref());
    let who = party.map(|it| who_of(it, held.program.as_deref()));
    let takes = if of == Lost::Time { "takes it" } else { "holds it down" };
    let cause = match (&held.mechanism, who) {
        (Some(mechanism), Some(who)) => format!(": {who} {takes} by {mechanism}"),
        (Some(mechanism), None) => format!(": {mechanism} {takes}"),
        (None, _) => ", and the cause is unknown".to_owned(),
    };
    let bounds = [Bound::Measured, Bound::AtLeast, Bound::AtMost];
    let bound = bounds.into_iter().find(|it| Some(it.name()) == held.bound.as_deref());
    match held.share.zip(bound).filter(|_| !held.since_boot) {
        Some((share, bound)) => {
            format!("{}{scope}{cause}", lost_of(of, ChainLoss { share, bound }))
        }
        None if held.since_boot => format!("At some time since boot{scope}{cause}"),
        None => {
            let sign = held.sign.as_deref().unwrap_or_else(|| what_of(of));
            capital(&format!("{sign}{scope}{cause}"))
        }
    }
}

fn what(chain: &Chain<'_>) -> &'static str {
    what_of(chain.of())
}

fn what_of(lost: Lost) -> &'static str {
    match lost {
        Lost::Clock => "the clock",
        Lost::Turbo => "the clock of a core that is busy alone",
        Lost::Time => "the time",
    }
}

/// How much is lost: "Up to 40 % of the clock is lost".
fn lost(chain: &Chain<'_>, loss: ChainLoss) -> String {
    lost_of(chain.of(), loss)
}

fn lost_of(of: Lost, loss: ChainLoss) -> String {
    let share = format!("{:.0} % of {}", 100.0 * loss.share, what_of(of));
    match loss.bound {
        Bound::Measured => format!("{share} is lost"),
        Bound::AtLeast => format!("At least {share} is lost"),
        Bound::AtMost => format!("Up to {share} can be lost"),
    }
}

/// Who takes it, by what, after how much is lost.
fn cause(chain: &Chain<'_>) -> String {
    if chain.cause().is_none() {
        return unexplained(chain);
    }
    let (takes, mechanism) = match chain.of() {
        Lost::Time => ("takes it", chain.mechanism()),
        Lost::Clock | Lost::Turbo => ("holds it down", chain.mechanism()),
    };
    match who(chain) {
        Some(who) => format!(": {who} {takes} by {mechanism}"),
        None => format!(": {mechanism} {takes}{}", of_whom(chain)),
    }
}

/// The chain where no share is known, or a log alone shows it.
fn without_loss(chain: &Chain<'_>, scope: &str) -> String {
    let (what, mechanism) = (what(chain), chain.mechanism());
    if chain.cause().is_none() {
        return capital(&format!("{mechanism}{scope}{}", unexplained(chain)));
    }
    let (does, when) = match (chain.moment(), chain.of()) {
        (Moment::SinceBoot, Lost::Time) => ("took", " at some time since boot"),
        (Moment::SinceBoot, _) => ("held", " down at some time since boot"),
        (Moment::Now, _) if !chain.acts() => ("can hold", " down"),
        (Moment::Now, Lost::Time) => ("takes", ""),
        (Moment::Now, _) => ("holds", " down"),
    };
    match who(chain) {
        Some(who) => capital(&format!("{who} {does} {what}{when}{scope}, by {mechanism}")),
        None => capital(&format!("{mechanism} {does} {what}{when}{scope}{}", of_whom(chain))),
    }
}

/// That the party is unknown, of what somebody set.
fn of_whom(chain: &Chain<'_>) -> &'static str {
    if chain.is_set_by_unknown() { "; whose it is, is unknown" } else { "" }
}

/// The party, with the program's name: that it runs here is known, not that it wrote the setting.
pub fn who(chain: &Chain<'_>) -> Option<String> {
    chain.party().map(|party| who_of(party, chain.program()))
}

fn who_of(party: Party, program: Option<&str>) -> String {
    match (party, program) {
        (_, Some(program)) => format!("probably {program}"),
        (Party::Physics, None) => "the hardware".to_owned(),
        (Party::Firmware, None) => "firmware".to_owned(),
        (Party::Program, None) => "a program".to_owned(),
        (party, None) => format!("the {}", party.name()),
    }
}

/// What may cause a sign; where every cause was looked at that Linux shows, what is left.
fn unexplained(chain: &Chain<'_>) -> String {
    if chain.candidates.is_empty() {
        return ", and no cause is visible to Linux: firmware, the board, its power supply or heat may hold it down"
            .to_owned();
    }
    let mut names: Vec<&str> =
        chain.candidates.iter().take(MOST_NAMED).map(|it| it.part.name).collect();
    let n_more = chain.candidates.len().saturating_sub(MOST_NAMED);
    let more = format!("{n_more} more below");
    names.extend((n_more > 0).then_some(&*more));
    names.push("firmware");
    format!(", and the cause is unknown: it may be {}", listed(&names, "or"))
}

/// What to do, as a sentence without its stop.
fn to_do(chain: &Chain<'_>) -> Option<String> {
    let Some(cause) = chain.cause() else { return next_look(chain) };
    let apply = &cause.finding.fix.apply;
    if apply.is_empty() {
        return chain.action().map(capital);
    }
    let apply = format!("`fullclock apply {}` fixes it until the next boot", apply.join(" "));
    // Firmware sets it again.
    let lasting = chain.party().filter(|it| *it == Party::Firmware).and_then(|_| chain.action());
    Some(lasting.map_or(apply.clone(), |action| format!("{apply}; {action}")))
}

/// What tells the candidates apart.
fn next_look(chain: &Chain<'_>) -> Option<String> {
    chain.candidates.iter().find_map(distinguished).map(|it| format!("To find out: {it}"))
}

/// What shows whether a candidate is the cause, in the imperative.
pub fn distinguished(candidate: &Candidate<'_>) -> Option<String> {
    match candidate.because {
        Because::Unknown(missing) => missing.remedy().map(str::to_owned),
        Because::Logged(_) | Because::Found(_) | Because::Still(..) => {
            let look = if sights_of(candidate.check.id).is_empty() { "" } else { " --look 10s" };
            Some(format!("run `fullclock audit{look}` on the host while it is under load"))
        }
    }
}

/// What speaks for a candidate, in a few words.
pub fn because(candidate: &Candidate<'_>) -> String {
    match candidate.because {
        Because::Logged(finding) => finding.message.clone(),
        Because::Found(finding) => format!("{}; it does not explain all", finding.message),
        Because::Still(finding, time) => {
            let time = watched::time(time);
            format!("{}; it did not in the {time} that were looked at", finding.message)
        }
        Because::Unknown(missing) => missing.to_string(),
    }
}
