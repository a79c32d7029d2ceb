//! Asks a controller questions and waits for the answers.
#![expect(clippy::disallowed_methods, reason = "waits for answers, and not for ever")]

use super::carrier::{Arrived, Asked, Carrier, Kind};
use super::device::Device;
use super::failure::Failure;
use facts::ipmi::{EventLogEntry, Question, SensorOwner, Unanswered};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::c_long;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An open connection to a controller.
pub struct Controller {
    path: String,
    carrier: Box<dyn Carrier>,
    /// The number of the last question.
    number: c_long,
    /// Events that arrived during waits for answers.
    events: VecDeque<Arrived>,
    /// The number of events that were dropped.
    n_dropped: u64,
}

/// More unread events than this are counted and dropped: a controller that sends events without end must not fill the
/// memory.
const MOST_EVENTS: usize = 256;

/// A time limit, and a flag to stop early.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    began: Instant,
    limit: Duration,
    stop: &'a AtomicBool,
}

impl<'a> Patience<'a> {
    /// Begins now, and ends after `limit`, or once `stop` is set.
    pub fn begin(limit: Duration, stop: &'a AtomicBool) -> Patience<'a> {
        Patience { began: Instant::now(), limit, stop }
    }

    /// The same limit, from now on.
    #[must_use]
    pub fn anew(self) -> Patience<'a> {
        Patience::begin(self.limit, self.stop)
    }
}

/// How often the stop flag is checked.
const STEP: Duration = Duration::from_millis(50);

impl Controller {
    /// Opens the first interface's device below `root`, which is `/` except in tests.
    pub fn open(root: &Path) -> Result<Controller, Failure> {
        let (path, device) = Device::first(root)?;
        Ok(Controller::behind(path, Box::new(device)))
    }

    /// Whether there is a device to open below `root`.
    pub(crate) fn exists(root: &Path) -> bool {
        Device::exists(root)
    }

    /// A controller behind another carrier; messages call it `path`.
    pub fn behind(path: String, carrier: Box<dyn Carrier>) -> Controller {
        Controller { path, carrier, number: 0, events: VecDeque::new(), n_dropped: 0 }
    }

    /// The path of the device.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Asks a question and waits for its answer. Late answers to earlier questions are dropped.
    pub fn ask<T>(&mut self, question: &Question<T>, patience: Patience<'_>) -> Result<T, Failure> {
        self.ask_of(SensorOwner::CONTROLLER, question, patience)
    }

    /// Asks another logical unit, or another controller on a bus behind this one.
    pub fn ask_of<T>(
        &mut self,
        whom: SensorOwner,
        question: &Question<T>,
        patience: Patience<'_>,
    ) -> Result<T, Failure> {
        let it = self.arrived(whom, question, patience)?;
        answer_to(question, &it).map_err(|why| self.none(question, why))
    }

    /// Asks several questions, with this patience for each answer. The driver can send the next question when an
    /// answer arrives, without waiting until this program has read it. Fails if the controller itself does not answer
    /// one of them; a refusal is an answer.
    pub fn ask_all<T>(
        &mut self,
        questions: &[(SensorOwner, Question<T>)],
        patience: Patience<'_>,
    ) -> Result<Vec<Result<T, Unanswered>>, Failure> {
        /// Four or eight are not faster, and other programs have to wait for all questions that the driver holds.
        const AT_ONCE: usize = 2;
        let first = self.number.wrapping_add(1);
        let mut unsent = questions.iter();
        let mut arrived = vec![None; questions.len()];
        let mut answers = Vec::with_capacity(questions.len());
        while let Some((_, question)) = questions.get(answers.len()) {
            let n_under_way = questions.len() - unsent.len() - answers.len();
            for (whom, question) in unsent.by_ref().take(AT_ONCE.saturating_sub(n_under_way)) {
                self.send(*whom, question)?;
            }
            let patience = patience.anew();
            // The answer of another controller may arrive after those to later questions.
            while arrived[answers.len()].is_none() {
                let it = self.next_answer(question.name, patience)?;
                let place = usize::try_from(it.number.wrapping_sub(first)).ok();
                if let Some(place) = place.and_then(|it| arrived.get_mut(it)) {
                    *place = Some(it);
                }
            }
            answers.extend(arrived[answers.len()].take().map(|it| answer_to(question, &it)));
        }
        Ok(answers)
    }

    /// Asks a question and returns the bytes of its answer, the completion code first.
    pub(crate) fn ask_verbatim(
        &mut self,
        question: &Question<Vec<u8>>,
        patience: Patience<'_>,
    ) -> Result<Vec<u8>, Failure> {
        let it = self.arrived(SensorOwner::CONTROLLER, question, patience)?;
        match answer_to(question, &it) {
            Ok(_) | Err(Unanswered::Refused(_)) => Ok(it.data),
            Err(why @ Unanswered::Malformed { .. }) => Err(self.none(question, why)),
        }
    }

