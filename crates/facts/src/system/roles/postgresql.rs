//! PostgreSQL: a process for each task, whose title says what it is.
//!
//! Sources: src/backend/utils/misc/ps_status.c (`postgres: CLUSTER: WORDS ACTIVITY`), src/include/postmaster/proctypelist.h (words
//! of version 18; before, GetBackendTypeDesc in src/backend/utils/init/miscinit.c), src/backend/access/transam/parallel.c and
//! src/backend/replication/logical/launcher.c (names of workers). Up to 9.6, each took its words to init_ps_display:
//! `wal writer process`. Titles of version 15 were read from one that runs.

use super::{Launcher, ProcessSign, Product, Role, Sign};

pub(super) const POSTGRESQL: Product = Product {
    id: "postgresql",
    title: "PostgreSQL",
    processes: &[
        ProcessSign::Comm("postgres"),
        ProcessSign::Comm("postmaster"),
        ProcessSign::Comm("edb-postgres"),
    ],
    roles: &[ROLES],
    other: &Role {
        id: "other",
        title: "other process",
        help: "A background worker of an extension, or one whose title is unknown.",
        signs: &[],
    },
};

/// Workers have the name and the parent of a backend. The launcher runs when it requests one of the postmaster (do_start_worker in
/// src/backend/postmaster/autovacuum.c), when that has started (AutoVacWorkerMain signals it), and when it has ended (ProcKill in
/// src/backend/storage/lmgr/proc.c does).
pub(super) const AUTOVACUUM: Launcher = Launcher {
    product: "postgresql",
    role: "autovacuum-launcher",
    child: "autovacuum-worker",
    runs_each: 3,
};

const ROLES: &[Role] = &[
    Role {
        id: "postmaster",
        title: "postmaster",
        help: "Accepts connections and forks all other processes.",
        signs: &[Sign::PostgresUntitled],
    },
    Role {
        id: "checkpointer",
        title: "checkpointer",
        help: "Writes all dirty buffers at a checkpoint and syncs data files.",
        signs: &[Sign::Postgres("checkpointer")],
    },
    Role {
        id: "bgwriter",
        title: "background writer",
        help: "Writes dirty buffers ahead of backends that need free ones.",
        signs: &[Sign::Postgres("background writer"), Sign::Postgres("writer")],
    },
    Role {
        id: "walwriter",
        title: "WAL writer",
        help: "Writes and syncs the write-ahead log in the background.",
        signs: &[Sign::Postgres("walwriter"), Sign::Postgres("wal writer")],
    },
    Role {
        id: "walsender",
        title: "WAL sender",
        help: "Sends the write-ahead log to a standby, a subscriber or a backup.",
        signs: &[
            Sign::PostgresClient("walsender"),
            Sign::PostgresClient("wal sender"),
            Sign::Postgres("walsender"),
        ],
    },
    Role {
        id: "walreceiver",
        title: "WAL receiver",
        help: "Receives the write-ahead log on a standby and writes it.",
        signs: &[Sign::Postgres("walreceiver"), Sign::Postgres("wal receiver")],
    },
    Role {
        id: "walsummarizer",
        title: "WAL summarizer",
        help: "Summarizes the write-ahead log for incremental backups.",
        signs: &[Sign::Postgres("walsummarizer")],
    },
    Role {
        id: "startup",
        title: "startup process",
        help: "Replays the write-ahead log: recovery after a crash, and all the time on a standby.",
        signs: &[Sign::Postgres("startup")],
    },
    Role {
        id: "archiver",
        title: "archiver",
        help: "Archives completed files of the write-ahead log.",
        signs: &[Sign::Postgres("archiver")],
    },
    Role {
        id: "autovacuum-launcher",
        title: "autovacuum launcher",
        help: "Decides when autovacuum workers start.",
        signs: &[Sign::Postgres("autovacuum launcher")],
    },
    Role {
        id: "autovacuum-worker",
        title: "autovacuum worker",
        help: "Vacuums and analyzes tables of one database. One that came and went between two samples is known by its launcher, which \
               runs for each.",
        signs: &[Sign::Postgres("autovacuum worker")],
    },
    Role {
        id: "parallel-worker",
        title: "parallel worker",
        help: "Runs a part of a backend's query, index build or vacuum.",
        signs: &[Sign::Postgres("parallel worker for PID")],
    },
    Role {
        id: "io-worker",
        title: "I/O worker",
        help: "Does reads and writes for other processes where io_method is worker (18 and later).",
        signs: &[Sign::Postgres("io worker")],
    },
    Role {
        id: "logical-replication",
        title: "logical replication",
        help: "Launches workers of subscriptions, applies changes, copies tables, or synchronizes slots.",
        signs: &[
            Sign::Postgres("logical replication launcher"),
            Sign::Postgres("logical replication worker for subscription"),
            Sign::Postgres("logical replication apply worker for subscription"),
            Sign::Postgres("logical replication parallel apply worker for subscription"),
            Sign::Postgres("logical replication tablesync worker for subscription"),
            Sign::Postgres("slotsync worker"),
        ],
    },
    Role {
        id: "stats-collector",
        title: "statistics collector",
        help: "Collects activity statistics (up to 14).",
        signs: &[Sign::Postgres("stats collector")],
    },
    Role {
        id: "logger",
        title: "logger",
        help: "Writes the server's log where logging_collector is on.",
        signs: &[Sign::Postgres("logger"), Sign::Postgres("syslogger")],
    },
    Role {
        id: "backend",
        title: "backend",
        help: "Runs the statements of one client connection.",
        signs: &[Sign::PostgresClient("")],
    },
];
