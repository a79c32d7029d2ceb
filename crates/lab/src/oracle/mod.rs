//! Scripts for SQL*Plus that measure an Oracle database, and parsers of their output.
//!
//! Nothing here connects to a database. A DBA runs the script, with the rights and on the host of their choice, and gives the
//! output back. The output becomes a record like any other. It has figures only: the machine, its clock, its load and the time
//! are missing in that record, with the reason.

pub mod commit;
pub mod cpu_speed;
pub mod plsql_loop;

use crate::failure::Failure;
use crate::known::Known;
use crate::record::{Arm, Record};
use crate::trial::{Figure, Outcome, Trial};
use crate::workload::Settings;

/// A number as SQL*Plus prints it: the decimal sign is that of the session (`NLS_NUMERIC_CHARACTERS`), and a zero
/// before it is left out. Finite, or `None`.
fn number(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_plain = digits.chars().all(|it| it.is_ascii_digit() || it == '.' || it == ',');
    let signs = digits.matches(['.', ',']).count();
    if !is_plain || signs > 1 {
        return None;
    }
    word.replace(',', ".").parse().ok().filter(|it: &f64| it.is_finite())
}

/// There is no figure in `text`: says so with the first error that the database or SQL*Plus names in it.
fn nothing(text: &str, wanted: &str) -> Failure {
    let is_error =
        |line: &&str| ["ORA-", "PLS-", "SP2-"].iter().any(|it| line.trim_start().starts_with(it));
    Failure::NoFigure(match text.lines().find(is_error) {
        Some(error) => format!("the output holds no {wanted}, but an error: {}", error.trim()),
        None => format!("the output holds no {wanted}"),
    })
}

/// One run in the output.
struct OracleOutput {
    /// Its figures, the main one first.
    figures: Vec<Figure>,
    /// How long it took, in nanoseconds.
    elapsed_ns: Known<u64>,
}

/// The record of runs of a workload, each of `iterations` where that is known.
fn record(workload: &str, iterations: Option<u64>, runs: Vec<OracleOutput>) -> Record {
    let settings =
        Settings { iterations, engine: Some("oracle".to_owned()), ..Settings::default() };
    let arm = Arm { settings, is_foreign: true, ..Arm::of("A", workload) };
    let trials = (1..).zip(runs).map(|(number, told)| trial(number, told)).collect();
    let mut record = Record { trials, is_complete: true, ..Record::of(vec![arm]) };
    record.doubts.extend(crate::doubts::of(&record));
    record
}

/// A value that the output does not hold.
fn untold<T>() -> Known<T> {
    Known::missing("the script's output does not tell it")
}

fn trial(number: u32, told: OracleOutput) -> Trial {
    Trial {
        number,
        arm: 0,
        block: number,
        began_ns: untold(),
        boot: None,
        preparation: None,
        failed: None,
        marks: Vec::new(),
        throttling: None,
        server: None,
        server_log: None,
        slices: Vec::new(),
        outcome: Outcome {
            elapsed_ns: told.elapsed_ns,
            cpu_ns: untold(),
            tasks: 0,
            figures: told.figures.into(),
        },
        clock: untold(),
        surroundings: untold(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_comma_is_a_decimal_point() {
        for (word, value) in
            [("873729,72", 873_729.72), ("873729.72", 873_729.72), (",5", 0.5), ("-2", -2.0)]
        {
            assert_eq!(number(word), Some(value), "{word}");
        }
    }

    #[test]
    fn what_is_no_single_number_is_none() {
        for word in ["", ".", "1.234,5", "19.3.0", "1e5", "nan", "inf", "+3", "--3"] {
            assert_eq!(number(word), None, "{word}");
        }
        assert_eq!(number(&"9".repeat(400)), None);
    }
}
