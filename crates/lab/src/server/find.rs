//! The processes of a server that a user names.
//!
//! Behind a connection string may be a socket, a port, a pooler or another machine, so it is the server itself that is asked who
//! it is: PostgreSQL for the process of the session and for how long it runs, MariaDB for how long it runs and where its file of
//! its process number is. A process of this machine that agrees with both is the server's.

use super::ServerSelection;
use crate::database::{Engine, Patience, Reached};
use crate::failure::Failure;
use facts::parse::trimmed;
use facts::system::process::Process;
use facts::system::roles::Product;
use host::Source;
use host::process::process_of;
use host::server::{Extent, main_processes, product_of_process};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How far the age that a server tells may be from that of its process, in seconds: it notes the moment when it is nearly ready.
const APART_S: f64 = 60.0;

/// How long a server may take to say who it is.
const LIMIT: Duration = Duration::from_secs(30);

/// A server that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    /// What it consists of.
    pub extent: Extent,
    /// Its product, where that is known.
    pub product: Option<&'static Product>,
    /// How many servers it is: several of one product.
    pub n_servers: usize,
    /// What has to be said of it: that there are several, and which.
    pub note: Option<String>,
}

impl FoundServer {
    /// What tasks of it are called that nobody saw while they ran.
    pub fn title(&self) -> &'static str {
        self.product.map_or("server", |it| it.title)
    }
}

/// Finds the server. Asks it who it is, where it is named by a connection string.
///
/// Errors: it does not run here, or is not a server; what to write instead.
pub fn find(
    selection: &ServerSelection,
    source: &dyn Source,
    stop: &AtomicBool,
) -> Result<FoundServer, Failure> {
    let found = match selection {
        ServerSelection::Product(product) => of_product(source, product),
        ServerSelection::Process(pid) => of_process(source, *pid),
        ServerSelection::Group(folder) => of_group(source, folder),
        ServerSelection::Dsn(dsn) => {
            static NOBODY: AtomicBool = AtomicBool::new(false);
            let patience = Patience { stop, abandoned: &NOBODY, limit: LIMIT };
            let mut reached = Reached::at(dsn)?;
            let rows = reached.ask(question(reached.engine()), patience)?;
            // The session has to be there while its process is looked for.
            let found = behind(source, reached.engine(), &rows);
            drop(reached);
            found
        }
    };
    found.map_err(|why| Failure::Unready(format!("--server {selection}: {why}")))
}

fn one(extent: Extent, product: Option<&'static Product>) -> FoundServer {
    FoundServer { extent, product, n_servers: 1, note: None }
}

fn of_product(source: &dyn Source, product: &'static Product) -> Result<FoundServer, String> {
    let roots = main_processes(source, product);
    let title = product.title;
    if roots.is_empty() {
        return Err(format!("no process of {title} runs here"));
    }
    // Of Oracle each process is one: their number says nothing.
    let has_roots =
        roots.iter().any(|root| !host::descendants::descendants(source, *root).is_empty());
    let note = (roots.len() > 1 && has_roots).then(|| {
        let each: Vec<String> = roots.iter().map(|pid| described(source, *pid)).collect();
        let (n, each, first) = (roots.len(), each.join(", "), roots.first().copied().unwrap_or(0));
        format!(
            "{n} servers of {title} run here, and all are taken: {each}; --server {first} takes one"
        )
    });
    let n_servers = if has_roots { roots.len() } else { 1 };
    let extent = Extent::Product(product);
    Ok(FoundServer { extent, product: Some(product), n_servers, note })
}

/// A server's process, and where its data are: PostgreSQL and MariaDB work in that folder.
fn described(source: &dyn Source, pid: u32) -> String {
    let folder = source.link(&format!("/proc/{pid}/cwd"));
    folder.map_or_else(|_| pid.to_string(), |folder| format!("{pid} in {folder}"))
}