    /// Asks a question and returns the message that answers it.
    fn arrived<T>(
        &mut self,
        whom: SensorOwner,
        question: &Question<T>,
        patience: Patience<'_>,
    ) -> Result<Arrived, Failure> {
        self.send(whom, question)?;
        loop {
            let it = self.next_answer(question.name, patience)?;
            if it.number == self.number {
                return Ok(it);
            }
        }
    }

    fn send<T>(&mut self, whom: SensorOwner, question: &Question<T>) -> Result<(), Failure> {
        self.number = self.number.wrapping_add(1);
        let Question { function, command, ref data, .. } = *question;
        let sent = self.carrier.send(&Asked { whom, number: self.number, function, command, data });
        sent.map_err(|error| self.refused("cannot send", question.name, error))
    }

    /// The next answer to any question; errors name `question`.
    fn next_answer(
        &mut self,
        question: &'static str,
        patience: Patience<'_>,
    ) -> Result<Arrived, Failure> {
        loop {
            if patience.stop.load(Ordering::Relaxed) {
                return Err(Failure::Stopped);
            }
            let Some(left) = patience.limit.checked_sub(patience.began.elapsed()) else {
                let (path, limit) = (self.path.clone(), patience.limit);
                return Err(Failure::NoAnswer { path, question, limit });
            };
            let arrived = self.carrier.receive(left.min(STEP));
            let arrived =
                arrived.map_err(|it| self.refused("cannot receive the answer to", question, it))?;
            match arrived {
                Some(it) if it.kind == Kind::Event => self.keep(it),
                Some(it) if it.kind == Kind::Answer => return Ok(it),
                _ => {}
            }
        }
    }

    /// Requests events as they come, if the controller sends them. The driver then reads them from the controller.
    pub fn want_events(&mut self) -> Result<(), Failure> {
        let wanted = self.carrier.want_events();
        wanted.map_err(|error| self.refused("cannot ask for", "events", error))
    }

    /// The next event; `None` if none arrives in time.
    pub fn event(&mut self, within: Duration) -> Result<Option<EventLogEntry>, Failure> {
        if self.events.is_empty() {
            let arrived = self.carrier.receive(within);
            let arrived = arrived.map_err(|it| self.refused("cannot receive", "events", it))?;
            arrived.into_iter().filter(|it| it.kind == Kind::Event).for_each(|it| self.keep(it));
        }
        let event = self.events.pop_front();
        // A message that is not a log entry is ignored.
        Ok(event.and_then(|it| EventLogEntry::parse_sent(&it.data).ok()))
    }

    /// The number of events dropped since the last call.
    pub fn dropped_events(&mut self) -> u64 {
        std::mem::take(&mut self.n_dropped)
    }

    fn keep(&mut self, event: Arrived) {
        if self.events.len() < MOST_EVENTS {
            self.events.push_back(event);
        } else {
            self.n_dropped += 1;
        }
    }

    fn none<T>(&self, question: &Question<T>, why: Unanswered) -> Failure {
        Failure::Unanswered { path: self.path.clone(), question: question.name, why }
    }

    fn refused(&self, what: &str, question: &str, error: Errno) -> Failure {
        Failure::System { path: self.path.clone(), what: format!("{what} {question}"), error }
    }
}

