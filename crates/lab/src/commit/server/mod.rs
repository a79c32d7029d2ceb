//! Sessions of a database server that commit, and what the server counts of its log.
//!
//! The commit loop of each session runs in the server, a batch at a time: neither a client nor the network is in the figures,
//! and hardly any of the machine's CPU time is a client's. A server reports its counts only between two statements of a
//! session (pgstat_report_stat in src/backend/tcop/postgres.c), so a sample is taken at the end of a batch, and the time
//! between batches is in no sample. A [`Dialect`] has the statements of one database and reads their answers.

mod batch_runner;
mod log_calls;
mod mariadb;
mod postgresql;
mod waits;

use super::Engine;
use super::sample::Sample;
use crate::database::{Engine as Database, Keeping, Patience, Pool, Server, columns, log_rows};
use crate::failure::Failure;
use crate::known::Known;
use crate::server::ServerSelection;
use crate::workload::{Scene, Settings};
use batch_runner::{BatchRunner, Sessions};
use facts::database::LogCounters;
use facts::{CpuSet, Fact, Missing};
use log_calls::LogCalls;
use mariadb::Mariadb;
use postgresql::Postgresql;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The default: as many as a small server has busy at once.
const SESSIONS: u32 = 8;

/// A thousand psql or mariadb clients take some gigabytes.
const MOST_SESSIONS: u32 = 1000;

/// The default time limit of a statement: a batch is a fraction of a second.
const LIMIT: Duration = Duration::from_secs(60);

/// Never set: a stop waits for the end of the batch.
static NOBODY: AtomicBool = AtomicBool::new(false);

/// Waits for a server that long.
fn patience(limit: Duration) -> Patience<'static> {
    Patience { stop: &NOBODY, abandoned: &NOBODY, limit }
}

/// An engine in a database server.
pub(super) struct Serving {
    // Dropped before the server: sessions that work keep their tables.
    runner: BatchRunner,
    server: Server,
    dialect: Arc<dyn Dialect>,
    /// The schema or database that is ours.
    place: String,
    tasks: Vec<u32>,
    about: Vec<(String, String)>,
    limit: Duration,
}

impl Serving {
    /// Opens the sessions and makes their tables, in the server of the settings or in a temporary one that keeps every commit
    /// safe.
    pub(super) fn open(settings: &Settings, scene: &Scene<'_>) -> Result<Serving, Failure> {
        if settings.cpus.is_some() {
            let why = "--cpus: of commit, only the embedded engine is kept on CPUs; start the server there (taskset, cpuset)";
            return Err(Failure::Unready(why.to_owned()));
        }
        let n_sessions = settings.sessions_up_to(MOST_SESSIONS, SESSIONS)? as usize;
        let limit = settings.timeout.unwrap_or(LIMIT);
        let starting = Patience { stop: scene.stop, abandoned: &NOBODY, limit };
        let folder = settings.folder.as_deref().map_or(&*scene.temporary, Path::new);
        // One more session reads the counts.
        let keeping = (folder, Keeping::Commits);
        let server = Server::keeping(settings, keeping, Database::ALL, n_sessions + 1, starting)?;
        let dialect = dialect_of(&server, starting)?;
        let setup = dialect.setup(limit);
        let mut control = Pool::open(&server, 1, None, &setup, starting)?;
        let place = dialect.claimed(&control.first(&dialect.claim(), starting)?.rows)?;
        let pool = Pool::open(&server, n_sessions, None, &setup, starting)?;
        let mut about = vec![
            ("sessions".to_owned(), n_sessions.to_string()),
            ("version".to_owned(), server.ask("SELECT version();", starting)?.join(" ")),
            ("server".to_owned(), server.origin()),
        ];
        about.extend(dialect.about(&control.first(&dialect.settings(), starting)?.rows));
        control.first(&dialect.make(&place, n_sessions), starting)?;
        let columns = match server.engine {
            Database::Postgresql => control.first(&columns(), starting)?.rows,
            Database::Mariadb => Vec::new(),
        };
        let log = log_rows(server.engine, &columns);
        let tasks = pool.tasks();
        let counted = Counted::of(&control.first(&log, starting)?.rows);
        let calls = traced(&counted, &tasks)?;
        if let (Known::Value(_), Err(missing)) = (&counted.taken_ns, &calls) {
            about.push(("log writes not split".to_owned(), missing.to_string()));
        }
        let sessions = Sessions {
            pool,
            control,
            calls,
            dialect: dialect.clone(),
            place: place.clone(),
            log,
            limit,
        };
        Ok(Serving {
            runner: BatchRunner::of(sessions),
            server,
            dialect,
            place,
            tasks,
            about,
            limit,
        })
    }
}

