//! MySQL and MariaDB: names of threads. The two share a list: MariaDB may run under its old name, mysqld.
//!
//! Sources for MySQL: `all_innodb_threads` in storage/innobase/handler/ha_innodb.cc, `all_server_threads` in sql/mysqld.cc,
//! `all_slave_threads` in sql/rpl_replica.cc, `all_x_threads` in plugin/x; threads of which there are several get `-` and a number.
//! For MariaDB: calls of `my_thread_set_name` in version 11.8. Versions before these (MySQL 5.7, MariaDB 10.11, whose 14 threads
//! were read from one that runs) name no thread: then every one has the server's name.

use super::{ProcessSign, Product, Role, Sign};

pub(super) const MYSQL: Product = Product {
    id: "mysql",
    title: "MySQL",
    processes: &[ProcessSign::Comm("mysqld")],
    roles: &[ROLES],
    other: OTHER,
};

pub(super) const MARIADB: Product = Product {
    id: "mariadb",
    title: "MariaDB",
    processes: &[ProcessSign::Comm("mariadbd")],
    roles: &[ROLES],
    other: OTHER,
};

const OTHER: &Role = &Role {
    id: "other",
    title: "other thread",
    help: "A thread of another storage engine or plugin, or one whose name is unknown.",
    signs: &[],
};

const ROLES: &[Role] = &[
    Role {
        id: "connection",
        title: "connection",
        help: "Runs the statements of a client connection.",
        signs: &[
            Sign::Name("connection"),
            Sign::Name("one_connection"),
            Sign::Start("xpl_worker"),
            // The thread pool of MariaDB, sql/threadpool_generic.cc.
            Sign::Name("worker_thread"),
        ],
    },
    Role {
        id: "log-writer",
        title: "redo log writer",
        help: "Writes the redo log from its buffer to its files.",
        signs: &[Sign::Name("ib_log_writer")],
    },
    Role {
        id: "log-flusher",
        title: "redo log flusher",
        help: "Makes the redo log durable (fsync).",
        signs: &[Sign::Name("ib_log_flush")],
    },
    Role {
        id: "log-notifier",
        title: "redo log notifiers",
        help: "Wake sessions whose part of the redo log is written or durable.",
        signs: &[Sign::Name("ib_log_wr_notif"), Sign::Name("ib_log_fl_notif")],
    },
    Role {
        id: "log-files",
        title: "redo log files",
        help: "Creates, resizes and removes files of the redo log.",
        signs: &[Sign::Name("ib_log_files_g")],
    },
    Role {
        id: "checkpointer",
        title: "checkpointer",
        help: "Writes checkpoints: of InnoDB in MySQL, of Aria in MariaDB.",
        signs: &[Sign::Name("ib_log_checkpt"), Sign::Name("checkpoint_bg")],
    },
    Role {
        id: "page-cleaner",
        title: "page cleaner",
        help: "Flushes dirty pages of InnoDB's buffer pool.",
        signs: &[Sign::Start("ib_pg_flush"), Sign::Name("page_cleaner")],
    },
    Role {
        id: "purge",
        title: "purge",
        help: "Removes old versions of rows and undo log that no transaction needs.",
        signs: &[Sign::Start("ib_srv_purge"), Sign::Start("ib_srv_wkr")],
    },
    Role {
        id: "io",
        title: "I/O",
        help: "Completes asynchronous reads and writes of InnoDB.",
        signs: &[Sign::Start("ib_io_"), Sign::Name("my_getevents"), Sign::Name("io_uring_wait")],
    },
    Role {
        id: "innodb-worker",
        title: "InnoDB's pool",
        help: "Runs tasks of InnoDB in MariaDB: purge, completion of I/O, timers.",
        signs: &[Sign::Name("ib_tpool_worker")],
    },
    Role {
        id: "master",
        title: "InnoDB's master",
        help: "Does housekeeping of InnoDB, each second.",
        signs: &[Sign::Name("ib_src_main")],
    },
    Role {
        id: "monitor",
        title: "InnoDB's monitors",
        help: "Look for long waits, and for locks whose time is over.",
        signs: &[
            Sign::Name("ib_srv_mon"),
            Sign::Name("ib_srv_err_mon"),
            Sign::Name("ib_srv_lock_to"),
        ],
    },
    Role {
        id: "statistics",
        title: "persistent statistics",
        help: "Recalculates statistics of InnoDB's tables that changed.",
        signs: &[Sign::Name("ib_dict_stats")],
    },
    Role {
        id: "parallel-read",
        title: "parallel read",
        help: "Scans a part of a clustered index (COUNT, CHECK TABLE, index builds).",
        signs: &[Sign::Start("ib_par_rd")],
    },
    Role {
        id: "ddl",
        title: "index build",
        help: "Builds a part of an index.",
        signs: &[Sign::Start("ib_ddl")],
    },
    Role {
        id: "full-text",
        title: "full-text index",
        help: "Optimizes, merges or tokenizes for full-text indexes.",
        signs: &[Sign::Start("ib_fts_")],
    },
    Role {
        id: "archiver",
        title: "archiver",
        help: "Copies redo log or pages for a clone or a backup.",
        signs: &[Sign::Name("ib_log_arch"), Sign::Name("ib_page_arch"), Sign::Name("ib_meb_rl")],
    },
    Role {
        id: "replica-io",
        title: "replication receiver",
        help: "Receives the source's binary log and writes the relay log.",
        signs: &[Sign::Start("rpl_rca_io"), Sign::Name("slave_io")],
    },
    Role {
        id: "replica-sql",
        title: "replication applier",
        help: "Applies the relay log, or hands it to workers.",
        signs: &[Sign::Start("rpl_rca_sql"), Sign::Name("slave_sql")],
    },
    Role {
        id: "replica-worker",
        title: "replication worker",
        help: "Applies transactions of the relay log in parallel.",
        signs: &[Sign::Start("rpl_rca_wkr"), Sign::Name("rpl_parallel")],
    },
    Role {
        id: "event",
        title: "events",
        help: "Schedules and runs events of MariaDB.",
        signs: &[Sign::Name("event_scheduler"), Sign::Name("event_worker")],
    },
    Role {
        id: "service",
        title: "services of the server",
        help: "Signals, timers, listeners and other housekeeping outside of storage engines.",
        signs: &[
            Sign::Name("handle_mgr"),
            Sign::Name("manager"),
            Sign::Name("sig_handler"),
            Sign::Name("signal_handler"),
            Sign::Name("gtid_zip"),
            Sign::Name("parser_srv"),
            Sign::Start("con_admin"),
            Sign::Start("xpl_accept"),
            Sign::Name("rpl_opt_tracker"),
            Sign::Start("rpl_rca_mon"),
            Sign::Name("statement_timer"),
            Sign::Name("timer_thread"),
            Sign::Name("binlog_bg"),
            Sign::Name("Ack_receiver"),
        ],
    },
    Role {
        id: "thread",
        title: "unnamed thread",
        help: "The main thread, which accepts connections; of versions that name no thread, any.",
        signs: &[Sign::Unnamed],
    },
];
