//! The server that a workload runs in: the one that `--dsn` names, or a temporary one.

use super::cluster::Cluster;
use super::dsn::Dsn;
use super::engine::{Engine, Keeping};
use super::programs;
use super::session::{Patience, Session};
use crate::failure::Failure;
use crate::workload::{Scene, Settings};
use host::Live;
use std::path::{Path, PathBuf};

/// A server that answers.
pub(crate) struct Server {
    /// Which database it is.
    pub engine: Engine,
    client: PathBuf,
    reach: Reach,
}

enum Reach {
    Temporary(Box<Cluster>, Keeping),
    Users(Dsn),
}

impl Server {
    /// The server of the settings, of a database that the workload knows, with room for that many sessions. A temporary one
    /// keeps nothing safe on disk.
    pub(crate) fn of(
        settings: &Settings,
        scene: &Scene<'_>,
        known: &[Engine],
        n_sessions: usize,
        patience: Patience<'_>,
    ) -> Result<Server, Failure> {
        let keeping = (&*scene.temporary, Keeping::Nothing);
        Server::keeping(settings, keeping, known, n_sessions, patience)
    }

    /// The same, where a temporary one is made in that folder and keeps as much.
    pub(crate) fn keeping(
        settings: &Settings,
        (folder, keeping): (&Path, Keeping),
        known: &[Engine],
        n_sessions: usize,
        patience: Patience<'_>,
    ) -> Result<Server, Failure> {
        let asked = settings.engine.as_deref().map(|id| Engine::of(id, known)).transpose()?;
        if let Some(text) = &settings.dsn {
            let dsn = Dsn::parse(text).map_err(|why| Failure::Unready(format!("--dsn: {why}")))?;
            let engine = dsn.engine;
            Engine::of(engine.id(), known).map_err(|_| {
                Failure::Unready(format!(
                    "--dsn names a server of {}, which this does not run in",
                    engine.name()
                ))
            })?;
            if asked.is_some_and(|it| it != engine) {
                return Err(Failure::Unready(format!(
                    "--dsn names a server of {}, and --engine another",
                    engine.name()
                )));
            }
            return Ok(Server {
                engine,
                client: programs::client(engine)?,
                reach: Reach::Users(dsn),
            });
        }
        let engine = asked.map_or_else(|| first_installed(known), Ok)?;
        programs::server(engine)?;
        let client = programs::client(engine)?;
        let cluster = Cluster::start(engine, &client, folder, (n_sessions, keeping), patience)?;
        Ok(Server { engine, client, reach: Reach::Temporary(Box::new(cluster), keeping) })
    }

    /// Whether it is ours alone.
    pub(crate) fn is_temporary(&self) -> bool {
        matches!(self.reach, Reach::Temporary(..))
    }

    /// What it is, in words.
    pub(crate) fn origin(&self) -> String {
        match &self.reach {
            Reach::Temporary(_, Keeping::Nothing) => {
                "temporary, over a Unix socket, nothing kept safe on disk".to_owned()
            }
            Reach::Temporary(_, Keeping::Commits) => {
                "temporary, over a Unix socket, every commit kept safe on disk".to_owned()
            }
            Reach::Users(dsn) => dsn.public.clone(),
        }
    }

    /// The processes of the work: this one and all that descend from it, which are the clients, and the server where it
    /// is ours.
    pub(crate) fn processes() -> Vec<u32> {
        let mut family = vec![std::process::id()];
        let processes = host::processes(&Live::this_machine()).unwrap_or_default();
        let mut n_known = 0;
        // A list is in no order of descent; each turn finds a generation.
        while let Some(parents) = family.get(n_known..).filter(|it| !it.is_empty()) {
            let born = processes.iter().filter(|it| parents.contains(&it.parent)).map(|it| it.pid);
            let born: Vec<u32> = born.filter(|it| !family.contains(it)).collect();
            n_known = family.len();
            family.extend(born);
        }
        family
    }

    /// A new session.
    pub(super) fn session(&self) -> Result<Session, Failure> {
        Session::open(match &self.reach {
            Reach::Temporary(cluster, _) => self.engine.client_of(&self.client, &cluster.layout),
            Reach::Users(dsn) => self.engine.client_at(&self.client, dsn),
        })
    }

    /// Runs statements in a session of their own.
    pub(crate) fn ask(
        &self,
        statements: &str,
        patience: Patience<'_>,
    ) -> Result<Vec<String>, Failure> {
        self.session()?.ask(statements, patience)
    }

    /// The reason behind a failure: a client only knows that its server is gone.
    pub(crate) fn explain(&mut self, failure: Failure) -> Failure {
        match (&mut self.reach, failure) {
            (Reach::Temporary(cluster, _), failure @ Failure::Program { .. }) => {
                cluster.ended().unwrap_or(failure)
            }
            (_, failure) => failure,
        }
    }
}

fn first_installed(known: &[Engine]) -> Result<Engine, Failure> {
    let is_installed = |it: &Engine| programs::server(*it).is_ok() && programs::client(*it).is_ok();
    known.iter().copied().find(is_installed).ok_or_else(|| {
        let packages: Vec<String> =
            known.iter().map(|it| format!("{}: {}", it.name(), it.packages())).collect();
        let packages = packages.join("; ");
        Failure::Unready(format!(
            "no database server is installed here, and no --dsn names one. {packages}"
        ))
    })
}
