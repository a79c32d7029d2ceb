//! `cargo xtask pictures`: the pictures that README.md and the book show, made anew from machines of the test bench.
//!
//! Each shows what fullclock printed in a guest: nothing is made up, and nothing is of the machine that makes them.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use testbench::Bench;
use testbench::packages::{self, Package};

use crate::cargo::{binaries, build_binaries, workspace};
use crate::stage::seconds;
use crate::{browser, debian};

mod audit;
#[path = "../../../../crates/fullclock/tests/program/support/chromium.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "shared with tests, which look at more of a page"
)]
mod chromium;
mod experiment;
mod guest;
mod now;
mod page;
mod svg;
mod terminal;
mod watch;

/// What pictures need besides the test bench and the browser.
const PACKAGES: &[Package] = &[Package {
    name: "pngquant",
    purpose: "makes pictures of pages small",
    witness: "/usr/bin/pngquant",
}];

/// Gives a program of a guest a terminal. Every Debian has it (bsdutils).
const SCRIPT: &str = "/usr/bin/script";

/// Where they are, from the workspace.
const FOLDER: &str = "docs/pictures";

/// Whoever clones the repository fetches every version of each.
const LARGEST: usize = 125_000;

/// A picture.
struct Picture {
    file: &'static str,
    make: fn(&Bench) -> Result<Vec<u8>>,
}

const PICTURES: &[Picture] = &[
    Picture { file: "audit.svg", make: audit::make },
    Picture { file: "watch.svg", make: watch::make },
    Picture { file: "now.png", make: now::make },
    Picture { file: "experiment.png", make: experiment::make },
];

/// `cargo xtask pictures [FILE ...]`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let chosen = chosen(arguments)?;
    let needed = [packages::PACKAGES, browser::PACKAGES, PACKAGES].concat();
    debian::install(&needed)?;
    if let Some(missing) = needed.iter().find(|it| !it.is_installed()) {
        bail!("{} is missing: it {}", missing.name, missing.purpose);
    }
    build_binaries()?;
    let [fullclock, thief] = binaries();
    let bench = Bench::new(&[&fullclock, &thief, Path::new(SCRIPT)])?;
    for picture in chosen {
        renew(picture, &bench).with_context(|| format!("cannot make {}", picture.file))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The pictures that are named, or all where none is.
fn chosen(names: &[String]) -> Result<Vec<&'static Picture>> {
    if names.is_empty() {
        return Ok(PICTURES.iter().collect());
    }
    let picture = |name: &String| {
        let found = PICTURES.iter().find(|it| it.file == name);
        found.with_context(|| {
            let known: Vec<&str> = PICTURES.iter().map(|it| it.file).collect();
            format!("'{name}' is not a picture; the pictures are {}", known.join(", "))
        })
    };
    names.iter().map(picture).collect()
}

fn renew(picture: &Picture, bench: &Bench) -> Result<()> {
    let started = Instant::now();
    let content = (picture.make)(bench)?;
    ensure!(content.len() <= LARGEST, "it has {} bytes, at most {LARGEST}", content.len());
    let folder = workspace().join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(picture.file);
    fs::write(&path, &content).with_context(|| format!("cannot write {}", path.display()))?;
    let file = format!("{FOLDER}/{}", picture.file);
    println!("{file:<29} {:>6} bytes  {}", content.len(), seconds(started.elapsed()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_is_there_and_small() {
        for picture in PICTURES {
            let path = workspace().join(FOLDER).join(picture.file);
            let n_bytes = fs::read(&path).map_or(0, |it| it.len());
            assert!((1..=LARGEST).contains(&n_bytes), "{}: {n_bytes} bytes", picture.file);
        }
    }

    #[test]
    fn a_picture_that_is_not_listed_is_refused_with_those_that_are() {
        let error = chosen(&["audit".to_owned()]).map(|it| it.len()).unwrap_err();
        let expected = "'audit' is not a picture; the pictures are audit.svg, watch.svg, now.png, experiment.png";
        assert_eq!(error.to_string(), expected);
        assert_eq!(chosen(&[]).unwrap().len(), PICTURES.len());
    }
}
