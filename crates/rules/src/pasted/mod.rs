//! Lines of other tools that people paste when they wonder about their clock.

mod perftest;
mod power_limit;
mod throttled;
mod turbostat;

/// What a pasted text is, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What was recognised: "perftest: conflicting CPU frequencies".
    pub what: &'static str,
    /// What it means, paragraph by paragraph.
    pub meaning: Vec<String>,
    /// Checks that look for the cause.
    pub checks: &'static [&'static str],
}

/// Every kind of text that is recognised; the first that knows the text explains it.
const KINDS: &[fn(&str) -> Option<Explanation>] =
    &[perftest::explain, throttled::explain, power_limit::explain, turbostat::explain];

/// Explains a pasted text, `None` where no kind knows it.
pub fn explain(text: &str) -> Option<Explanation> {
    KINDS.iter().find_map(|kind| kind(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    #[test]
    fn every_check_that_an_explanation_names_exists() {
        let texts = [
            "Conflicting CPU frequency values detected: 1600.0 != 2534.0",
            "CPU0: Core temperature above threshold, cpu clock throttled (total events = 9)",
            "CPU1: Package power limit notification (total events = 1)",
            "0 0 1555 78.08 1996 998",
        ];
        for text in texts {
            let explanation = explain(text).unwrap_or_else(|| panic!("{text:?} is unknown"));
            for id in explanation.checks {
                assert!(
                    checks::find(id).is_some(),
                    "{id} of {:?} does not exist",
                    explanation.what
                );
            }
        }
    }

    #[test]
    fn a_text_of_no_known_kind_is_not_explained() {
        assert_eq!(explain("hello 1 2 3"), None);
        assert_eq!(explain(""), None);
    }
}
