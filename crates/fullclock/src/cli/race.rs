//! The options of `fullclock race` and `fullclock agent`.

use clap::Args;
use facts::quantity;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Who races, and for how long.
#[derive(Args, Debug)]
pub(crate) struct RaceArguments {
    /// A node by its name: NAME=embedded, NAME=postgresql, NAME=mariadb or NAME=DSN on this machine, NAME=ssh:HOST or
    /// NAME=agent:HOST:PORT on another; behind it what is its own alone: ,cgroup=FOLDER ,cpus=LIST ,sessions=COUNT
    /// ,folder=FOLDER ,engine=NAME ,dsn=DSN
    #[arg(long = "node", value_name = "NAME=WHERE[,OPTION=VALUE]...")]
    pub(crate) node: Vec<String>,
    /// Nodes by where they are, ssh:HOST or agent:HOST:PORT, each called by that
    #[arg(long, value_name = "WHERE", value_delimiter = ',')]
    pub(crate) nodes: Vec<String>,
    /// How many sessions commit at once on each node [default: 8]
    #[arg(long, value_name = "COUNT")]
    pub(crate) sessions: Option<u64>,
    /// The folder whose disk counts, on each node: the log, or the temporary server, is made in it [default: the temporary folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<String>,
    /// For how long
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = quantity::duration)]
    pub(crate) duration: Duration,
    /// The time between two figures of a node, longer where nothing is committed meanwhile: 100ms, 1s
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// The file that holds the token of agents
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The folder to keep the result in [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    /// Keep no result
    #[arg(long, conflicts_with = "results")]
    pub(crate) no_save: bool,
}

/// Whom an agent listens to.
#[derive(Args, Debug)]
pub(crate) struct AgentArguments {
    /// The address to listen at; of this machine only, as nothing is encrypted: ssh brings it elsewhere
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7078")]
    pub(crate) listen: SocketAddr,
    /// The file that holds the token which a race has to know; made where there is none [default: agent.token in
    /// /var/lib/fullclock as root, or in ~/.local/state/fullclock]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Listen to standard input instead, to whoever started this: `ssh HOST fullclock agent --stdio`
    #[arg(long, conflicts_with_all = ["listen", "token_file"])]
    pub(crate) stdio: bool,
    /// Enter this control group first
    #[arg(long, value_name = "FOLDER", requires = "stdio", hide = true)]
    pub(crate) cgroup: Option<PathBuf>,
}

pub(crate) const RACE_EXAMPLES: &str = "\
Examples:
  Q=/sys/fs/cgroup/quarter                       a group with a CPU quota
  fullclock race --node a=embedded --node b=embedded,cgroup=$Q
  fullclock race --node a=postgresql --node b=postgresql,cgroup=$Q -d 1m
  fullclock race --nodes ssh:db1,ssh:db2 --sessions 64 --folder /var/lib/pgsql
  fullclock race --node old=ssh:db1,dsn=postgresql:///test \\
                 --node new=ssh:db2,dsn=postgresql:///test
  fullclock race --nodes agent:127.0.0.1:7078,ssh:db2   the first by a tunnel";

pub(crate) const AGENT_EXAMPLES: &str = "\
Examples:
  fullclock agent                          on db1; then, where the race is run:
    scp db1:/var/lib/fullclock/agent.token t
    ssh -N -o ExitOnForwardFailure=yes -L 7078:127.0.0.1:7078 db1 &
    fullclock race --nodes agent:127.0.0.1:7078,ssh:db2 --token-file t
  fullclock race --nodes ssh:db1,ssh:db2   starts its agents itself";
