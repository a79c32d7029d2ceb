//! Roles of a database server's tasks: log writer, checkpointer, session, garbage collector...
//!
//! PostgreSQL and Oracle write a task's role into the title or the name of its process, others into the names of threads. A name
//! has at most 15 bytes (TASK_COMM_LEN in include/linux/sched.h). A thread that sets none has that of the thread that made it
//! (kernel/fork.c, `copy_process`). Nothing here allocates: a machine has tens of thousands of tasks.

mod jvm;
mod mongodb;
mod mysql;
mod oracle;
mod postgresql;
mod redis;
#[cfg(test)]
mod samples;
mod signs;
mod sql_server;
#[cfg(test)]
mod tests;

pub use signs::{ProcessSign, Sign};

/// A database product whose tasks have roles.
#[derive(Debug, PartialEq, Eq)]
pub struct Product {
    /// Its id, which no other product has: `postgresql`.
    pub id: &'static str,
    /// Its usual name: `PostgreSQL`.
    pub title: &'static str,
    /// How its processes are recognised; one sign is enough.
    pub processes: &'static [ProcessSign],
    /// Its roles, most specific first, in lists that products share.
    roles: &'static [&'static [Role]],
    /// The role of tasks that have none of these.
    other: &'static Role,
}

/// What a task does in its product.
#[derive(Debug, PartialEq, Eq)]
pub struct Role {
    /// Its id, which no other role of the product has: `walwriter`.
    pub id: &'static str,
    /// The same in a few words.
    pub title: &'static str,
    /// What such a task does, in one line.
    pub help: &'static str,
    /// How it is recognised; one sign is enough. None: it is what the other roles leave.
    pub signs: &'static [Sign],
}

/// Every product, most specific first: a Java process that is no known store is `jvm`.
pub const PRODUCTS: &[Product] = &[
    postgresql::POSTGRESQL,
    mysql::MYSQL,
    mysql::MARIADB,
    oracle::ORACLE,
    sql_server::SQL_SERVER,
    redis::REDIS,
    redis::VALKEY,
    mongodb::MONGODB,
    jvm::CASSANDRA,
    jvm::ELASTICSEARCH,
    jvm::OPENSEARCH,
    jvm::KAFKA,
    jvm::HBASE,
    jvm::JVM,
];

/// A process of a server that has others started, one after the other, as children of the server's first process. Of a child that came
/// and went between two samples only name and parent are known, which are those of any other; but how often the launcher ran says
/// how many it can have started.
#[derive(Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The id of the product.
    pub product: &'static str,
    /// The launcher's role.
    pub role: &'static str,
    /// The role of those that it has started.
    pub child: &'static str,
    /// How often it runs for each of them.
    pub runs_each: u64,
}

/// Every launcher of processes that may live for less than a second.
pub const LAUNCHERS: &[Launcher] = &[postgresql::AUTOVACUUM];

/// The words of a process by which its product and its tasks' roles are known.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The name of its first thread, /proc/PID/comm without the line's end.
    pub comm: &'a str,
    /// /proc/PID/cmdline as it is: strings that end in NUL, or a title that the process has written over them.
    pub cmdline: &'a [u8],
}

impl<'a> Words<'a> {
    /// The first string of the command line: a program's name, or a title.
    fn title(&self) -> &'a [u8] {
        self.cmdline.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

/// The product of a process, if it is one of a database server. Clients (psql, mysql, pgbench, redis-cli, mongosh) are none.
pub fn product_of(words: &Words<'_>) -> Option<&'static Product> {
    let main_class =
        if words.comm == signs::JAVA { signs::main_class(words.cmdline) } else { None };
    let is = |product: &&Product| product.processes.iter().any(|it| it.fits(words, main_class));
    PRODUCTS.iter().find(is)
}

impl Product {
    /// Its roles in the order in which they are tried, the one of all other tasks last.
    pub fn roles(&self) -> impl Iterator<Item = &'static Role> + use<> {
        self.roles.iter().copied().flatten().chain([self.other])
    }

    /// The role of tasks of which only the product is known.
    pub fn other(&self) -> &'static Role {
        self.other
    }

    /// The role of a thread of the process, by its name and the process's words. Every task of a product has one.
    pub fn role_of(&self, words: &Words<'_>, thread: &str) -> &'static Role {
        let is = |role: &&Role| role.signs.iter().any(|it| it.fits(words, thread));
        self.roles.iter().copied().flatten().find(is).unwrap_or(self.other)
    }

    /// What its tasks of a role are called: `PostgreSQL walwriter`.
    pub fn name_of(&self, role: &Role) -> String {
        format!("{} {}", self.title, role.title)
    }

    /// The product with this id.
    pub fn of_id(id: &str) -> Option<&'static Product> {
        PRODUCTS.iter().find(|it| it.id == id)
    }
}

impl Launcher {
    /// The launcher that has this role of this product.
    pub fn of_role(product: &str, role: &str) -> Option<&'static Launcher> {
        LAUNCHERS.iter().find(|it| it.role == role && it.product == product)
    }

    /// At most so many were started where it ran so often.
    pub fn most_started(&self, n_runs: u64) -> u64 {
        n_runs.div_ceil(self.runs_each)
    }
}

/// A product and a role of it by their ids, as a recording keeps them.
pub fn by_id(product: &str, role: &str) -> Option<(&'static Product, &'static Role)> {
    let product = Product::of_id(product)?;
    Some((product, product.roles().find(|it| it.id == role)?))
}
