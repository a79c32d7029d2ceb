//! What a temporary server needs of this host: its programs, on the path or in the folders that distributions keep servers in,
//! and an account, because database servers refuse to run as root.
#![expect(
    clippy::disallowed_methods,
    reason = "programs are looked for on the host that runs them"
)]

use super::engine::Engine;
use crate::failure::Failure;
use std::path::{Path, PathBuf};

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
