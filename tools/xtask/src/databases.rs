//! The database servers that workloads are tested in: their programs, and no server that runs.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use testbench::packages::Package;

/// Debian's postgresql makes a server and starts it when it is installed, unless told otherwise; MariaDB's
/// core packages are programs only.
pub(crate) const PACKAGES: &[Package] = &[
    Package {
        name: "postgresql",
        purpose: "runs the workloads of databases",
        witness: "/usr/lib/postgresql",
    },
    Package {
        name: "mariadb-server-core",
        purpose: "runs the workloads of databases",
        witness: "/usr/sbin/mariadbd",
    },
    Package {
        name: "mariadb-client-core",
        purpose: "talks to MariaDB",
        witness: "/usr/bin/mariadb",
    },
    Package {
        name: "sysbench",
        purpose: "works in MariaDB, next to fullclock",
        witness: "/usr/bin/sysbench",
    },
    Package {
        name: "sysstat",
        purpose: "has pidstat, next to fullclock",
        witness: "/usr/bin/pidstat",
    },
];

/// Where postgresql-common looks for what clusters are made like (pg_createcluster(1)).
const FOLDER: &str = "/etc/postgresql-common/createcluster.d";

/// Installs by `install` without any server being made or started, and leaves no setting of that behind.
pub(crate) fn without_servers(install: impl FnOnce() -> Result<()>) -> Result<()> {
    if PACKAGES.iter().all(Package::is_installed) || !crate::debian::installs() {
        return install();
    }
    let is_ours = !Path::new(FOLDER).exists();
    let setting = format!("{FOLDER}/fullclock-no-cluster.conf");
    fs::create_dir_all(FOLDER).with_context(|| format!("cannot make {FOLDER}"))?;
    let written = fs::write(&setting, "create_main_cluster = false\n");
    let installed =
        written.with_context(|| format!("cannot write {setting}")).and_then(|()| install());
    fs::remove_file(&setting).with_context(|| format!("cannot remove {setting}"))?;
    if is_ours {
        // Somebody may have put something else there meanwhile.
        let _in_use = fs::remove_dir(FOLDER).is_err();
    }
    installed
}
