//! A source that counts what another answers: whether there is a host at all shows in that.

use super::{Counter, Source};
use facts::ipmi::Question;
use facts::links::ethtool;
use facts::power::speed_select;
use facts::{Fact, Origin};
use std::cell::{Cell, RefCell};

/// So many of the files that are not there are named.
const NAMED: usize = 3;

/// Asks `inner` and counts the answers that tell something of a host.
pub struct Answered<'a> {
    inner: &'a dyn Source,
    n_asked: Cell<usize>,
    n_answered: Cell<usize>,
    first_missing: RefCell<Vec<String>>,
}

impl<'a> Answered<'a> {
    /// Starts with nothing asked.
    pub fn new(inner: &'a dyn Source) -> Answered<'a> {
        let first_missing = RefCell::default();
        Answered { inner, n_asked: Cell::new(0), n_answered: Cell::new(0), first_missing }
    }

    /// Where everything that was asked went without an answer: how many questions there were, and the first files that
    /// were looked for. Names in a folder are no answer, for they tell nothing that a check looks at.
    pub fn nothing(&self) -> Option<String> {
        (self.n_answered.get() == 0).then(|| {
            let named = self.first_missing.borrow().join(", ");
            format!(
                "none of the {} files and registers of an audit ({named}, ...)",
                self.n_asked.get()
            )
        })
    }

    fn count<T>(&self, fact: Fact<T>) -> Fact<T> {
        self.n_asked.set(self.n_asked.get() + 1);
        match &fact {
            Ok(_) => self.n_answered.set(self.n_answered.get() + 1),
            Err(missing) => {
                let mut named = self.first_missing.borrow_mut();
                if named.len() < NAMED && !named.contains(&missing.what) {
                    named.push(missing.what.clone());
                }
            }
        }
        fact
    }
}

impl Source for Answered<'_> {
    fn origin(&self) -> Origin {
        self.inner.origin()
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(self.inner)
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        self.count(self.inner.read(path))
    }

    fn part(&self, path: &str, offset: usize, length: usize) -> Fact<Vec<u8>> {
        self.count(self.inner.part(path, offset, length))
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        self.inner.list(folder)
    }

    fn link(&self, path: &str) -> Fact<String> {
        self.count(self.inner.link(path))
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        self.count(self.inner.msr(cpu, register))
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        self.count(self.inner.cpuid(leaf, subleaf))
    }

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        self.count(self.inner.controller(question))
    }

    fn ethtool(&self, interface: &str, question: ethtool::Question) -> Fact<Vec<u8>> {
        self.count(self.inner.ethtool(interface, question))
    }

    fn speed_select(&self, question: speed_select::Question) -> Fact<Vec<u8>> {
        self.count(self.inner.speed_select(question))
    }

    fn look(&self, counters: &[Counter]) -> Vec<Fact<String>> {
        self.inner.look(counters).into_iter().map(|it| self.count(it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, view};

    fn nothing_of(capture: &str) -> Option<String> {
        let host = Captured::parse(capture).unwrap();
        let answered = Answered::new(&host);
        view(&answered);
        answered.nothing()
    }

    #[test]
    fn a_host_without_any_answer_says_what_was_looked_for() {
        let said = nothing_of("fullclock capture 1\n//- /proc/\n1\n").unwrap();
        assert!(said.starts_with("none of the ") && said.contains("(/proc/cpuinfo, "), "{said}");
    }

    #[test]
    fn one_answer_makes_a_host() {
        assert_eq!(nothing_of("fullclock capture 1\n//- /proc/cmdline\nquiet\n"), None);
    }
}
