//! The documentation of every list of this crate, as pages for people who read before they install, and entry by entry.

use crate::advisory::{self, Advisory};
use crate::check::Reference;
use crate::checks::CHECKS;
use crate::losses::LOSSES;
use crate::metrics::METRICS;
use crate::settings::SETTINGS;
use crate::terms::terms;
use std::borrow::Cow;

/// What one entry of a list says of itself.
pub struct Entry {
    /// What it is one of: `check`, `metric`, `ledger line`, `setting`, `advisory`, `term`, `workload`.
    pub list: &'static str,
    /// Its id, which no other entry of its list has.
    pub id: &'static str,
    /// The same in a few words.
    pub title: &'static str,
    /// The documentation, in Markdown.
    pub doc: Cow<'static, str>,
    /// Where the facts behind it are written; its text names them where there are none.
    pub references: &'static [Reference],
}

/// A page of `docs/`.
pub struct Page {
    /// The name of the file in `docs`.
    pub file: &'static str,
    /// Its heading, and what is said before the entries.
    pub opening: &'static str,
    /// What its entries are.
    pub list: &'static str,
}

/// Every page, one for each list.
pub const PAGES: &[Page] = &[
    Page {
        file: "checks.md",
        opening: "# Checks\n\nMade from the checks themselves by `cargo xtask docs`; `fullclock explain ID` shows the same.\n",
        list: "check",
    },
    Page {
        file: "metrics.md",
        opening: "# Metrics\n\nWhat can be measured over an interval, in the order of columns. Made from the metrics themselves by \
                  `cargo xtask docs`; `fullclock explain ID` shows the same.\n",
        list: "metric",
    },
    Page {
        file: "ledger.md",
        opening: "# Lines of the ledger\n\nWhere a CPU's time goes, in the order of `fullclock ledger`. Made from the lines themselves by \
                  `cargo xtask docs`; `fullclock explain ID` shows the same.\n",
        list: "ledger line",
    },
    Page {
        file: "settings.md",
        opening: "# Settings\n\nWhat can be changed, in the order of `fullclock explain`. Made from the settings themselves by `cargo xtask docs`; \
                  `fullclock explain ID` shows the same.\n",
        list: "setting",
    },
    Page {
        file: "advisories.md",
        opening: "# Advisories\n\nPublished faults of firmware, microcode and kernels that cost clock or time. Made from the files of `advisories/` by \
                  `cargo xtask docs`; `fullclock advisories` says which of them concern a machine, and [config.md](config.md#advisories-of-the-site) \
                  how a site adds its own.\n",
        list: "advisory",
    },
    Page {
        file: "terms.md",
        opening: "# Terms\n\nWhat the abbreviations in findings stand for, and who holds what they name. Made from the list of terms by `cargo xtask docs`; \
                  `fullclock explain WORD` shows the same.\n",
        list: "term",
    },
];

/// Every entry of every list, in display order.
pub fn entries() -> impl Iterator<Item = Entry> {
    let checks = CHECKS.iter().map(|it| Entry {
        list: "check",
        id: it.id,
        title: it.title,
        doc: Cow::Borrowed(it.doc),
        references: it.references,
    });
    let metrics = METRICS.iter().map(|it| Entry {
        list: "metric",
        id: it.id,
        title: it.title,
        doc: Cow::Owned(it.documentation()),
        references: &[],
    });
    let losses = LOSSES.iter().map(|it| Entry {
        list: "ledger line",
        id: it.id,
        title: it.title,
        doc: Cow::Borrowed(it.help),
        references: &[],
    });
    let settings = SETTINGS.iter().map(|it| Entry {
        list: "setting",
        id: it.id,
        title: it.title,
        doc: Cow::Owned(it.documentation()),
        references: it.references,
    });
    let advisories = advisory::shipped().iter().map(|it| Entry {
        list: "advisory",
        id: &it.id,
        title: &it.title,
        doc: Cow::Owned(of_advisory(it)),
        references: &[],
    });
    let terms = terms().map(|it| Entry {
        list: "term",
        id: it.id,
        title: it.meaning,
        doc: Cow::Borrowed(it.about),
        references: it.references,
    });
    checks.chain(metrics).chain(losses).chain(settings).chain(advisories).chain(terms)
}

fn of_advisory(advisory: &Advisory) -> String {
    let Advisory { about, party, action, fixed, .. } = advisory;
    let fixed = fixed.as_deref().unwrap_or("no version is known");
    let symptoms: Vec<&str> = advisory.symptoms.iter().map(|it| it.check.as_str()).collect();
    let seen = if symptoms.is_empty() { "no check".to_owned() } else { symptoms.join(", ") };
    let loss = advisory.loss.as_ref().map_or("no figure is published", |it| it.what.as_str());
    let sources: Vec<String> = advisory
        .sources
        .iter()
        .map(|it| format!("- [{}]({}), read {}", it.title, it.url, it.read))
        .collect();
    let sources = sources.join("\n");
    let party = party.name();
    format!(
        "## What happens\n{about}\n\n## What to do\n- Whose it is: {party}\n- Fixed in: {fixed}\n- To do: {action}\n- Seen by: {seen}\n\
         - Costs: {loss}\n\n## Sources\n{sources}\n"
    )
}

impl Page {
    /// Its text, of those entries that are of its list.
    pub fn text(&self, entries: impl Iterator<Item = Entry>) -> String {
        let of_page = entries.filter(|entry| entry.list == self.list);
        of_page.fold(self.opening.to_owned(), |page, entry| page + &section(&entry))
    }
}

fn section(entry: &Entry) -> String {
    let doc = entry.doc.trim().replace("\n## ", "\n### ");
    let doc = doc.strip_prefix("## ").map_or(doc.clone(), |rest| format!("### {rest}"));
    let mut section = format!("\n## {}\n\n{}\n\n{doc}\n", entry.id, entry.title);
    if !entry.references.is_empty() {
        section.push_str("\n### References\n\n");
    }
    for reference in entry.references {
        let line = match reference.url {
            "" => format!("- {}\n", reference.title),
            url => format!("- [{}]({url})\n", reference.title),
        };
        section.push_str(&line);
    }
    section
}
