//! The tests that open pages in a browser.

use anyhow::Result;
use testbench::packages::Package;

use crate::suites::{self, Suite};
use crate::tally::Tally;

/// The browser without a screen, and letters for it to draw.
pub(crate) const PACKAGES: &[Package] = &[
    Package {
        name: "chromium-headless-shell",
        purpose: "opens pages",
        witness: "/usr/bin/chromium-headless-shell",
    },
    Package {
        name: "fonts-dejavu-core",
        purpose: "letters in pages",
        witness: "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    },
];

/// Opens them and looks at them.
pub(crate) fn open_pages(suites: &[Suite]) -> Result<Tally> {
    let in_suite = |name| suites::run_named(suites, name, &["--ignored", "browser"], &[]);
    Ok(in_suite("report report")? + in_suite("fullclock program")?)
}
