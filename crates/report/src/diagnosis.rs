//! A chain of a diagnosis in words: how much is lost, who takes it, by what, and what to do.

use crate::wording::{capital, listed};
use facts::watched;
use lab::held::Held;
use rules::diagnosis::parts::{Lost, part_of};
use rules::diagnosis::{Because, Bound, Candidate, Chain, ChainLoss};
use rules::finding::Moment;
use rules::looks::sights_of;
use rules::party::Party;

/// How many candidates a sentence names.
const MOST_NAMED: usize = 3;

/// The chain in two or three sentences.
pub fn sentences(chain: &Chain<'_>) -> String {
    let scope = chain.cpus().map_or(String::new(), |it| format!(" on {}", named(&it.to_string())));
    let whole = match (chain.loss(), chain.moment()) {
        // That a cause was there at some time does not say that it took all that it can.
        (Some(loss), moment) if moment == Moment::Now || chain.cause().is_none() => {
            // A sign is the loss itself, and not what may cause one.
            let is_lost = chain.acts() || chain.cause().is_none();
            format!("{}{scope}{}", lost_of(chain.of(), loss, moment, is_lost), cause(chain))
        }
        _ => without_loss(chain, &scope),
    };
    match to_do(chain) {
        Some(action) => format!("{whole}. {action}."),
        None => whole + ".",
    }
}

/// The CPUs as an audit names them, without ` (1 of 1)`.
fn named(cpus: &str) -> &str {
    cpus.strip_suffix(" (1 of 1)").unwrap_or(cpus)
}

/// Who holds something: a party, or a program that did it or may have.
#[derive(Clone, Copy)]
struct Holder<'a> {
    party: Option<Party>,
    program: Option<&'a str>,
    is_certain: bool,
}

impl<'a> Holder<'a> {
    fn of(chain: &Chain<'a>) -> Holder<'a> {
        let (party, program) = (chain.party(), chain.program());
        Holder { party, program, is_certain: chain.is_certain() }
    }

    /// Who acts by a mechanism; `None` where the mechanism is all that there is to name.
    fn actor(&self) -> Option<String> {
        match (self.party, self.program) {
            (_, Some(program)) if self.is_certain => Some(program.to_owned()),
            (_, Some(program)) => Some(format!("probably {program}")),
            (Some(Party::Firmware), None) => Some("firmware".to_owned()),
            (Some(Party::Program), None) => Some("a program".to_owned()),
            (Some(party @ (Party::ManagementController | Party::Hypervisor)), None) => {
                Some(format!("the {}", party.name()))
            }
            (Some(Party::OperatingSystem | Party::Physics) | None, None) => None,
        }
    }

    /// The mechanism where nobody acts by it: a setting of Linux is one.
    fn itself(&self, mechanism: &str) -> String {
        match self.party {
            Some(Party::OperatingSystem) => format!("{mechanism}, a Linux setting,"),
            _ => mechanism.to_owned(),
        }
    }
}

/// What a result has kept of a chain, as the audit of that moment said it, without what to do and without a stop.
pub fn recorded(held: &Held) -> String {
    let part = held.findings.first().and_then(|it| part_of(it));
    let by_name = || Lost::ALL.into_iter().find(|it| it.name() == held.lost);
    let of = part.map(|it| it.of).or_else(by_name).unwrap_or(Lost::Clock);
    let scope = held.cpus.as_ref().map_or(String::new(), |it| format!(" on {}", named(it)));
    let party = Party::ALL.into_iter().find(|it| Some(it.name()) == held.party.as_deref());
    let holder = Holder { party, program: held.program.as_deref(), is_certain: false };
    let acts = part.is_some_and(|it| it.acts);
    let moment = if held.since_boot { Moment::SinceBoot } else { Moment::Now };
    let bounds = [Bound::Measured, Bound::AtLeast, Bound::AtMost];
    let bound = bounds.into_iter().find(|it| Some(it.name()) == held.bound.as_deref());
    let loss = held.share.zip(bound).map(|(share, bound)| ChainLoss { share, bound });
    match (&held.mechanism, loss) {
        (Some(mechanism), Some(loss)) if !held.since_boot => {
            let lost = lost_of(of, loss, moment, acts);
            format!("{lost}{scope}: {}", caused(of, holder, mechanism))
        }
        (Some(mechanism), _) => doing(of, holder, mechanism, (moment, acts), &scope),
        (None, Some(loss)) => {
            format!("{}{scope}, and the cause is unknown", lost_of(of, loss, moment, true))
        }
        (None, None) => {
            let sign = held.sign.as_deref().unwrap_or_else(|| what_of(of));
            let when = if held.since_boot { " at some time since boot" } else { "" };
            capital(&format!("{sign}{when}{scope}, and the cause is unknown"))
        }
    }
}

fn is_time(of: Lost) -> bool {
    matches!(of, Lost::Time | Lost::OneCpu)
}

fn what_of(lost: Lost) -> &'static str {
    match lost {
        Lost::Clock => "the clock",
        Lost::Turbo => "the clock of a core that is busy alone",
        Lost::Time => "the time",
        Lost::OneCpu => "the time of one CPU",
    }
}

