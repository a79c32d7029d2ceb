//! The programs of databases, on the path or in the folders that distributions keep servers in, and how they are run: they make
//! a temporary server, serve it, and talk to it or to the user's. A temporary server of root's runs under another account, because
//! database servers refuse to run as root.
#![expect(
    clippy::disallowed_methods,
    reason = "programs are looked for on the host that runs them, and run"
)]

use super::dsn::Dsn;
use super::engine::{Engine, Keeping};
use crate::failure::Failure;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs that make a temporary server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Programs {
    /// Makes its files: `initdb`.
    pub create: PathBuf,
    /// The server: `postgres`.
    pub serve: PathBuf,
}

/// The programs of a server; says which packages to install where there are none.
pub(super) fn server(engine: Engine) -> Result<Programs, Failure> {
    let [create, serve] = match engine {
        Engine::Postgresql => ["initdb", "postgres"],
        Engine::Mariadb => ["mariadb-install-db", "mariadbd"],
    };
    // PostgreSQL's two belong together: those of two versions refuse each other.
    let together = match engine {
        Engine::Postgresql => {
            folders().into_iter().filter(|it| is_program(&it.join(serve))).collect()
        }
        Engine::Mariadb => folders(),
    };
    let found = find(create, &together)
        .and_then(|create| Some((find(serve, &with_folder_of(&create, together))?, create)));
    found.map(|(serve, create)| Programs { create, serve }).ok_or_else(|| lacks(engine, "server"))
}

/// The client; says which packages to install where there is none.
pub(super) fn client(engine: Engine) -> Result<PathBuf, Failure> {
    let names: &[&str] = match engine {
        Engine::Postgresql => &["psql"],
        Engine::Mariadb => &["mariadb", "mysql"],
    };
    let folders = folders();
    names.iter().find_map(|name| find(name, &folders)).ok_or_else(|| lacks(engine, "client"))
}

fn lacks(engine: Engine, part: &str) -> Failure {
    let (name, packages) = (engine.name(), engine.packages());
    Failure::Unready(format!("no {name} {part} is installed here; {packages}"))
}

fn with_folder_of(create: &Path, folders: Vec<PathBuf>) -> Vec<PathBuf> {
    create.parent().map(Path::to_owned).into_iter().chain(folders).collect()
}

fn find(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|it| it.join(name)).find(|it| is_program(it))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file())
}

/// The path, then the folders of servers that no path holds: Debian's and PGDG's, the highest version first.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter(|it| it.is_absolute());
    let mut versions: Vec<(u32, PathBuf)> =
        listed("/usr/lib/postgresql").chain(listed("/usr")).collect();
    versions.sort_by(|a, b| b.cmp(a));
    let versions = versions.into_iter().map(|(_, folder)| folder);
    let fixed =
        ["/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/pgsql/bin", "/usr/local/mysql/bin"];
    on_path.chain(versions).chain(fixed.map(PathBuf::from)).collect()
}

/// Folders named `15` or `pgsql-15`, and their version.
fn listed(folder: &str) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name();
        let version = name.to_str().map(|it| it.strip_prefix("pgsql-").unwrap_or(it))?;
        Some((version.parse().ok()?, entry.path().join("bin")))
    })
}

/// A user of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    /// Its number; never 0.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
}

/// The first of `names` that /etc/passwd (passwd(5)) has and that is not root.
pub(super) fn unprivileged(names: &[&str], passwd: &str) -> Option<Account> {
    names.iter().find_map(|name| {
        let account = passwd.lines().filter_map(|line| account_of(line, name)).next();
        account.filter(|it| it.uid != 0 && it.gid != 0)
    })
}

fn account_of(line: &str, name: &str) -> Option<Account> {
    let mut fields = line.split(':');
    if fields.next()? != name {
        return None;
    }
    let _password = fields.next()?;
    Some(Account { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
}

/// Where the parts of a temporary server are.
pub(super) struct Layout {
    /// Its files.
    pub data: PathBuf,
    /// Its socket.
    pub run: PathBuf,
    /// Its temporary files.
    pub temporary: PathBuf,
    /// What it and the program that made it have to say.
    pub log: PathBuf,
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
        let mut command = Command::new(client);
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

fn socket(at: &Layout) -> PathBuf {
    at.run.join("s")
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// A program that sees nothing of what the user's environment says of other servers.
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

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/usr/sbin/nologin\n\
                          postgres:x:112:119::/var/lib/postgresql:/bin/bash\nmysql:x:0:0::/:/bin/sh\ncut:x\n";

    #[test]
    fn the_databases_own_account_comes_before_nobody() {
        let uid = |names: &[&str]| unprivileged(names, PASSWD).map(|it| it.uid);
        assert_eq!(uid(&["postgres", "nobody"]), Some(112));
        assert_eq!(uid(&["absent", "nobody"]), Some(65534));
    }

    #[test]
    fn root_by_another_name_and_cut_lines_are_nobody() {
        assert_eq!(unprivileged(&["root", "mysql", "cut", "absent"], PASSWD), None);
    }
}
