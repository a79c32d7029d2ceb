//! Where the main activity of a database server changes: a load by COPY, then CREATE INDEX, then the statements of an application;
//! and checkpoints and autovacuum, which go on next to them.

use facts::client::MarkText;
use facts::database::{Look, is_bulk};
use std::collections::BTreeMap;

/// The statements of an application, whichever they are: the mix of them changes from look to look.
const STATEMENTS: &str = "statements of an application";

/// So many looks in a row make a phase of what is no bulk command: one look between two statements sees none.
const LOOKS: u32 = 3;

/// Follows the looks at a server.
#[derive(Debug, Default)]
pub struct Phases {
    main: Option<String>,
    /// What may become the main activity: what it is, since when, and how many looks saw it.
    coming: Option<(Option<String>, u64, u32)>,
    checkpoint: bool,
    autovacuum: bool,
}

impl Phases {
    /// The changes that a look shows.
    pub fn push(&mut self, look: &Look) -> Vec<MarkText> {
        let mut marks = Vec::new();
        marks.extend(self.main(look));
        let is_checkpoint = is_checkpointing(look).unwrap_or(self.checkpoint);
        let is_vacuum = look.sessions.iter().any(|it| it.backend == "autovacuum worker");
        let tracks = [
            ("checkpoint", &mut self.checkpoint, is_checkpoint),
            ("autovacuum", &mut self.autovacuum, is_vacuum),
        ];
        for (name, was, is) in tracks {
            if *was != is {
                let what = if is { "begins" } else { "ends" };
                marks.push(MarkText { at: look.at, text: format!("{name} {what}") });
            }
            *was = is;
        }
        marks
    }

    fn main(&mut self, look: &Look) -> Option<MarkText> {
        let seen = main_activity(look);
        if seen == self.main {
            self.coming = None;
            return None;
        }
        let (since, n) = match self.coming.take() {
            Some((coming, since, n)) if coming == seen => (since, n + 1),
            _ => (look.at, 1),
        };
        // What works through a whole table is no accident of one look.
        let needed = if seen.as_deref().is_some_and(is_bulk) { 1 } else { LOOKS };
        if n < needed {
            self.coming = Some((seen, since, n));
            return None;
        }
        let text = match (&seen, &self.main) {
            (Some(seen), _) => format!("{seen}: begins"),
            (None, Some(was)) => format!("{was}: ends"),
            (None, None) => return None,
        };
        self.main = seen;
        Some(MarkText { at: since, text })
    }
}

/// What most of the sessions of clients do; of as many, what works through a whole table.
fn main_activity(look: &Look) -> Option<String> {
    let mut n_of: BTreeMap<&str, u32> = BTreeMap::new();
    for group in look.active().filter(|it| !it.tag.is_empty()) {
        let name = if is_bulk(&group.tag) { &*group.tag } else { STATEMENTS };
        let n = n_of.entry(name).or_default();
        *n = n.saturating_add(group.n);
    }
    let main = n_of.into_iter().max_by_key(|(name, n)| (*n, is_bulk(name)));
    main.map(|(name, _)| name.to_owned())
}

/// Whether a checkpoint runs; `None` where the checkpointer does not tell, as on its way from one wait to the next. It sleeps in an
/// event of the kind Activity; during a checkpoint it writes and syncs (IO), or pauses between two writes (Timeout,
/// CheckpointWriteDelay, from PostgreSQL 14 on).
fn is_checkpointing(look: &Look) -> Option<bool> {
    let Some(checkpointer) = look.sessions.iter().find(|it| it.backend == "checkpointer") else {
        return Some(false);
    };
    match &*checkpointer.wait_type {
        "Activity" => Some(false),
        "IO" | "Timeout" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::database::SessionGroup;

    /// A look at `at` in which these sessions work: `COPY*4`, `checkpointer`.
    fn look(at: u64, sessions: &str) -> Look {
        let group = |text: &str| {
            let (tag, n) = text.split_once('*').unwrap_or((text, "1"));
            let n = n.parse().unwrap();
            let background = ["checkpointer", "autovacuum worker"];
            if background.contains(&tag) {
                return SessionGroup {
                    backend: tag.to_owned(),
                    wait_type: "IO".to_owned(),
                    n,
                    ..SessionGroup::default()
                };
            }
            let (backend, state) = ("client backend".to_owned(), "active".to_owned());
            SessionGroup { backend, state, tag: tag.to_owned(), n, ..SessionGroup::default() }
        };
        let sessions = sessions.split(',').filter(|it| !it.is_empty()).map(group).collect();
        Look { at, sessions, ..Look::default() }
    }

    fn marks(looks: &[&str]) -> Vec<String> {
        let mut phases = Phases::default();
        let marks = (1..).zip(looks).flat_map(|(at, it)| phases.push(&look(at, it)));
        marks.map(|it| format!("{} {}", it.at, it.text)).collect()
    }

    #[test]
    fn a_load_and_an_index_are_two_phases_in_order() {
        let looks = ["", "COPY*4", "COPY*4,SELECT", "CREATE INDEX", "CREATE INDEX", "", "", ""];
        assert_eq!(
            marks(&looks),
            ["2 COPY: begins", "4 CREATE INDEX: begins", "6 CREATE INDEX: ends"]
        );
    }

    #[test]
    fn the_mix_of_an_application_is_one_phase_and_a_look_between_its_statements_none() {
        let looks = ["SELECT", "UPDATE", "COMMIT*2,INSERT", "", "SELECT", "DELETE", "", "", ""];
        assert_eq!(
            marks(&looks),
            ["1 statements of an application: begins", "7 statements of an application: ends"]
        );
    }

    #[test]
    fn a_checkpoint_and_autovacuum_go_on_next_to_it() {
        let looks = ["COPY", "COPY,checkpointer", "COPY,autovacuum worker"];
        let expected =
            ["1 COPY: begins", "2 checkpoint begins", "3 checkpoint ends", "3 autovacuum begins"];
        assert_eq!(marks(&looks), expected);
    }
}
