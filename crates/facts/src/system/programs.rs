//! Known programs, by the names of their processes: database servers, and tuners, which change frequencies.
//!
//! Names are as the kernel keeps them: /proc/PID/comm, at most 15 bytes. Databases in a virtual machine of their
//! own (Cassandra, Elasticsearch: `java`) cannot be recognised. Neither can programs that act once at boot
//! (cpupower.service, cpufrequtils), which leave no process. Sources for tuners: their service files.

use super::process::Process;
use crate::Fact;

/// Signs of tuners other than their processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuners {
    /// `/etc/tuned/active_profile`: TuneD's profiles, in the order in which they are merged.
    pub tuned_profile: Fact<Vec<String>>,
    /// `/run/tlp`: the folder that TLP, which has no process, creates when it has run.
    pub tlp_state: Fact<Vec<String>>,
    /// Units that set a governor once at boot, and leave no process: those of [`BOOT_UNITS`], each with where its link leads.
    pub boot_units: Vec<BootUnit>,
}

/// A unit that sets a governor once at boot, if it is enabled.
#[derive(Clone, Debug, PartialEq)]
pub struct BootUnit {
    /// `cpupower.service`.
    pub name: &'static str,
    /// Where its link leads, or the name of the link; absent where it is not enabled.
    pub target: Fact<String>,
}

/// cpupower.service is tools/power/cpupower of Linux (Fedora, RHEL and Arch have one of their own). ondemand.service is Ubuntu's, up to 20.04
/// and enabled by default: its script set-cpufreq, which is part of Ubuntu's package systemd, chooses ondemand or powersave late in the boot.
/// cpufrequtils of Debian and Ubuntu has a script in /etc/init.d, which systemd runs, too.
pub const BOOT_UNITS: [&str; 3] = ["cpupower.service", "ondemand.service", CPUFREQUTILS];

/// The one of them that is a script, which a link `S01cpufrequtils` (update-rc.d(8)) enables.
pub const CPUFREQUTILS: &str = "cpufrequtils";

impl BootUnit {
    /// Where scripts are enabled for a boot to several users.
    pub const SCRIPTS: &str = "/etc/rc2.d";

    /// The link by which systemctl(1) enables the unit with this name, or the folder of links to scripts.
    pub fn place(name: &str) -> String {
        match name {
            CPUFREQUTILS => BootUnit::SCRIPTS.to_owned(),
            name => format!("/etc/systemd/system/multi-user.target.wants/{name}"),
        }
    }

    /// Whether a link in [`BootUnit::SCRIPTS`] enables the script with this name: `S`, two digits and its name (sysvinit, init-d-script(5)).
    pub fn is_enabled_by(script: &str, link: &str) -> bool {
        let order = link.strip_prefix('S').and_then(|it| it.strip_suffix(script));
        order.is_some_and(|it| it.len() == 2 && it.bytes().all(|it| it.is_ascii_digit()))
    }
}

/// A tuner that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Which.
    pub tuner: &'static Tuner,
    /// The number of its process; `None` of TLP, which has none.
    pub pid: Option<u32>,
    /// The process or folder that shows it.
    pub source: String,
}

impl Running {
    /// `tuned (812)`.
    pub fn named(&self) -> String {
        self.pid.map_or_else(
            || self.tuner.name.to_owned(),
            |pid| format!("{} ({pid})", self.tuner.name),
        )
    }
}

/// A program that changes frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuner {
    /// The name of its process.
    pub process: &'static str,
    /// Its usual name.
    pub name: &'static str,
    /// Whether it sets governors, limits or hints as configured, as long as it runs. thermald sets only power limits, by temperature or
    /// by the firmware's DPTF tables (`--adaptive`); others act when a program asks.
    pub is_setter: bool,
}

const fn setter(process: &'static str, name: &'static str) -> Tuner {
    Tuner { process, name, is_setter: true }
}

/// The tuners that have a process.
pub const TUNERS: &[Tuner] = &[
    setter("tuned", "tuned"),
    setter("power-profiles-", "power-profiles-daemon"),
    setter("tlp-pd", "TLP"),
    setter("auto-cpufreq", "auto-cpufreq"),
    setter("cpuspeed", "cpuspeed"),
    setter("cpufreqd", "cpufreqd"),
    setter("powernowd", "powernowd"),
    setter("system76-power", "system76-power"),
    setter("intel_lpmd", "intel-lpmd"),
    // tuxedo-control-center, src/dist-data/tccd.service.
    setter("tccd", "tccd"),
    // asusctl, asusd: `platform_profile` and the energy preference that goes with a profile.
    setter("asusd", "asusd"),
    Tuner { process: "thermald", name: "thermald", is_setter: false },
    // tools/power/x86/intel-speed-select/isst-daemon.c (`--oob`): takes CPUs offline and sets limits when an agent outside of Linux changes
    // the performance level.
    Tuner { process: "intel-speed-sel", name: "intel-speed-select", is_setter: false },
    // GEOPM, geopm.service: sets clocks and power limits for sessions that ask for it, and restores them.
    Tuner { process: "geopmd", name: "geopmd", is_setter: false },
    // GameMode, daemon/: sets the governor `performance` while a game runs.
    Tuner { process: "gamemoded", name: "gamemoded", is_setter: false },
    // NVIDIA's driver, README, "Dynamic Boost on Linux": moves power between CPU and GPU of a laptop.
    Tuner { process: "nvidia-powerd", name: "nvidia-powerd", is_setter: false },
];

