//! Load generators, and how the numbers that they print are found in their lines.
//!
//! A list of clients that report their rate, or count what they did, while they run, and what finds a number or a mark in a line.

use crate::trial::Better;
use facts::client::LONGEST_MARK;
use facts::secrets;
use regex_lite::Regex;

/// A load generator that prints its rate while it runs.
#[derive(Debug)]
pub struct Client {
    /// What `--client` takes.
    pub id: &'static str,
    /// What its number is, in a few words.
    pub title: &'static str,
    /// The unit of its number.
    pub unit: &'static str,
    /// What one of them is: a transaction.
    pub work: &'static str,
    /// Over how many seconds its number counts them: `tpm` over 60.
    pub over_s: f64,
    /// Whether more of it is better.
    pub better: Better,
    /// The option or setting that makes it print its number while it runs.
    pub needs: &'static str,
    /// Whether it prints how many it did since it began: its rate is by how much that grows.
    counts: bool,
    /// Finds the number in a line, as its one group.
    expression: &'static str,
    /// What the text in the group is worth.
    value: fn(&str) -> Option<f64>,
}

/// In alphabetical order.
pub const CLIENTS: &[Client] = &[
    // fio, eta.c, display_thread_status(): "[r=%s,w=%s,t=%s IOPS]", by num2str() with k, M and G, ended by \r and flushed; the rate
    // since the line before. Where its output is not a terminal it prints that line only with --eta=always (HOWTO, "Command line
    // options").
    Client {
        id: "fio",
        title: "I/O operations per second, reads, writes and trims together",
        unit: "IOPS",
        work: "operation",
        over_s: 1.0,
        better: Better::Higher,
        needs: "--eta=always",
        counts: false,
        expression: r"\[((?:[rwt]=[0-9.]+[kMG]?,?)+) IOPS\]",
        value: sum_of_assignments,
    },
    // HammerDB, src/generic/gentccmn.tcl, write_to_transcount_log(): "NUMBER NAME tpm", and with timestamps "NUMBER NAME tpm @ DATE",
    // unbuffered, to hdbtcount.log; src/generic/gentccli.tcl, showLCD(), prints it in some versions. NAME is Oracle, MSSQLServer, Db2,
    // MySQL, PostgreSQL, MariaDB, Redis. The result at the end says TPM in capital letters, of the whole run.
    Client {
        id: "hammerdb",
        title: "transactions per minute, by the transaction counter",
        unit: "tpm",
        work: "transaction",
        over_s: 60.0,
        better: Better::Higher,
        needs: "tcset logtotemp 1 and --metric-file /tmp/hdbtcount.log",
        counts: false,
        expression: r"\b([0-9]+) [A-Za-z0-9_]+ tpm\b",
        value: number,
    },
    // k6, execution/scheduler.go, getRunStats(): "%d/%d VUs, %d complete and %d interrupted iterations", behind "running (0m05.0s), ".
    // It prints that line each second where its output is no terminal (internal/cmd/ui.go); its rates are of the whole run.
    Client {
        id: "k6",
        title: "iterations per second, by how many are complete",
        unit: "iterations/s",
        work: "iteration",
        over_s: 1.0,
        better: Better::Higher,
        needs: "its progress lines (no --quiet)",
        counts: true,
        expression: r" VUs, ([0-9]+) complete and [0-9]+ interrupted iterations",
        value: number,
    },
    // PostgreSQL, src/bin/pgbench/pgbench.c, printProgressReport(): "progress: %.1f s, %.1f tps, lat %.3f ms stddev %.3f" to standard
    // error; with --progress-timestamp the seconds have three decimals.
    Client {
        id: "pgbench",
        title: "transactions per second",
        unit: "tps",
        work: "transaction",
        over_s: 1.0,
        better: Better::Higher,
        needs: "-P 1",
        counts: false,
        expression: r"^progress: [0-9.]+ s, ([0-9.]+) tps\b",
        value: number,
    },
    // sysbench, src/db_driver.c and src/lua/internal/sysbench.lua, report_default(): "[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f ...",
    // of the interval. Its standard output is unbuffered (src/sb_logger.c, text_handler_init()).
    Client {
        id: "sysbench",
        title: "transactions per second",
        unit: "tps",
        work: "transaction",
        over_s: 1.0,
        better: Better::Higher,
        needs: "--report-interval=1",
        counts: false,
        expression: r"\bthds: [0-9]+ tps: +([0-9.]+)",
        value: number,
    },
    // YCSB, core/src/main/java/site/ycsb/StatusThread.java, computeStats(): "DATE N sec: N operations; N current ops/sec; ..." to
    // standard error: the rate since the status before.
    Client {
        id: "ycsb",
        title: "operations per second",
        unit: "ops/s",
        work: "operation",
        over_s: 1.0,
        better: Better::Higher,
        needs: "-s -p status.interval=1",
        counts: false,
        expression: r" sec: [0-9]+ operations; ([0-9.,]+) current ops/sec;",
        value: number,
    },
];

