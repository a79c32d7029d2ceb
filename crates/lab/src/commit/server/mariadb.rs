//! MariaDB: statements, and what it counts of InnoDB's redo log.
//!
//! Sessions write the log themselves, one for all that wait (group commit). The server makes a session wait for the log only
//! before it answers its client (thd_increment_pending_ops in storage/innobase/trx/trx0trx.cc): commits in a loop inside the
//! server would not wait at all. So each insert is a statement of the client's, which sends the next one once it is answered.
//!
//! How often the log was written, or synced before version 10.8, tells the status; how long that took tells the performance
//! schema of servers that have an instrument for it, and no counter of others (seen with 10.11).

use super::{Counted, Dialect, each};
use crate::failure::Failure;
use crate::known::Known;
use std::time::Duration;

const PREFIX: &str = "fullclock_commit_";

/// A server of 10.5 or later.
pub(super) struct Mariadb;

impl Dialect for Mariadb {
    fn setup(&self, limit: Duration) -> String {
        let seconds = limit.as_secs().clamp(1, 31_536_000);
        format!("SET max_statement_time = {seconds}; SET autocommit = 1;")
    }

    fn claim(&self) -> String {
        format!(
            "DELIMITER //\nBEGIN NOT ATOMIC \
             FOR left_over IN (SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA \
             WHERE SCHEMA_NAME REGEXP '^{PREFIX}[0-9]+$' AND SCHEMA_COMMENT = 'made by fullclock') DO \
             IF GET_LOCK(left_over.name, 0) = 1 THEN \
             EXECUTE IMMEDIATE CONCAT('DROP DATABASE ', left_over.name); DO RELEASE_LOCK(left_over.name); \
             END IF; END FOR; DO GET_LOCK(CONCAT('{PREFIX}', CONNECTION_ID()), 0); END//\nDELIMITER ;\n\
             SELECT CONCAT('{PREFIX}', CONNECTION_ID());"
        )
    }

    fn claimed(&self, rows: &[String]) -> Result<String, Failure> {
        let is_name = |it: &&String| {
            let number = it.strip_prefix(PREFIX);
            number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
        };
        let name = rows.first().filter(is_name).cloned();
        name.ok_or_else(|| Failure::NoFigure("the server named no database".to_owned()))
    }

    fn make(&self, place: &str, n: usize) -> String {
        let tables = each(n, |part| {
            format!(
                "CREATE TABLE {place}.session_{part} (id BIGINT NOT NULL, account INT NOT NULL, \
                 amount DECIMAL(12,2) NOT NULL, label VARCHAR(64) NOT NULL) ENGINE = InnoDB;\n"
            )
        });
        format!("CREATE DATABASE {place} COMMENT = 'made by fullclock';\n{tables}")
    }

    fn empty(&self, place: &str, n: usize) -> String {
        each(n, |part| format!("TRUNCATE TABLE {place}.session_{part};\n"))
    }

    fn batch(&self, place: &str, part: usize, commits: u64) -> String {
        const NOW: &str = "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS UNSIGNED);\n";
        let label = "paid in by a session of fullclock";
        let insert = |n: u64| {
            format!("INSERT INTO {place}.session_{part} VALUES ({n}, {n}, 12.34, '{label}');\n")
        };
        let inserts: String = (0..commits).map(insert).collect();
        format!("SELECT {commits};\n{NOW}{inserts}{NOW}")
    }

    fn counters(&self) -> String {
        // Who may not read the performance schema goes without.
        "SELECT CONCAT(LOWER(VARIABLE_NAME), ' ', VARIABLE_VALUE) FROM information_schema.GLOBAL_STATUS \
         WHERE VARIABLE_NAME IN ('INNODB_OS_LOG_WRITTEN', 'INNODB_OS_LOG_FSYNCS', 'INNODB_LOG_WRITES');\n\
         DELIMITER //\nBEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; \
         SELECT CONCAT('timer ', COUNT_WRITE, ' ', SUM_TIMER_WRITE + SUM_TIMER_MISC) \
         FROM performance_schema.file_summary_by_event_name \
         WHERE EVENT_NAME = 'wait/io/file/innodb/innodb_log_file'; END//\nDELIMITER ;"
            .to_owned()
    }

