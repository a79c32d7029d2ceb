//! What a log says, and that an excerpt says the same.

use super::*;

/// `kind count first-last worst` of each message.
fn said(text: &str) -> String {
    let time = |it: &Message| match (&it.when.since_boot, &it.when.wall) {
        (Some(it), _) => format!("{:.1}", it.as_secs_f64()),
        (None, Some(wall)) => wall.clone(),
        (None, None) => "?".to_owned(),
    };
    let line = |it: &Messages| {
        let amount = it.worst.amount.map_or(String::new(), |it| format!(" {it}"));
        format!("{} {} {}-{}{amount}", it.kind.id, it.count, time(&it.first), time(&it.last))
    };
    messages_of(text).iter().map(line).collect::<Vec<_>>().join("\n")
}

const HOT: &str = "\
[    0.000000] Linux version 5.12.15
[    0.100000] intel_pstate: Turbo disabled by BIOS or unavailable on processor
[   36.000000] CPU0: Core temperature above threshold, cpu clock throttled (total events = 22034)
[   37.000000] CPU1: Package temperature above threshold, cpu clock throttled (total events = 27400)
[   37.100000] EXT4-fs (sda1): mounted
[   38.000000] CPU2: Core temperature above threshold, cpu clock throttled (total events = 9)
";

#[test]
fn lines_of_a_kind_are_counted_with_their_times_and_the_worst() {
    assert_eq!(
        said(HOT),
        "turbo-off-in-firmware 1 0.1-0.1\ncpu-throttled-by-heat 3 36.0-38.0 27400"
    );
}

#[test]
fn lines_before_the_last_boot_do_not_count() {
    let rebooted = format!(
        "{HOT}[    0.000000] Linux version 5.12.15\n[    5.0] hrtimer: interrupt took 9 ns\n"
    );
    assert_eq!(said(&rebooted), "hrtimer-late 1 5.0-5.0 9");
}

#[test]
fn records_of_the_boot_before_are_not_of_this_one() {
    let bert = "\
[    1.100000] BERT: Error records from previous boot:
[    1.100001] [Hardware Error]: event severity: fatal
[    1.100002] [Hardware Error]:  Error 0, type: fatal
[    1.100003] [Hardware Error]:   section_type: memory error
[    1.200000] hrtimer: interrupt took 9 ns
";
    assert_eq!(said(bert), "hrtimer-late 1 1.2-1.2 9");
    let after = format!("{bert}[   90.000000] [Hardware Error]: event severity: fatal\n");
    assert!(said(&after).contains("machine-check-fatal 1 90"), "{}", said(&after));
}

#[test]
fn what_syslogd_counted_is_counted() {
    let text = "\
Mar  6 12:00:00 db7 kernel: hrtimer: interrupt took 9 ns
Mar  6 12:00:09 db7 last message repeated 4 times
Mar  6 12:00:10 db7 sshd[7]: hello
Mar  6 12:00:11 db7 last message repeated 90 times
Mar  6 12:00:12 db7 kernel: message repeated 2 times: [ [ 77.000000] hrtimer: interrupt took 8 ns]
";
    assert_eq!(said(text), "hrtimer-late 7 Mar  6 12:00:00-Mar  6 12:00:12 9");
}

#[test]
fn a_dictionary_and_lines_of_programs_are_no_messages() {
    let text = "6,1,1000000,-;hrtimer: interrupt took 9 ns\n SUBSYSTEM=hrtimer: interrupt took 5 ns\n\
                30,2,2000000,-;hrtimer: interrupt took 7 ns\n";
    assert_eq!(said(text), "hrtimer-late 1 1.0-1.0 9");
}

#[test]
fn of_the_same_message_in_two_logs_that_with_more_lines_counts() {
    let one = "[ 5.0] hrtimer: interrupt took 9 ns\n";
    let two = "Mar  6 12:00:00 a kernel: hrtimer: interrupt took 9 ns\nMar  6 12:00:02 a kernel: hrtimer: interrupt took 9 ns\n";
    let sources = |logs: [(&str, &str); 2]| {
        let log = KernelLog::of(logs);
        log.messages
            .iter()
            .map(|it| format!("{} {}", it.source, it.messages.count))
            .collect::<Vec<_>>()
    };
    assert_eq!(sources([("a", one), ("b", two)]), ["b 2"]);
    assert_eq!(sources([("a", one), ("b", one)]), ["a 1"]);
}

#[test]
fn an_excerpt_says_the_same_and_names_neither_host_nor_address() {
    let syslog = HOT.replace("[ ", "Mar  6 12:00:00 db7 kernel: [ ");
    let wall = HOT.replace("[    0.1", "[Tue Mar  7 12:00:00 2023] [    0.1");
    let iso = HOT.replace("[ ", "2023-03-07T12:00:00+0100 db7 kernel: [ ");
    let kmsg =
        "6,1,335323808733,-;tsc: Marking TSC unstable due to clocksource watchdog\n".repeat(4);
    let bare = "tsc: Marking TSC unstable due to clocksource watchdog\n".repeat(3);
    for text in [HOT, &syslog, &wall, &iso, &kmsg, &bare, ""] {
        let excerpt = excerpt(text);
        assert_eq!(messages_of(&excerpt), messages_of(text), "{excerpt}");
        assert!(!excerpt.contains("db7") && !excerpt.contains("EXT4"), "{excerpt}");
        assert_eq!(super::excerpt(&excerpt), excerpt);
    }
    let locked = "#AC: postgres/4185 took a split_lock trap at address: 0xffffffff81234567";
    assert!(excerpt(locked).ends_with("at address: 0x...\n"), "{}", excerpt(locked));
}

#[test]
fn a_long_message_is_cut_and_the_cut_text_is_known_again() {
    let text =
        format!("tsc: Marking TSC unstable due to clocksource watchdog {}", "ä".repeat(4000));
    let excerpt = excerpt(&text);
    assert_eq!(excerpt.chars().count(), LONGEST + 2);
    assert_eq!(messages_of(&excerpt)[0].kind.id, "tsc-unstable");
}

/// Lines of kernel logs that somebody drew from the kernel's sources and from reports before the table was written, without looking
/// at it: an id, the line, the kernels that print it, what it means, its kind and its source. Those of the kind `nothing` tell of no
/// trouble.
const LINES: &str = include_str!("tests/lines.tsv");

/// The lines of the kind `nothing`, or all others, with the kind of the table that each is of.
fn drawn(is_nothing: bool) -> Vec<(&'static str, Option<&'static Kind>)> {
    let rows = LINES.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>());
    let wanted = rows.filter(|row| (row[4] == "nothing") == is_nothing);
    wanted.map(|row| (row[1], messages_of(row[1]).first().map(|it| it.kind))).collect()
}

#[test]
fn of_260_drawn_lines_95_percent_are_known() {
    let drawn = drawn(false);
    assert_eq!(drawn.len(), 260);
    let unknown: Vec<&str> =
        drawn.iter().filter(|(_, kind)| kind.is_none()).map(|(line, _)| *line).collect();
    assert!(unknown.len() <= 13, "{unknown:#?}");
}

#[test]
fn drawn_lines_that_tell_of_no_trouble_are_no_trouble() {
    let drawn = drawn(true);
    assert_eq!(drawn.len(), 40);
    let judged: Vec<_> = drawn
        .iter()
        .filter(|(_, kind)| kind.is_some_and(|it| it.weight > Weight::Context))
        .collect();
    assert!(judged.is_empty(), "{judged:#?}");
}
