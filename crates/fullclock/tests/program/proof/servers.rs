//! Databases of a test's own, and the clients that work in them.

use crate::support::found;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A database product, and the client that works in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    /// With pgbench.
    Postgresql,
    /// With sysbench.
    Mariadb,
}

impl Product {
    /// The client's name, as a program and for `--client`.
    pub(super) fn client(self) -> &'static str {
        match self {
            Product::Postgresql => "pgbench",
            Product::Mariadb => "sysbench",
        }
    }

    /// How tasks of it are called by the program and the sampler.
    pub(super) fn title(self) -> &'static str {
        match self {
            Product::Postgresql => "PostgreSQL",
            Product::Mariadb => "MariaDB",
        }
    }

    fn account(self) -> &'static str {
        match self {
            Product::Postgresql => "postgres",
            // The package of the server without its service makes no account.
            Product::Mariadb => "nobody",
        }
    }
}

/// A server with a client's tables, which is ended when it is dropped.
pub(super) struct Server {
    product: Product,
    folder: tempfile::TempDir,
    child: Child,
}

impl Server {
    /// `None` where its programs or the right to start it as another user are missing; says so.
    pub(super) fn start(product: Product) -> Option<Server> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: a server of a test's own is started by root");
            return None;
        }
        let client = Path::new("/usr/bin").join(product.client());
        let programs = [Some(client).filter(|it| it.exists()), bin(product)];
        let [Some(_), Some(bin)] = programs else {
            println!("skipped: no {} or no server for it", product.client());
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let owner = format!("{}:", product.account());
        run(Command::new("chown").arg(owner).arg(folder.path()));
        let data = folder.path().join("data");
        let mut make = as_owner(product, folder.path(), &bin, product.makes());
        make.args(product.make_arguments(&data));
        run(&mut make);
        let mut serve = as_owner(product, folder.path(), &bin, product.serves());
        let child = serve.args(product.serve_arguments(&data, folder.path())).spawn().unwrap();
        let mut server = Server { product, folder, child };
        server.prepare();
        Some(server)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The processes of it that serve a session.
    pub(super) fn sessions(&self) -> Vec<u32> {
        if self.product == Product::Mariadb {
            return vec![self.pid()];
        }
        let is_session = |pid: &u32| {
            let title = fs::read_to_string(format!("/proc/{pid}/cmdline"));
            title.is_ok_and(|it| it.starts_with("postgres: ") && it.contains("[local]"))
        };
        self.children().into_iter().filter(is_session).collect()
    }

    /// Puts the server, and what it starts from now on, into a control group.
    pub(super) fn enter(&self, group: &Path) {
        for pid in [vec![self.pid()], self.children()].concat() {
            fs::write(group.join("cgroup.procs"), pid.to_string()).unwrap();
        }
    }

    /// The client's command line: it runs for `seconds` and prints its rate each second.
    pub(super) fn client(&self, seconds: u32) -> Vec<String> {
        let words = match self.product {
            Product::Postgresql => {
                let host = self.folder.path().display();
                format!("pgbench -h {host} -U postgres -n -P 1 -c 4 -j 2 -T {seconds} postgres")
            }
            Product::Mariadb => {
                format!("{} --threads=4 --report-interval=1 --time={seconds} run", self.sysbench())
            }
        };
        words.split(' ').map(str::to_owned).collect()
    }

    fn children(&self) -> Vec<u32> {
        let path = format!("/proc/{0}/task/{0}/children", self.pid());
        let text = fs::read_to_string(path).unwrap_or_default();
        text.split_whitespace().map(|it| it.parse().unwrap()).collect()
    }

    fn sysbench(&self) -> String {
        let socket = self.folder.path().join("socket");
        format!(
            "sysbench oltp_read_write --mysql-socket={} --mysql-user=root --mysql-db=test \
             --tables=2 --table-size=10000",
            socket.display()
        )
    }

    /// Waits until it answers, and makes the client's tables.
    fn prepare(&mut self) {
        let folder = self.folder.path().display();
        let script = match self.product {
            Product::Postgresql => {
                format!("pgbench -h {folder} -U postgres -i -q -s 4 postgres")
            }
            Product::Mariadb => format!(
                "mariadb --no-defaults -S {folder}/socket -u root -e 'CREATE DATABASE IF NOT EXISTS test' \
                 && {} prepare",
                self.sysbench()
            ),
        };
        found(|| {
            let mut command = Command::new("sh");
            command.args(["-c", &script]).stdout(Stdio::null()).stderr(Stdio::null());
            assert!(self.child.try_wait().unwrap().is_none(), "the server has ended");
            command.status().unwrap().success().then_some(())
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // PostgreSQL gives back its shared memory at this one (SIGINT: fast shutdown), and MariaDB ends at SIGTERM.
        let pid = rustix::process::Pid::from_child(&self.child);
        let signal = match self.product {
            Product::Postgresql => rustix::process::Signal::INT,
            Product::Mariadb => rustix::process::Signal::TERM,
        };
        rustix::process::kill_process(pid, signal).unwrap();
        self.child.wait().unwrap();
    }
}

impl Product {
    fn makes(self) -> &'static str {
        match self {
            Product::Postgresql => "initdb",
            Product::Mariadb => "mariadb-install-db",
        }
    }

    fn serves(self) -> &'static str {
        match self {
            Product::Postgresql => "postgres",
            Product::Mariadb => "mariadbd",
        }
    }

    fn make_arguments(self, data: &Path) -> Vec<String> {
        let data = data.display();
        let words = match self {
            Product::Postgresql => {
                format!("-D {data} -U postgres -A trust --locale=C --no-sync")
            }
            Product::Mariadb => format!(
                "--no-defaults --datadir={data} --auth-root-authentication-method=normal --skip-test-db"
            ),
        };
        words.split(' ').map(str::to_owned).collect()
    }

    fn serve_arguments(self, data: &Path, folder: &Path) -> Vec<String> {
        let (data, folder) = (data.display(), folder.display());
        let words = match self {
            Product::Postgresql => format!("-D {data} -k {folder} -c listen_addresses="),
            Product::Mariadb => format!(
                "--no-defaults --skip-networking --datadir={data} --socket={folder}/socket --pid-file={folder}/pid"
            ),
        };
        words.split(' ').map(str::to_owned).collect()
    }
}

/// The folder of the server's programs, the highest version first.
fn bin(product: Product) -> Option<PathBuf> {
    if product == Product::Mariadb {
        let folders = ["/usr/sbin", "/usr/bin"].map(PathBuf::from);
        return folders.into_iter().find(|it| it.join("mariadbd").exists());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let mut folders: Vec<PathBuf> = versions.map(|it| it.path().join("bin")).collect();
    folders.sort();
    folders.into_iter().rev().find(|it| it.join("initdb").exists())
}

/// A program of the server, run by the user that it runs as, in its folder; what it says is in a log there.
fn as_owner(product: Product, folder: &Path, bin: &Path, program: &str) -> Command {
    let id = |of: &str| {
        let output = Command::new("id").args([of, product.account()]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<u32>().unwrap()
    };
    let installed = bin.join(program);
    let path = if installed.exists() { installed } else { Path::new("/usr/bin").join(program) };
    let log = || File::options().create(true).append(true).open(folder.join("log")).unwrap();
    let mut command = Command::new(path);
    command.gid(id("-g")).uid(id("-u")).current_dir(folder).env("TMPDIR", folder);
    command.stdin(Stdio::null()).stdout(log()).stderr(log()).process_group(0);
    command
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
