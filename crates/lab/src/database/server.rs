//! The server that a workload runs in: the one that `--dsn` names, or a temporary one; and a schema of our own in it.

use super::cluster::Cluster;
use super::dsn::Dsn;
use super::engine::{Engine, Keeping};
use super::programs;
use super::session::{Patience, Session};
use crate::durability::{NOT_DURABLE, is_in_memory};
use crate::failure::Failure;
use crate::server::ServerSelection;
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
            Reach::Temporary(cluster, Keeping::Commits) if is_in_memory(&cluster.layout.data) => {
                format!("temporary, over a Unix socket, {NOT_DURABLE}")
            }
            Reach::Temporary(_, Keeping::Commits) => {
                "temporary, over a Unix socket, every commit kept safe on disk".to_owned()
            }
            Reach::Users(dsn) => dsn.public.clone(),
        }
    }

    /// How to find its processes.
    pub(crate) fn selection(&self) -> ServerSelection {
        match &self.reach {
            Reach::Temporary(cluster, _) => ServerSelection::Process(cluster.pid()),
            Reach::Users(dsn) => ServerSelection::Dsn(dsn.given.clone()),
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

    pub(super) fn session(&self) -> Result<Session, Failure> {
        Session::open(match &self.reach {
            Reach::Temporary(cluster, _) => self.engine.client_of(&self.client, &cluster.layout),
            Reach::Users(dsn) => self.engine.client_at(&self.client, dsn),
        })
    }

    /// Runs statements in a new session.
    pub(crate) fn ask(
        &self,
        statements: &str,
        patience: Patience<'_>,
    ) -> Result<Vec<String>, Failure> {
        self.session()?.ask(statements, patience)
    }

    /// The reason for a failure: a client only knows that its server is gone.
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

/// Drops the schemas of this kind that killed runs left, and names the session's own.
///
/// A schema belongs to the session that holds the advisory lock of its name; the server releases the lock when the session
/// ends, however it ends. Only schemas are dropped whose name, comment and owner say that fullclock made them.
pub(crate) fn claim(kind: &str) -> String {
    format!(
        "\
DO $$ DECLARE left_over name; BEGIN
  FOR left_over IN SELECT nspname FROM pg_namespace
    WHERE nspname ~ '^fullclock_{kind}_[0-9]+$' AND obj_description(oid, 'pg_namespace') = 'made by fullclock'
      AND nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
  LOOP
    IF pg_try_advisory_lock(hashtext('fullclock'), hashtext(left_over::text)) THEN
      EXECUTE format('DROP SCHEMA %I CASCADE', left_over);
      PERFORM pg_advisory_unlock(hashtext('fullclock'), hashtext(left_over::text));
    END IF;
  END LOOP;
  PERFORM pg_advisory_lock(hashtext('fullclock'), hashtext('fullclock_{kind}_' || pg_backend_pid()));
END $$;
SELECT 'fullclock_{kind}_' || pg_backend_pid();"
    )
}

/// The name in the answer to [`claim`]; it becomes part of statements.
pub(crate) fn claimed(kind: &str, rows: &[String]) -> Result<String, Failure> {
    let is_name = |it: &&String| {
        let number = it.strip_prefix(&format!("fullclock_{kind}_"));
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    let name = rows.first().filter(is_name).cloned();
    name.ok_or_else(|| Failure::NoFigure("the server named no schema".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_none_never_becomes_part_of_a_statement() {
        let claimed = |name: &str| claimed("build", &[name.to_owned()]).ok();
        assert_eq!(claimed("fullclock_build_123").unwrap(), "fullclock_build_123");
        for name in
            ["", "fullclock_build_", "fullclock_build_1; DROP", "public", "fullclock_commit_1"]
        {
            assert_eq!(claimed(name), None, "{name}");
        }
    }
}
