//! The words that findings use and not everybody knows: what each stands for, and who holds what it names.
//!
//! Each names where that is written. A test of the tree sees to it that no check uses an abbreviation that is not here.

mod clock;
mod machine;
mod network;

use crate::check::Reference;

/// A word, mostly an abbreviation.
pub struct Term {
    /// Its id: the word in lower case.
    pub id: &'static str,
    /// The word as it is written.
    pub word: &'static str,
    /// What it stands for.
    pub meaning: &'static str,
    /// What that is, and who holds or sets it, in a sentence or two.
    pub about: &'static str,
    /// Where it is written.
    pub references: &'static [Reference],
}

const fn term(
    id: &'static str,
    word: &'static str,
    meaning: &'static str,
    about: &'static str,
    references: &'static [Reference],
) -> Term {
    Term { id, word, meaning, about, references }
}

/// Every term: first those of clock and power, then those of the rest of a machine.
pub fn terms() -> impl Iterator<Item = &'static Term> {
    clock::TERMS.iter().chain(machine::TERMS).chain(network::TERMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_there_once_with_a_sentence_and_a_source() {
        let mut ids: Vec<&str> = terms().map(|it| it.id).collect();
        let n_terms = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n_terms);
        for it in terms() {
            assert_eq!(it.id, it.word.to_lowercase().trim_end_matches('#'), "{}", it.word);
            assert!(it.about.ends_with('.') && !it.meaning.ends_with('.'), "{}", it.word);
            assert!(!it.references.is_empty(), "{}", it.word);
        }
    }
}
