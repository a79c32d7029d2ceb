//! What a database has to be told, and what it tells.

use crate::failure::Failure;
use crate::known::Known;
use std::time::Duration;

/// How long a stretch is: long beside what it takes to begin one, short beside a trial.
pub(super) const STRETCH: Duration = Duration::from_millis(250);

/// A database's statements.
pub(super) trait Dialect: Send + Sync {
    /// What each session is told first.
    fn setup(&self, limit: Duration) -> String;

    /// Drops what killed runs left, and prints the name of a schema or database of our own.
    fn claim(&self) -> String;

    /// The name in the answer to that; it becomes part of statements.
    fn claimed(&self, rows: &[String]) -> Result<String, Failure>;

    /// Makes that place, which must not be there, and a table for each session.
    fn make(&self, place: &str, n: usize) -> String;

    /// Empties the tables.
    fn empty(&self, place: &str, n: usize) -> String;

    /// Inserts and commits, for [`STRETCH`] or so many commits, then prints three numbers: how many commits there were, and
    /// the microseconds since 1970 at which it began and ended.
    fn stretch(&self, place: &str, part: usize, commits: u64) -> String;

    /// Prints what the server has counted of its log.
    fn counters(&self) -> String;

    /// The answer to that.
    fn counted(&self, rows: &[String]) -> Counted;

    /// How many rows each table has.
    fn rows(&self, place: &str, n: usize) -> String;

    /// Prints the settings that decide what a commit is.
    fn settings(&self) -> String;

    /// Those settings, by name.
    fn about(&self, rows: &[String]) -> Vec<(String, String)> {
        let pairs = rows.iter().filter_map(|it| it.split_once(['\t', ' ']));
        pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
    }

    /// Drops the place.
    fn farewell(&self, place: &str) -> String;
}

/// What a server has counted of its log since it began to count.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    /// Writes that were made durable.
    pub(super) writes: Known<u64>,
    /// Bytes of log.
    pub(super) bytes: Known<u64>,
    /// The time in these calls, in nanoseconds.
    pub(super) taken_ns: Known<u64>,
}

/// The same statement for each part.
pub(super) fn each(n: usize, statement: impl Fn(usize) -> String) -> String {
    (0..n).map(statement).collect()
}

/// A value that is not told.
pub(super) fn missing<T>(why: &str) -> Known<T> {
    Known::Missing { missing: why.to_owned() }
}
