//! Advisories and what they are to a host, as documents and as JSON.

mod json;

pub(crate) use json::AdvisoriesDocument;
pub use json::json;

use crate::document::{Block, Document, Text};
use crate::wording::{capital, once_then_nothing};
use facts::quantity::counted;
use rules::advisory::standing::{Standing, State, Unseen};
use rules::advisory::{Advisory, Affected, Symptom};

/// What all advisories are to the host called `name`; if `verbose`, also those that do not concern it.
pub fn document(name: &str, standings: &[Standing], verbose: bool) -> Document {
    let mut document = Document::new(format!("Advisories for {name}"));
    document.paragraph(Text::strong(verdict(standings)));
    let groups = [
        ("Seen here", "seen here", true),
        ("Affected by version", "affected by version", true),
        ("Perhaps affected: the distribution may have fixed it", "perhaps affected", true),
        ("Unknown", "unknown", verbose),
        ("Not affected", "not affected", verbose),
    ];
    for (heading, state, is_shown) in groups {
        let of_state = standings.iter().filter(|it| it.state.name() == state);
        let lines: Vec<Block> = of_state.filter(|_| is_shown).map(line).collect();
        if !lines.is_empty() {
            document.heading(heading);
            document.extend(lines);
        }
    }
    if !verbose {
        reasons(&mut document, standings);
    }
    let more = if verbose { "" } else { " `-v` lists the others, too." };
    document.note(Text::sentence(&format!(
        "`fullclock advisories ID` says what one is about, what to do, and who published it.{more}"
    )));
    document
}

/// Why some are unknown: a line for each reason, with how many have it.
fn reasons(document: &mut Document, standings: &[Standing]) {
    let mut by_reason: Vec<(String, usize)> = Vec::new();
    for it in standings.iter().filter(|it| matches!(it.state, State::Unknown(_))) {
        let why = why(&it.state).unwrap_or_default();
        match by_reason.iter_mut().find(|(other, _)| *other == why) {
            Some((_, n)) => *n += 1,
            None => by_reason.push((why, 1)),
        }
    }
    if by_reason.is_empty() {
        return;
    }
    document.heading("Unknown");
    document.extend(by_reason.into_iter().map(|(why, n)| Block::labelled(advisories(n), why)));
}

/// `1 advisory`, `37 advisories`.
fn advisories(n: usize) -> String {
    counted(n as u64, "advisory").replace("advisorys", "advisories")
}

/// "1 of 37 advisories is seen here, 2 name a version of this machine".
fn verdict(standings: &[Standing]) -> String {
    let n_of = |state: &str| standings.iter().filter(|it| it.state.name() == state).count();
    let [seen, affected, perhaps, unknown] =
        ["seen here", "affected by version", "perhaps affected", "unknown"].map(n_of);
    let of = advisories(standings.len());
    let mut parts = vec![
        format!("{seen} of {of} seen here"),
        format!("{affected} affected by version"),
        format!("{perhaps} perhaps affected"),
    ];
    if unknown > 0 {
        parts.push(format!("{unknown} unknown"));
    }
    parts.join(", ") + "."
}

fn line(standing: &Standing) -> Block {
    let title = &standing.advisory.title;
    let text = match why(&standing.state) {
        Some(why) => format!("{title} ({why})"),
        None => title.clone(),
    };
    Block::labelled(standing.advisory.id.clone(), text)
}

/// What a state says besides its name.
fn why(state: &State) -> Option<String> {
    match state {
        State::Seen(sight) => Some(format!("by {}", sight.by.join(", "))),
        State::Affected(Unseen::NotFound) => Some("not seen here".to_owned()),
        State::Affected(Unseen::NoCheck) => Some("no check sees it".to_owned()),
        State::Affected(Unseen::Unknown(missing)) | State::Unknown(missing) => {
            Some(missing.to_string())
        }
        State::Perhaps | State::Not => None,
    }
}

