//! The screen as text, after messages.

use super::Theme;
use super::draw::draw;
use super::message::{Effect, Feed, Message, Page};
use super::state::State;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rules::watch::{Machine, Probing, fake};
use std::sync::Arc;

const LIVE: Feed = Feed::Live { interval: String::new(), probing: Probing::Busy };

/// A screen of this size that has seen `n` readings of a machine with `cpus` CPUs.
fn state(size: (u16, u16), cpus: u32, n: u32) -> State {
    let machine = Machine::fake(cpus.div_ceil(16), cpus.min(16));
    let feed = match LIVE {
        Feed::Live { probing, .. } => Feed::Live { interval: "1s".to_owned(), probing },
        other @ Feed::Replay { .. } => other,
    };
    let mut state = State::new(machine, feed, Theme { color: true, unicode: true }, size);
    for at in 0..n {
        state.update(Message::Reading(Arc::new(fake::reading(cpus, at))));
    }
    state
}

fn drawn(state: &State) -> String {
    let mut terminal = Terminal::new(TestBackend::new(state.size.0, state.size.1)).unwrap();
    terminal.draw(|frame| draw(state, frame)).unwrap();
    terminal.backend().to_string()
}

fn after(mut state: State, messages: impl IntoIterator<Item = Message>) -> String {
    for message in messages {
        state.update(message);
    }
    drawn(&state)
}

#[test]
fn a_small_machine_fits_on_a_small_terminal() {
    insta::assert_snapshot!(drawn(&state((80, 24), 4, 40)));
}

#[test]
fn a_large_terminal_shows_more_of_everything() {
    insta::assert_snapshot!(drawn(&state((132, 43), 32, 90)));
}

#[test]
fn five_hundred_cpus_are_scrolled_below_their_packages() {
    let messages = [Message::PageDown(5), Message::Down(3), Message::Right(2)];
    insta::assert_snapshot!(after(state((80, 24), 512, 5), messages));
}

#[test]
fn five_hundred_cpus_are_32_packages() {
    insta::assert_snapshot!(after(state((132, 43), 512, 5), [Message::Level, Message::Level]));
}

#[test]
fn a_narrow_terminal_shows_the_table_alone() {
    insta::assert_snapshot!(drawn(&state((40, 10), 4, 3)));
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    insta::assert_snapshot!(drawn(&state((24, 4), 4, 3)));
}

#[test]
fn no_size_panics() {
    for columns in [1, 2, 29, 30, 80] {
        for lines in [1, 2, 3, 5, 6, 7, 11, 12, 15, 16, 17, 31, 32, 50] {
            for page in [Page::Table, Page::Help, Page::Ledger, Page::Missing] {
                after(state((columns, lines), 20, 2), [Message::Open(page), Message::Down(3)]);
            }
        }
    }
}

#[test]
fn the_busiest_cpus_come_first_when_sorted_by_busy() {
    insta::assert_snapshot!(after(state((80, 24), 64, 3), [Message::Sort, Message::Down(6)]));
}

#[test]
fn a_missing_cell_gives_its_reason() {
    let messages = [Message::Down(2), Message::Right(2)];
    let screen = after(state((80, 24), 4, 3), messages);
    assert!(screen.contains("tsc-mhz of CPU 1: unknown"), "{screen}");
    assert!(screen.contains("/dev/cpu/1/msr 0x10 may not be read (run as root)"), "{screen}");
}

#[test]
fn a_summary_without_one_cpu_is_marked() {
    let screen = after(state((80, 24), 4, 3), [Message::Right(2)]);
    assert!(
        screen.contains("2500*") && screen.contains("* without what is unknown: /dev/cpu/1"),
        "{screen}"
    );
}

#[test]
fn a_sum_opens_into_its_parts() {
    let messages = || [Message::Right(5), Message::Expand];
    insta::assert_snapshot!(after(state((100, 20), 4, 3), messages()));
    let closed = after(state((100, 20), 4, 3), messages().into_iter().chain([Message::Expand]));
    assert!(
        closed.contains("IRQ/s+") && closed.contains("interrupts, the sum of 2 parts"),
        "{closed}"
    );
}

