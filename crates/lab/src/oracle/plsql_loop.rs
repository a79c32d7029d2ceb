//! The CPU test in PL/SQL, with NUMBER.
//!
//! The script times itself by SYSTIMESTAMP inside the block. Output of the test as others run it, with `set timing on`
//! of SQL*Plus, is read too: its time includes one round trip to the server, and is cut to hundredths of a second.

use super::{OracleOutput, record};
use super::{nothing, number};
use crate::cpu_test;
use crate::failure::Failure;
use crate::known::Known;
use crate::record::Record;
use crate::trial::Figure;
use crate::workloads::PLSQL_LOOP;

/// What an output holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// How many iterations each run did.
    pub iterations: u64,
    /// The runs, in their order; at least one.
    pub runs: Vec<Run>,
}

/// One run of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// What it computed; right to two decimals.
    pub answer: f64,
    /// How long it took, in nanoseconds.
    pub elapsed_ns: u64,
}

impl Output {
    /// The runs as a result of the workload `plsql-loop`, with its doubts.
    pub fn record(&self) -> Record {
        let told = |it: &Run| OracleOutput {
            figures: vec![Figure::of(PLSQL_LOOP.figure, it.elapsed_ns as f64 / 1e9)],
            elapsed_ns: Known::Value(it.elapsed_ns),
        };
        let runs = self.runs.iter().map(told).collect();
        record(PLSQL_LOOP.id, Some(self.iterations), runs)
    }
}

/// The script for SQL*Plus.
pub fn script(iterations: u64) -> String {
    format!(
        "\
-- The CPU test in PL/SQL, for 'fullclock bench plsql-loop --parse FILE'. As any user, more than once:
--   sqlplus -S USER @plsql-loop.sql >> FILE
whenever sqlerror exit failure
set echo off feedback off heading off linesize 200 trimout on serveroutput on
alter session set nls_numeric_characters = '.,';
set timing on
declare
  n       number := 0;
  began   timestamp with time zone := systimestamp;
  elapsed interval day to second(6);
begin
  for f in 1 .. {iterations} loop
    n := mod(n, 999999) + sqrt(f);
  end loop;
  elapsed := systimestamp - began;
  dbms_output.put_line('iterations = {iterations}');
  dbms_output.put_line('res = ' || to_char(n, 'FM999999990.00'));
  dbms_output.put_line('seconds = ' || to_char(extract(day from elapsed) * 86400 + extract(hour from elapsed) * 3600
    + extract(minute from elapsed) * 60 + extract(second from elapsed), 'FM999999990.000000'));
end;
/
exit
"
    )
}

/// The runs in the output of [`script`], or of the published test with `set timing on`: each an answer, and the time
/// that follows it.
///
/// Errors: there is none, or an answer is wrong for that many iterations.
pub fn parse(text: &str) -> Result<Output, Failure> {
    let iterations = iterations(text)?;
    let expected = cpu_test::answer(iterations);
    let mut runs = Vec::new();
    let mut untimed = None;
    for line in text.lines() {
        if let Some(elapsed_ns) = elapsed_ns(line) {
            runs.extend(untimed.take().map(|answer| Run { answer, elapsed_ns }));
        } else if let Some(found) = answer(line, expected) {
            untimed = Some(right(found, expected)?);
        }
    }
    match (&*runs, untimed) {
        ([], None) => Err(nothing(text, "answer of the CPU test")),
        ([], Some(_)) => Err(nothing(text, "time of the CPU test ('set timing on' prints it)")),
        _ => Ok(Output { iterations, runs }),
    }
}

/// What the script says that it did; the published test does ten million.
fn iterations(text: &str) -> Result<u64, Failure> {
    let mut said = text.lines().filter_map(|line| line.trim().strip_prefix("iterations = "));
    let Some(first) = said.next() else { return Ok(cpu_test::ITERATIONS) };
    if said.any(|it| it != first) {
        return Err(Failure::NoFigure(
            "the output holds runs of different numbers of iterations".to_owned(),
        ));
    }
    let count = first.parse().ok().filter(|it| (1..=cpu_test::MOST_ITERATIONS).contains(it));
    count.ok_or_else(|| {
        let most = cpu_test::MOST_ITERATIONS;
        Failure::NoFigure(format!(
            "'iterations = {first}' in the output is not a number from 1 to {most}"
        ))
    })
}

/// The answer in a line: a number with decimals after an equals sign (`Res = 873729.72`) or alone in its line. In any
/// other line, which may hold the version of a server, only the right answer passes for one.
fn answer(line: &str, expected: f64) -> Option<f64> {
    let value = line.rsplit('=').next().unwrap_or(line).trim();
    let named = number(value).filter(|_| value.contains(['.', ',']));
    let is_right = |it: &f64| cpu_test::agrees_in_decimals(*it, expected);
    named.or_else(|| line.split([' ', '\t', '=', ':']).filter_map(number).find(is_right))
}

fn right(answer: f64, expected: f64) -> Result<f64, Failure> {
    if cpu_test::agrees_in_decimals(answer, expected) {
        return Ok(answer);
    }
    let (found, expected) = (answer.to_string(), format!("{expected:.2}"));
    Err(Failure::WrongAnswer { workload: "plsql-loop", found, expected })
}

