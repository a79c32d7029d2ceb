//! The databases that there are, and how each is made, started and talked to.

use super::cluster::Layout;
use super::dsn::Dsn;
use super::programs::Account;
use super::programs::Programs;
use crate::failure::Failure;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// A database.
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

/// The settings of a temporary PostgreSQL server: nothing runs except the work, and one backend is one task.
const POSTGRESQL_SETTINGS: &[&str] = &[
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "max_wal_senders=0",
    "max_wal_size=16GB",
    "checkpoint_timeout=1d",
    "autovacuum=off",
    "jit=off",
    "max_parallel_workers_per_gather=0",
    "max_parallel_maintenance_workers=0",
    "shared_buffers=256MB",
    "maintenance_work_mem=256MB",
    "logging_collector=off",
    "log_destination=stderr",
];

impl Keeping {
    /// The settings for it of a temporary PostgreSQL server. Its own defaults keep commits.
    fn of_postgresql(self) -> &'static [&'static str] {
        match self {
            Keeping::Nothing => &[
                "fsync=off",
                "synchronous_commit=off",
                "full_page_writes=off",
                "wal_level=minimal",
            ],
            Keeping::Commits => &["fsync=on", "synchronous_commit=on"],
        }
    }

    /// The same for MariaDB, which times its log writes in the performance schema only.
    fn of_mariadb(self) -> &'static [&'static str] {
        match self {
            Keeping::Nothing => &["--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"],
            Keeping::Commits => &["--innodb-flush-log-at-trx-commit=1", "--performance-schema=ON"],
        }
    }
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

    /// Its name.
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

    /// Makes the files of a temporary server.
    pub(super) fn create(self, programs: &Programs, at: &Layout) -> Command {
        let mut command = command(&programs.create);
        match self {
            Engine::Postgresql => {
                command.arg("-D").arg(&at.data);
                command.args(["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
            }
            Engine::Mariadb => {
                command.arg("--no-defaults").arg(option("--datadir=", &at.data));
                command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
            }
        }
        command
    }

    /// Runs a temporary server in the foreground, for at least that many sessions.
    pub(super) fn serve(
        self,
        programs: &Programs,
        at: &Layout,
        n_sessions: usize,
        keeping: Keeping,
    ) -> Command {
        // Superusers and background processes take some of them.
        let n_connections = n_sessions.saturating_add(20);
        let mut command = command(&programs.serve);
        match self {
            Engine::Postgresql => {
                command.arg("-D").arg(&at.data).arg("-k").arg(&at.run);
                for setting in POSTGRESQL_SETTINGS.iter().chain(keeping.of_postgresql()) {
                    command.args(["-c", setting]);
                }
                command.args(["-c", &format!("max_connections={n_connections}")]);
            }
            Engine::Mariadb => {
                command.arg("--no-defaults").arg("--skip-networking").arg("--skip-log-bin");
                command.arg(option("--datadir=", &at.data)).arg(option("--socket=", &socket(at)));
                command.arg(option("--pid-file=", &at.run.join("pid")));
                command.arg(format!("--max-connections={n_connections}"));
                command.args(keeping.of_mariadb());
            }
        }
        command
    }

    /// A client of a temporary server.
    pub(super) fn client_of(self, client: &Path, at: &Layout) -> Command {
        let mut command = command(client);
        match self {
            Engine::Postgresql => {
                command.args(PSQL).arg("-h").arg(&at.run).args(["-U", USER, "-d", "postgres"]);
            }
            Engine::Mariadb => {
                command.arg("--no-defaults").args(MARIADB).args(["-u", "root"]);
                command.arg(option("--socket=", &socket(at)));
            }
        }
        command
    }

    /// A client of the user's server. What the user's own environment and files say of it counts.
    pub(super) fn client_at(self, client: &Path, dsn: &Dsn) -> Command {
        let mut command = new_command(client);
        command.env("LC_ALL", "C");
        match self {
            Engine::Postgresql => command.args(PSQL).arg("-d").arg(&dsn.public),
            Engine::Mariadb => command.args(MARIADB).args(&dsn.options),
        };
        if let Some(password) = &dsn.password {
            // Not on the command line, which every user of the host can read.
            let variable = match self {
                Engine::Postgresql => "PGPASSWORD",
                Engine::Mariadb => "MYSQL_PWD",
            };
            command.env(variable, password);
        }
        command
    }
}

/// The superuser of a temporary PostgreSQL server.
const USER: &str = "fullclock";

/// No start file, bare rows, no question for a password, and an end at the first error.
const PSQL: [&str; 6] =
    ["-XAtqw", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=terse", "--pset=pager=off"];

/// Bare rows, and each as soon as it is there.
const MARIADB: [&str; 3] = ["--batch", "--skip-column-names", "--unbuffered"];

fn socket(at: &Layout) -> std::path::PathBuf {
    at.run.join("s")
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(path);
    option
}

#[expect(clippy::disallowed_methods, reason = "a database is talked to by its client")]
fn new_command(client: &Path) -> Command {
    Command::new(client)
}

/// A program that sees nothing of what the user's environment says of other servers.
#[expect(clippy::disallowed_methods, reason = "a database is run by its programs")]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let is_of_servers =
            name.to_str().is_some_and(|it| it.starts_with("PG") || it.starts_with("MYSQL"));
        if is_of_servers {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C");
    command
}

/// Makes a command run under another account, with that account's group only.
pub(super) fn run_as(command: &mut Command, account: Option<&Account>) {
    if let Some(account) = account {
        // The standard library drops root's other groups where it sets the user.
        command.uid(account.uid).gid(account.gid);
    }
}
