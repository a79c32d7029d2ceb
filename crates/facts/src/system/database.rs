//! Which processes are database servers.
//!
//! A process is known by its name as the kernel keeps it: /proc/PID/comm, at most 15 bytes. Databases that run in a
//! virtual machine of their own (Cassandra, Elasticsearch: `java`) cannot be told by it.

use super::process::Process;

/// Names of server processes, and of what; a `*` stands for any rest.
const SERVERS: &[(&str, &str)] = &[
    ("postgres", "PostgreSQL"),
    ("postmaster", "PostgreSQL"),
    ("edb-postgres", "PostgreSQL"),
    ("mysqld", "MySQL"),
    ("mariadbd", "MariaDB"),
    // One each per instance: the process monitor and the log writer.
    ("ora_pmon_*", "Oracle"),
    ("ora_lgwr_*", "Oracle"),
    ("sqlservr", "SQL Server"),
    ("db2sysc", "Db2"),
    ("hdbindexserver", "SAP HANA"),
    ("hdbnameserver", "SAP HANA"),
    ("dataserver", "SAP ASE"),
    ("oninit", "Informix"),
    ("mongod", "MongoDB"),
    ("redis-server", "Redis"),
    ("valkey-server", "Valkey"),
    ("keydb-server", "KeyDB"),
    ("memcached", "memcached"),
    ("cockroach", "CockroachDB"),
    ("scylla", "ScyllaDB"),
    ("clickhouse-serv", "ClickHouse"),
    ("tikv-server", "TiKV"),
    ("tidb-server", "TiDB"),
    ("yb-tserver", "YugabyteDB"),
    ("yb-master", "YugabyteDB"),
    ("aerospike", "Aerospike"),
    ("asd", "Aerospike"),
    ("influxd", "InfluxDB"),
    ("etcd", "etcd"),
];

/// The database that a process of this name serves; `None` for any other process.
pub fn product(name: &str) -> Option<&'static str> {
    let is = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    SERVERS.iter().find(|(pattern, _)| is(pattern)).map(|(_, product)| *product)
}

/// The database server processes among `processes`, without the workers that a server has forked, of which
/// there may be thousands: they are limited and scheduled as it is.
pub fn servers(processes: &[Process]) -> impl Iterator<Item = (&Process, &'static str)> {
    let known = |process: &Process| {
        let product = product(&process.name)?;
        (!process.is_kernel_thread).then_some(product)
    };
    let all: Vec<(&Process, &'static str)> =
        processes.iter().filter_map(|process| Some((process, known(process)?))).collect();
    let pids: std::collections::BTreeMap<u32, &str> =
        all.iter().map(|(process, product)| (process.pid, *product)).collect();
    all.into_iter().filter(move |(process, product)| pids.get(&process.parent) != Some(product))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_its_name_and_a_client_is_not() {
        assert_eq!(product("ora_lgwr_ORCL"), Some("Oracle"));
        assert_eq!(product("clickhouse-serv"), Some("ClickHouse"));
        assert_eq!([product("psql"), product("mysql"), product("ora_"), product("")], [None; 4]);
    }

    #[test]
    fn the_workers_of_a_server_are_left_out() {
        let lines = [
            "812 (postgres) S 1 1 1 0 -1 0",
            "813 (postgres) S 812 1 1 0 -1 0",
            "900 (postgres) S 1 1 1 0 -1 0",
            "901 (bash) S 1 1 1 0 -1 0",
        ];
        let processes: Vec<Process> = lines.iter().map(|it| Process::parse(it).unwrap()).collect();
        let pids: Vec<u32> = servers(&processes).map(|(process, _)| process.pid).collect();
        assert_eq!(pids, [812, 900]);
    }
}
