//! The table of the index. A row holds what lists show; everything else is in the result's file.
#![expect(clippy::disallowed_methods, reason = "keeps an index of the results beside them")]

use crate::store::MODE;
use crate::store::entry::Entry;
use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, Row, params};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// The version of the table, kept in SQLite's `user_version`. A table of another version is dropped and made again.
const VERSION: i32 = 2;

/// `workloads` has a space at both ends of each name. The file's name has no folder, which may be moved.
const TABLE: &str = "\
CREATE TABLE results (
    id TEXT PRIMARY KEY,
    began TEXT NOT NULL,
    workloads TEXT NOT NULL,
    arms TEXT NOT NULL,
    cpu_model TEXT,
    kernel TEXT,
    doubts TEXT NOT NULL,
    is_complete INTEGER NOT NULL,
    file TEXT NOT NULL
)";

const COLUMNS: &str = "id, began, arms, cpu_model, kernel, doubts, is_complete, file";

/// A result that is being added by another process takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// An open index.
#[derive(Debug)]
pub(super) struct Table(Connection);

impl Table {
    /// The index at `path`, which is made where there is none.
    pub(super) fn open(path: &Path) -> rusqlite::Result<Table> {
        // SQLite would make it readable for all. Where this fails, so does SQLite, and says why.
        OpenOptions::new().create(true).append(true).mode(MODE).open(path).ok();
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        Table(connection).prepared()
    }

    /// An index that ends with the program.
    pub(super) fn in_memory() -> rusqlite::Result<Table> {
        Table(Connection::open_in_memory()?).prepared()
    }

    /// With the table of this version.
    fn prepared(mut self) -> rusqlite::Result<Table> {
        let change = self.0.transaction()?;
        let version: i32 = change.pragma_query_value(None, "user_version", |it| it.get(0))?;
        if version != VERSION {
            change.execute_batch("DROP TABLE IF EXISTS results")?;
            change.execute_batch(TABLE)?;
            change.pragma_update(None, "user_version", VERSION)?;
        }
        change.commit()?;
        Ok(self)
    }

    /// Adds results, in place of those of the same id.
    pub(super) fn insert(&self, entries: &[Entry]) -> rusqlite::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let change = self.0.unchecked_transaction()?;
        let row = "INSERT OR REPLACE INTO results VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        for entry in entries {
            let workloads: Vec<&str> = entry.arms.iter().map(|it| it.workload.as_str()).collect();
            change.execute(
                row,
                params![
                    entry.id,
                    entry.began,
                    format!(" {} ", workloads.join(" ")),
                    json(&entry.arms)?,
                    entry.cpu_model,
                    entry.kernel,
                    json(&entry.doubts)?,
                    entry.is_complete,
                    entry.path.file_name().and_then(|it| it.to_str()).unwrap_or_default(),
                ],
            )?;
        }
        change.commit()
    }

    pub(super) fn delete(&self, ids: &[String]) -> rusqlite::Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let change = self.0.unchecked_transaction()?;
        for id in ids {
            change.execute("DELETE FROM results WHERE id = ?1", [id])?;
        }
        change.commit()
    }

    /// The id of each file.
    pub(super) fn files(&self) -> rusqlite::Result<BTreeMap<String, String>> {
        let mut query = self.0.prepare("SELECT file, id FROM results")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    /// The results that began last.
    pub(super) fn latest(
        &self,
        folder: &Path,
        workload: Option<&str>,
        limit: usize,
    ) -> rusqlite::Result<Vec<Entry>> {
        let mut query = self.0.prepare(&format!(
            "SELECT {COLUMNS} FROM results WHERE ?1 IS NULL OR instr(workloads, ' ' || ?1 || ' ') > 0 \
             ORDER BY began DESC, id DESC LIMIT ?2"
        ))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = query.query_map(params![workload, limit], |row| entry(row, folder))?;
        rows.collect()
    }

    /// The results whose ids begin with `prefix`, by id.
    pub(super) fn beginning(&self, folder: &Path, prefix: &str) -> rusqlite::Result<Vec<Entry>> {
        let mut query = self.0.prepare(&format!(
            "SELECT {COLUMNS} FROM results WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id"
        ))?;
        let rows = query.query_map([prefix], |row| entry(row, folder))?;
        rows.collect()
    }
}

fn entry(row: &Row<'_>, folder: &Path) -> rusqlite::Result<Entry> {
    let file: String = row.get(7)?;
    Ok(Entry {
        id: row.get(0)?,
        began: row.get(1)?,
        arms: parsed(row, 2)?,
        cpu_model: row.get(3)?,
        kernel: row.get(4)?,
        doubts: parsed(row, 5)?,
        is_complete: row.get(6)?,
        path: folder.join(file),
    })
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|it| rusqlite::Error::ToSqlConversionFailure(it.into()))
}

fn parsed<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .map_err(|it| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, it.into()))
}

/// Whether the file is no index, or half of one; a lock or a full disk is no damage.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}
