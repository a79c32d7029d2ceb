//! PostgreSQL: statements, and what it counts of its write-ahead log.
//!
//! A backend writes the log itself at its commit, for all that wait, and not the WAL writer (src/backend/access/transam/
//! README, "Asynchronous Commit"). What it counts of them is read as of every server (`facts::database`). COMMIT in a DO block: from
//! version 11 on.

use super::{BATCH, Dialect, each};
use crate::database::{claim, claimed};
use crate::failure::Failure;
use std::time::Duration;

const KIND: &str = "commit";

/// A server of that version (`server_version_num`).
#[derive(Clone, Copy)]
pub(super) struct Postgresql {
    version: u32,
}

impl Postgresql {
    /// One that says that this is its version.
    pub(super) fn of(rows: &[String]) -> Result<Postgresql, Failure> {
        let row = rows.first().map_or("", String::as_str);
        let version: u32 = row.parse().map_err(|_| {
            Failure::NoFigure(format!("the server says '{row}' for server_version_num"))
        })?;
        if version < 110_000 {
            let major = version / 10_000;
            return Err(Failure::Unready(format!(
                "the server is PostgreSQL {major}; commit needs version 11 or later, which can commit in a DO block"
            )));
        }
        Ok(Postgresql { version })
    }
}

impl Dialect for Postgresql {
    fn setup(&self, limit: Duration) -> String {
        let milliseconds = limit.as_millis().clamp(1, i32::MAX as u128);
        // Only a superuser may turn the timing of log writes on; for others the server's setting counts.
        let timing = "DO $$ BEGIN PERFORM set_config('track_wal_io_timing', 'on', false); \
                      EXCEPTION WHEN OTHERS THEN NULL; END $$;";
        let timing = if self.version >= 140_000 { timing } else { "" };
        format!(
            "SET statement_timeout = {milliseconds}; SET client_min_messages = warning; SET jit = off; {timing}"
        )
    }

    fn claim(&self) -> String {
        claim(KIND)
    }

    fn claimed(&self, rows: &[String]) -> Result<String, Failure> {
        claimed(KIND, rows)
    }

    fn make(&self, place: &str, n: usize) -> String {
        let tables = each(n, |part| {
            format!(
                "CREATE TABLE {place}.session_{part} (id bigint NOT NULL, account integer NOT NULL, \
                 amount numeric(12,2) NOT NULL, label text NOT NULL);\n"
            )
        });
        format!(
            "BEGIN; CREATE SCHEMA {place}; COMMENT ON SCHEMA {place} IS 'made by fullclock';\n{tables}COMMIT;"
        )
    }

    fn empty(&self, place: &str, n: usize) -> String {
        each(n, |part| format!("TRUNCATE {place}.session_{part};\n"))
    }

    fn batch(&self, place: &str, part: usize, _commits: u64) -> String {
        let milliseconds = BATCH.as_millis();
        // From version 15 on, counts are reported on request; before, at most half a second later.
        let flush =
            if self.version >= 150_000 { "PERFORM pg_stat_force_next_flush();" } else { "" };
        format!(
            "DO $$ DECLARE began timestamptz := clock_timestamp(); n bigint := 0; BEGIN \
             WHILE clock_timestamp() < began + interval '{milliseconds} ms' LOOP \
             INSERT INTO {place}.session_{part} VALUES (n, n % 999983, 12.34, 'paid in by a session of fullclock'); \
             COMMIT; n := n + 1; END LOOP; {flush} \
             PERFORM set_config('fullclock.told', n || ' ' || (extract(epoch FROM began) * 1000000)::bigint || ' ' || \
             (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, false); END $$; \
             SELECT current_setting('fullclock.told');"
        )
    }

    fn rows(&self, place: &str, n: usize) -> String {
        each(n, |part| format!("SELECT count(*) FROM {place}.session_{part};\n"))
    }

    fn settings(&self) -> String {
        "SELECT name || ' ' || setting FROM pg_settings WHERE name IN \
         ('fsync', 'synchronous_commit', 'wal_sync_method', 'commit_delay') ORDER BY name;"
            .to_owned()
    }

    fn farewell(&self, place: &str) -> String {
        format!("DROP SCHEMA IF EXISTS {place} CASCADE;")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_commit_in_a_block_is_refused() {
        let of = |text: &str| Postgresql::of(&[text.to_owned()]).map(|it| it.version);
        assert_eq!(of("150018").unwrap(), 150_018);
        assert!(of("100023").unwrap_err().to_string().contains("PostgreSQL 10"));
        assert!(of("x").is_err());
    }
}
