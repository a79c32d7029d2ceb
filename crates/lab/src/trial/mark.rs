//! What is marked on the time line of a race.

use serde::{Deserialize, Serialize};

/// Something that happened on a node, or that the user wants to remember of that moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "kebab-case")]
pub enum Mark {
    /// A setting of the host has another value, whoever changed it.
    Setting {
        /// As a machine's fingerprint names it.
        name: String,
        /// What it was; `None` where it was not named.
        from: Option<String>,
        /// What it is now.
        to: Option<String>,
    },
    /// The CPU quota of a control group that the node, or a database server of its host, runs in.
    Quota {
        /// The group's folder.
        group: String,
        /// How many CPUs it amounted to; `None` where there was no quota.
        from: Option<f64>,
        /// How many now.
        to: Option<f64>,
    },
    /// An audit finds what it did not find before, or no longer.
    Finding {
        /// The check's id.
        check: String,
        /// Whether it is there now.
        is_there: bool,
    },
    /// The node's agent was gone, and another one began anew: the intervals between are missing.
    Restarted,
    /// What the user wrote.
    Note {
        /// In the user's words.
        text: String,
    },
}
