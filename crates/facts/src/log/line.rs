//! One line of a log, as the kernel, syslogd or the journal writes it: when it was, and what it says.
//!
//! Sources: Documentation/ABI/testing/dev-kmsg (`6,123,456789,-;text`), dmesg(1), kernel/printk (`<6>[   12.345678][  T123] text`,
//! with CONFIG_PRINTK_CALLER), journalctl(1) (short, short-iso, short-full, short-monotonic, export and json), RFC 3164 and RFC 5424.

use crate::utc;
use std::borrow::Cow;
use std::time::Duration;

/// When a line was written, as far as it says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// Since the boot.
    pub since_boot: Option<Duration>,
    /// The time of day, as the log writes it.
    pub wall: Option<String>,
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A message of the kernel, or of a program that speaks for hardware.
    Message(When, Cow<'a, str>),
    /// syslogd counted more of the line before in place of writing them.
    Repeated(u64),
    /// Of a program, or no message.
    Foreign,
}

/// Programs whose lines in a log are about hardware.
const SPEAKING: [&str; 5] = ["kernel", "mcelog", "thermald", "rasdaemon", "vmunix"];

impl Line<'_> {
    /// What `raw` is, in whichever form.
    pub(super) fn parse(raw: &str) -> Line<'_> {
        let raw = raw.trim_end();
        if raw.starts_with('{') {
            return of_json(raw);
        }
        if let Some(line) = of_kmsg(raw) {
            return line;
        }
        let rest = without_priority(raw);
        let (mut when, names_host, rest) = stamp(decoded(rest));
        let Some(text) = of_kernel(decoded(rest), names_host) else { return Line::Foreign };
        // The journal and syslogd write their own time before the kernel's.
        let (own, _, text) = stamp(text);
        when.since_boot = own.since_boot.or(when.since_boot);
        when.wall = when.wall.or(own.wall);
        if let Some(n_repeated) = repeated(text) {
            return Line::Repeated(n_repeated);
        }
        match is_of_program(text) {
            true => Line::Foreign,
            false => Line::Message(when, single_blanks(text)),
        }
    }
}

/// `6,123,456789,-;text`; the lines after it that start with a blank are its dictionary.
fn of_kmsg(raw: &str) -> Option<Line<'_>> {
    let (head, text) = raw.split_once(';')?;
    let mut fields = head.split(',');
    let mut number = || fields.next()?.parse::<u64>().ok();
    let (priority, _, micros) = (number()?, number()?, number()?);
    // The facility stands above three bits of severity; 0 is the kernel.
    if priority >> 3 != 0 {
        return Some(Line::Foreign);
    }
    let when = When { since_boot: Some(Duration::from_micros(micros)), wall: None };
    Some(Line::Message(when, single_blanks(text)))
}

/// A line of `journalctl -o json`.
fn of_json(raw: &str) -> Line<'_> {
    let field = |name: &str| json_field(raw, name);
    let is_kernel = field("_TRANSPORT").as_deref() == Some("kernel")
        || field("SYSLOG_IDENTIFIER").is_some_and(|it| SPEAKING.contains(&&*it));
    let Some(message) = field("MESSAGE").filter(|_| is_kernel) else { return Line::Foreign };
    let micros = |name| field(name)?.parse::<u64>().ok();
    let since_boot =
        micros("_SOURCE_MONOTONIC_TIMESTAMP").or_else(|| micros("__MONOTONIC_TIMESTAMP"));
    let wall = micros("__REALTIME_TIMESTAMP").map(|it| utc::timestamp(it.saturating_mul(1000)));
    let when = When { since_boot: since_boot.map(Duration::from_micros), wall };
    Line::Message(when, Cow::Owned(single_blanks(&message).into_owned()))
}

