//! MongoDB: threads of mongod and mongos.
//!
//! Sources: src/mongo/util/concurrency/thread_name.cpp (a name of more than 15 bytes is shown as its first 7, a dot, and its last 7;
//! the main thread keeps its own), and where threads are named: src/mongo/transport/session_manager_common.cpp (`conn{}`),
//! src/mongo/db/storage (`JournalFlusher`, `Checkpointer`; before 4.4 `WTJournalFlusher`, `WTCheckpointThread`),
//! src/mongo/db/ftdc/controller.cpp, src/mongo/db/repl (`ReplBatcher`, `repl-writer-worker-`, `OplogApplier`, `OplogWriter`,
//! `rsBackgroundSync`, `ReplCoord`). WiredTiger's own threads set no name and keep that of the main thread, which starts them.

use super::{ProcessSign, Product, Role, Sign};

pub(super) const MONGODB: Product = Product {
    id: "mongodb",
    title: "MongoDB",
    processes: &[ProcessSign::Comm("mongod"), ProcessSign::Comm("mongos")],
    roles: &[ROLES],
    other: &Role {
        id: "other",
        title: "other thread",
        help: "A thread of diagnostics, networking or sharding, or one whose name is unknown.",
        signs: &[],
    },
};

const ROLES: &[Role] = &[
    Role {
        id: "connection",
        title: "connection",
        help: "Runs the commands of one client connection.",
        signs: &[Sign::Numbered("conn")],
    },
    Role {
        id: "journal",
        title: "journal flusher",
        help: "Makes the journal durable, every 100 ms and for writes that wait for it.",
        signs: &[Sign::Name("JournalFlusher"), Sign::Name("WTJourn.Flusher")],
    },
    Role {
        id: "checkpoint",
        title: "checkpointer",
        help: "Writes a checkpoint of WiredTiger, every 60 s by default.",
        signs: &[Sign::Name("Checkpointer"), Sign::Name("WTCheck.tThread")],
    },
    Role {
        id: "session-sweeper",
        title: "idle session sweeper",
        help: "Closes idle sessions of WiredTiger.",
        signs: &[Sign::Name("WTIdleS.Sweeper")],
    },
    Role {
        id: "replication",
        title: "replication",
        help: "Fetches, writes and applies the oplog, and coordinates the replica set.",
        signs: &[
            Sign::Name("ReplBatcher"),
            Sign::Start("repl-wr."),
            Sign::Start("repl wr."),
            Sign::Start("OplogApplier"),
            Sign::Start("OplogWriter"),
            Sign::Name("rsBackg.undSync"),
            Sign::Start("ReplCoo"),
        ],
    },
    Role {
        id: "ttl",
        title: "TTL monitor",
        help: "Deletes documents whose time to live is over, every 60 s.",
        signs: &[Sign::Name("TTLMonitor")],
    },
    Role {
        id: "ftdc",
        title: "diagnostic data capture",
        help: "Samples the server's counters every second (full-time diagnostic data capture).",
        signs: &[Sign::Name("ftdc")],
    },
    Role {
        id: "listener",
        title: "listener",
        help: "Accepts connections.",
        signs: &[Sign::Name("listener")],
    },
    Role {
        id: "unnamed",
        title: "main and storage threads",
        help: "The main thread, and WiredTiger's eviction, log and sweep, which set no name.",
        signs: &[Sign::Unnamed],
    },
];
