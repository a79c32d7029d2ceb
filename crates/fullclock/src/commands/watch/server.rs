//! `--dsn`: the database server that is looked at while the machine is watched.

use anyhow::Result;
use clap::Args;
use engine::measure::server_view::{ServerView, ServerWanted};

/// Which server is looked at.
#[derive(Args, Debug)]
pub(crate) struct ServerArguments {
    /// Look at a database server once a second: its phases, wait events and log writes
    ///
    /// A PostgreSQL URI or keywords, a mysql:// URI or the path of a MariaDB socket. A phase is a note of its interval: COPY, CREATE
    /// INDEX, ANALYZE, VACUUM, autovacuum, checkpoint. --record keeps all of it for `fullclock ledger --from`: what kinds of sessions
    /// there are, what they wait for and the first words of their commands, never the text of a statement. One session asks, with a
    /// time limit; a server that does not answer is a note. To see what other users' sessions do, its user needs pg_monitor, or
    /// PROCESS in MariaDB. A password is better kept in ~/.pgpass or an option file; it is in no recording.
    #[arg(long, value_name = "DSN", conflicts_with = "replay")]
    dsn: Option<String>,
    /// Also keep the first 120 characters of statements; passwords that are spelled as such are masked
    #[arg(long, requires = "dsn")]
    query_text: bool,
}

impl ServerArguments {
    /// Begins to look; `None` where nothing is requested.
    ///
    /// Errors: the DSN cannot be read, or its client is not installed.
    pub(super) fn view(&self) -> Result<Option<ServerView>> {
        let Some(dsn) = self.dsn.clone() else { return Ok(None) };
        let wanted = ServerWanted { dsn, with_statements: self.query_text };
        Ok(Some(ServerView::begin(&wanted)?))
    }
}
