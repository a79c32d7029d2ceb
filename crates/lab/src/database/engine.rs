//! The databases that there are, and what a temporary server of one needs.

use crate::failure::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// PostgreSQL 10 and later.
    Postgresql,
    /// MariaDB 10.5 and later.
    Mariadb,
}

/// What a temporary server keeps safe on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// Nothing: its work is the CPUs'.
    Nothing,
    /// Every commit, before it is over.
    Commits,
}

impl Engine {
    /// All of them, the first one found being the default.
    pub(crate) const ALL: &[Engine] = &[Engine::Postgresql, Engine::Mariadb];

    /// What `--engine` calls it.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Engine::Postgresql => "postgresql",
            Engine::Mariadb => "mariadb",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Engine::Postgresql => "PostgreSQL",
            Engine::Mariadb => "MariaDB",
        }
    }

    /// The one that is called `id`, of those that the workload runs in.
    pub(crate) fn of(id: &str, known: &[Engine]) -> Result<Engine, Failure> {
        known.iter().copied().find(|it| it.id() == id).ok_or_else(|| {
            let ids: Vec<&str> = known.iter().map(|it| it.id()).collect();
            let ids = ids.join(" or ");
            Failure::Unready(format!("--engine {id}: expected {ids}"))
        })
    }

    /// What to install, in words.
    pub(super) fn packages(self) -> &'static str {
        match self {
            Engine::Postgresql => {
                "Debian and Ubuntu have it in the package postgresql, Red Hat and SUSE in postgresql-server"
            }
            Engine::Mariadb => {
                "Debian and Ubuntu have it in mariadb-server-core and mariadb-client-core, Red Hat in mariadb-server, \
                 SUSE in mariadb"
            }
        }
    }

    /// The accounts that a temporary server may run under where this process is root's.
    pub(super) fn accounts(self) -> &'static [&'static str] {
        match self {
            Engine::Postgresql => &["postgres", "nobody"],
            Engine::Mariadb => &["mysql", "nobody"],
        }
    }
}
