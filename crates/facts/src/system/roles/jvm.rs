//! Stores that run in a Java virtual machine, and any other Java program: names of threads.
//!
//! Sources for HotSpot's own threads: `set_name` and `set_native_thread_name` in src/hotspot/share (gc, compiler, runtime), and
//! those of OpenJDK 17 as they were read from programs under each collector.
//! For stores: org.apache.cassandra.concurrent.Stage and where pools are made; EsExecutors.threadName of Elasticsearch, and its copy
//! in OpenSearch; KafkaRequestHandlerPool, SocketServer, LogCleaner and ReplicaFetcherThread of Kafka; RpcExecutor and MemStoreFlusher
//! of HBase. Main classes: the command lines that their start scripts make (`ServerProcessBuilder` of Elasticsearch 8).

use super::{ProcessSign, Product, Role, Sign};

pub(super) const CASSANDRA: Product = Product {
    id: "cassandra",
    title: "Cassandra",
    processes: &[ProcessSign::MainClass("org.apache.cassandra.service.CassandraDaemon")],
    roles: &[CASSANDRA_ROLES, JVM_ROLES],
    other: APPLICATION,
};

pub(super) const ELASTICSEARCH: Product = Product {
    id: "elasticsearch",
    title: "Elasticsearch",
    processes: &[ProcessSign::MainClass("org.elasticsearch.bootstrap.Elasticsearch")],
    roles: &[&[ELASTICSEARCH_POOL], JVM_ROLES],
    other: APPLICATION,
};

pub(super) const OPENSEARCH: Product = Product {
    id: "opensearch",
    title: "OpenSearch",
    processes: &[ProcessSign::MainClass("org.opensearch.bootstrap.OpenSearch")],
    roles: &[&[OPENSEARCH_POOL], JVM_ROLES],
    other: APPLICATION,
};

pub(super) const KAFKA: Product = Product {
    id: "kafka",
    title: "Kafka",
    processes: &[ProcessSign::MainClass("kafka.Kafka")],
    roles: &[KAFKA_ROLES, JVM_ROLES],
    other: APPLICATION,
};

pub(super) const HBASE: Product = Product {
    id: "hbase",
    title: "HBase",
    processes: &[
        ProcessSign::MainClass("org.apache.hadoop.hbase.regionserver.HRegionServer"),
        ProcessSign::MainClass("org.apache.hadoop.hbase.master.HMaster"),
    ],
    roles: &[HBASE_ROLES, JVM_ROLES],
    other: APPLICATION,
};

pub(super) const JVM: Product = Product {
    id: "jvm",
    title: "Java program",
    processes: &[ProcessSign::Java],
    roles: &[JVM_ROLES],
    other: APPLICATION,
};

const APPLICATION: &Role = &Role {
    id: "application",
    title: "application thread",
    help: "Any other thread: what the program does, not its virtual machine.",
    signs: &[],
};

/// Threads of the virtual machine, in every product that runs in one.
const JVM_ROLES: &[Role] = &[
    Role {
        id: "gc",
        title: "garbage collector",
        help: "Collects garbage: workers, markers and controllers of G1, Parallel, ZGC and Shenandoah.",
        signs: &[
            Sign::Start("GC Thread#"),
            Sign::Start("G1 "),
            Sign::Start("ZWorker"),
            Sign::Start("ZDriver"),
            Sign::Name("ZDirector"),
            Sign::Name("ZStat"),
            Sign::Name("ZUncommitter"),
            Sign::Name("ZUnmapper"),
            Sign::Start("RuntimeWorker#"),
            Sign::Java("Shenandoah Control Thread"),
            Sign::Java("Shenandoah GC Threads#"),
        ],
    },
    Role {
        id: "compiler",
        title: "just-in-time compiler",
        help: "Compiles bytecode to machine code: C1 quickly, C2 with more optimization.",
        signs: &[Sign::Java("C1 CompilerThread"), Sign::Java("C2 CompilerThread")],
    },
    Role {
        id: "vm",
        title: "VM thread",
        help: "Runs operations at safepoints; with the serial collector that is all of the collection.",
        signs: &[Sign::Name("VM Thread")],
    },
    Role {
        id: "vm-service",
        title: "services of the VM",
        help: "Timers, finalizers, references, signals, code cache and monitors of the virtual machine.",
        signs: &[
            Sign::Java("VM Periodic Task Thread"),
            Sign::Name("Service Thread"),
            Sign::Java("Signal Dispatcher"),
            Sign::Name("Finalizer"),
            Sign::Java("Reference Handler"),
            Sign::Name("Common-Cleaner"),
            Sign::Java("Monitor Deflation Thread"),
            Sign::Java("Notification Thread"),
            Sign::Name("Sweeper thread"),
            Sign::Start("Safepoint Clean"),
        ],
    },
    Role {
        id: "unnamed",
        title: "unnamed thread",
        help: "The program's main thread; of a virtual machine that passes on no names, any.",
        signs: &[Sign::Unnamed],
    },
];

