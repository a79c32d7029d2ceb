//! The options of the commands that change a host: plan, apply, revert, confirm, status, watch-drift.

use crate::commands::bench::options::BenchArguments;
use clap::{Args, Parser};
use facts::quantity;
use std::path::PathBuf;
use std::time::Duration;

/// What is to be changed.
#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    /// Settings to change, `governor=performance` or `idle-state=C6:off@0-3`, or ids of findings to mend
    #[arg(value_name = "SETTING=VALUE|FINDING")]
    pub(crate) what: Vec<String>,
    /// A profile: database-throughput, database-latency, powersave-night, /etc/fullclock/NAME.toml, or a path
    #[arg(long = "profile", value_name = "NAME|FILE")]
    pub(crate) profiles: Vec<String>,
    /// Plan what can do harm, too: `fullclock explain SETTING` says which
    #[arg(long)]
    pub(crate) i_know: bool,
}

/// What is to be changed, and for how long.
#[derive(Args, Debug)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    pub(crate) plan: PlanArguments,
    /// Print the plan and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Revert after this time unless `fullclock confirm` comes, even if this session is gone: 5m
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) confirm_within: Option<Duration>,
    /// Make it last: files for sysctl, modprobe and systemd, each shown before it is written and taken away by revert
    #[arg(long, conflicts_with = "confirm_within")]
    pub(crate) persist: bool,
    /// Measure a workload without and with the change, in trials of random order, and keep it only if it is not slower with
    /// it: a workload of `fullclock bench` with its options, in quotes
    #[arg(long, value_name = "WORKLOAD")]
    pub(crate) prove: Option<String>,
    /// Apply what an earlier `apply --persist` made to last; what its unit runs
    #[arg(long, value_name = "CHANGE", hide = true, conflicts_with_all = ["what", "profiles", "persist", "confirm_within", "prove"])]
    pub(crate) persisted: Option<String>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

/// What `--prove` measures.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
pub(crate) struct ProofArguments {
    #[command(flatten)]
    pub(crate) bench: BenchArguments,
}

/// What is to be reverted.
#[derive(Args, Debug)]
pub(crate) struct RevertArguments {
    /// The change to revert, as `fullclock status` names it [default: the latest]
    #[arg(value_name = "CHANGE", conflicts_with = "all")]
    pub(crate) change: Option<String>,
    /// Revert every change, the latest first
    #[arg(long)]
    pub(crate) all: bool,
    /// Also write what would bring a fault back, and over what somebody else has changed since
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

/// What is to be kept.
#[derive(Args, Debug)]
pub(crate) struct ConfirmArguments {
    /// The change to keep [default: the one that waits for it]
    #[arg(value_name = "CHANGE")]
    pub(crate) change: Option<String>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

/// Where changes are recorded.
#[derive(Args, Clone, Debug)]
pub(crate) struct StateArguments {
    /// The folder of the journal
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/fullclock")]
    pub(crate) state_dir: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArguments {
    /// Show changes that were reverted, too
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

/// How to look for drift.
#[derive(Args, Debug)]
pub(crate) struct DriftArguments {
    /// How often to look
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// For how long to look [default: until Ctrl-C]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

pub(crate) const PLAN_EXAMPLES: &str = "\
Examples:
  fullclock plan                        what would mend the findings of an audit
  fullclock plan slow-governor
  fullclock plan governor=performance idle-state=C6:off@4-7
  fullclock plan --profile database-latency
  fullclock plan --host db7.host        for another host, from its capture";

pub(crate) const APPLY_EXAMPLES: &str = "\
Examples:
  fullclock apply governor=performance
  fullclock apply --confirm-within 5m --profile database-latency
  fullclock apply --persist stat-interval=10
  fullclock apply --prove 'wakeup --cpus 2,3' cpu-dma-latency=20
  fullclock apply --dry-run slow-governor";

pub(crate) const REVERT_EXAMPLES: &str = "\
Examples:
  fullclock revert          the latest change
  fullclock revert --all    as it was before the first";

pub(crate) const CONFIRM_EXAMPLES: &str = "\
Examples:
  fullclock apply --confirm-within 5m governor=performance
  fullclock confirm         keeps it";

pub(crate) const STATUS_EXAMPLES: &str = "\
Examples:
  fullclock status          what is applied, and who changed it since
  fullclock status --json";

pub(crate) const DRIFT_EXAMPLES: &str = "\
Examples:
  fullclock watch-drift             until Ctrl-C
  fullclock watch-drift -d 10m      exit code 1 if something drifted";

/// Of what no user starts.
pub(crate) const HELD_EXAMPLES: &str = "\
Examples:
  fullclock apply --confirm-within 5m cpu-dma-latency=20    starts both";
