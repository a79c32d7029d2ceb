//! The tests that open pages in a browser.

use anyhow::Result;
use testbench::packages::Package;

use crate::cargo::{cargo, run_tests};
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
pub(crate) fn open_pages() -> Result<Tally> {
    let tests = ["test", "--package", "fullclock", "--bin", "fullclock", "--test", "serve"];
    let mut command = cargo(&tests);
    command.args(["--", "--ignored", "browser"]);
    run_tests(command)
}