/// The text of a field of a JSON object in one line.
fn json_field<'a>(raw: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let key = format!("\"{name}\"");
    let value = raw.split_once(&*key)?.1.trim_start().strip_prefix(':')?.trim_start();
    let value = value.strip_prefix('"')?;
    let mut text = String::new();
    let mut rest = value;
    loop {
        let end = rest.find(['"', '\\'])?;
        let (plain, behind) = rest.split_at(end);
        if behind.starts_with('"') {
            return Some(if text.is_empty() { plain.into() } else { (text + plain).into() });
        }
        text.push_str(plain);
        let mut characters = behind.chars().skip(1);
        let escaped = characters.next()?;
        text.push(match escaped {
            'n' | 't' | 'r' | 'u' => ' ',
            other => other,
        });
        rest = behind.get(1 + escaped.len_utf8()..)?;
    }
}

/// Without `<6>`, and without the version of RFC 5424 after it.
fn without_priority(raw: &str) -> &str {
    let inside = raw.strip_prefix('<').and_then(|it| it.split_once('>'));
    match inside.filter(|(number, _)| number.bytes().all(|it| it.is_ascii_digit())) {
        Some((_, rest)) => rest.strip_prefix("1 ").unwrap_or(rest),
        None => raw,
    }
}

/// The time at the start of a line, whether the host and a program have to be named after it, and the rest.
fn stamp(text: &str) -> (When, bool, &str) {
    if let Some((when, rest)) = in_brackets(text) {
        return (when, false, rest);
    }
    match of_syslog(text).or_else(|| iso(text)) {
        // `dmesg --time-format iso` writes a comma and no host.
        Some((wall, rest)) => {
            let names_host = !wall.contains(',');
            (When { since_boot: None, wall: Some(wall.to_owned()) }, names_host, rest)
        }
        None => (When::default(), false, text),
    }
}

/// `[   12.345678] `, `[Tue Mar  7 12:00:00 2023] ` of `dmesg -T`, `[  +0.000012] ` of `dmesg -d`; then the caller.
fn in_brackets(text: &str) -> Option<(When, &str)> {
    let (inside, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let inside = inside.trim();
    let when = if let Some(since_boot) = seconds(inside) {
        When { since_boot: Some(since_boot), wall: None }
    } else if is_weekday(inside) {
        When { since_boot: None, wall: Some(inside.to_owned()) }
    } else if inside.starts_with(['+', '<']) && inside.contains('.') {
        When::default()
    } else {
        return None;
    };
    let rest = rest.trim_start_matches(' ');
    let caller = rest.strip_prefix('[').and_then(|it| it.split_once(']'));
    let is_caller = |it: &str| {
        let number = it.trim().strip_prefix(['T', 'C']);
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let rest = caller.filter(|(inside, _)| is_caller(inside)).map_or(rest, |(_, behind)| behind);
    Some((when, rest.trim_start_matches(' ')))
}

/// Seconds with a fraction; a number without one is an index in the message.
fn seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.')?;
    let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let nanos: u32 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    Some(Duration::new(whole.parse().ok()?, nanos))
}

fn is_weekday(text: &str) -> bool {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    text.get(..3).is_some_and(|it| DAYS.contains(&it)) && text.contains(':')
}

/// `Mar  6 12:00:00 ` or, of `short-full`, `Tue 2023-03-07 12:00:00 UTC `.
fn of_syslog(text: &str) -> Option<(&str, &str)> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let word = text.get(..3)?;
    let n_words = if MONTHS.contains(&word) {
        3
    } else if is_weekday(text)
        && text.get(4..).is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    {
        4
    } else {
        return None;
    };
    let mut end = 0;
    for _ in 0..n_words {
        let rest = text.get(end..)?;
        let start = rest.len() - rest.trim_start_matches(' ').len();
        end += start + rest.trim_start_matches(' ').find(' ')?;
    }
    let (wall, rest) = text.split_at(end);
    wall.contains(':').then(|| (wall, rest.trim_start()))
}

