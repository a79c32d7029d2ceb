//! What an audit of a host must say, may say and must not say.

use crate::audited::Audited;
use facts::HostView;
use rules::finding::Severity;
use std::ops::RangeInclusive;

/// What is known about one host. Whatever is reported at medium or above and is neither demanded nor allowed
/// is a false finding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expectation {
    must_find: Vec<(Vec<&'static str>, RangeInclusive<Severity>)>,
    may_find: Vec<&'static str>,
    never: Vec<&'static str>,
    not_clean: Vec<&'static str>,
    at_most: Option<Severity>,
    shows: Vec<Shown>,
    says: Vec<&'static str>,
    says_not: Vec<&'static str>,
    diagnosis: Option<&'static str>,
    outside: Vec<&'static str>,
}

/// What the facts must show, in words and as a test of them.
type Shown = (&'static str, fn(&HostView) -> bool);

/// Nothing is wrong with the host that the truth knows of.
pub(crate) fn clean() -> Expectation {
    Expectation::default()
}

/// An id that is misspelt would demand nothing and forbid nothing.
fn known(id: &'static str) -> &'static str {
    assert!(rules::checks::find(id).is_some(), "no check is called {id}");
    id
}

/// How an audit and the truth compare.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// What was demanded and is there.
    pub(crate) found: Vec<String>,
    /// What was demanded and is not.
    pub(crate) missed: Vec<String>,
    /// What should not have been said.
    pub(crate) wrong: Vec<String>,
    /// What was said besides, and is no fault.
    pub(crate) noted: Vec<String>,
    /// Parts of the truth that are no subject of this program.
    pub(crate) outside: Vec<String>,
}

impl Verdict {
    /// The parts with their names, as they are printed.
    pub(crate) fn parts(&self) -> [(&'static str, &Vec<String>); 5] {
        [
            ("found", &self.found),
            ("MISSED", &self.missed),
            ("FALSE", &self.wrong),
            ("noted", &self.noted),
            ("outside", &self.outside),
        ]
    }
}

impl Expectation {
    /// `check` must report something at least as severe as `severity`.
    pub(crate) fn finds(self, check: &'static str, severity: Severity) -> Expectation {
        self.finds_between(check, severity..=Severity::Critical)
    }

    /// `check` must report something of a severity in `range`.
    pub(crate) fn finds_between(
        mut self,
        check: &'static str,
        range: RangeInclusive<Severity>,
    ) -> Expectation {
        self.must_find.push((vec![known(check)], range));
        self
    }

    /// One of `checks` must report something at least as severe as `severity`.
    pub(crate) fn finds_one_of(
        mut self,
        checks: &[&'static str],
        severity: Severity,
    ) -> Expectation {
        let checks = checks.iter().copied().map(known).collect();
        self.must_find.push((checks, severity..=Severity::Critical));
        self
    }

    /// `check` may report something: it is true, and the truth does not mention it.
    pub(crate) fn may_find(mut self, check: &'static str) -> Expectation {
        self.may_find.push(known(check));
        self
    }

    /// `checks` must not report anything at all.
    pub(crate) fn never(mut self, checks: &[&'static str]) -> Expectation {
        self.never.extend(checks.iter().copied().map(known));
        self
    }

    /// The host lacks what `check` judges, so that it must not be called clean either.
    pub(crate) fn not_judged(mut self, check: &'static str) -> Expectation {
        self.never.push(known(check));
        self.not_clean.push(check);
        self
    }

    /// Nothing that is not demanded or allowed may be more severe than `severity`.
    pub(crate) fn at_most(mut self, severity: Severity) -> Expectation {
        self.at_most = Some(severity);
        self
    }

    /// The facts must show what the truth says in words.
    pub(crate) fn shows(mut self, what: &'static str, test: fn(&HostView) -> bool) -> Expectation {
        self.shows.push((what, test));
        self
    }

    /// These words must be in what its findings say.
    pub(crate) fn says(mut self, words: &'static str) -> Expectation {
        self.says.push(words);
        self
    }

    /// These words must not be in what its findings say.
    pub(crate) fn says_not(mut self, words: &'static str) -> Expectation {
        self.says_not.push(words);
        self
    }

    /// Its diagnosis must be one chain, which begins with these words.
    pub(crate) fn diagnosed(mut self, words: &'static str) -> Expectation {
        self.diagnosis = Some(words);
        self
    }

    /// A part of the truth that no check is about.
    pub(crate) fn outside(mut self, what: &'static str) -> Expectation {
        self.outside.push(what);
        self
    }

    /// Compares an audit with this.
    pub(crate) fn compare(&self, audited: &Audited) -> Verdict {
        let line = |severity: Severity, check: &str, text: &str| {
            format!("{} {check}: {text}", severity.name())
        };
        let mut verdict = Verdict::default();
        verdict.outside.extend(self.outside.iter().map(|it| (*it).to_owned()));
        for (checks, range) in &self.must_find {
            let mut found = audited.findings.iter().filter(|(check, ..)| checks.contains(check));
            match found.find(|(_, severity, _)| range.contains(severity)) {
                Some((check, severity, text)) => verdict.found.push(line(*severity, check, text)),
                None => verdict.missed.push(format!(
                    "{} from {} to {}",
                    checks.join(" or "),
                    range.start().name(),
                    range.end().name()
                )),
            }
        }
        let limit = self.at_most.unwrap_or(Severity::Low);
        for (check, severity, text) in &audited.findings {
            let is_demanded = self.must_find.iter().any(|(checks, _)| checks.contains(check));
            let is_allowed = is_demanded || self.may_find.contains(check);
            if self.never.contains(check) || (*severity > limit && !is_allowed) {
                verdict.wrong.push(line(*severity, check, text));
            } else if !is_demanded {
                verdict.noted.push(line(*severity, check, text));
            }
        }
        let too_clean = self.not_clean.iter().filter(|it| audited.clean.contains(*it));
        verdict.wrong.extend(too_clean.map(|it| format!("{it} is called clean")));
        for words in &self.says {
            let is_said = audited.words.contains(words);
            let part = if is_said { &mut verdict.found } else { &mut verdict.missed };
            part.push(format!("the words {words:?}"));
        }
        let said = self.says_not.iter().filter(|it| audited.words.contains(*it));
        verdict.wrong.extend(said.map(|it| format!("the words {it:?}")));
        if let Some(words) = self.diagnosis {
            let is_it = matches!(&*audited.chains, [chain] if chain.starts_with(words));
            let part = if is_it { &mut verdict.found } else { &mut verdict.missed };
            part.push(format!("one chain that begins {words:?}, of {:?}", audited.chains));
        }
        for (what, test) in &self.shows {
            let is_shown = audited.view.as_ref().is_some_and(test);
            let part = if is_shown { &mut verdict.found } else { &mut verdict.missed };
            part.push((*what).to_owned());
        }
        verdict
    }
}
