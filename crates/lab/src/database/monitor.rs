//! What a server says of itself: the counters of its log and what its sessions do, asked in one session that is kept open.
//!
//! Which counters a server has is asked and not concluded from its version. All that is wanted comes from one statement, in one
//! transaction: commits are among what is counted.

use super::dsn::Dsn;
use super::engine::Engine;
use super::programs;
use super::session::{Patience, Session};
use crate::failure::Failure;
use facts::database::{Count, HIDDEN, LogCounters};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long a statement may take in the server.
const STATEMENT: Duration = Duration::from_secs(2);

/// How long to wait for an answer, with the time that a connection takes.
const ANSWER: Duration = Duration::from_secs(8);

/// The name of the session in pg_stat_activity.
pub(crate) const APPLICATION: &str = "fullclock";

static NEVER: AtomicBool = AtomicBool::new(false);

/// Looks at a user's server. A session that is lost, as at a restart of the server, is opened anew by the next question.
pub struct Monitor {
    dsn: String,
    open: Option<Open>,
    /// How many of its own transactions the server counts as commits.
    n_own: u64,
}

/// An open session, and what to ask in it.
struct Open {
    session: Session,
    engine: Engine,
    log: String,
    look: String,
}

impl Monitor {
    /// One for the server of `dsn`, which the first question connects to.
    ///
    /// Errors: `dsn` cannot be read, its client is not installed. No error repeats a password.
    pub fn of(dsn: &str) -> Result<Monitor, Failure> {
        programs::client(parsed(dsn)?.engine)?;
        Ok(Monitor { dsn: dsn.to_owned(), open: None, n_own: 0 })
    }

    /// The counters of the log, whose commits are without the monitor's own. `stop` ends every wait.
    ///
    /// Errors: the server is gone, refuses or does not answer.
    pub fn log(&mut self, stop: &AtomicBool) -> Result<LogCounters, Failure> {
        let rows = self.ask(|it| &it.log, stop)?;
        Ok(self.without_own(LogCounters::parse(&rows)))
    }

    /// The rows of a [`Look`](facts::database::Look), whose commits are with the monitor's own.
    ///
    /// Errors: as [`Monitor::log`].
    pub fn look(&mut self, stop: &AtomicBool) -> Result<Vec<String>, Failure> {
        self.ask(|it| &it.look, stop)
    }

    /// The counters without the commits that the monitor made.
    pub fn without_own(&self, mut counters: LogCounters) -> LogCounters {
        let commits = counters.get(Count::Commits);
        counters.set(Count::Commits, commits.map(|it| it.saturating_sub(self.n_own)));
        counters
    }

    fn ask(
        &mut self,
        question: fn(&Open) -> &str,
        stop: &AtomicBool,
    ) -> Result<Vec<String>, Failure> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => Open::new(&self.dsn, &mut self.n_own, stop)?,
        };
        let question = question(&open).to_owned();
        let rows = ask(&mut open.session, open.engine, &question, stop)?;
        self.n_own += commits_of_question(open.engine);
        self.open = Some(open);
        Ok(rows)
    }
}

impl Open {
    fn new(dsn: &str, n_own: &mut u64, stop: &AtomicBool) -> Result<Open, Failure> {
        let dsn = parsed(dsn)?;
        let engine = dsn.engine;
        let mut command = engine.client_at(&programs::client(engine)?, &dsn);
        if engine == Engine::Postgresql {
            command.env("PGAPPNAME", APPLICATION).env("PGCONNECT_TIMEOUT", "5");
        }
        let mut session = Session::open(command)?;
        let columns = ask(&mut session, engine, &set_up(engine), stop).map_err(of_mysql)?;
        *n_own += commits_of_question(engine);
        let log = log_rows(engine, &columns);
        let look = look_rows(engine, &log);
        Ok(Open { session, engine, log, look })
    }
}

fn parsed(dsn: &str) -> Result<Dsn, Failure> {
    Dsn::parse(dsn).map_err(|why| Failure::Unready(format!("--dsn: {why}")))
}

/// Asks one question. PostgreSQL is asked in one transaction that holds its settings, too: behind a pooler, the next statement may
/// go to another session of the server, and a setting of a session reaches other clients.
fn ask(
    session: &mut Session,
    engine: Engine,
    question: &str,
    stop: &AtomicBool,
) -> Result<Vec<String>, Failure> {
    let patience = Patience { stop, abandoned: &NEVER, limit: ANSWER };
    let answer = match engine {
        Engine::Postgresql => {
            session.ask_and_end(&format!("{}\n{question}", beginning()), "COMMIT;", patience)
        }
        Engine::Mariadb => session.ask(question, patience),
    };
    answer.map_err(|failure| match failure {
        Failure::TimedOut { program, limit } => Failure::NoAnswer { program, limit },
        failure => failure,
    })
}