/// Traces the log writes of sessions, where the server times them: otherwise there is nothing to split.
fn traced(counted: &Counted, tasks: &[u32]) -> Result<Fact<LogCalls>, Failure> {
    match &counted.taken_ns {
        Known::Value(_) => LogCalls::of(tasks),
        Known::Missing { missing } => {
            Ok(Err(Missing::not_here("the time of log writes", missing.clone())))
        }
    }
}

fn dialect_of(server: &Server, patience: Patience<'_>) -> Result<Arc<dyn Dialect>, Failure> {
    Ok(match server.engine {
        Database::Postgresql => {
            let rows = server.ask("SHOW server_version_num;", patience)?;
            Arc::new(Postgresql::of(&rows)?)
        }
        Database::Mariadb => Arc::new(Mariadb),
    })
}

impl Engine for Serving {
    fn start(&mut self) -> Result<(), Failure> {
        self.runner.start()
    }

    fn sample(&mut self) -> Result<Sample, Failure> {
        self.runner.sample().map_err(|it| self.server.explain(it))
    }

    fn stop(&mut self) -> Result<(), Failure> {
        self.runner.stop().map_err(|it| self.server.explain(it))
    }

    fn cpus(&self) -> Option<&CpuSet> {
        None
    }

    fn processes(&self) -> Vec<u32> {
        Server::processes()
    }

    fn tasks(&self) -> Vec<u32> {
        self.tasks.clone()
    }

    fn server(&self) -> Option<ServerSelection> {
        Some(self.server.selection())
    }

    fn about(&self) -> Vec<(String, String)> {
        self.about.clone()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.runner.end();
        if !self.server.is_temporary() {
            // Where the server is gone, the next start drops it.
            let _stays = self.server.ask(&self.dialect.farewell(&self.place), patience(self.limit));
        }
    }
}

/// Compares the rows of each session's table with the commits that the session was told of.
fn check(found: &[String], committed: &[u64]) -> Result<(), Failure> {
    let expected: Vec<String> = committed.iter().map(u64::to_string).collect();
    if found == expected {
        return Ok(());
    }
    let (found, expected) =
        (found.join(" "), format!("{} rows of each session", expected.join(" ")));
    Err(Failure::WrongAnswer { workload: crate::commit::WORKLOAD, found, expected })
}

/// The length of a batch: long compared with the time it takes to begin one, short compared with a trial.
const BATCH: Duration = Duration::from_millis(250);

/// A database's statements.
trait Dialect: Send + Sync {
    /// The statements that each session runs first.
    fn setup(&self, limit: Duration) -> String;

    /// Drops what killed runs left, and prints the name of our own schema or database.
    fn claim(&self) -> String;

    /// The name in the answer to that; it becomes part of statements.
    fn claimed(&self, rows: &[String]) -> Result<String, Failure>;

    /// Makes that schema or database, which must not exist, and a table for each session.
    fn make(&self, place: &str, n: usize) -> String;

    fn empty(&self, place: &str, n: usize) -> String;

    /// Inserts and commits for [`BATCH`] or for `commits`, then prints three numbers: the commits done, and the
    /// microseconds since 1970 at which the batch began and ended.
    fn batch(&self, place: &str, part: usize, commits: u64) -> String;

    /// Prints the number of rows of each table.
    fn rows(&self, place: &str, n: usize) -> String;

    /// Prints the settings that decide what a commit is.
    fn settings(&self) -> String;

    /// Those settings, by name.
    fn about(&self, rows: &[String]) -> Vec<(String, String)> {
        let pairs = rows.iter().filter_map(|it| it.split_once(['\t', ' ']));
        pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
    }

    /// Drops the schema or database.
    fn farewell(&self, place: &str) -> String;
}

/// The counts of a server's log since it began to count.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    /// Writes that were made durable.
    writes: Known<u64>,
    /// Bytes of log.
    bytes: Known<u64>,
    /// Time in these writes, in nanoseconds.
    taken_ns: Known<u64>,
}

impl Counted {
    /// The counts in rows of [`log_rows`](crate::database::log_rows).
    fn of(rows: &[String]) -> Counted {
        let counters = LogCounters::parse(rows);
        let taken = counters.since(&counters.zeroed());
        Counted {
            writes: taken.durable().into(),
            bytes: taken.bytes.into(),
            taken_ns: taken.time_ns.into(),
        }
    }
}

/// The same statement for each part.
fn each(n: usize, statement: impl Fn(usize) -> String) -> String {
    (0..n).map(statement).collect()
}
