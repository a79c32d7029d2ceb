//! A user's server that is asked something, over one session that stays open.

use super::dsn::Dsn;
use super::engine::Engine;
use super::programs;
use super::session::{Patience, Session};
use crate::failure::Failure;

/// A session at a connection string.
pub(crate) struct Reached {
    engine: Engine,
    session: Session,
}

impl Reached {
    /// Opens it. Errors: the text is no connection string; the client is not installed.
    pub(crate) fn at(text: &str) -> Result<Reached, Failure> {
        let dsn = Dsn::parse(text).map_err(|why| Failure::Unready(why.to_owned()))?;
        let client = programs::client(dsn.engine)?;
        let session = Session::open(dsn.engine.client_at(&client, &dsn))?;
        Ok(Reached { engine: dsn.engine, session })
    }

    /// Which database it is.
    pub(crate) fn engine(&self) -> Engine {
        self.engine
    }

    /// The rows that statements print.
    pub(crate) fn ask(
        &mut self,
        statements: &str,
        patience: Patience<'_>,
    ) -> Result<Vec<String>, Failure> {
        self.session.ask(statements, patience)
    }
}
