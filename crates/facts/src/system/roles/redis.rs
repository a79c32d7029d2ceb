//! Redis and Valkey: one thread runs commands, others close files, sync, free and do socket I/O; children write snapshots.
//!
//! Sources: src/bio.c (`bio_worker_title`; `bio_aof_fsync` up to 7.0), src/networking.c and Valkey's src/io_threads.c (`io_thd_%ld`),
//! src/rdb.c, src/aof.c and src/module.c (titles of children, by the default proc-title-template), jemalloc's
//! src/background_thread.c (`jemalloc_bg_thd`). Names and titles of Redis 7.0 were read from one that runs.

use super::{ProcessSign, Product, Role, Sign};

pub(super) const REDIS: Product = Product {
    id: "redis",
    title: "Redis",
    processes: &[ProcessSign::Comm("redis-server")],
    roles: &[ROLES],
    other: OTHER,
};

pub(super) const VALKEY: Product = Product {
    id: "valkey",
    title: "Valkey",
    processes: &[ProcessSign::Comm("valkey-server")],
    roles: &[ROLES],
    other: OTHER,
};

const OTHER: &Role = &Role {
    id: "other",
    title: "other thread",
    help: "A thread of a module, or one whose name is unknown.",
    signs: &[],
};

/// Children have the name of the server: their titles come first.
const ROLES: &[Role] = &[
    Role {
        id: "snapshot",
        title: "snapshot child",
        help: "A forked child that writes the data set to an RDB file, or sends it to replicas.",
        signs: &[
            Sign::Title("redis-rdb-bgsave"),
            Sign::Title("valkey-rdb-bgsave"),
            Sign::Title("redis-rdb-to-slaves"),
            Sign::Title("valkey-rdb-to-replicas"),
        ],
    },
    Role {
        id: "aof-rewrite",
        title: "append-only file rewrite",
        help: "A forked child that rewrites the append-only file.",
        signs: &[Sign::Title("redis-aof-rewrite"), Sign::Title("valkey-aof-rewrite")],
    },
    Role {
        id: "module-child",
        title: "module's child",
        help: "A forked child of a module.",
        signs: &[Sign::Title("redis-module-fork"), Sign::Title("valkey-module-fork")],
    },
    Role {
        id: "io-thread",
        title: "I/O thread",
        help: "Reads from, parses for and writes to clients where io-threads is more than 1.",
        signs: &[Sign::Numbered("io_thd_")],
    },
    Role {
        id: "close-file",
        title: "file closer",
        help: "Closes files that were replaced, which deletes them.",
        signs: &[Sign::Name("bio_close_file")],
    },
    Role {
        id: "aof-sync",
        title: "append-only file sync",
        help: "Syncs the append-only file, each second by default.",
        signs: &[Sign::Name("bio_aof"), Sign::Name("bio_aof_fsync")],
    },
    Role {
        id: "lazy-free",
        title: "lazy free",
        help: "Frees memory of deleted keys and flushed databases.",
        signs: &[Sign::Name("bio_lazy_free")],
    },
    Role {
        id: "allocator",
        title: "memory allocator",
        help: "Gives memory that jemalloc holds unused back to the kernel.",
        signs: &[Sign::Name("jemalloc_bg_thd")],
    },
    Role {
        id: "main",
        title: "main thread",
        help: "Runs all commands, and does socket I/O where there are no I/O threads.",
        signs: &[Sign::Unnamed],
    },
];
