//! The options of `fullclock certificate`.

use crate::commands::change::options::StateArguments;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct CertificateArguments {
    /// The result from before the change, or the one result that holds both (`apply --prove`, `bench --vs`): a file, or an id
    /// that `fullclock history` shows, or as much of its beginning as no other has
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// The result from after it
    #[arg(value_name = "AFTER")]
    pub(crate) after: Option<PathBuf>,
    /// The change, as `fullclock status --all` names it [default: the settings in which the machines of both differ]
    #[arg(long, value_name = "CHANGE")]
    pub(crate) change: Option<String>,
    /// The file to write; one that is there and is no certificate is left alone
    #[arg(long, value_name = "FILE", default_value = "certificate.html")]
    pub(crate) to: PathBuf,
    /// Write over any file
    #[arg(long)]
    pub(crate) force: bool,
    /// The folder of the results that ids are of [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock certificate before.json after.json       what differs is the change
  fullclock certificate 20261120T1543 20261121 --change 7 --to CHG-4711.html
  fullclock certificate proof.json --change 7        what apply --prove kept
  fullclock certificate old-firmware.json new-firmware.json";