/// `2023-03-07T12:00:00+0100 `, also with a fraction after a comma, or a blank in place of the T.
fn iso(text: &str) -> Option<(&str, &str)> {
    let is_date = |it: &[u8]| {
        it.len() > 19
            && [4, 7].iter().all(|&at| it[at] == b'-')
            && matches!(it[10], b'T' | b' ')
            && [13, 16].iter().all(|&at| it[at] == b':')
            && it[..4].iter().all(u8::is_ascii_digit)
    };
    if !is_date(text.as_bytes()) {
        return None;
    }
    let end = 19 + text.get(19..)?.find(' ')?;
    let (wall, rest) = text.split_at(end);
    Some((wall, rest.trim_start()))
}

/// Without `kern  :info  : `, which `dmesg -x` writes before or behind the time.
fn decoded(text: &str) -> &str {
    const FACILITIES: [&str; 4] = ["kern ", "kern:", "user ", "daemon"];
    if !FACILITIES.iter().any(|it| text.starts_with(it)) {
        return text;
    }
    let mut parts = text.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(facility), Some(_), Some(rest)) if facility.trim_end() == "kern" => rest.trim_start(),
        _ => text,
    }
}

/// What the kernel says in `HOST kernel: text`; the text itself where no host is named; `None` for a program's line.
fn of_kernel(text: &str, names_host: bool) -> Option<&str> {
    let mut words = text.splitn(3, ' ');
    let (first, second) = (words.next()?, words.next().unwrap_or_default());
    let speaks = |word: &str| {
        let name = word.strip_suffix(':').map(|it| it.split_once('[').map_or(it, |(name, _)| name));
        name.is_some_and(|it| SPEAKING.contains(&it))
    };
    let behind = |word: &str| text.split_once(word).map(|(_, rest)| rest.trim_start_matches(' '));
    if speaks(first) {
        return behind(first);
    }
    if speaks(second) && !first.ends_with(':') {
        return behind(second);
    }
    if !names_host {
        return Some(text);
    }
    match second {
        "last" if text.contains(" last message repeated ") => behind(first),
        // RFC 5424: HOST kernel - - - text.
        "kernel" => behind(second).map(|it| it.trim_start_matches(['-', ' '])),
        _ => None,
    }
}

/// How often the line before came again: `last message repeated 5 times`.
fn repeated(text: &str) -> Option<u64> {
    let count = text.strip_prefix("last message repeated ")?;
    count.split_once(" times")?.0.parse().ok()
}

/// Whether a message starts with the name and number of a process, as those in a ring buffer that programs wrote into it.
fn is_of_program(text: &str) -> bool {
    let Some((tag, _)) = text.split_once("]: ") else { return false };
    let is_name = |it: &str| !it.is_empty() && !it.contains([' ', ':']);
    tag.split_once('[').is_some_and(|(name, number)| {
        is_name(name) && !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
    })
}