/// The script's own `seconds = 8.01`, or SQL*Plus's `Elapsed: 00:00:08.01` in whatever language.
fn elapsed_ns(line: &str) -> Option<u64> {
    let seconds = match line.trim().strip_prefix("seconds = ") {
        Some(seconds) => number(seconds)?,
        None => clock_seconds(line.trim())?,
    };
    // The bound keeps nonsense from becoming a time: thirty years.
    (seconds > 0.0 && seconds < 1e9).then_some((seconds * 1e9).round() as u64)
}

/// A label with a colon, then hours, minutes and seconds.
fn clock_seconds(line: &str) -> Option<f64> {
    let (label, clock) = line.split_at_checked(line.find(|it: char| it.is_ascii_digit())?)?;
    let mut parts = clock.split(':').map(str::trim);
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let is_whole = |it: &str| it.chars().all(|it| it.is_ascii_digit());
    let is_clock = parts.next().is_none() && is_whole(hours) && is_whole(minutes);
    let is_labelled = label.trim_end().ends_with(':');
    let seconds = number(hours)? * 3600.0 + number(minutes)? * 60.0 + number(seconds)?;
    (is_clock && is_labelled).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match parse(text) {
            Ok(output) => {
                let runs =
                    output.runs.iter().map(|it| format!("{} in {} ns", it.answer, it.elapsed_ns));
                runs.collect::<Vec<_>>().join(", ")
            }
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn the_published_output_is_read_in_any_language() {
        for (text, shown) in [
            (
                "Res =  873729.72\n\nPL/SQL procedure successfully completed.\n\nElapsed: 00:00:08.01\n",
                "873729.72 in 8010000000 ns",
            ),
            (
                "res=873729,72\n\nPL/SQL-Prozedur erfolgreich abgeschlossen.\n\nAbgelaufen: 00:00:23.94\n",
                "873729.72 in 23940000000 ns",
            ),
            ("873729,72\nEcoulé : 00 :01 :08,01\n", "873729.72 in 68010000000 ns"),
            (
                "n is 873729.720152688562 Elapsed\r\nElapsed: 01:00:00.00\r\n",
                "873729.7201526886 in 3600000000000 ns",
            ),
        ] {
            assert_eq!(read(text), shown, "{text}");
        }
    }

    #[test]
    fn each_run_of_the_script_is_a_run_and_its_own_time_is_the_one_that_counts() {
        let run = |seconds| {
            format!(
                "Elapsed: 00:00:00.00\niterations = 10000000\nres = 873729.72\nseconds = {seconds}\nElapsed: 00:00:08.09\n"
            )
        };
        let text = run("8.012345") + &run("7.9");
        assert_eq!(read(&text), "873729.72 in 8012345000 ns, 873729.72 in 7900000000 ns");
    }

    #[test]
    fn the_answer_to_another_number_of_iterations_is_known_too() {
        let text = "iterations = 1000000\nres = 667832.46\nseconds = 1\n";
        assert_eq!(parse(text).unwrap().iterations, 1_000_000);
        assert_eq!(
            read("iterations = 0\nres = 0.00\n"),
            "'iterations = 0' in the output is not a number from 1 to 2147483647"
        );
        let mixed = text.to_owned() + "iterations = 2\n";
        assert_eq!(read(&mixed), "the output holds runs of different numbers of iterations");
    }

    #[test]
    fn a_wrong_answer_is_loud_and_a_version_is_no_answer() {
        let wrong = read("Res =  873729.75\nElapsed: 00:00:08.01\n");
        assert!(
            wrong
                .starts_with("WRONG ANSWER: plsql-loop computed 873729.75, and 873729.72 is right"),
            "{wrong}"
        );
        let text = "SQL*Plus: Release 12.1 Production\nVersion 19.3\nRes = 873729.72\nElapsed: 00:00:08.01\n";
        assert_eq!(read(text), "873729.72 in 8010000000 ns");
    }

    #[test]
    fn what_is_not_there_is_said_with_the_databases_own_error() {
        assert_eq!(read(""), "the output holds no answer of the CPU test");
        assert_eq!(
            read("Res = 873729.72\n"),
            "the output holds no time of the CPU test ('set timing on' prints it)"
        );
        assert_eq!(
            read("Elapsed: 00:00:08.01\nORA-01017: invalid username/password; logon denied\n"),
            "the output holds no answer of the CPU test, but an error: ORA-01017: invalid username/password; logon denied"
        );
        assert_eq!(
            read("Res = 873729.72\nElapsed: 99999999999999:00:00.00\n"),
            "the output holds no time of the CPU test ('set timing on' prints it)"
        );
    }

    #[test]
    fn its_runs_are_a_result_of_which_nobody_saw_the_machine() {
        let output = parse("Res = 873729.72\nElapsed: 00:00:08.01\n".repeat(5).as_str()).unwrap();
        let record = output.record();
        let figures: Vec<f64> =
            record.trials.iter().map(|it| it.outcome.figures.first().unwrap().value).collect();
        assert_eq!(figures, [8.01; 5]);
        assert_eq!(record.arms[0].settings.iterations, Some(10_000_000));
        let doubts = serde_json::to_string(&record.doubts).unwrap();
        assert_eq!(
            doubts,
            r#"[{"doubt":"clock-unknown","missing":"the script's output does not tell it"},{"doubt":"machine-unknown"}]"#
        );
    }

    #[test]
    fn the_script_says_what_it_does() {
        let script = script(20_000);
        for part in
            ["for f in 1 .. 20000 loop", "n := mod(n, 999999) + sqrt(f);", "'iterations = 20000'"]
        {
            assert!(script.contains(part), "{part}");
        }
    }
}
