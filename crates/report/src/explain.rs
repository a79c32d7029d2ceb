//! What entries of the lists say of themselves, and what a pasted line means, as documents.

use crate::diagnosis::sentences;
use crate::document::{Block, Document, Text};
use crate::documentation;
use crate::relations::paragraphs;
use facts::pasted::OUTPUTS;
use rules::audit::{Audit, Suppressed};
use rules::diagnosis::{self, Chain};
use rules::documentation::Entry;
use rules::pasted::Explanation;

/// Every entry of every list, a line each.
pub fn entries() -> Document {
    let mut document = Document::new("What `fullclock explain` knows");
    let mut list = "";
    for entry in documentation::entries() {
        if entry.list != list {
            list = entry.list;
            document.heading(format!("Every {list}"));
        }
        document.labelled(entry.id, entry.title);
    }
    document.heading("Every output of another program");
    for output in OUTPUTS {
        document.labelled(output.command(), output.shows());
    }
    document.labelled("dmesg", "messages of the kernel's log");
    document.note(Text::sentence(
        "`fullclock explain ID` says what it looks at or does, what it means and what it cannot know; \
         `fullclock explain -` reads outputs.",
    ));
    document
}

/// What one entry says of itself, then what those of other lists with the same id say.
pub fn entry(first: &Entry, others: &[Entry]) -> Document {
    let mut document = Document::new(title(first));
    documented(&mut document, first);
    for other in others {
        document.heading(title(other));
        documented(&mut document, other);
    }
    document
}

/// The same, with what the diagnosis of a host says of findings of that check, and what its site has decided about them.
pub fn entry_here(first: &Entry, others: &[Entry], audit: &Audit) -> Document {
    let mut document = entry(first, others);
    let chains = diagnosis::chains(audit);
    let of_check = chains.iter().filter(|it| it.links().any(|link| link.check.id == first.id));
    let suppressed = audit.suppressed.iter().filter(|it| it.check.id == first.id);
    let suppressed = suppressed.map(|Suppressed { finding, by, .. }| {
        let (message, until, because) = (&finding.message, &by.until, &by.because);
        format!("{message}. The configuration suppresses it until {until}: {because}")
    });
    let here: Vec<String> = of_check.map(sentences).chain(suppressed).collect();
    if !here.is_empty() {
        document.heading("On this machine");
        here.iter().for_each(|it| document.paragraph(Text::sentence(it)));
    }
    document
}

fn title(Entry { list, id, title, .. }: &Entry) -> String {
    format!("{id}: {title} ({list})")
}

fn documented(document: &mut Document, entry: &Entry) {
    for paragraph in entry.doc.trim().split("\n\n") {
        let mut body = paragraph;
        if let Some(heading) = paragraph.strip_prefix("## ") {
            let (heading, rest) = heading.split_once('\n').unwrap_or((heading, ""));
            document.heading(heading);
            body = rest;
        }
        if !body.trim().is_empty() {
            document.push(block(body));
        }
    }
    let relations = if entry.list == "check" { paragraphs(entry.id) } else { Vec::new() };
    if !relations.is_empty() {
        document.heading("In the diagnosis");
        relations.iter().for_each(|it| document.paragraph(Text::sentence(it)));
    }
    if !entry.references.is_empty() {
        document.heading("References");
        let line = |it: &rules::check::Reference| Text::from(format!("{} {}", it.title, it.url));
        document.push(Block::List(entry.references.iter().map(line).collect()));
    }
}

/// A paragraph of documentation: a list, if its lines begin with dashes.
fn block(body: &str) -> Block {
    match body.strip_prefix("- ") {
        Some(first) => {
            Block::List(first.split("\n- ").map(|it| Text::sentence(&unfolded(it))).collect())
        }
        None => Block::Paragraph(Text::sentence(&unfolded(body))),
    }
}

fn unfolded(lines: &str) -> String {
    lines.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// What a pasted text means: all that was recognised in it, first to last; then what joins the findings of its audit, where there is one.
pub fn explanation(first: &Explanation, others: &[Explanation], audit: Option<&Audit>) -> Document {
    let mut document = Document::new(first.what);
    explained(&mut document, first);
    for other in others {
        document.heading(other.what);
        explained(&mut document, other);
    }
    let chains = audit.map(joined).unwrap_or_default();
    if !chains.is_empty() {
        document.heading("Together");
        chains.iter().for_each(|it| document.paragraph(Text::sentence(&sentences(it))));
    }
    document
}

/// The chains that join several findings.
pub(crate) fn joined(audit: &Audit) -> Vec<Chain<'_>> {
    let mut chains = diagnosis::chains(audit);
    chains.retain(|it| it.links().count() > 1);
    chains
}

fn explained(document: &mut Document, explanation: &Explanation) {
    for paragraph in &explanation.meaning {
        document.paragraph(Text::sentence(paragraph));
    }
    if !explanation.checks.is_empty() {
        let checks = explanation.checks.join(", ");
        document.note(format!("Checks that look for the cause: {checks}"));
    }
}

/// No id is as long.
const LONGEST_WORD: usize = 64;

/// Says that neither an id nor a line is known, and names the id that is spelled nearly so, if there is one.
pub fn unknown(subject: &str) -> String {
    let shown: String = subject.chars().take(60).collect();
    let word = subject.to_lowercase();
    let distance = |id: &str| strsim::damerau_levenshtein(&word, id);
    // A distance takes the product of both lengths.
    let is_word = word.len() <= LONGEST_WORD;
    let ids = documentation::entries().map(|it| it.id).filter(|_| is_word);
    let near = ids.min_by_key(|id| distance(id));
    match near.filter(|id| distance(id) <= id.len() / 4) {
        Some(id) => {
            format!("fullclock does not know {shown:?}; did you mean `fullclock explain {id}`?")
        }
        None => format!(
            "fullclock does not know {shown:?}: `fullclock explain` lists the ids, `fullclock explain --help` the lines"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::text;
    use rules::config::Config;

    #[test]
    fn what_the_site_has_decided_about_a_finding_is_said_of_its_check() {
        let policy = "/sys/devices/system/cpu/cpufreq/policy0";
        let host = format!(
            "//- /sys/devices/system/cpu/online\n0\n//- {policy}/scaling_driver\nacpi-cpufreq\n\
             //- {policy}/scaling_governor\npowersave\n//- {policy}/affected_cpus\n0\n"
        );
        let host = host::view(&host::Captured::excerpt(&host).unwrap());
        let mut audit = rules::audit::audit(&host);
        let found = documentation::find("slow-governor");
        let (first, others) = found.split_first().unwrap();
        let said = |audit: &Audit| text(&entry_here(first, others, audit), 10_000);
        assert!(said(&audit).contains("On this machine") && !said(&audit).contains("suppresses"));
        let ignored =
            "ignore = [{ id = \"slow-governor\", until = 2999-12-31, because = \"saves power\" }]";
        audit.suppress(&Config::parse("config.toml", ignored).unwrap().ignored, "2026-11-27");
        let said = said(&audit);
        assert!(said.contains("The configuration suppresses it until 2999-12-31: saves power"));
    }
}