/// Begins a transaction of PostgreSQL that waits for nothing for long.
fn beginning() -> String {
    let milliseconds = STATEMENT.as_millis();
    format!(
        "BEGIN READ ONLY; SET LOCAL statement_timeout = {milliseconds}; SET LOCAL lock_timeout = {milliseconds}; \
         SET LOCAL jit = off;"
    )
}

/// MariaDB counts no commit of a session that says no COMMIT.
fn commits_of_question(engine: Engine) -> u64 {
    match engine {
        Engine::Postgresql => 1,
        Engine::Mariadb => 0,
    }
}

/// Asks PostgreSQL which columns there are, and limits the statements of MariaDB's session.
fn set_up(engine: Engine) -> String {
    match engine {
        Engine::Postgresql => columns(),
        Engine::Mariadb => format!("SET {MARIADB_LIMIT} = {};", STATEMENT.as_secs()),
    }
}

/// The variable that limits a statement, which MySQL does not have.
const MARIADB_LIMIT: &str = "max_statement_time";

/// Says where the server is MySQL.
fn of_mysql(failure: Failure) -> Failure {
    match failure {
        Failure::Program { said, .. } if said.contains(MARIADB_LIMIT) => {
            Failure::Unready("MySQL is not supported here; MariaDB is".to_owned())
        }
        failure => failure,
    }
}

/// Asks which columns PostgreSQL's views of the log have: `pg_stat_wal.wal_sync`.
pub(crate) fn columns() -> String {
    "SELECT c.relname || '.' || a.attname FROM pg_catalog.pg_attribute a \
     JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
     WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relname IN ('pg_stat_wal', 'pg_stat_io') \
     AND a.attnum > 0 AND NOT a.attisdropped;"
        .to_owned()
}

/// The statement for the rows that [`LogCounters::parse`] reads, without a semicolon where there is one statement. `columns` is the
/// answer to [`columns`].
pub(crate) fn log_rows(engine: Engine, columns: &[String]) -> String {
    match engine {
        Engine::Postgresql => postgresql_log(columns) + ";",
        Engine::Mariadb => mariadb_log(),
    }
}

fn postgresql_log(columns: &[String]) -> String {
    let has = |column: &str| columns.iter().any(|it| it == column);
    let mut parts = vec![
        "SELECT unnest(ARRAY['xact_commit ' || sum(xact_commit), 'xact_reset ' || coalesce(max(stats_reset)::text, '')]) \
         FROM pg_stat_database"
            .to_owned(),
    ];
    if !has("pg_stat_wal.wal_bytes") {
        // Before version 14 nothing is counted; a standby writes no log of its own.
        parts.push(
            "SELECT 'wal_bytes ' || CASE WHEN NOT pg_is_in_recovery() \
             THEN (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint END"
                .to_owned(),
        );
        return parts.join(" UNION ALL ");
    }
    let plain =
        ["wal_records", "wal_fpi", "wal_bytes", "wal_buffers_full", "wal_write", "wal_sync"];
    let plain = plain.iter().filter(|it| has(&format!("pg_stat_wal.{it}")));
    let mut values: Vec<String> = plain.map(|it| format!("'{it} ' || {it}")).collect();
    for call in ["write", "sync"] {
        if has(&format!("pg_stat_wal.wal_{call}_time")) {
            values.push(format!("'wal_{call}_us ' || round(wal_{call}_time * 1000)::bigint"));
        }
    }
    // Where both views have counts, both resets are one text: either changes it.
    let is_in_io = !has("pg_stat_wal.wal_sync") && has("pg_stat_io.fsyncs");
    let io_reset = if is_in_io {
        "|| ' ' || coalesce((SELECT max(stats_reset)::text FROM pg_stat_io WHERE object = 'wal'), '')"
    } else {
        ""
    };
    values.push(format!("'wal_reset ' || coalesce(stats_reset::text, '') {io_reset}"));
    parts.push(format!("SELECT unnest(ARRAY[{}]) FROM pg_stat_wal", values.join(", ")));
    if is_in_io {
        parts.push(
            "SELECT unnest(ARRAY['wal_write ' || coalesce(sum(writes), 0), 'wal_sync ' || coalesce(sum(fsyncs), 0), \
             'wal_write_us ' || round(coalesce(sum(write_time), 0) * 1000)::bigint, \
             'wal_sync_us ' || round(coalesce(sum(fsync_time), 0) * 1000)::bigint]) \
             FROM pg_stat_io WHERE object = 'wal' AND context = 'normal'"
                .to_owned(),
        );
    }
    parts.push(
        "SELECT name || ' ' || current_setting(name) \
         FROM unnest(ARRAY['track_wal_io_timing', 'fsync', 'wal_sync_method']) AS name"
            .to_owned(),
    );
    parts.join(" UNION ALL ")
}

/// Who may not read the performance schema goes without its timer.
fn mariadb_log() -> String {
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_os_log_written', 'Innodb_os_log_fsyncs', 'Innodb_log_writes', \
     'Innodb_log_write_requests', 'Innodb_log_waits', 'Com_commit');\n\
     DELIMITER //\nBEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; \
     SELECT CONCAT('innodb_log_file_ps ', SUM_TIMER_WRITE + SUM_TIMER_MISC) \
     FROM performance_schema.file_summary_by_event_name \
     WHERE EVENT_NAME = 'wait/io/file/innodb/innodb_log_file'; END//\nDELIMITER ;"
        .to_owned()
}

