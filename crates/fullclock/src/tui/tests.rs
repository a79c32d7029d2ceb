//! The screen as text, after messages.

use super::draw::draw;
use super::findings::Findings;
use super::message::{Effect, Feed, Message, Page};
use super::state::State;
use super::theme::{Colors, Theme};
use host::Captured;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rules::watch::{Machine, Probing, Reading, fake};
use std::sync::Arc;

const THEME: Theme = Theme { colors: Colors::Xterm, unicode: true };

const LIVE: Feed = Feed::Live { interval: String::new(), probing: Probing::Busy };

/// A screen of this size that has seen `n` readings of a machine with `cpus` CPUs.
fn state(size: (u16, u16), cpus: u32, n: u32) -> State {
    let machine = Machine::fake(cpus.div_ceil(16), cpus.min(16));
    let feed = match LIVE {
        Feed::Live { probing, .. } => Feed::Live { interval: "1s".to_owned(), probing },
        other @ Feed::Replay { .. } => other,
    };
    let mut state = State::new(machine, feed, THEME, size);
    for at in 0..n {
        state.update(Message::Reading(Arc::new(fake::reading(cpus, at))));
    }
    state
}

/// A machine whose governor keeps the clock down, in a container with a quota.
const FAULTY: &str = "\
//- /sys/devices/system/cpu/online
0-1
//- /sys/devices/system/cpu/cpufreq/policy0/related_cpus
0
//- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus
0
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver
acpi-cpufreq
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor
powersave
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors
ondemand performance powersave
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq
1600000
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq
1600000
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq
1800000
//- /sys/devices/system/cpu/cpufreq/policy0/cpuinfo_min_freq
1600000
//- /sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq
2534000
//- /sys/devices/system/clocksource/clocksource0/current_clocksource
hpet
//- /sys/devices/system/clocksource/clocksource0/available_clocksource
tsc hpet acpi_pm
";

/// What an audit of such a host finds.
fn audited(excerpt: &str) -> Message {
    let source = Captured::excerpt(excerpt).unwrap();
    let host = host::view(&source);
    let audit = engine::advised::audit(&source, &host);
    Message::Audited(Arc::new(Findings::of("db7", &host, &audit)))
}

