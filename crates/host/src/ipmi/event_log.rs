//! The log of events, of which only what is new is fetched.

use super::controller::{Controller, Patience};
use super::failure::Failure;
use facts::ipmi::{Completion, EventLogEntry, EventLogInfo};

/// A place in the log: everything up to it was seen.
#[derive(Debug)]
pub struct EventLog {
    info: EventLogInfo,
    last: Option<EventLogEntry>,
}

impl EventLog {
    /// At its end: only what comes from now on will be new.
    pub fn at_end(
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<EventLog, Failure> {
        let info = controller.ask(&EventLogInfo::question(), patience.anew())?;
        let last = entry(EventLogEntry::LAST, controller, patience)?;
        Ok(EventLog { info, last })
    }

    /// At its beginning: all of it will be new.
    pub fn at_start(
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<EventLog, Failure> {
        let info = controller.ask(&EventLogInfo::question(), patience.anew())?;
        // Differs from every answer, so that the entries are looked at.
        Ok(EventLog {
            info: EventLogInfo { n_entries: 0, last_addition: None, ..info },
            last: None,
        })
    }

    /// The entries that were added since it was looked at last: where the controller tells when that was, it takes one
    /// question to know that there are none. Where the log was cleared in between, those that have come since then.
    pub fn news(
        &mut self,
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<Vec<EventLogEntry>, Failure> {
        let info = controller.ask(&EventLogInfo::question(), patience.anew())?;
        // A controller that does not tell when it has added one may have dropped as many as it has added.
        if info == self.info && (info.last_addition.is_some() || info.n_entries == 0) {
            return Ok(Vec::new());
        }
        let mut next = self.next(controller, patience)?;
        let mut news = Vec::new();
        // A log whose entries lead back would never come to an end; some may be added meanwhile.
        let most = usize::from(info.n_entries) + 64;
        while let Some(id) = next.filter(|_| news.len() < most) {
            let Some(found) = entry(id, controller, patience)? else { break };
            next = found.next;
            news.push(found);
        }
        self.info = info;
        self.last = news.last().cloned().or_else(|| self.last.take());
        Ok(news)
    }

    /// The number of the first entry that was not seen.
    fn next(
        &self,
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<Option<u16>, Failure> {
        if let Some(last) = &self.last
            && let Some(found) = entry(last.id, controller, patience)?
            && found.logged == last.logged
        {
            return Ok(found.next);
        }
        Ok(Some(EventLogEntry::FIRST))
    }
}

/// An entry, if there is one of that number.
fn entry(
    id: u16,
    controller: &mut Controller,
    patience: Patience<'_>,
) -> Result<Option<EventLogEntry>, Failure> {
    match controller.ask(&EventLogEntry::question(id), patience.anew()) {
        Ok(entry) => Ok(Some(entry)),
        Err(why) if why.is_refusal(Completion::NOT_PRESENT) => Ok(None),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    /// A log with these entries, by their numbers.
    #[derive(Clone, Default)]
    struct Log(Rc<RefCell<State>>);

    #[derive(Default)]
    struct State {
        entries: Vec<u16>,
        /// When it changed last, in steps.
        changed: u8,
        /// How many questions there were.
        questions: u32,
        /// The last entry names the first one as the next.
        is_circular: bool,
    }

    impl Log {
        fn with(entries: &[u16]) -> Log {
            let log = Log::default();
            log.change_to(entries);
            log
        }

        fn change_to(&self, entries: &[u16]) {
            let mut state = self.0.borrow_mut();
            state.entries = entries.to_vec();
            state.changed += 1;
        }

        fn controller(&self) -> Controller {
            let state = Rc::clone(&self.0);
            fake::controller(move |asked| {
                let mut state = state.borrow_mut();
                state.questions += 1;
                Some(match asked.command {
                    0x40 => state.info(),
                    _ => state.entry(u16::from_le_bytes([asked.data[2], asked.data[3]])),
                })
            })
        }

        fn questions(&self) -> u32 {
            std::mem::take(&mut self.0.borrow_mut().questions)
        }
    }

    impl State {
        fn info(&self) -> Vec<u8> {
            let n_entries = u8::try_from(self.entries.len()).unwrap();
            let changed = [self.changed, 0, 0, 0x60];
            [&[0, 0x51, n_entries, 0, 0, 1][..], &changed, &[0xff; 4], &[0]].concat()
        }

        fn entry(&self, id: u16) -> Vec<u8> {
            let position = match id {
                EventLogEntry::FIRST => 0,
                EventLogEntry::LAST => self.entries.len().wrapping_sub(1),
                id => self.entries.iter().position(|it| *it == id).unwrap_or(usize::MAX),
            };
            let Some(id) = self.entries.get(position) else { return vec![0xcb] };
            let after = if self.is_circular { self.entries.first() } else { None };
            let next = self.entries.get(position + 1).or(after).copied().unwrap_or(0xffff);
            let at = [id.to_le_bytes()[0], 0, 0, 0x60];
            let event = [0x20, 0, 4, 1, 7, 1, 0x59, 0, 0];
            [&[0][..], &next.to_le_bytes(), &id.to_le_bytes(), &[2], &at, &event].concat()
        }
    }

    const LONG: Duration = Duration::from_secs(60);
    const NONE: [u16; 0] = [];

    fn ids(log: &mut EventLog, controller: &mut Controller) -> Vec<u16> {
        let stop = AtomicBool::new(false);
        let news = log.news(controller, Patience::begin(LONG, &stop)).unwrap();
        news.iter().map(|it| it.id).collect()
    }

    fn begun(log: &Log, is_at_end: bool) -> (EventLog, Controller) {
        let stop = AtomicBool::new(false);
        let (mut controller, patience) = (log.controller(), Patience::begin(LONG, &stop));
        let begin = if is_at_end { EventLog::at_end } else { EventLog::at_start };
        (begin(&mut controller, patience).unwrap(), controller)
    }

    #[test]
    fn only_what_is_new_is_fetched_and_nothing_new_takes_one_question() {
        let log = Log::with(&[3, 9, 4]);
        let (mut seen, mut controller) = begun(&log, true);
        assert_eq!(ids(&mut seen, &mut controller), NONE);
        log.questions();
        assert_eq!(ids(&mut seen, &mut controller), NONE);
        assert_eq!(log.questions(), 1);
        log.change_to(&[3, 9, 4, 12, 5]);
        assert_eq!(ids(&mut seen, &mut controller), [12, 5]);
        // The information, the last entry that was seen, and two.
        assert_eq!(log.questions(), 4);
        assert_eq!(ids(&mut seen, &mut controller), NONE);
    }

    #[test]
    fn from_the_start_all_is_new_once() {
        let (mut seen, mut controller) = begun(&Log::with(&[3, 9]), false);
        assert_eq!(ids(&mut seen, &mut controller), [3, 9]);
        assert_eq!(ids(&mut seen, &mut controller), NONE);
    }

    #[test]
    fn of_a_log_that_was_cleared_all_that_has_come_since_is_new() {
        let log = Log::with(&[3, 9]);
        let (mut seen, mut controller) = begun(&log, true);
        log.change_to(&[]);
        assert_eq!(ids(&mut seen, &mut controller), NONE);
        log.change_to(&[1, 2]);
        assert_eq!(ids(&mut seen, &mut controller), [1, 2]);
    }

    #[test]
    fn an_empty_log_is_one_and_one_that_leads_back_ends() {
        let log = Log::with(&[]);
        let (mut seen, mut controller) = begun(&log, true);
        assert_eq!(ids(&mut seen, &mut controller), NONE);
        log.change_to(&[1, 2]);
        log.0.borrow_mut().is_circular = true;
        assert_eq!(ids(&mut seen, &mut controller).len(), 2 + 64);
    }
}