    fn counted(&self, rows: &[String]) -> Counted {
        let numbers = |name: &str| -> Option<Vec<u64>> {
            let row = rows.iter().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '))?;
            row.split(' ').map(|it| it.parse().ok()).collect()
        };
        let count = |name: &str| numbers(name).and_then(|it| it.first().copied());
        let known =
            |value: Option<u64>, why: &str| value.map_or_else(|| Known::missing(why), Known::Value);
        // Where nothing is counted there is no instrument, or it is off. The timer counts picoseconds.
        let taken_ns = match numbers("timer").as_deref() {
            Some([writes, picoseconds]) if *writes > 0 => Some(picoseconds / 1000),
            _ => None,
        };
        Counted {
            writes: known(
                count("innodb_os_log_fsyncs").or_else(|| count("innodb_log_writes")),
                "the server tells neither Innodb_os_log_fsyncs nor Innodb_log_writes",
            ),
            bytes: known(
                count("innodb_os_log_written"),
                "the server tells no Innodb_os_log_written",
            ),
            taken_ns: known(
                taken_ns,
                "the server does not time its log writes: no wait/io/file/innodb/innodb_log_file in its performance schema",
            ),
        }
    }

    fn rows(&self, place: &str, n: usize) -> String {
        each(n, |part| format!("SELECT COUNT(*) FROM {place}.session_{part};\n"))
    }

    fn settings(&self) -> String {
        "SELECT CONCAT(LOWER(VARIABLE_NAME), ' ', VARIABLE_VALUE) FROM information_schema.GLOBAL_VARIABLES \
         WHERE VARIABLE_NAME IN ('INNODB_FLUSH_LOG_AT_TRX_COMMIT', 'INNODB_FLUSH_METHOD', 'SYNC_BINLOG', 'LOG_BIN') \
         ORDER BY VARIABLE_NAME;"
            .to_owned()
    }

    fn farewell(&self, place: &str) -> String {
        format!("DROP DATABASE IF EXISTS {place};")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(rows: &[&str]) -> Counted {
        Mariadb.counted(&rows.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_server_that_times_its_log_writes_tells_nanoseconds() {
        let found =
            counted(&["innodb_os_log_written 4096", "innodb_os_log_fsyncs 8", "timer 10 5000000"]);
        let expected = Counted {
            writes: Known::Value(8),
            bytes: Known::Value(4096),
            taken_ns: Known::Value(5000),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn one_that_does_not_tells_the_rest() {
        for timer in ["timer 0 0", ""] {
            let found = counted(&["innodb_log_writes 7", "innodb_os_log_written 4096", timer]);
            assert_eq!((found.writes, found.bytes), (Known::Value(7), Known::Value(4096)));
            assert!(found.taken_ns.reason().unwrap().contains("does not time"), "{timer}");
        }
        assert!(counted(&[]).writes.value().is_none());
    }

    #[test]
    fn each_insert_is_a_statement_between_two_times() {
        let text = Mariadb.batch("p", 3, 2);
        let kinds: Vec<&str> = text.lines().map(|it| &it[..6]).collect();
        assert_eq!(kinds, ["SELECT", "SELECT", "INSERT", "INSERT", "SELECT"]);
    }

    #[test]
    fn a_name_that_is_none_never_becomes_part_of_a_statement() {
        let claimed = |name: &str| Mariadb.claimed(&[name.to_owned()]).ok();
        assert_eq!(claimed("fullclock_commit_12").unwrap(), "fullclock_commit_12");
        for name in ["", PREFIX, "fullclock_commit_1; DROP", "mysql"] {
            assert_eq!(claimed(name), None, "{name}");
        }
    }
}
