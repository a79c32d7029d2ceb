//! Versions of firmware.

use super::part::Resource;
use serde::{Deserialize, Serialize};

/// One piece of firmware.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Software {
    /// The resource, for evidence.
    pub source: String,
    /// `Name`.
    pub name: String,
    /// `Version`.
    pub version: Option<String>,
    /// `ReleaseDate`.
    pub released: Option<String>,
}

impl Resource {
    /// A piece of firmware; `None` of one without a name.
    pub fn software(&self) -> Option<Software> {
        let it = self.whole();
        Some(Software {
            source: self.path().to_owned(),
            name: it.text("Name").or_else(|| it.text("Id"))?,
            version: it.text("Version"),
            released: it.text("ReleaseDate"),
        })
    }
}