/// TuneD profiles that set the governor `performance`, by themselves or by what they include (profiles/*/tuned.conf
/// of redhat-performance/tuned, `[cpu] governor=performance`). `openshift` includes virtual-guest or
/// network-throughput (`${f:virt_check:...}`), and both set it.
const PERFORMANCE_PROFILES: &[&str] = &[
    "throughput-performance",
    "latency-performance",
    "network-throughput",
    "network-latency",
    "accelerator-performance",
    "hpc-compute",
    "enterprise-storage",
    "virtual-host",
    "virtual-guest",
    "aws",
    "openshift",
    "openshift-node",
    "openshift-control-plane",
    "oracle",
    "mssql",
    "postgresql",
    "sap-hana",
    "sap-netweaver",
    "realtime",
    "realtime-virtual-guest",
    "realtime-virtual-host",
    "cpu-partitioning",
];

/// TuneD's other profiles, as it ships them (profiles/*/tuned.conf). None of all these limits a clock or switches turbo off.
const OTHER_PROFILES: &[&str] = &[
    "balanced",
    "balanced-battery",
    "powersave",
    "desktop",
    "default",
    "server-powersave",
    "laptop-ac-powersave",
    "laptop-battery-powersave",
    "optimize-serial-console",
    "intel-sst",
    "atomic-host",
    "atomic-guest",
    "cpu-partitioning-powersave",
];

impl Tuners {
    /// The running tuners, each with the process or folder that shows it.
    pub fn running(&self, processes: &[Process]) -> Vec<Running> {
        let mut running: Vec<Running> = TUNERS
            .iter()
            .filter_map(|tuner| {
                let mut processes = processes.iter().filter(|it| !it.is_kernel_thread);
                let pid = processes.find(|it| it.name == tuner.process)?.pid;
                Some(Running { tuner, pid: Some(pid), source: format!("/proc/{pid}/stat") })
            })
            .collect();
        const TLP: &Tuner = &setter("tlp", "TLP");
        if self.tlp_state.is_ok() && !running.iter().any(|it| it.tuner.name == TLP.name) {
            running.push(Running { tuner: TLP, pid: None, source: "/run/tlp".to_owned() });
        }
        running
    }

    /// Whether TuneD's profiles are known, and all of them are those that it ships.
    pub fn has_shipped_profile(&self) -> bool {
        let is_shipped =
            |it: &String| is_performance_profile(it) || OTHER_PROFILES.contains(&it.as_str());
        self.tuned_profile.as_ref().is_ok_and(|it| !it.is_empty() && it.iter().all(is_shipped))
    }

    /// The active TuneD profile that sets the governor `performance`, if it is the last one: later profiles override
    /// earlier ones.
    pub fn performance_profile(&self) -> Option<&str> {
        let last = self.tuned_profile.as_deref().unwrap_or_default().last()?;
        Some(last.as_str()).filter(|it| is_performance_profile(it))
    }
}

/// Whether a TuneD profile sets the governor `performance`.
pub fn is_performance_profile(name: &str) -> bool {
    PERFORMANCE_PROFILES.contains(&name)
}

/// Names of database server processes, and the products; a `*` stands for any suffix.
const SERVERS: &[(&str, &str)] = &[
    ("postgres", "PostgreSQL"),
    ("postmaster", "PostgreSQL"),
    ("edb-postgres", "PostgreSQL"),
    ("mysqld", "MySQL"),
    ("mariadbd", "MariaDB"),
    // One of each per instance: the process monitor and the log writer.
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

/// The database product of a process name; `None` for other processes.
pub fn product(name: &str) -> Option<&'static str> {
    let is = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    SERVERS.iter().find(|(pattern, _)| is(pattern)).map(|(_, product)| *product)
}

/// The database server processes, without the workers that a server has forked, which may be thousands.
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
    fn a_script_of_the_boot_is_enabled_by_a_link_with_two_digits() {
        let is = |link| BootUnit::is_enabled_by(CPUFREQUTILS, link);
        assert!(is("S01cpufrequtils") && is("S19cpufrequtils"));
        assert!(!is("K01cpufrequtils") && !is("S01loadcpufreq") && !is("S1cpufrequtils"));
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
