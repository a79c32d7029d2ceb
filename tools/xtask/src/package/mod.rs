//! `cargo xtask package`: what is released, made of the commit that is checked out.
//!
//! The commit is exported to a folder of its own and built there, so that nothing else gets into a package: no file that git does not
//! know, no folder's name, no time but the commit's. Two builds of a commit are equal byte for byte; `--twice` shows it.

mod archive;
mod built;
mod container;
mod inventory;
mod made;
mod proof;
mod sums;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::{program, run as run_program, target};
use crate::stage::stage;
use tools::Tools;

/// What releases are for. No other target can be built and tried here.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The oldest C library that the program starts with: that of RHEL 7 (2014).
const GLIBC: &str = "2.17";

/// What one run makes.
struct Options {
    /// The folder of the packages.
    output: PathBuf,
    /// `minisign:FILE` or `gpg:KEY`.
    key: Option<String>,
    is_twice: bool,
    is_proved: bool,
    /// A folder of packages to try, in place of making some.
    verified: Option<PathBuf>,
}

/// The commit that packages are made of.
struct Release {
    /// All of its digits.
    commit: String,
    /// When it was made, in seconds since 1970: the time of every file.
    epoch: u64,
    /// The version in Cargo.toml.
    version: String,
    /// Its files.
    source: PathBuf,
    /// Where cargo builds.
    build: PathBuf,
}

/// `cargo xtask package [--output DIR] [--sign minisign:FILE|gpg:KEY] [--twice] [--prove]`, or `--verify DIR`, which tries packages
/// that somebody made, as their users would.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = parsed(arguments)?;
    if let Some(folder) = &options.verified {
        proof::run(folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tools = stage("tools", Tools::installed)?;
    // Once: somebody may commit while the first of two builds runs.
    let commit = text_of(program("git", &["rev-parse", "HEAD"]))?;
    let sums = packages(&tools, &commit, "package", &options.output)?;
    if options.is_twice {
        let again = target().join("package-again/dist");
        let others = packages(&tools, &commit, "package-again", &again)?;
        ensure!(sums == others, "two builds differ:\n{sums}\n{others}");
        println!("two builds are equal byte for byte");
    }
    if let Some(key) = &options.key {
        stage("signature", || sums::sign(&options.output, key))?;
    }
    if options.is_proved {
        stage("proof", || proof::run(&options.output))?;
    }
    println!("{sums}");
    Ok(ExitCode::SUCCESS)
}

fn parsed(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        output: target().join("package/dist"),
        key: None,
        is_twice: false,
        is_proved: false,
        verified: None,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().with_context(|| format!("{word} needs a value"));
        match &**word {
            "--output" => options.output = std::path::absolute(value()?)?,
            "--sign" => options.key = Some(value()?),
            "--twice" => options.is_twice = true,
            "--prove" => options.is_proved = true,
            "--verify" => options.verified = Some(std::path::absolute(value()?)?),
            _ => bail!(
                "expected cargo xtask package [--output DIR] [--sign minisign:FILE|gpg:KEY] [--twice] [--prove], or --verify DIR"
            ),
        }
    }
    Ok(options)
}

/// Makes all packages of a commit in `output`, in the folder `name` of cargo's; the text of their checksums.
fn packages(tools: &Tools, commit: &str, name: &str, output: &Path) -> Result<String> {
    let release = Release::export(commit, &target().join(name))?;
    let program = stage("build", || built::program(tools, &release))?;
    stage("pages, completions, licences", || {
        made::write(&release, &program)?;
        inventory::write(tools, &release)
    })?;
    empty(output)?;
    stage("tarball", || archive::tarball(&release, &program, output))?;
    stage("deb", || tools.deb(&release, output))?;
    stage("rpm", || tools.rpm(&release, output))?;
    fs::copy(release.made().join("fullclock.cdx.json"), output.join(release.named("cdx.json")))?;
    sums::write(output)
}

impl Release {
    /// Exports the files of a commit to a folder.
    fn export(commit: &str, folder: &Path) -> Result<Release> {
        let git = |arguments: &[&str]| text_of(program("git", arguments));
        let epoch = git(&["log", "-1", "--format=%ct", commit])?.parse()?;
        if !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
            println!("what is not committed is not in the packages");
        }
        empty(&folder.join("source"))?;
        // As cargo and its tools print it, so that it can be found in what they write.
        let folder = folder.canonicalize()?;
        let source = folder.join("source");
        let tar = folder.join("source.tar");
        run_program(program("git", &["archive", "--output", path(&tar)?, commit]))?;
        // Of today: cargo would take a file that is older than what it built last for one that it has built.
        run_program(program("tar", &["--touch", "-xf", path(&tar)?, "-C", path(&source)?]))?;
        Ok(Release {
            commit: commit.to_owned(),
            epoch,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            source,
            build: folder.join("build"),
        })
    }

    /// What is made beside the program, among the exported files: where the lists of cargo-deb and cargo-generate-rpm look.
    fn made(&self) -> PathBuf {
        self.source.join("packaging/made")
    }

    /// `fullclock-0.1.0-x86_64-linux.tar.xz`.
    fn named(&self, ending: &str) -> String {
        format!("fullclock-{}-x86_64-linux.{ending}", self.version)
    }

    /// A program to be run in the exported folder, that builds as this release is built.
    fn command(&self, name: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = program(name, arguments);
        command.current_dir(&self.source);
        command.env("CARGO_TARGET_DIR", &self.build);
        command.env("SOURCE_DATE_EPOCH", self.epoch.to_string());
        command.env("FULLCLOCK_COMMIT", &self.commit).env("FULLCLOCK_GLIBC", GLIBC);
        command
    }
}

/// What a program prints, without the end of its last line.
fn text_of(mut command: Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// The path as an argument.
fn path(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is no text", path.display()))
}

/// What a folder holds, in the order of the names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<PathBuf> = files.map(|it| Ok(it?.path())).collect::<Result<_>>()?;
    files.sort();
    Ok(files)
}

/// Makes the folder anew.
fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::workspace;

    #[test]
    fn what_it_does_not_know_is_refused() {
        assert!(parsed(&["--fast".to_owned()]).is_err());
        assert!(parsed(&["--sign".to_owned()]).is_err());
        let options =
            parsed(&["--twice".to_owned(), "--output".to_owned(), "/x".to_owned()]).unwrap();
        assert!(options.is_twice && options.output == Path::new("/x"));
    }

    /// Each file that the packages' lists name of the source is there.
    #[test]
    fn every_file_of_the_packages_exists() {
        let manifest = fs::read_to_string(workspace().join("crates/fullclock/Cargo.toml")).unwrap();
        let named = manifest.split('"').filter_map(|it| it.strip_prefix("../../"));
        let named: Vec<&str> = named.filter(|it| !it.starts_with("packaging/made")).collect();
        assert!(named.len() > 5, "{named:?}");
        for file in named {
            assert!(workspace().join(file).exists(), "{file}");
        }
    }
}