fn of_process(source: &dyn Source, pid: u32) -> Result<FoundServer, String> {
    let stat = source.parsed(&format!("/proc/{pid}/stat"), Process::parse);
    let Ok(process) = stat else { return Err("there is no process of that number".to_owned()) };
    if process.is_kernel_thread {
        return Err(format!("it is the kernel thread {}", process.name));
    }
    if let Some(group) = process_of(source, pid).filter(|it| *it != pid) {
        return Err(format!("it is a thread of process {group}: name that"));
    }
    let product = product_of_process(source, pid);
    let parent = process.parent;
    if let Some(product) = product.filter(|it| product_of_process(source, parent) == Some(it)) {
        let title = product.title;
        return Err(format!(
            "it is one process of the {title} server {parent}: --server {parent} takes the whole server, --pid {pid} \
             that process alone"
        ));
    }
    Ok(one(Extent::Tree(pid), product))
}

fn of_group(source: &dyn Source, folder: &str) -> Result<FoundServer, String> {
    if source.text(&format!("{folder}/cgroup.procs")).is_err() {
        return Err("there is no such control group".to_owned());
    }
    let mut members = host::server::Members::of(Extent::Group(folder.to_owned()));
    members.look(source);
    if members.processes().next().is_none() {
        return Err("no process is in it or in a group below it".to_owned());
    }
    let product = members.processes().find_map(|pid| product_of_process(source, pid));
    Ok(one(Extent::Group(folder.to_owned()), product))
}

/// What a server is asked.
fn question(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgresql => {
            "SELECT pg_backend_pid(); \
             SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time());"
        }
        // MySQL 8 has no information_schema.GLOBAL_STATUS.
        Engine::Mariadb => "SELECT @@pid_file; SHOW GLOBAL STATUS LIKE 'Uptime';",
    }
}

/// The process behind the answers of a server.
fn behind(source: &dyn Source, engine: Engine, rows: &[String]) -> Result<FoundServer, String> {
    let [who, age] = rows else {
        return Err(format!("the server answered {} rows where 2 were expected", rows.len()));
    };
    let age = age.split_ascii_whitespace().last().unwrap_or_default();
    let age_s: f64 =
        age.parse().map_err(|_| "the server did not say how long it runs".to_owned())?;
    let product = match engine {
        Engine::Postgresql => "postgresql",
        Engine::Mariadb => "mariadb",
    };
    let products = [Some(product), (engine == Engine::Mariadb).then_some("mysql")];
    let products: Vec<&'static Product> =
        products.into_iter().flatten().filter_map(Product::of_id).collect();
    let roots: Vec<u32> = products.iter().flat_map(|it| main_processes(source, it)).collect();
    let is_it = |root: &u32| {
        let is_as_old = age_of(source, *root).is_some_and(|it| (it - age_s).abs() <= APART_S);
        is_as_old
            && match engine {
                Engine::Postgresql => has_session(source, *root, who),
                Engine::Mariadb => has_pid_file(source, *root, who),
            }
    };
    let root = roots.into_iter().find(is_it).ok_or_else(|| {
        "the server runs on another machine, or in a namespace that is not visible here: no local process is as old as \
         it says and has this session"
            .to_owned()
    })?;
    let product = product_of_process(source, root);
    Ok(one(Extent::Tree(root), product))
}

/// For how long a process runs, in seconds.
fn age_of(source: &dyn Source, pid: u32) -> Option<f64> {
    let uptime = source.text("/proc/uptime").ok()?;
    let uptime_s: f64 = trimmed(&uptime).split(' ').next()?.parse().ok()?;
    let process = source.parsed(&format!("/proc/{pid}/stat"), Process::parse).ok()?;
    Some(uptime_s - process.started.ok()?.as_secs_f64())
}

/// Whether a child of this process has the session's number, in the server's own namespace.
fn has_session(source: &dyn Source, root: u32, session: &str) -> bool {
    let children = host::descendants::descendants(source, root);
    children.iter().any(|it| it.parent == root && number_inside(source, it.pid) == session)
}

/// Whether the file that the server names holds the number of this process, as the server sees both.
fn has_pid_file(source: &dyn Source, root: u32, file: &str) -> bool {
    let held = source.text(&format!("/proc/{root}/root{file}"));
    held.is_ok_and(|it| it.trim() == number_inside(source, root))
}

