//! MariaDB: statements, and what it counts of InnoDB's redo log.
//!
//! Sessions write the log themselves, one for all that wait (group commit). The server makes a session wait for the log only
//! before it answers its client (thd_increment_pending_ops in storage/innobase/trx/trx0trx.cc): commits in a loop inside the
//! server would not wait at all. So each insert is a statement of the client's, which sends the next one once it is answered.
//!
//! How often the log was written, or synced before version 10.8, tells the status; how long that took tells the performance
//! schema of servers that have an instrument for it, and no counter of others (seen with 10.11).

use super::{Dialect, each};
use crate::failure::Failure;
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