/// How much is lost: "Up to 40 % of the clock can be lost". `acts` says that it is seen to be lost, however much of the most that is.
fn lost_of(of: Lost, loss: ChainLoss, moment: Moment, acts: bool) -> String {
    let share = format!("{:.0} % of {}", 100.0 * loss.share, what_of(of));
    let is_lost = match (moment, loss.bound) {
        (Moment::SinceBoot, _) => "was lost since boot",
        (Moment::Now, Bound::AtMost) if !acts => "can be lost",
        (Moment::Now, _) => "is lost",
    };
    match loss.bound {
        Bound::Measured => format!("{share} {is_lost}"),
        Bound::AtLeast => format!("At least {share} {is_lost}"),
        Bound::AtMost => format!("Up to {share} {is_lost}"),
    }
}

/// Who takes it, by what, after how much is lost.
fn cause(chain: &Chain<'_>) -> String {
    if chain.cause().is_none() {
        return unexplained(chain);
    }
    format!(": {}{}", caused(chain.of(), Holder::of(chain), chain.mechanism()), of_whom(chain))
}

/// Who takes what is lost, by what.
fn caused(of: Lost, holder: Holder<'_>, mechanism: &str) -> String {
    let takes = if is_time(of) { "takes it" } else { "holds it down" };
    match holder.actor() {
        Some(who) => format!("{who} {takes} by {mechanism}"),
        None => format!("{} {takes}", holder.itself(mechanism)),
    }
}

/// The chain where no share is known, or a log alone shows it.
fn without_loss(chain: &Chain<'_>, scope: &str) -> String {
    let mechanism = chain.mechanism();
    if chain.cause().is_none() {
        return capital(&format!("{mechanism}{scope}{}", unexplained(chain)));
    }
    let moment = (chain.moment(), chain.acts());
    doing(chain.of(), Holder::of(chain), mechanism, moment, scope) + &of_whom(chain)
}

/// Who does what to what is lost, by what: "Firmware can hold the clock down on all 4 CPUs, by bios_limit".
fn doing(
    of: Lost,
    holder: Holder<'_>,
    mechanism: &str,
    (moment, acts): (Moment, bool),
    scope: &str,
) -> String {
    let (does, behind) = does(of, moment, acts);
    let what = what_of(of);
    capital(&match holder.actor() {
        Some(who) => format!("{who} {does} {what}{behind}{scope}, by {mechanism}"),
        None => format!("{} {does} {what}{behind}{scope}", holder.itself(mechanism)),
    })
}

/// What a cause does to what is lost: the words before that, and those behind it.
fn does(of: Lost, moment: Moment, acts: bool) -> (String, String) {
    let [takes, holds] = match moment {
        Moment::SinceBoot => ["took", "held"],
        Moment::Now if acts => ["takes", "holds"],
        Moment::Now => ["can take", "can hold"],
    };
    let when = if moment == Moment::SinceBoot { " at some time since boot" } else { "" };
    match of {
        Lost::Time | Lost::OneCpu => (takes.to_owned(), when.to_owned()),
        Lost::Clock => (holds.to_owned(), format!(" down{when}")),
        // It has too many words to stand before "down".
        Lost::Turbo => (format!("{holds} down"), when.to_owned()),
    }
}

/// That it is unknown who set what somebody set.
fn of_whom(chain: &Chain<'_>) -> String {
    if chain.is_set_by_unknown() {
        return "; who set it is unknown".to_owned();
    }
    if chain.is_unwritten() {
        return "; no known tuner runs here that writes it".to_owned();
    }
    String::new()
}

/// Who holds it and by what, for a line of its own; `None` where that is unknown.
pub fn who(chain: &Chain<'_>) -> Option<String> {
    let (holder, mechanism) = (Holder::of(chain), chain.mechanism());
    match (holder.actor(), chain.party()) {
        (Some(who), _) => Some(format!("{who}, by {mechanism}")),
        (None, Some(Party::OperatingSystem)) => Some(format!("a Linux setting: {mechanism}")),
        (None, Some(party)) => Some(format!("{}: {mechanism}", party.name())),
        (None, None) => None,
    }
}

/// What may cause a sign; where every cause was looked at that Linux shows, what is left.
fn unexplained(chain: &Chain<'_>) -> String {
    if chain.candidates.is_empty() {
        return ", and no cause is visible to Linux: firmware, the board, its power supply or heat may hold it down"
            .to_owned();
    }
    let mut names: Vec<&str> =
        chain.candidates.iter().take(MOST_NAMED).map(Candidate::name).collect();
    names.push("firmware");
    let more = match chain.candidates.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        n => format!(" ({n} more below)"),
    };
    format!(", and the cause is unknown: it may be {}{more}", listed(&names, "or"))
}

/// What to do, as a sentence without its stop.
fn to_do(chain: &Chain<'_>) -> Option<String> {
    let Some(cause) = chain.cause() else { return next_look(chain) };
    let apply = &cause.finding.fix.apply;
    if apply.is_empty() {
        return chain.action().map(capital);
    }
    let apply = format!("`fullclock apply {}` fixes it until the next boot", apply.join(" "));
    // Firmware sets it again; and what the finding says is more than what is usual for its check.
    let of_finding = cause.finding.held.action.as_deref();
    let of_firmware =
        chain.party().filter(|it| *it == Party::Firmware).and_then(|_| chain.action());
    let lasting = of_finding.or(of_firmware);
    Some(lasting.map_or(apply.clone(), |action| format!("{apply}; {action}")))
}

/// What tells the candidates apart; where there is none, where to look outside of Linux.
fn next_look(chain: &Chain<'_>) -> Option<String> {
    if chain.candidates.is_empty() {
        return Some(
            "Look in the log of the firmware or the management controller, and update the firmware"
                .to_owned(),
        );
    }
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