/// Runs of blanks as one, as the table's wordings have them; without blanks at the start.
fn single_blanks(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.contains("  ") || text.contains('\t') {
        return Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    Cow::Borrowed(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `SECONDS or -|WALL or -|text`, or what else the line is.
    fn parsed(raw: &str) -> String {
        match Line::parse(raw) {
            Line::Foreign => "foreign".to_owned(),
            Line::Repeated(n) => format!("repeated {n}"),
            Line::Message(When { since_boot, wall }, text) => {
                let seconds = since_boot.map_or("-".to_owned(), |it| it.as_secs_f64().to_string());
                format!("{seconds}|{}|{text}", wall.unwrap_or("-".to_owned()))
            }
        }
    }

    #[test]
    fn a_message_is_the_same_in_every_form_of_a_log() {
        for (raw, expected) in [
            ("[   12.345678] tsc: x", "12.345678|-|tsc: x"),
            ("<6>[   12.345678] tsc: x", "12.345678|-|tsc: x"),
            ("[   12.345678][  T123] tsc: x", "12.345678|-|tsc: x"),
            ("[   12.345678] [   C0] tsc: x", "12.345678|-|tsc: x"),
            ("6,123,12345678,-;tsc: x", "12.345678|-|tsc: x"),
            ("6,123,12345678,-,caller=T1;tsc: x", "12.345678|-|tsc: x"),
            ("kern  :info  : [   12.345678] tsc: x", "12.345678|-|tsc: x"),
            ("[Tue Mar  7 12:00:00 2023] tsc: x", "-|Tue Mar  7 12:00:00 2023|tsc: x"),
            ("[  +0.000012] tsc: x", "-|-|tsc: x"),
            ("Mar  6 12:00:00 db7 kernel: tsc: x", "-|Mar  6 12:00:00|tsc: x"),
            (
                "Mar  6 12:00:00 db7 kernel: [   12.345678] tsc: x",
                "12.345678|Mar  6 12:00:00|tsc: x",
            ),
            ("Mar 06 12:00:00.123456 db7 kernel: tsc: x", "-|Mar 06 12:00:00.123456|tsc: x"),
            ("2023-03-07T12:00:00+0100 db7 kernel: tsc: x", "-|2023-03-07T12:00:00+0100|tsc: x"),
            (
                "2023-03-07T12:00:00,123456+01:00 tsc: x",
                "-|2023-03-07T12:00:00,123456+01:00|tsc: x",
            ),
            (
                "Tue 2023-03-07 12:00:00 UTC db7 kernel: tsc: x",
                "-|Tue 2023-03-07 12:00:00 UTC|tsc: x",
            ),
            ("[   12.345678] db7 kernel: tsc: x", "12.345678|-|tsc: x"),
            ("<6>1 2023-03-07T12:00:00Z db7 kernel - - - tsc: x", "-|2023-03-07T12:00:00Z|tsc: x"),
            ("kernel: tsc: x", "-|-|tsc: x"),
            ("<6>tsc: x", "-|-|tsc: x"),
            ("tsc:   x", "-|-|tsc: x"),
        ] {
            assert_eq!(parsed(raw), expected, "{raw}");
        }
    }

    #[test]
    fn the_journal_in_json_is_read_and_programs_in_it_are_left_out() {
        let kernel = r#"{"__REALTIME_TIMESTAMP":"1678186800000000","_TRANSPORT":"kernel","_SOURCE_MONOTONIC_TIMESTAMP":"12345678","MESSAGE":"a \"b\": c"}"#;
        assert_eq!(parsed(kernel), "12.345678|2023-03-07T11:00:00.000Z|a \"b\": c");
        assert_eq!(parsed(r#"{"_TRANSPORT":"stdout","MESSAGE":"tsc: x"}"#), "foreign");
        assert_eq!(parsed(r#"{"_TRANSPORT":"kernel","MESSAGE":"cut"#), "foreign");
        assert_eq!(parsed("{"), "foreign");
    }

    #[test]
    fn what_programs_write_is_foreign() {
        for raw in [
            "Mar  6 12:00:00 db7 systemd[1]: Started x",
            "[    1.000000] systemd[1]: Detected virtualization kvm.",
            "30,5,1000,-;systemd[1]: x",
            "2023-03-07T12:00:00+0100 db7 sshd[77]: tsc: x",
        ] {
            assert_eq!(parsed(raw), "foreign", "{raw}");
        }
        assert_eq!(parsed("Mar  6 12:00:00 db7 mcelog[9]: hot"), "-|Mar  6 12:00:00|hot");
    }

    #[test]
    fn repeated_messages_are_counted() {
        assert_eq!(parsed("Mar  6 12:00:00 db7 last message repeated 5 times"), "repeated 5");
        assert_eq!(parsed("last message repeated 12 times"), "repeated 12");
    }

    #[test]
    fn a_time_that_is_none_stays_in_the_text() {
        assert_eq!(parsed("[12] Replay Timer Timeout"), "-|-|[12] Replay Timer Timeout");
        assert_eq!(
            parsed("[Hardware Error]: Machine check: x"),
            "-|-|[Hardware Error]: Machine check: x"
        );
        assert_eq!(parsed("Mar"), "-|-|Mar");
        assert_eq!(parsed("März 6"), "-|-|März 6");
    }
}
