//! A controller for tests, that answers as it is told to.

use super::carrier::{Arrived, Asked, Carrier};
use super::controller::Controller;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::time::Duration;

/// What it answers: completion code and data, or nothing.
type Answers = Box<dyn FnMut(&Asked<'_>) -> Option<Vec<u8>>>;

struct Fake {
    answers: Answers,
    arriving: VecDeque<Arrived>,
}

impl Carrier for Fake {
    fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno> {
        self.arriving.extend((self.answers)(asked).map(|data| asked.answer(data)));
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> Result<Option<Arrived>, Errno> {
        Ok(self.arriving.pop_front())
    }
}

/// A controller behind /dev/x that answers so.
pub(crate) fn controller(
    answers: impl FnMut(&Asked<'_>) -> Option<Vec<u8>> + 'static,
) -> Controller {
    let fake = Fake { answers: Box::new(answers), arriving: VecDeque::new() };
    Controller::behind("/dev/x".to_owned(), Box::new(fake))
}
