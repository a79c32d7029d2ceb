//! What one file or host tells of one machine, before words that many machines share are kept once.

use fleet::{Attribute, Audit, Figure, Kind, Machine, Measured, Words};

/// What is told of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    /// The path of its file, or the host.
    pub(super) name: String,
    pub(super) figures: Vec<(Figure, f64)>,
    /// What was measured, where it is a result.
    pub(super) result: Option<Measured>,
    /// Kinds, names and values; each name at most once in a kind.
    pub(super) attributes: Vec<(Kind, String, String)>,
    /// The checks that its audit could not make; `None` where no audit judged it.
    pub(super) unknown: Option<Vec<String>>,
}

impl Told {
    /// Adds what is told, once and where it is something.
    pub(super) fn add(&mut self, kind: Kind, name: &str, value: &str) {
        let value = value.trim();
        let is_known = self.attributes.iter().any(|(it, known, _)| *it == kind && known == name);
        if !value.is_empty() && !is_known {
            self.attributes.push((kind, name.to_owned(), value.to_owned()));
        }
    }

    pub(super) fn machine(self, words: &mut Words) -> Machine {
        let mut attributes: Vec<Attribute> = self
            .attributes
            .iter()
            .map(|(kind, name, value)| Attribute {
                kind: *kind,
                name: words.keep(name),
                value: words.keep(value),
            })
            .collect();
        attributes.sort();
        let audit = self.unknown.map_or(Audit::None, |unknown| {
            Audit::But(unknown.iter().map(|it| words.keep(it)).collect())
        });
        let name = words.keep(&self.name);
        Machine { name, figures: self.figures, result: self.result, attributes, audit }
    }
}
