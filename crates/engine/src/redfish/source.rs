//! A machine whose controller is configured: an audit and a capture of it ask the controller once.

use super::walk::NoSuchSystem;
use super::{Own, Session, Wanted, Way};
use anyhow::{Error, Result, anyhow};
use facts::ipmi::Question;
use facts::redfish::{self, Redfish};
use facts::{Fact, Missing, Origin, Why};
use host::Source;
use std::cell::OnceCell;

/// The controller of a machine whose firmware is to be changed.
#[derive(Clone, Debug)]
pub struct Controller {
    /// How it is reached.
    pub way: Way,
    /// The name of the system, where it has several.
    pub system: Option<String>,
}

impl Controller {
    /// The machine with what its controller says of the firmware's settings. It is asked at once, and only read.
    ///
    /// Errors: those of [`Way::client`] and [`Session::look`].
    pub fn of(&self, machine: Box<dyn Source>) -> Result<Box<dyn Source>> {
        let change = Some(Own::of(&*machine));
        let wanted = Wanted { system: self.system.clone(), change, ..Wanted::default() };
        let told = Session::new(&self.way.client_of_changes()?).look(&wanted)?;
        let told = OnceCell::from(Ok(told));
        Ok(Box::new(WithRedfish { inner: machine, way: Ok(self.way.clone()), wanted, told }))
    }
}

/// Asks `inner` for everything but what the controller says over Redfish.
pub struct WithRedfish {
    inner: Box<dyn Source>,
    way: Result<Way>,
    wanted: Wanted,
    told: OnceCell<Fact<Redfish>>,
}

impl WithRedfish {
    /// The controller is asked when somebody looks at what it says, and once. Why there is no way to it is told then, too.
    pub fn new(inner: Box<dyn Source>, way: Result<Way>, wanted: Wanted) -> WithRedfish {
        WithRedfish { inner, way, wanted, told: OnceCell::new() }
    }

    /// The controller is there, and not asked.
    pub fn left_alone(inner: Box<dyn Source>) -> WithRedfish {
        let way = Err(anyhow!("it is not asked here"));
        let told = OnceCell::from(Err(Missing::left_alone(redfish::NAME)));
        WithRedfish { inner, way, wanted: Wanted::default(), told }
    }

    fn ask(&self) -> Fact<Redfish> {
        let failed = |error: &Error| Missing {
            what: redfish::NAME.to_owned(),
            why: Why::Failed(format!("{error:#}")),
        };
        let way = self.way.as_ref().map_err(failed)?;
        let client = way.client().map_err(|it| failed(&it))?;
        let told = Session::new(&client).look(&self.wanted);
        // Captures keep this text: it names neither the controller's address nor a system.
        told.map_err(|error| match error.is::<NoSuchSystem>() {
            true => failed(&anyhow!("it has no system of the name in redfish.system")),
            false => {
                let words =
                    format!("{error:#}").replace(&client.address().to_string(), "the controller");
                failed(&anyhow!(words))
            }
        })
    }
}

impl Source for WithRedfish {
    fn origin(&self) -> Origin {
        self.inner.origin()
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(&*self.inner)
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        self.inner.read(path)
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        self.inner.list(folder)
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

    fn redfish(&self) -> Fact<Redfish> {
        self.told.get_or_init(|| self.ask()).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::power::speed_select::{Command, Question as SpeedSelect};
    use host::Captured;

    #[test]
    fn what_drivers_answer_is_asked_behind_it_and_why_there_is_no_controller_is_said() {
        let host = "//- /dev/isst_interface mailbox cpu0 0x7f 0x0 0x0\n!bytes 04040080\n";
        let inner = Box::new(Captured::excerpt(host).unwrap());
        let source = WithRedfish::new(inner, Err(anyhow!("no password")), Wanted::default());
        let question = SpeedSelect::Mailbox { cpu: 0, command: Command::InForce };
        assert_eq!(source.speed_select(question), Ok(vec![4, 4, 0, 0x80]));
        let why = Why::Failed("no password".to_owned());
        assert_eq!(source.redfish(), Err(Missing { what: redfish::NAME.to_owned(), why }));
    }
}
