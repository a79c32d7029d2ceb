//! Whether an audit answers each question about a path once: it is absent, or nobody collected it.

use facts::{Missing, Why};
use host::{Recording, Source};
use rules::audit::{Audit, audit};
use std::collections::BTreeMap;

/// Paths of which an audit of `source` says both that the host lacks them and that they were not collected, and paths that it
/// looks for in a folder that the host lacks.
pub(crate) fn contradictions(source: &dyn Source) -> Vec<String> {
    let recording = Recording::new(source);
    let view = host::view(&recording);
    let Audit { unknown, not_applicable, .. } = audit(&view);
    let mut answers = Answers::default();
    for (_, missing) in unknown.into_iter().chain(not_applicable) {
        answers.add(&missing);
    }
    answers.add_capture(&recording.capture());
    answers.contradictions()
}

/// What an audit of `source` says of one check: `found`, `clean`, `unknown` or `none` where it does not apply.
pub(crate) fn verdict(source: &dyn Source, check: &str) -> &'static str {
    let run =
        rules::checks::find(check).unwrap_or_else(|| panic!("no check is called {check}")).run;
    match run(&host::view(source)) {
        Ok(findings) if findings.is_empty() => "clean",
        Ok(_) => "found",
        Err(missing) if missing.is_absence() => "none",
        Err(_) => "unknown",
    }
}

/// Whether each path is absent; `false` where it was not collected.
#[derive(Default)]
struct Answers {
    is_absent: BTreeMap<String, bool>,
    twice: Vec<String>,
}

impl Answers {
    fn add(&mut self, missing: &Missing) {
        let is_absent = match missing.why {
            Why::Absent => true,
            Why::NotCollected => false,
            _ => return,
        };
        let path = missing.what.trim_end_matches(" ->").trim_end_matches('/');
        if !path.starts_with('/') || path.contains(' ') {
            return;
        }
        if self.is_absent.insert(path.to_owned(), is_absent) == Some(!is_absent) {
            self.twice.push(path.to_owned());
        }
    }

    /// The answers of the source itself, as a capture writes them down.
    fn add_capture(&mut self, capture: &str) {
        let lines: Vec<&str> = capture.lines().collect();
        for pair in lines.windows(2) {
            let Some(name) = pair[0].strip_prefix("//- ") else { continue };
            match pair[1] {
                "!absent" => self.add(&Missing::absent(name)),
                "!not-collected" => self.add(&Missing::not_collected(name)),
                _ => {}
            }
        }
    }

    fn contradictions(&self) -> Vec<String> {
        let lacks_folder = |path: &str| {
            let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
            ends.into_iter().any(|folder| self.is_absent.get(folder) == Some(&true))
        };
        let uncollected = self.is_absent.iter().filter(|(_, is_absent)| !**is_absent);
        let below = uncollected.map(|(path, _)| path).filter(|it| lacks_folder(it));
        let below = below.map(|it| format!("{it} is in a folder that does not exist"));
        let twice = self.twice.iter().map(|it| format!("{it} has two answers"));
        twice.chain(below).collect()
    }
}