const CASSANDRA_ROLES: &[Role] = &[
    Role {
        id: "request",
        title: "client requests",
        help: "Runs requests of clients as their coordinator (native transport).",
        signs: &[
            Sign::Java("Native-Transport-Requests-"),
            Sign::Java("Native-Transport-Auth-Requests-"),
            Sign::Java("RequestResponseStage-"),
        ],
    },
    Role {
        id: "read",
        title: "local reads",
        help: "Reads rows of this node.",
        signs: &[Sign::Java("ReadStage-")],
    },
    Role {
        id: "write",
        title: "local writes",
        help: "Writes to the commit log and the memtable of this node.",
        signs: &[
            Sign::Java("MutationStage-"),
            Sign::Java("CounterMutationStage-"),
            Sign::Java("ViewMutationStage-"),
        ],
    },
    Role {
        id: "compaction",
        title: "compaction",
        help: "Merges SSTables.",
        signs: &[Sign::Java("CompactionExecutor:")],
    },
    Role {
        id: "flush",
        title: "memtable flush",
        help: "Writes memtables to SSTables, and frees them.",
        signs: &[
            Sign::Java("MemtableFlushWriter:"),
            Sign::Java("MemtablePostFlush:"),
            Sign::Java("MemtableReclaimMemory:"),
            Sign::Java("PerDiskMemtableFlushWriter_"),
        ],
    },
    Role {
        id: "commit-log",
        title: "commit log",
        help: "Syncs the commit log, and allocates its segments.",
        signs: &[Sign::Java("PERIODIC-COMMIT-LOG-SYNCER"), Sign::Java("COMMIT-LOG-ALLOCATOR")],
    },
    Role {
        id: "gossip",
        title: "gossip",
        help: "Exchanges the state of nodes.",
        signs: &[Sign::Java("GossipStage:")],
    },
];

/// The name of the node follows, so that 15 bytes do not reach the name of the pool.
const ELASTICSEARCH_POOL: Role = Role {
    id: "pool",
    title: "pools of the node",
    help: "Search, write, merge, transport...: the 15 bytes of a name do not reach the pool's.",
    signs: &[Sign::Start("elasticsearch[")],
};

const OPENSEARCH_POOL: Role = Role { signs: &[Sign::Start("opensearch[")], ..ELASTICSEARCH_POOL };

const KAFKA_ROLES: &[Role] = &[
    Role {
        id: "request",
        title: "requests and network",
        help: "Handles requests, or reads and answers them: in 15 bytes both have one name.",
        signs: &[
            Sign::Java("data-plane-kafka-request-handler-"),
            Sign::Java("data-plane-kafka-network-thread-"),
            Sign::Java("kafka-request-handler-"),
        ],
    },
    Role {
        id: "replication",
        title: "replica fetcher",
        help: "Fetches from leaders of partitions.",
        signs: &[Sign::Java("ReplicaFetcherThread-")],
    },
    Role {
        id: "log-cleaner",
        title: "log cleaner",
        help: "Compacts logs.",
        signs: &[Sign::Java("kafka-log-cleaner-thread-")],
    },
    Role {
        id: "scheduler",
        title: "scheduler",
        help: "Flushes, deletes and checkpoints logs in the background.",
        signs: &[Sign::Java("kafka-scheduler-")],
    },
];

const HBASE_ROLES: &[Role] = &[
    Role {
        id: "request",
        title: "requests",
        help: "Runs requests of clients and of other servers.",
        signs: &[Sign::Start("RpcServer.")],
    },
    Role {
        id: "flush",
        title: "memstore flush",
        help: "Writes memstores to files.",
        signs: &[Sign::Java("MemStoreFlusher.")],
    },
];
