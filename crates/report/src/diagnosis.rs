//! A chain of a diagnosis in words: how much is lost, who takes it, by what, and what to do.

use crate::wording::{capital, listed};
use rules::diagnosis::parts::Lost;
use rules::diagnosis::{Because, Candidate, Chain, ChainLoss};
use rules::finding::Moment;
use rules::party::Party;

/// So many candidates are named in a sentence.
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

fn what(chain: &Chain<'_>) -> &'static str {
    match chain.of() {
        Lost::Clock => "the clock",
        Lost::Turbo => "the clock of a core that is busy alone",
        Lost::Time => "the time",
    }
}

/// How much is lost: "Up to 40 % of the clock is lost".
fn lost(chain: &Chain<'_>, loss: ChainLoss) -> String {
    let bound = if loss.is_measured { "" } else { "Up to " };
    format!("{bound}{:.0} % of {} is lost", 100.0 * loss.share, what(chain))
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
        None => format!(": {mechanism} {takes}, and who causes that is unknown"),
    }
}

/// The chain where no share is known, or a log alone shows it.
fn without_loss(chain: &Chain<'_>, scope: &str) -> String {
    let (what, mechanism) = (what(chain), chain.mechanism());
    if chain.cause().is_none() {
        return format!("{mechanism}{scope}{}", unexplained(chain));
    }
    let (does, when) = match (chain.moment(), chain.of()) {
        (Moment::SinceBoot, Lost::Time) => ("took", " at some time since boot"),
        (Moment::SinceBoot, _) => ("held", " down at some time since boot"),
        (Moment::Now, Lost::Time) => ("takes", ""),
        (Moment::Now, _) => ("holds", " down"),
    };
    match who(chain) {
        Some(who) => capital(&format!("{who} {does} {what}{when}{scope}, by {mechanism}")),
        None => {
            let whole = format!("{mechanism} {does} {what}{when}{scope}");
            capital(&format!("{whole}, and who causes that is unknown"))
        }
    }
}

/// The party, with the program's name.
pub fn who(chain: &Chain<'_>) -> Option<String> {
    let party = chain.party()?;
    Some(match (party, chain.program()) {
        (_, Some(program)) => program.to_owned(),
        (Party::Physics, None) => "the hardware".to_owned(),
        (Party::Firmware, None) => "firmware".to_owned(),
        (Party::Program, None) => "a program".to_owned(),
        (party, None) => format!("the {}", party.name()),
    })
}

/// What may cause a sign; where every cause was looked at that Linux shows, what is left.
fn unexplained(chain: &Chain<'_>) -> String {
    let names = chain.candidates.iter().take(MOST_NAMED).map(|it| it.part.name);
    let names: Vec<&str> = names.chain(["firmware"]).collect();
    match chain.candidates.as_slice() {
        [] => ", and nothing that Linux shows holds it down: that leaves the firmware".to_owned(),
        _ => format!(", and the cause is unknown: it may be {}", listed(&names, "or")),
    }
}

/// What to do, as a sentence without its stop.
fn to_do(chain: &Chain<'_>) -> Option<String> {
    let Some(cause) = chain.cause() else { return next_look(chain) };
    let apply = &cause.finding.fix.apply;
    if apply.is_empty() {
        return chain.action().map(capital);
    }
    let apply = format!("`fullclock apply {}` fixes it", apply.join(" "));
    let lasting = chain.party().filter(|it| *it == Party::Firmware).and_then(|_| chain.action());
    Some(match lasting {
        Some(action) => format!("{apply} until the next start; {action}"),
        None => apply,
    })
}

/// What tells the candidates apart.
fn next_look(chain: &Chain<'_>) -> Option<String> {
    chain.candidates.iter().find_map(distinguished).map(|it| format!("To find out, {it}"))
}

/// What shows whether a candidate is the cause, in the imperative.
pub fn distinguished(candidate: &Candidate<'_>) -> Option<String> {
    match candidate.because {
        Because::Unknown(missing) => missing.remedy().map(str::to_owned),
        Because::Logged(_) | Because::Found(_) => {
            Some("look for some seconds under load: `fullclock audit --look 2s`".to_owned())
        }
    }
}

/// What speaks for a candidate, in a few words.
pub fn because(candidate: &Candidate<'_>) -> String {
    match candidate.because {
        Because::Logged(finding) => finding.message.clone(),
        Because::Found(finding) => format!("{}; it does not explain all", finding.message),
        Because::Unknown(missing) => missing.to_string(),
    }
}
