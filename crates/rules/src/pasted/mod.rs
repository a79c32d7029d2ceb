//! Lines of other tools that people paste when they wonder about their clock.

mod kernel_log;
mod perftest;
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

/// Every kind of text of another tool that is recognised.
const KINDS: &[fn(&str) -> Option<Explanation>] = &[perftest::explain, turbostat::explain];

/// Explains all that is recognised in a pasted text: of other tools, then of the kernel's log. Empty where no kind knows it.
pub fn explain(text: &str) -> Vec<Explanation> {
    let tools = KINDS.iter().filter_map(|kind| kind(text));
    tools.chain(kernel_log::explain(text)).collect()
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
            let explanations = explain(text);
            assert!(!explanations.is_empty(), "{text:?} is unknown");
            for id in explanations.iter().flat_map(|it| it.checks) {
                assert!(checks::find(id).is_some(), "{id} of {text:?} does not exist");
            }
        }
    }

    #[test]
    fn a_text_of_no_known_kind_is_not_explained() {
        assert_eq!(explain("hello 1 2 3"), []);
        assert_eq!(explain(""), []);
    }
}