/// The number of a process in the innermost namespace that it is in.
fn number_inside(source: &dyn Source, pid: u32) -> String {
    let status = source.text(&format!("/proc/{pid}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|it| it.strip_prefix("NSpid:")).unwrap_or_default();
    numbers.split_ascii_whitespace().last().map_or_else(|| pid.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Captured;

    /// A process of an excerpt that started this many seconds after boot.
    fn process(pid: u32, parent: u32, comm: &str, title: &str, started_s: u64) -> String {
        let started = started_s * 100;
        format!(
            "//- /proc/{pid}/stat\n{pid} ({comm}) S {parent} 1 1 0 -1 0 0 0 0 0 1 0 0 0 20 0 1 0 {started} 0 0\n\
             //- /proc/{pid}/comm\n{comm}\n//- /proc/{pid}/cmdline\n{title}\n//- /proc/{pid}/status\nTgid: {pid}\n"
        )
    }

    fn machine() -> Captured {
        let text = [
            "//- /proc/uptime\n1000.00 1.00\n".to_owned(),
            process(100, 1, "postgres", "/usr/bin/postgres", 400),
            process(110, 100, "postgres", "postgres: joe shop [local] idle", 900),
            process(200, 1, "postgres", "/usr/bin/postgres", 100),
            process(210, 200, "postgres", "postgres: checkpointer ", 100),
            process(300, 1, "mariadbd", "/usr/sbin/mariadbd", 500),
            process(400, 1, "pgbench", "pgbench", 990),
            "//- /proc/300/root/run/mysqld/mysqld.pid\n300\n".to_owned(),
            "//- /sys/fs/cgroup/db/cgroup.procs\n300\n//- /sys/fs/cgroup/empty/cgroup.procs\n\n"
                .to_owned(),
        ]
        .concat();
        Captured::excerpt(&text).unwrap()
    }

    fn found(text: &str) -> String {
        let selection = text.parse().unwrap();
        match find(&selection, &machine(), &AtomicBool::new(false)) {
            Ok(it) => format!("{:?}, {}", it.extent, it.note.unwrap_or_default()),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn a_product_with_several_servers_says_which_and_how_to_take_one() {
        let text = found("postgresql");
        assert!(text.ends_with("2 servers of PostgreSQL run here, and all are taken: 100, 200; --server 100 takes one"), "{text}");
        assert!(found("mariadb").ends_with(", "), "{}", found("mariadb"));
        assert_eq!(found("redis"), "--server redis: no process of Redis runs here");
    }

    #[test]
    fn a_process_is_a_server_with_its_descendants_and_a_backend_is_none() {
        assert_eq!(found("100"), "Tree(100), ");
        assert_eq!(
            found("110"),
            "--server 110: it is one process of the PostgreSQL server 100: --server 100 takes the whole server, --pid 110 \
             that process alone"
        );
        assert_eq!(found("77"), "--server 77: there is no process of that number");
    }

    #[test]
    fn a_group_without_a_process_is_refused() {
        assert_eq!(found("/sys/fs/cgroup/db"), "Group(\"/sys/fs/cgroup/db\"), ");
        assert!(
            found("/sys/fs/cgroup/empty").ends_with("no process is in it or in a group below it")
        );
        assert!(found("/sys/fs/cgroup/gone").ends_with("there is no such control group"));
    }

    fn behind_rows(engine: Engine, rows: [&str; 2]) -> String {
        let found = behind(&machine(), engine, &rows.map(str::to_owned));
        found.map_or_else(|why| why, |it| format!("{:?}", it.extent))
    }

    #[test]
    fn behind_a_connection_is_the_process_that_has_its_session_and_its_age() {
        assert_eq!(behind_rows(Engine::Postgresql, ["110", "598.5"]), "Tree(100)");
        assert_eq!(
            behind_rows(Engine::Mariadb, ["/run/mysqld/mysqld.pid", "Uptime\t499"]),
            "Tree(300)"
        );
    }

    #[test]
    fn a_server_of_another_machine_is_refused_though_a_number_is_the_same() {
        for (engine, rows) in [
            (Engine::Postgresql, ["110", "90000"]),
            (Engine::Postgresql, ["111", "598.5"]),
            (Engine::Postgresql, ["210", "598.5"]),
            (Engine::Mariadb, ["/run/mysqld/mysqld.pid", "Uptime\t7"]),
            (Engine::Mariadb, ["/other.pid", "499"]),
        ] {
            let text = behind_rows(engine, rows);
            assert!(text.starts_with("the server runs on another machine"), "{text}");
        }
    }
}
