//! A machine whose controller is configured: an audit and a capture of it ask the controller once.

use super::{Session, Wanted, Way};
use anyhow::{Error, Result};
use facts::ipmi::Question;
use facts::links::ethtool;
use facts::{Fact, Missing, Origin, Why, redfish};
use host::{Counter, Source};
use std::cell::OnceCell;

/// Asks `inner` for everything but what the controller says over Redfish.
pub struct WithRedfish {
    inner: Box<dyn Source>,
    way: Result<Way>,
    wanted: Wanted,
    told: OnceCell<Fact<String>>,
}

impl WithRedfish {
    /// The controller is asked when somebody looks at what it says, and once. Why there is no way to it is told then, too.
    pub fn new(inner: Box<dyn Source>, way: Result<Way>, wanted: Wanted) -> WithRedfish {
        WithRedfish { inner, way, wanted, told: OnceCell::new() }
    }

    fn ask(&self) -> Fact<String> {
        let failed = |error: &Error| Missing {
            what: redfish::NAME.to_owned(),
            why: Why::Failed(format!("{error:#}")),
        };
        let client = self.way.as_ref().map_err(failed)?.client().map_err(|it| failed(&it))?;
        let told = Session::new(&client).look(&self.wanted).map_err(|it| failed(&it))?;
        Ok(told.to_text())
    }
}

impl Source for WithRedfish {
    fn origin(&self) -> Origin {
        self.inner.origin()
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        self.inner.read(path)
    }

    fn part(&self, path: &str, offset: usize, length: usize) -> Fact<Vec<u8>> {
        self.inner.part(path, offset, length)
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        self.inner.list(folder)
    }

    fn folders(&self, folder: &str) -> Fact<Vec<String>> {
        self.inner.folders(folder)
    }

    fn link(&self, path: &str) -> Fact<String> {
        self.inner.link(path)
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        self.inner.msr(cpu, register)
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        self.inner.cpuid(leaf, subleaf)
    }

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        self.inner.controller(question)
    }

    fn redfish(&self) -> Fact<String> {
        self.told.get_or_init(|| self.ask()).clone()
    }

    fn ethtool(&self, interface: &str, question: ethtool::Question) -> Fact<Vec<u8>> {
        self.inner.ethtool(interface, question)
    }

    fn look(&self, counters: &[Counter]) -> Vec<Fact<String>> {
        self.inner.look(counters)
    }

    fn roots(&self) -> &[String] {
        self.inner.roots()
    }
}