#[test]
fn a_filter_leaves_the_cpus_that_it_names_or_says_that_there_are_none() {
    let typed = |text: &str| {
        let letters = text.chars().map(Message::Typed).collect::<Vec<_>>();
        [vec![Message::Filter], letters, vec![Message::Enter]].concat()
    };
    let screen = after(state((80, 24), 64, 3), typed("40-41"));
    assert!(
        screen.contains("only CPUs 40-41") && screen.contains(" 41 ") && !screen.contains(" 42 "),
        "{screen}"
    );
    assert!(screen.contains("pkg2") && !screen.contains("pkg1"), "{screen}");
    let screen = after(state((80, 24), 64, 3), typed("mhz"));
    assert!(screen.contains("Bzy_MHz") && !screen.contains("Busy%"), "{screen}");
    assert!(after(state((80, 24), 64, 3), typed("99")).contains("none of the CPUs 99 is online"));
    assert!(
        after(state((80, 24), 64, 3), typed("xyz"))
            .contains("\"xyz\" is neither a list of CPUs nor")
    );
}

#[test]
fn a_frozen_screen_stands_still_and_says_how_far_behind_it_is() {
    let mut state = state((80, 24), 4, 3);
    state.update(Message::Freeze);
    let frozen = drawn(&state);
    let later = Message::Reading(Arc::new(fake::reading(4, 9)));
    state.update(later.clone());
    let table =
        |screen: &str| screen.lines().skip(6).take(10).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(table(&drawn(&state)), table(&frozen));
    assert!(drawn(&state).contains("FROZEN, 1 behind"));
    state.update(Message::Freeze);
    assert_eq!(table(&drawn(&state)), table(&after(super::tests::state((80, 24), 4, 3), [later])));
}

#[test]
fn a_cpu_that_goes_offline_takes_the_cursor_to_the_machine() {
    let mut state = state((80, 24), 4, 3);
    state.update(Message::End(true));
    assert!(drawn(&state).contains(">3"));
    state.update(Message::Reading(Arc::new(fake::reading(2, 4))));
    let screen = drawn(&state);
    assert!(screen.contains(">all") && screen.contains("2 CPUs"), "{screen}");
}

#[test]
fn what_has_to_be_said_of_a_reading_is_on_screen() {
    let mut reading = fake::reading(4, 3);
    reading.notes = vec!["the machine was suspended for 12 s".to_owned()];
    let screen = after(state((80, 24), 4, 3), [Message::Reading(Arc::new(reading))]);
    assert!(screen.contains("! the machine was suspended for 12 s"), "{screen}");
}

#[test]
fn the_books_name_every_line_with_its_source() {
    insta::assert_snapshot!(after(state((80, 24), 4, 3), [Message::Open(Page::Ledger)]));
}

#[test]
fn what_is_missing_is_listed_by_reason() {
    insta::assert_snapshot!(after(state((80, 24), 4, 3), [Message::Open(Page::Missing)]));
}

#[test]
fn the_keys_are_listed() {
    insta::assert_snapshot!(after(state((80, 44), 4, 3), [Message::Open(Page::Help)]));
}

#[test]
fn a_recording_pauses_steps_and_changes_its_speed() {
    let feed = Feed::Replay { paused: false, speed: 1.0, ended: false };
    let mut state = state((80, 24), 4, 3);
    state.update(Message::Feed(feed));
    assert_eq!(state.update(Message::Freeze), Effect::Pause);
    assert_eq!(state.update(Message::Step), Effect::Step);
    assert_eq!(state.update(Message::Faster(true)), Effect::Speed(2.0));
    let feed = |ended| Feed::Replay { paused: true, speed: 2.0, ended };
    state.update(Message::Feed(feed(false)));
    assert!(drawn(&state).contains("PAUSED"), "{}", drawn(&state));
    state.update(Message::Feed(feed(true)));
    assert!(drawn(&state).contains("END, r begins again"), "{}", drawn(&state));
    assert_eq!(state.update(Message::Restart), Effect::Restart);
}

#[test]
fn a_live_screen_has_no_speed_and_no_steps() {
    let mut state = state((80, 24), 4, 3);
    for message in [Message::Step, Message::Faster(true), Message::Restart] {
        assert_eq!(state.update(message), Effect::None);
    }
    assert_eq!(state.update(Message::Probe), Effect::Probe(Probing::All));
}

#[test]
fn without_colour_no_cell_has_one() {
    let mut state = state((80, 24), 4, 3);
    state.theme.color = false;
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| draw(&state, frame)).unwrap();
    let colors = terminal.backend().buffer().content().iter().map(|it| (it.fg, it.bg));
    let plain = (ratatui::style::Color::Reset, ratatui::style::Color::Reset);
    assert!(colors.into_iter().all(|it| it == plain));
}