/// The client of that id.
pub fn find(id: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|it| it.id == id)
}

/// Finds a number in a text: a regular expression with one group around the number.
#[derive(Clone, Debug)]
pub struct Expression {
    regex: Regex,
    /// Whether the number counts since the client began.
    counts: bool,
    value: fn(&str) -> Option<f64>,
}

/// A number that was found, or what stands in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'t> {
    /// A finite number.
    Number(f64),
    /// The text of the group, which is not a finite number.
    Text(&'t str),
}

impl Expression {
    /// Errors: why `text` is no regular expression with exactly one group.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let regex = Regex::new(text).map_err(|error| error.to_string())?;
        // The whole match counts as a group.
        match regex.captures_len() {
            2 => Ok(Expression { regex, counts: false, value: number }),
            n => Err(format!(
                "it needs one group around the number, as in 'tps = ([0-9.]+)', and has {}",
                n.saturating_sub(1)
            )),
        }
    }

    /// The expression of a client of the list.
    pub fn of(client: &Client) -> Result<Expression, String> {
        let Client { counts, value, .. } = *client;
        Ok(Expression { counts, value, ..Expression::parse(client.expression)? })
    }

    /// Whether its number counts since the client began, and is no rate.
    pub fn counts(&self) -> bool {
        self.counts
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// What the last match in `text` holds; `None` where nothing matches.
    pub fn last<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        let group = self.regex.captures_iter(text).last()?.get(1)?.as_str();
        Some((self.value)(group).map_or(Found::Text(group), Found::Number))
    }
}

/// A finite number as programs print it: `812.5`, `1.2e6`, `62,687` with commas at every third digit, `31.5k` and `1.2M` with the
/// prefixes of powers of 1000. A comma elsewhere may be a decimal one, so such a text is no number.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let (digits, factor) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (text.get(..at)?, 1e3),
        (at, 'M') => (text.get(..at)?, 1e6),
        (at, 'G') => (text.get(..at)?, 1e9),
        _ => (text, 1.0),
    };
    let value: f64 = if digits.contains(',') {
        without_separators(digits)?.parse().ok()?
    } else {
        digits.parse().ok()?
    };
    Some(value * factor).filter(|it| it.is_finite())
}

/// The digits of `1,234,567.8` without their commas; `None` where those do not separate thousands.
fn without_separators(text: &str) -> Option<String> {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut groups = whole.split(',');
    let first = groups.next()?.trim_start_matches(['+', '-']);
    let is_digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let is_group = |it: &str| it.len() == 3 && is_digits(it);
    let is_first = (1..=3).contains(&first.len()) && is_digits(first);
    (is_first && groups.all(is_group)).then(|| whole.replace(',', "") + rest)
}

/// The sum of the numbers in `r=94,w=31.5k`.
fn sum_of_assignments(text: &str) -> Option<f64> {
    let values = text.split(',').map(|it| it.split_once('=').and_then(|(_, it)| number(it)));
    values.sum()
}

/// Finds the lines that mark a phase of a client.
#[derive(Clone, Debug)]
pub struct Mark {
    regex: Regex,
}

impl Mark {
    /// Errors: why `text` is no regular expression.
    pub fn parse(text: &str) -> Result<Mark, String> {
        Ok(Mark { regex: Regex::new(text).map_err(|error| error.to_string())? })
    }