/// What one advisory says, and what it is to a host.
pub fn explained(standing: &Standing) -> Document {
    let advisory = &*standing.advisory;
    let mut document = Document::new(format!("{}: {}", advisory.id, advisory.title));
    let here = match why(&standing.state) {
        Some(why) => format!("{} ({why})", standing.state.name()),
        None => standing.state.name().to_owned(),
    };
    document.labelled("here", Text::strong(here));
    for it in &standing.compared {
        document.labelled("", format!("{}: {}", it.source, it.value));
    }
    document.paragraph(Text::sentence(&advisory.about));
    document.labelled("party", advisory.party.name());
    for (affected, label) in advisory.affected.iter().zip(once_then_nothing("affected")) {
        document.labelled(label, words(affected));
    }
    document.labelled("fixed in", advisory.fixed.as_deref().unwrap_or("no version is known"));
    document.labelled("to do", Text::sentence(&capital(&advisory.action)));
    document.labelled("seen by", seen_by(advisory));
    document.labelled("costs", costs(advisory));
    document.heading("Sources");
    for (at, source) in advisory.sources.iter().enumerate() {
        document.labelled((at + 1).to_string(), format!("{}, read {}", source.title, source.read));
        document.labelled("", source.url.as_str());
    }
    document
}

/// The checks that see it act, in words.
fn seen_by(advisory: &Advisory) -> String {
    let symptom = |it: &Symptom| match &it.mentions {
        Some(words) => format!("{} (of {words})", it.check),
        None => it.check.clone(),
    };
    let symptoms: Vec<String> = advisory.symptoms.iter().map(symptom).collect();
    if symptoms.is_empty() { "no check".to_owned() } else { symptoms.join(", ") }
}

fn costs(advisory: &Advisory) -> String {
    match &advisory.loss {
        Some(loss) => format!("{} (source {})", loss.what, loss.source + 1),
        None => "no figure is published".to_owned(),
    }
}

/// What is affected, in words with commas between them.
fn words(affected: &Affected) -> String {
    let text = |label: &str, it: &Option<String>| it.as_ref().map(|it| format!("{label} {it}"));
    let ranges = |label: &str, all: &[rules::advisory::version::Range]| {
        let all: Vec<String> = all.iter().map(|it| it.to_string().replace(", ", " and ")).collect();
        (!all.is_empty()).then(|| format!("{label} {}", all.join(" or ")))
    };
    let models: Vec<String> = affected.models.iter().map(ToString::to_string).collect();
    let config = affected.config.as_ref().map(|(name, value)| format!("CONFIG_{name}={value}"));
    let parts = [
        text("maker", &affected.maker),
        text("product", &affected.product),
        text("board", &affected.board),
        text("firmware", &affected.firmware_name),
        ranges("firmware", &affected.firmware),
        ranges("firmware of the management controller", &affected.bmc),
        text("processor of", &affected.cpu_maker),
        text("flag", &affected.cpu_flag),
        affected.family.map(|it| format!("family {it}")),
        (!models.is_empty()).then(|| format!("model {}", models.join(" or "))),
        text("processor", &affected.model_name),
        ranges("microcode", &affected.microcode),
        ranges("Linux", &affected.kernel),
        (!affected.backports.is_empty())
            .then(|| format!("before {}", affected.backports.join(" and "))),
        text("frequency driver", &affected.driver),
        config,
        text("boot parameter", &affected.boot),
        text("guest of", &affected.hypervisor),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::in_every_form;
    use facts::{HostView, Origin};
    use rules::advisory::{catalog, standing::standings};

    /// A kernel of April 2024 on an appliance of 2012.
    fn host() -> HostView {
        let mut host = HostView::unasked(Origin::Capture);
        host.platform.hypervisor = Ok(None);
        host.dmi.vendor = Ok("Oracle Corporation".into());
        host.dmi.product = Ok("Sun Fire X4370 M2 Server".into());
        host.dmi.firmware_version = Ok("12010303".into());
        host.kernel.release = Ok("6.1.95".into());
        host
    }

    #[test]
    fn what_concerns_a_host_is_listed_first_and_each_is_explained() {
        let host = host();
        let all = standings(&host, catalog(&[]).unwrap(), None);
        let text = in_every_form(&document("db7", &all, false));
        insta::assert_snapshot!("list", text);
        let oda = all.iter().find(|it| it.advisory.id == "oda-clock-modulation").unwrap();
        insta::assert_snapshot!("explained", in_every_form(&explained(oda)));
    }

    #[test]
    fn verbose_leaves_none_out() {
        let all = standings(&host(), catalog(&[]).unwrap(), None);
        let text = crate::document::every_form::text(&document("db7", &all, true), 200);
        for it in &all {
            assert!(text.contains(&it.advisory.id), "{}", it.advisory.id);
        }
    }
}