/// A machine of two CPUs of one package that share no core, with a name of its own.
fn small(size: (u16, u16)) -> State {
    let mut state = state(size, 2, 40);
    state.machine = Machine::default();
    state.machine.name = "vm".to_owned();
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
fn a_small_machine_has_its_findings_below_the_table() {
    insta::assert_snapshot!(after(small((80, 24)), [audited(FAULTY)]));
}

#[test]
fn a_small_machine_fills_a_large_terminal() {
    insta::assert_snapshot!(after(small((200, 50)), [audited(FAULTY)]));
}

#[test]
fn a_large_machine_has_its_findings_beside_the_table() {
    insta::assert_snapshot!(after(state((200, 50), 512, 90), [audited(FAULTY)]));
}

#[test]
fn without_findings_the_verdict_says_so() {
    let steady = "//- /sys/devices/system/clocksource/clocksource0/current_clocksource\ntsc\n";
    let screen = after(small((80, 24)), [audited(steady)]);
    assert!(screen.contains("No findings."), "{screen}");
    let screen = after(small((80, 24)), [audited("")]);
    assert!(screen.contains("Nothing could be judged."), "{screen}");
    assert!(drawn(&small((80, 24))).contains("auditing ..."));
}

#[test]
fn a_client_has_a_line_with_its_latest_number_and_those_before() {
    let mut state = state((80, 24), 4, 3);
    for tps in [Some(1000.0), Some(2000.0), None, Some(2616.0)] {
        let reading = Reading { client: Some(fake::client(tps)), ..fake::reading(4, 4) };
        state.update(Message::Reading(Arc::new(reading)));
    }
    let screen = drawn(&state);
    assert!(screen.contains("pgbench: 2616 tps     ▃▅ ▇"), "{screen}");
    let reading = Reading { client: Some(fake::client(None)), ..fake::reading(4, 5) };
    state.update(Message::Reading(Arc::new(reading)));
    assert!(drawn(&state).contains("no number of the client pgbench"), "{}", drawn(&state));
}

#[test]
fn findings_without_room_are_counted_and_a_page_has_all_of_them() {
    let screen = after(state((80, 24), 64, 3), [audited(FAULTY)]);
    assert!(screen.contains(", worst ") && screen.contains("(f)"), "{screen}");
    insta::assert_snapshot!(after(
        state((80, 50), 64, 3),
        [audited(FAULTY), Message::Open(Page::Findings)]
    ));
}

#[test]
fn without_colour_and_utf_8_everything_is_ascii() {
    let mut state = small((80, 24));
    state.theme = Theme { colors: Colors::None, unicode: false };
    let screen = after(state, [audited(FAULTY)]);
    assert!(screen.is_ascii(), "{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn rows_that_a_machine_lacks_are_not_offered() {
    let screen = after(small((80, 24)), [Message::Level]);
    assert!(screen.contains("! no coarser rows") && screen.contains("── CPUs"), "{screen}");
    assert!(!drawn(&small((80, 24))).contains("v rows"));
    let help = after(small((80, 60)), [Message::Open(Page::Help)]);
    assert!(!help.contains("rows of"), "{help}");
    let one_package = |n: usize| after(state((80, 24), 4, 3), vec![Message::Level; n]);
    assert!(one_package(1).contains("── cores") && one_package(2).contains("── CPUs"));
}

#[test]
fn a_column_is_explained_at_length() {
    let messages = [Message::Right(1), Message::Open(Page::Metric)];
    let screen = after(state((80, 24), 4, 3), messages);
    assert!(screen.contains("busy-mhz: what it is in a few words"), "{screen}");
    assert!(screen.contains("Column `Bzy_MHz`, in MHz"), "{screen}");
}

#[test]
fn a_value_beyond_its_limit_is_coloured_and_others_are_not() {
    let mut terminal = Terminal::new(TestBackend::new(100, 24)).unwrap();
    terminal.draw(|frame| draw(&state((100, 24), 4, 3), frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let color_of = |value: &str| {
        let row = (0..24).find(|y| line_of(buffer, *y).contains(">all")).unwrap();
        let x = line_of(buffer, row).find(value).unwrap();
        buffer[(u16::try_from(x).unwrap(), row)].fg
    };
    use rules::metric::Emphasis;
    assert_eq!(Some(color_of("1.25")), THEME.emphasis(Emphasis::Notable).fg);
    assert_eq!(color_of("3678"), ratatui::style::Color::Reset);
}

fn line_of(buffer: &ratatui::buffer::Buffer, y: u16) -> String {
    (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect()
}

#[test]
fn a_long_note_is_wrapped() {
    let mut reading = fake::reading(4, 3);
    reading.notes = vec!["a sample came late ".repeat(6).trim().to_owned(), "the end".to_owned()];
    let screen = after(state((80, 24), 4, 3), [Message::Reading(Arc::new(reading))]);
    assert!(screen.contains("the end") && !screen.contains('~'), "{screen}");
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
    let audited = audited(FAULTY);
    for columns in [1, 2, 29, 30, 80, 141, 200] {
        for lines in [1, 2, 3, 5, 6, 7, 11, 12, 15, 16, 17, 31, 32, 50] {
            let pages = [
                Page::Table,
                Page::Help,
                Page::Ledger,
                Page::Missing,
                Page::Findings,
                Page::Metric,
            ];
            for page in pages {
                let messages = [audited.clone(), Message::Open(page), Message::Down(3)];
                after(state((columns, lines), 20, 2), messages);
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
        |screen: &str| screen.lines().skip(5).take(10).map(str::to_owned).collect::<Vec<_>>();
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
fn the_ledger_names_every_line_with_its_source() {
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
    state.theme.colors = Colors::None;
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| draw(&state, frame)).unwrap();
    let colors = terminal.backend().buffer().content().iter().map(|it| (it.fg, it.bg));
    let plain = (ratatui::style::Color::Reset, ratatui::style::Color::Reset);
    assert!(colors.into_iter().all(|it| it == plain));
}