/// How much of a statement is asked for: enough to get past a comment to its command.
const BEGINNING: usize = 256;

/// The most kinds of sessions that a server is asked for: fewer rows than an answer may have, with those of the log.
const MOST_KINDS: usize = 500;

/// The statements for a look: kinds of sessions without our own, then the log. Without the privilege PROCESS, MariaDB leaves out the
/// sessions of other users, which is then a row like those in which PostgreSQL hides them; a role may have it, too.
fn look_rows(engine: Engine, log: &str) -> String {
    match engine {
        Engine::Postgresql => format!(
            "(SELECT concat_ws(E'\\t', 'session', count(*), coalesce(backend_type, ''), coalesce(state, ''), \
             coalesce(wait_event_type, ''), coalesce(wait_event, ''), statement) FROM (SELECT backend_type, state, \
             wait_event_type, wait_event, CASE WHEN state = 'active' OR query = '{HIDDEN}' \
             THEN translate(left(query, {BEGINNING}), E'\\t\\n\\r', '   ') ELSE '' END AS statement \
             FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name <> '{APPLICATION}') AS sessions \
             GROUP BY backend_type, state, wait_event_type, wait_event, statement \
             ORDER BY count(*) DESC LIMIT {MOST_KINDS}) UNION ALL {log}"
        ),
        Engine::Mariadb => format!(
            "SELECT 'session', COUNT(*), 'client backend', CASE COMMAND WHEN 'Sleep' THEN 'idle' WHEN 'Query' THEN 'active' \
             WHEN 'Execute' THEN 'active' ELSE LOWER(COMMAND) END AS command, '', IFNULL(STATE, '') AS state, \
             REPLACE(REPLACE(LEFT(IFNULL(INFO, ''), {BEGINNING}), CHAR(10), ' '), CHAR(9), ' ') AS statement \
             FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND COMMAND <> 'Daemon' \
             GROUP BY command, state, statement ORDER BY COUNT(*) DESC LIMIT {MOST_KINDS};\n\
             SELECT 'session', 1, '', '', '', '', '{HIDDEN}' FROM DUAL WHERE CURRENT_ROLE() IS NULL AND NOT EXISTS \
             (SELECT 1 FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'PROCESS' \
             AND REPLACE(GRANTEE, '''', '') = CURRENT_USER());\n{log}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(columns: &[&str]) -> String {
        let columns: Vec<String> = columns.iter().map(|it| (*it).to_owned()).collect();
        log_rows(Engine::Postgresql, &columns)
    }

    #[test]
    fn each_version_is_asked_for_the_columns_that_it_has() {
        let of_15 = statement(&[
            "pg_stat_wal.wal_records",
            "pg_stat_wal.wal_bytes",
            "pg_stat_wal.wal_sync",
            "pg_stat_wal.wal_sync_time",
        ]);
        assert!(of_15.contains("'wal_sync ' || wal_sync"), "{of_15}");
        assert!(of_15.contains("wal_sync_time * 1000") && !of_15.contains("pg_stat_io"), "{of_15}");
        let of_18 =
            statement(&["pg_stat_wal.wal_records", "pg_stat_wal.wal_bytes", "pg_stat_io.fsyncs"]);
        assert!(of_18.contains("object = 'wal'") && !of_18.contains("wal_sync_time"), "{of_18}");
        let of_13 = statement(&[]);
        assert!(of_13.contains("pg_current_wal_lsn") && !of_13.contains("track_wal"), "{of_13}");
    }

    #[test]
    fn what_the_server_is_told_lasts_no_longer_than_a_question() {
        assert!(beginning().starts_with("BEGIN READ ONLY; "));
        let settings = beginning().matches("SET ").count();
        assert_eq!((settings, beginning().matches("SET LOCAL ").count()), (3, 3));
        assert!(!set_up(Engine::Postgresql).contains("SET "));
    }

    #[test]
    fn a_server_of_mysql_is_called_so() {
        let said = "ERROR 1193 (HY000) at line 1: Unknown system variable 'max_statement_time'";
        let refused = |said: &str| Failure::Program {
            program: "mysql".to_owned(),
            how: "exit code 1".to_owned(),
            said: said.to_owned(),
        };
        assert!(of_mysql(refused(said)).to_string().starts_with("MySQL is not supported"));
        assert!(of_mysql(refused("gone")).to_string().ends_with("gone"));
    }

    #[test]
    fn a_dsn_that_cannot_be_read_is_not_repeated() {
        let why = Monitor::of("postgresql://me:pa/S3KR1T77@h/db").err().unwrap().to_string();
        assert!(why.starts_with("--dsn: ") && !why.contains("S3KR1T77"), "{why}");
    }
}