    /// The line as a mark, where it is one: without secrets and control characters, cut to [`LONGEST_MARK`] characters.
    pub fn of(&self, line: &str) -> Option<String> {
        if !self.regex.is_match(line) {
            return None;
        }
        let masked = secrets::masked(line.trim());
        let seen = masked.chars().map(|it| if it.is_control() { ' ' } else { it });
        Some(seen.take(LONGEST_MARK).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(id: &str, line: &str) -> Option<f64> {
        match Expression::of(find(id).unwrap()).unwrap().last(line)? {
            Found::Number(value) => Some(value),
            Found::Text(text) => panic!("{text:?} is no number"),
        }
    }

    #[test]
    fn each_client_is_heard_in_the_lines_that_it_prints() {
        for (id, line, value) in [
            // pgbench of PostgreSQL 9.6, 15 and 16, the last with --progress-timestamp.
            ("pgbench", "progress: 1.0 s, 2616.0 tps, lat 1.526 ms stddev 0.404", 2616.0),
            (
                "pgbench",
                "progress: 5.0 s, 0.0 tps, lat -nan ms stddev -nan, 0 failed, lag NaN ms",
                0.0,
            ),
            ("pgbench", "progress: 1469119483.301 s, 91.5 tps, lat 10.9 ms stddev 2.1", 91.5),
            // sysbench 1.0.20, oltp_read_write.
            (
                "sysbench",
                "[ 1s ] thds: 4 tps: 1298.31 qps: 26003.18 (r/w/o: 18208.33/5194.25/2600.60) \
                 lat (ms,95%): 4.33 err/s: 0.00 reconn/s: 0.00",
                1298.31,
            ),
            ("sysbench", "[  10s] thds: 64 tps: 0.00 qps: 0.00 (r/w/o: 0.00/0.00/0.00)", 0.0),
            // The counter's log, and its lines on standard output.
            ("hammerdb", "193290 PostgreSQL tpm @ Thu Jun 30 21:18:41 UTC 2022", 193_290.0),
            ("hammerdb", "62687 PostgreSQL tpm", 62_687.0),
            ("hammerdb", "948 Oracle tpm", 948.0),
            ("hammerdb", "12 MSSQLServer tpm", 12.0),
            // YCSB 0.17 with -s.
            (
                "ycsb",
                "2017-05-20 23:44:13:888 10 sec: 40136 operations; 4013.6 current ops/sec; est completion in 14 minutes",
                4013.6,
            ),
            (
                "ycsb",
                "2016-09-12 23:50:15:208 1 sec: 1950 operations; 1948.05 current ops/sec; [READ: Count=1842]",
                1948.05,
            ),
            // k6, of its documentation.
            (
                "k6",
                "running (0m05.0s), 10/10 VUs, 1234 complete and 0 interrupted iterations",
                1234.0,
            ),
            // fio 3.
            (
                "fio",
                "Jobs: 4 (f=4): [w(4)][100.0%][w=257MiB/s][w=65.8k IOPS][eta 00m:00s]",
                65_800.0,
            ),
            (
                "fio",
                "Jobs: 8 (f=8): [m(8)][100.0%][r=7128KiB/s,w=879KiB/s][r=445,w=54 IOPS][eta 00m:00s]",
                499.0,
            ),
            ("fio", "Jobs: 1 (f=1): [R(1)][-.-%][r=1.2GiB/s][r=1.2M IOPS][eta 59m:17s]", 1.2e6),
        ] {
            assert_eq!(heard(id, line), Some(value), "{line}");
        }
    }

    #[test]
    fn results_of_the_whole_run_are_no_number_of_an_interval() {
        for (id, line) in [
            ("pgbench", "tps = 2616.123456 (without initial connection time)"),
            ("sysbench", "    transactions:                        12983  (1298.11 per sec.)"),
            (
                "hammerdb",
                "Vuser 1:TEST RESULT : System achieved 17099 NOPM from 39188 PostgreSQL TPM",
            ),
            ("ycsb", "[OVERALL], Throughput(ops/sec), 4013.6"),
            ("ycsb", "2017-05-20 23:44:03:888 0 sec: 0 operations; est completion in 0 second"),
            ("fio", "  write: IOPS=96.3k, BW=376MiB/s (394MB/s)(110GiB/300001msec); 0 zone resets"),
        ] {
            assert_eq!(heard(id, line), None, "{line}");
        }
    }

    #[test]
    fn the_list_is_in_order_and_every_expression_is_one() {
        assert!(CLIENTS.is_sorted_by_key(|it| it.id));
        for client in CLIENTS {
            assert!(Expression::of(client).is_ok(), "{}", client.id);
            let longest = client.id.len().max(client.unit.len());
            assert!(longest <= facts::client::LONGEST_NAME, "{}", client.id);
        }
    }

    #[test]
    fn a_number_has_separators_prefixes_and_exponents() {
        for (text, value) in [
            (" 812.5 ", 812.5),
            ("62,687", 62_687.0),
            ("-1,234,567.25", -1_234_567.25),
            ("1.2e6", 1.2e6),
            ("31.5k", 31_500.0),
            ("2K", 2000.0),
            ("1.2M", 1.2e6),
            ("3G", 3e9),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in ["", "NaN", "inf", "-inf", "1e999", "1,5", "1,2345", ",123", "k", "12 ms", "é"]
        {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn an_expression_has_one_group() {
        let refused = |text| Expression::parse(text).unwrap_err();
        assert!(refused("tps").ends_with("and has 0"));
        assert!(refused("(a)(b)").ends_with("and has 2"));
        assert!(Expression::parse("(").is_err());
        assert!(Expression::parse("(?:tps|tpm): ([0-9]+)").is_ok());
    }

    #[test]
    fn a_mark_shows_no_secret_and_moves_no_cursor() {
        let mark = Mark::parse("CREATING|password").unwrap();
        assert_eq!(mark.of("Vuser 1:nothing"), None);
        let line = " Vuser 1:CREATING\u{1b}[2J INDEXES ";
        assert_eq!(mark.of(line).as_deref(), Some("Vuser 1:CREATING [2J INDEXES"));
        let long = mark.of(&format!("password=hunter2 {}", "é".repeat(500))).unwrap();
        assert!(!long.contains("hunter2"), "{long}");
        assert_eq!(long.chars().count(), LONGEST_MARK);
    }
}
