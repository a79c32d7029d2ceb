//! Advisories: published faults of firmware, microcode and kernels that cost clock or time, and which of them concern a host.
//!
//! Those that come with the program are the files of `advisories/`; a site adds its own, or replaces one by a file of the same name. A version
//! proves that a machine may have a fault, and not that it does: "affected by version" and "seen here" are different words.

mod file;
mod node;
pub mod standing;
#[cfg(test)]
mod tests;
pub mod version;

pub use file::{KEYS, LARGEST};

use crate::party::Party;
use facts::site::AdvisoryFile;
use node::Node;
use std::sync::{Arc, LazyLock};
use version::Range;

/// A published fault.
#[derive(Clone, Debug)]
pub struct Advisory {
    /// Its name.
    pub id: String,
    /// What is wrong, in a few words without a full stop.
    pub title: String,
    /// Whose it is.
    pub party: Party,
    /// What to do, in the imperative.
    pub action: String,
    /// In which versions it is fixed, where one is known.
    pub fixed: Option<String>,
    /// What happens, to which machines.
    pub about: String,
    /// The machines and kernels that have it: one of them has to fit.
    pub affected: Vec<Affected>,
    /// The checks that see it act; none where no check can.
    pub symptoms: Vec<Symptom>,
    /// What it costs, where a source says so.
    pub loss: Option<Loss>,
    /// Where it is published.
    pub sources: Vec<Source>,
}

/// Machines or kernels that have a fault: all that is named has to fit.
#[derive(Clone, Debug)]
pub struct Affected {
    /// How `sys_vendor` begins, without regard to case.
    pub maker: Option<String>,
    /// How `product_name` begins.
    pub product: Option<String>,
    /// How `board_name` begins.
    pub board: Option<String>,
    /// What is in `bios_version`.
    pub firmware_name: Option<String>,
    /// Versions of the firmware.
    pub firmware: Vec<Range>,
    /// Versions of the management controller's firmware, as two numbers.
    pub bmc: Vec<Range>,
    /// `vendor_id` of the processor; empty where it shows none, as on ARM.
    pub cpu_maker: Option<String>,
    /// A flag that /proc/cpuinfo has of it.
    pub cpu_flag: Option<String>,
    /// Its family.
    pub family: Option<u32>,
    /// Its models.
    pub models: Vec<u32>,
    /// What is in the name that it gives itself.
    pub model_name: Option<String>,
    /// Revisions of its microcode.
    pub microcode: Vec<Range>,
    /// Versions of the kernel.
    pub kernel: Vec<Range>,
    /// Builds of distributions in which, and in later ones of the same, it is fixed.
    pub backports: Vec<String>,
    /// The frequency driver.
    pub driver: Option<String>,
    /// An option of the kernel, without its `CONFIG_`, and its value.
    pub config: Option<(String, String)>,
    /// A parameter of the boot line.
    pub boot: Option<String>,
    /// How the hypervisor's name begins; empty for any guest.
    pub hypervisor: Option<String>,
}

/// What shows that a fault acts.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symptom {
    /// The id of the check that finds it.
    pub check: String,
    /// What is in the message or the evidence of its finding, where the check finds other things, too.
    pub mentions: Option<String>,
}

/// What a fault costs.
#[derive(Clone, Debug)]
pub struct Loss {
    /// With figures.
    pub what: String,
    /// The place of the source that says so.
    pub source: usize,
}

/// Where something is published.
#[derive(Clone, Debug)]
pub struct Source {
    /// Who says what.
    pub title: String,
    /// Address.
    pub url: String,
    /// The day on which it was read, as in `2026-11-20`.
    pub read: String,
}

/// Those that come with the program, made once. A test sees to it that each of them can be.
static SHIPPED: LazyLock<Vec<Arc<Advisory>>> = LazyLock::new(|| {
    let made = |(name, node): &'static (&str, Node)| Advisory::of_node(name, node).ok();
    node::SHIPPED.iter().filter_map(made).map(Arc::new).collect()
});

/// Those that come with the program, in the order of their names.
pub fn shipped() -> &'static [Arc<Advisory>] {
    &SHIPPED
}

/// Those that come with the program and those of the site, in the order of their names; a site's replaces one of the same name.
///
/// Errors: a file of the site is no advisory.
pub fn catalog(site: &[AdvisoryFile]) -> Result<Vec<Arc<Advisory>>, String> {
    let mut all: Vec<Arc<Advisory>> = shipped().to_vec();
    for AdvisoryFile { name, stem, text } in site {
        let own = Advisory::parse(name, stem, text)?;
        all.retain(|it| it.id != own.id);
        all.push(Arc::new(own));
    }
    all.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(all)
}
