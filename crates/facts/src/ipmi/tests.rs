//! What holds for all questions.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Whether it takes these bytes for an answer; that it does not panic is what matters.
fn takes<T>(question: &Question<T>, data: &[u8]) -> bool {
    question.answered(question.function | 1, question.command, data).is_ok()
}

/// The names of the questions that take these bytes for an answer.
fn takers(data: &[u8]) -> Vec<&'static str> {
    let mut names = Vec::new();
    let mut ask = |name, is_taken| names.extend(Some(name).filter(|_| is_taken));
    ask("device", takes(&DeviceId::question(), data));
    ask("abilities", takes(&DcmiCapabilities::question(), data));
    ask("limit", takes(&PowerLimit::question(), data));
    ask("power", takes(&PowerReading::question(), data));
    ask("device's number", takes(&Guid::of_device(), data));
    ask("entry", takes(&EventLogEntry::question(0), data));
    ask("factors", takes(&ReadingFactors::question(1, 2), data));
    ask("log", takes(&EventLogInfo::question(), data));
    ask("reading", takes(&Reading::question(1), data));
    ask("records", takes(&RepositoryInfo::question(), data));
    ask("reservation", takes(&Reservation::question(), data));
    ask("system's number", takes(&Guid::of_system(), data));
    ask("thresholds", takes(&Thresholds::question(1), data));
    names
}

#[test]
fn a_refusal_is_an_answer_to_nothing() {
    for code in [0x80, 0xc1, 0xd4] {
        assert!(takers(&[code]).is_empty(), "{code:#04x}");
    }
}

proptest! {
    #[test]
    fn no_answer_makes_anything_panic(data in vec(any::<u8>(), 0..40)) {
        takers(&data);
        let completed = [&[0x00][..], &data].concat();
        prop_assert!(takers(&completed).len() < 10);
    }

    #[test]
    fn every_entry_of_a_log_has_words(data in vec(any::<u8>(), 18)) {
        let completed = [&[0x00][..], &data].concat();
        let entry = EventLogEntry::question(0).answered(0x0b, 0x43, &completed).unwrap();
        if let Logged::Event { event, .. } = entry.logged {
            prop_assert!(!event.to_string().is_empty());
        }
    }
}
