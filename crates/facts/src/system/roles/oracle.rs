//! Oracle: a process for each task. Four characters of its name say what it is, a session's is that of the program.
//!
//! Sources: Oracle Database Reference, appendix Background Processes; listings of ps(1) of versions 11.2 to 23ai, which also show
//! how names begin: `ora_`, of 23ai Free `db_`, of storage management `asm_`, of its proxy `apx_`, of the management repository
//! `mdb_`; and `oracleSID (LOCAL=NO)` for a session, whose name psn of 0x.tools shows as `oracle_PID_SID`, cut. Workers of which
//! there are many have numbers in their names.

use super::{ProcessSign, Product, Role, Sign};

pub(super) const ORACLE: Product = Product {
    id: "oracle",
    title: "Oracle",
    processes: &[
        ProcessSign::Oracle("ora_"),
        ProcessSign::Oracle("asm_"),
        ProcessSign::Oracle("mdb_"),
        ProcessSign::Oracle("apx_"),
        ProcessSign::OracleAlone("db_"),
        ProcessSign::Comm("oracle"),
        ProcessSign::OracleSession("oracle_"),
        ProcessSign::Comm("tnslsnr"),
    ],
    roles: &[ROLES],
    other: &Role {
        id: "background",
        title: "other background process",
        help: "A background process of another kind: diagnostics, memory, queues, registration...",
        signs: &[],
    },
};

const ROLES: &[Role] = &[
    Role {
        id: "foreground",
        title: "foreground",
        help: "Runs the statements of one client connection (dedicated server).",
        signs: &[Sign::Start("oracle")],
    },
    Role {
        id: "log-writer",
        title: "log writer",
        help: "Writes the redo log, which commits wait for (LGWR and its workers LGnn).",
        signs: &[Sign::Oracle("lgwr"), Sign::Oracle("lg##")],
    },
    Role {
        id: "database-writer",
        title: "database writer",
        help: "Writes modified blocks to data files (DBWn, BWnn).",
        signs: &[Sign::Oracle("dbw?"), Sign::Oracle("bw##")],
    },
    Role {
        id: "checkpoint",
        title: "checkpoint",
        help: "Signals database writers, and updates headers of data files and the control file (CKPT).",
        signs: &[Sign::Oracle("ckpt")],
    },
    Role {
        id: "archiver",
        title: "archiver",
        help: "Copies full redo log files to the archive (ARCn).",
        signs: &[Sign::Oracle("arc?")],
    },
    Role {
        id: "process-monitor",
        title: "process monitor",
        help: "Cleans up after processes and sessions that ended (PMON, CLMN, CLnn).",
        signs: &[Sign::Oracle("pmon"), Sign::Oracle("clmn"), Sign::Oracle("cl##")],
    },
    Role {
        id: "system-monitor",
        title: "system monitor",
        help: "Recovers the instance, and cleans up temporary segments (SMON).",
        signs: &[Sign::Oracle("smon")],
    },
    Role {
        id: "manageability",
        title: "manageability",
        help: "Takes AWR snapshots, samples active sessions, raises alerts (MMON, MMNL, Mnnn).",
        signs: &[Sign::Oracle("mmon"), Sign::Oracle("mmnl"), Sign::Oracle("m#??")],
    },
    Role {
        id: "parallel",
        title: "parallel execution",
        help: "Runs a part of a parallel query, DML or DDL (Pnnn).",
        signs: &[Sign::Oracle("p#??")],
    },
    Role {
        id: "job",
        title: "jobs",
        help: "Selects and runs jobs of the scheduler (CJQ0, Jnnn).",
        signs: &[Sign::Oracle("cjq#"), Sign::Oracle("j#??")],
    },
    Role {
        id: "shared-server",
        title: "shared server",
        help: "Runs statements of clients that share servers, and dispatches them (Snnn, Dnnn).",
        signs: &[Sign::Oracle("s#??"), Sign::Oracle("d#??")],
    },
    Role {
        id: "space",
        title: "space management",
        help: "Allocates and reclaims space in the background (SMCO, Wnnn).",
        signs: &[Sign::Oracle("smco"), Sign::Oracle("w#??")],
    },
    Role {
        id: "global-cache",
        title: "global cache and locks",
        help: "Ships blocks and manages locks among instances of RAC (LMSn, LMDn, LMON, LCKn).",
        signs: &[
            Sign::Oracle("lms?"),
            Sign::Oracle("lmd?"),
            Sign::Oracle("lmon"),
            Sign::Oracle("lck?"),
        ],
    },
    Role {
        id: "redo-apply",
        title: "redo apply",
        help: "Applies redo on a standby (MRP0, PRnn).",
        signs: &[Sign::Oracle("mrp?"), Sign::Oracle("pr##")],
    },
    Role {
        id: "redo-transport",
        title: "redo transport",
        help: "Sends redo to standbys (TTnn, NSSn).",
        signs: &[Sign::Oracle("tt##"), Sign::Oracle("nss?")],
    },
    Role {
        id: "timekeeper",
        title: "virtual keeper of time",
        help: "Keeps the instance's time, at high priority (VKTM).",
        signs: &[Sign::Oracle("vktm")],
    },
    Role {
        id: "recoverer",
        title: "recoverer",
        help: "Resolves distributed transactions that are in doubt (RECO).",
        signs: &[Sign::Oracle("reco")],
    },
    Role {
        id: "listener",
        title: "listener",
        help: "Accepts connections and hands them to servers.",
        signs: &[Sign::Name("tnslsnr")],
    },
];
