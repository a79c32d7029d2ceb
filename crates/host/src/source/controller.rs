//! The running machine for who looks once and by hand, an audit or a capture: with its management controller, which has two or three
//! questions to answer and little time, and with counters that are read twice.
//!
//! Whoever looks again and again asks a [`Live`], which leaves the controller alone and looks at nothing twice. A controller that hangs must not hold an audit: all questions together
//! have [`PATIENCE`], and after the first that brought nothing none is asked any more.

use super::live::Live;
use super::{Counter, Source, look};
use crate::clock;
use crate::ipmi::{Controller, Failure, Patience};
use facts::cpu::delivered::LOOK;
use facts::ipmi::Question;
use facts::{Fact, Missing, Origin, Why};
use rustix::io::Errno;
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// For all questions together. A controller answers within some milliseconds, a busy one within some tenths of a second.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Nobody stops an audit but by ending the program.
static NEVER: AtomicBool = AtomicBool::new(false);

/// This machine, whose controller is asked and whose counters are read twice.
pub struct WithController {
    live: Live,
    asked: RefCell<Asked>,
}

/// The controller from one question to the next.
struct Asked {
    open: fn() -> Result<Controller, Failure>,
    opened: Option<(Controller, Patience<'static>)>,
    /// Why it is not asked any more.
    given_up: Option<Why>,
}

impl WithController {
    /// The machine we run on.
    pub fn this_machine() -> WithController {
        WithController::opening(|| Controller::open(Path::new("/")))
    }

    fn opening(open: fn() -> Result<Controller, Failure>) -> WithController {
        let asked = RefCell::new(Asked { open, opened: None, given_up: None });
        WithController { live: Live::this_machine(), asked }
    }
}

impl Asked {
    fn answer(&mut self, question: &Question<Vec<u8>>) -> Result<Vec<u8>, Why> {
        if let Some(why) = &self.given_up {
            return Err(why.clone());
        }
        if self.opened.is_none() {
            let opened = (self.open)();
            let controller = opened.map_err(|failure| self.give_up(&failure))?;
            self.opened = Some((controller, Patience::begin(PATIENCE, &NEVER)));
        }
        let Some((controller, patience)) = &mut self.opened else { return Err(Why::Absent) };
        controller.ask_verbatim(question, *patience).map_err(|failure| match failure {
            // It answers, if not this question.
            Failure::Unanswered { .. } => Why::Failed(failure.to_string()),
            _ => self.give_up(&failure),
        })
    }

    fn give_up(&mut self, failure: &Failure) -> Why {
        let why = match failure {
            Failure::NoDevice { .. }
            | Failure::Unopened { error: Errno::NODEV | Errno::NXIO, .. } => Why::Absent,
            Failure::Unopened { error: Errno::ACCESS | Errno::PERM, .. } => Why::Denied,
            _ => Why::Failed(failure.to_string()),
        };
        self.opened = None;
        self.given_up.insert(why).clone()
    }
}

impl Source for WithController {
    fn origin(&self) -> Origin {
        self.live.origin()
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(&self.live)
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        self.live.read(path)
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        self.live.list(folder)
    }

    fn link(&self, path: &str) -> Fact<String> {
        self.live.link(path)
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        self.live.msr(cpu, register)
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        self.live.cpuid(leaf, subleaf)
    }

    fn look(&self, counters: &[Counter]) -> Vec<Fact<String>> {
        look::twice(counters, LOOK, &|it: &Counter| it.read(&self.live), clock::sleep)
    }

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        let answer = self.asked.borrow_mut().answer(question);
        answer.map_err(|why| Missing { what: question.path(), why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipmi::{Arrived, Asked as Question_, Carrier};
    use facts::ipmi::{DcmiCapabilities, PowerLimit};
    use std::cell::Cell;

    thread_local! {
        /// How many questions came to a [`Tired`] one, and how often it was opened: every test has a thread of its own.
        static N_ASKED: Cell<usize> = const { Cell::new(0) };
        static N_OPENED: Cell<usize> = const { Cell::new(0) };
    }

    /// Answers the first question of a group, and nothing after it.
    struct Tired(Option<Arrived>);

    impl Carrier for Tired {
        fn send(&mut self, asked: &Question_<'_>) -> Result<(), Errno> {
            N_ASKED.set(N_ASKED.get() + 1);
            let answer =
                (asked.command == 1).then(|| asked.answer(vec![0, 0xdc, 1, 5, 2, 0, 1, 7]));
            self.0 = answer;
            Ok(())
        }

        fn receive(&mut self, within: Duration) -> Result<Option<Arrived>, Errno> {
            let arrived = self.0.take();
            if arrived.is_none() {
                std::thread::sleep(within);
            }
            Ok(arrived)
        }
    }

    fn tired() -> Result<Controller, Failure> {
        N_OPENED.set(N_OPENED.get() + 1);
        Ok(Controller::behind("/dev/ipmi0".to_owned(), Box::new(Tired(None))))
    }

    #[test]
    fn after_the_first_silence_nothing_is_asked_any_more() {
        let machine = WithController::opening(tired);
        assert!(machine.controller(&DcmiCapabilities::question().verbatim()).is_ok());
        let limit = PowerLimit::question().verbatim();
        let silent = machine.controller(&limit).unwrap_err();
        assert!(
            silent.to_string().contains("no answer to Get Power Limit within 1.5 s"),
            "{silent}"
        );
        for _ in 0..100 {
            assert_eq!(machine.controller(&limit), Err(silent.clone()));
        }
        assert!(machine.controller(&DcmiCapabilities::question().verbatim()).is_err());
        assert_eq!((N_OPENED.get(), N_ASKED.get()), (1, 2));
    }

    #[test]
    fn reasons_are_told_apart() {
        let unopened = |error| Failure::Unopened { path: "/dev/ipmi0".to_owned(), error };
        let why = |failure| Asked { open: tired, opened: None, given_up: None }.give_up(&failure);
        assert_eq!(why(Failure::NoDevice { tried: String::new() }), Why::Absent);
        assert_eq!(why(unopened(Errno::ACCESS)), Why::Denied);
        assert_eq!(why(unopened(Errno::NODEV)), Why::Absent);
        assert!(matches!(why(unopened(Errno::BUSY)), Why::Failed(_)));
    }

    #[test]
    fn a_machine_that_is_looked_at_often_leaves_its_controller_alone() {
        let missing =
            Live::this_machine().controller(&PowerLimit::question().verbatim()).unwrap_err();
        let has_one = Controller::exists(Path::new("/"));
        assert_eq!(missing.is_absence(), !has_one, "{missing}");
    }
}