fn answer_to<T>(question: &Question<T>, it: &Arrived) -> Result<T, Unanswered> {
    question.answered(it.function, it.command, &it.data)
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::ipmi::{DeviceId, Reading};
    use std::collections::VecDeque;

    const DEVICE_ID: [u8; 12] = [0, 0x20, 1, 1, 0, 2, 0xbf, 0, 0, 0, 0, 0];

    /// Brings these one after the other, and then nothing.
    struct Script(VecDeque<Arrived>);

    impl Carrier for Script {
        fn send(&mut self, _: &Asked<'_>) -> Result<(), Errno> {
            Ok(())
        }

        fn receive(&mut self, within: Duration) -> Result<Option<Arrived>, Errno> {
            let arrived = self.0.pop_front();
            if arrived.is_none() {
                std::thread::sleep(within);
            }
            Ok(arrived)
        }
    }

    fn answer(number: c_long, data: &[u8]) -> Arrived {
        Arrived { kind: Kind::Answer, number, function: 7, command: 1, data: data.to_vec() }
    }

    fn asked(arriving: Vec<Arrived>, limit: Duration, stop: bool) -> Result<DeviceId, Failure> {
        let stop = AtomicBool::new(stop);
        let mut controller =
            Controller::behind("/dev/x".to_owned(), Box::new(Script(arriving.into())));
        controller.ask(&DeviceId::question(), Patience::begin(limit, &stop))
    }

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn what_belongs_to_another_question_or_to_none_is_dropped() {
        let command = Arrived { kind: Kind::Other, ..answer(1, &[9]) };
        let late = answer(0, &[0xc3]);
        assert!(asked(vec![command, late, answer(1, &DEVICE_ID)], LONG, false).is_ok());
    }

    /// An entry of the log: the temperature of sensor 4 goes above what is critical.
    const EVENT: [u8; 16] = [2, 0, 2, 1, 0, 0, 0x60, 0x20, 0, 4, 1, 4, 1, 0x59, 0xb0, 0xaf];

    fn event(data: &[u8]) -> Arrived {
        Arrived { kind: Kind::Event, ..answer(0, data) }
    }

    #[test]
    fn events_that_come_between_are_kept_and_told_and_not_without_end() {
        let n_events = MOST_EVENTS + 3;
        let flood = std::iter::repeat_n(event(&EVENT), n_events);
        let arriving: VecDeque<Arrived> =
            flood.chain([answer(1, &DEVICE_ID), event(&[1, 2])]).collect();
        let mut controller = Controller::behind("/dev/x".to_owned(), Box::new(Script(arriving)));
        let stop = AtomicBool::new(false);
        controller.ask(&DeviceId::question(), Patience::begin(LONG, &stop)).unwrap();
        for _ in 0..MOST_EVENTS {
            assert_eq!(controller.event(Duration::ZERO).unwrap().unwrap().id, 2);
        }
        // What is no entry, and then nothing.
        assert_eq!(controller.event(Duration::ZERO).unwrap(), None);
        assert_eq!(controller.event(Duration::ZERO).unwrap(), None);
        assert_eq!((controller.dropped_events(), controller.dropped_events()), (3, 0));
    }

    #[test]
    fn a_controller_that_says_nothing_is_given_up() {
        let text = asked(vec![], Duration::from_millis(60), false).unwrap_err().to_string();
        let expected = "/dev/x: no answer to Get Device ID within 0.06 s: the controller hangs";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_refusal_and_a_wrong_length_name_the_question() {
        let text = |data: &[u8]| asked(vec![answer(1, data)], LONG, false).unwrap_err().to_string();
        let busy = "/dev/x: Get Device ID: the controller is busy (completion code 0xc0)";
        assert_eq!(text(&[0xc0]), busy);
        let short = "/dev/x: Get Device ID: it answers function 0x07 command 0x01: 00 20, expected 11 to 15 bytes";
        assert!(text(&[0, 0x20]).starts_with(short), "{}", text(&[0, 0x20]));
    }

    /// Has two questions under way at most, and answers the later one first, with what it was asked with.
    #[derive(Default)]
    struct Crossing(Vec<Arrived>);

    impl Carrier for Crossing {
        fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno> {
            self.0.push(asked.answer([&[0][..], asked.data].concat()));
            if self.0.len() > 2 { Err(Errno::BUSY) } else { Ok(()) }
        }

        fn receive(&mut self, _: Duration) -> Result<Option<Arrived>, Errno> {
            Ok(self.0.pop())
        }
    }

    #[test]
    fn of_several_questions_two_are_under_way_and_each_gets_its_own_answer() {
        let mut controller = Controller::behind("/dev/x".to_owned(), Box::<Crossing>::default());
        let stop = AtomicBool::new(false);
        for n_questions in [0, 1, 2, 5] {
            let question = |it| (SensorOwner::CONTROLLER, Reading::question(it).verbatim());
            let questions: Vec<_> = (0..n_questions).map(question).collect();
            let answers = controller.ask_all(&questions, Patience::begin(LONG, &stop)).unwrap();
            let expected: Vec<_> = (0..n_questions).map(|it| Ok(vec![it])).collect();
            assert_eq!(answers, expected);
        }
    }

    #[test]
    fn of_several_questions_one_that_is_refused_leaves_the_others_theirs() {
        let arriving = vec![answer(1, &[0xc0]), answer(0, &DEVICE_ID), answer(2, &DEVICE_ID)];
        let mut controller =
            Controller::behind("/dev/x".to_owned(), Box::new(Script(arriving.into())));
        let stop = AtomicBool::new(false);
        let patience = Patience::begin(Duration::from_millis(60), &stop);
        let question = || (SensorOwner::CONTROLLER, DeviceId::question());
        let answers = controller.ask_all(&[question(), question()], patience).unwrap();
        assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true]);
        let given_up = controller.ask_all(&[question(), question()], patience);
        assert!(matches!(given_up, Err(Failure::NoAnswer { .. })), "{given_up:?}");
    }

    #[test]
    fn a_user_who_wants_to_stop_does_not_wait_for_the_answer() {
        assert!(matches!(asked(vec![], LONG, true), Err(Failure::Stopped)));
    }

    #[test]
    fn a_file_in_the_devices_place_is_told_of() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("dev")).unwrap();
        std::fs::write(root.path().join("dev/ipmi0"), "").unwrap();
        let stop = AtomicBool::new(false);
        let patience = Patience::begin(LONG, &stop);
        let mut controller = Controller::open(root.path()).unwrap();
        let text = controller.ask(&DeviceId::question(), patience).unwrap_err().to_string();
        assert!(text.contains("dev/ipmi0: cannot send Get Device ID: "), "{text}");
    }
}
