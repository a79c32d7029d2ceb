//! The program of a release: one file that any glibc since [`GLIBC`] starts.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::tools::Tools;
use super::{GLIBC, Release, TARGET, path, text_of};
use crate::cargo::{program as command, run};

/// What the program may have, in bytes.
const LARGEST: u64 = 10_000_000;

/// Builds it.
pub(super) fn program(tools: &Tools, release: &Release) -> Result<PathBuf> {
    let target = format!("{TARGET}.{GLIBC}");
    let arguments = ["zigbuild", "--quiet", "--locked", "--profile", "packages"];
    let what = ["--package", "fullclock", "--target", &target];
    let mut build =
        release.command(tools.path("cargo-zigbuild"), &[&arguments[..], &what].concat());
    build.env("CARGO_ZIGBUILD_ZIG_PATH", tools.zig()?).env("RUSTFLAGS", remapped(release)?);
    run(build)?;
    let program = release.build.join(TARGET).join("packages/fullclock");
    check(&program)?;
    Ok(program)
}

/// No folder of this machine is in the program, not even in the place of a panic.
fn remapped(release: &Release) -> Result<String> {
    let home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|it| format!("{it}/.cargo")))
        .context("neither CARGO_HOME nor HOME is set")?;
    let [source, build] = [path(&release.source)?, path(&release.build)?];
    let pairs = [(&*home, "/cargo"), (build, "/build"), (source, "/fullclock")];
    Ok(pairs.map(|(from, to)| format!("--remap-path-prefix={from}={to}")).join(" "))
}

fn check(program: &Path) -> Result<()> {
    let versions = text_of(command("readelf", &["--version-info", "--wide", path(program)?]))?;
    let newest = newest_glibc(&versions).context("the program needs no version of glibc")?;
    let oldest = parts(GLIBC).context("the version of glibc")?;
    ensure!(newest <= oldest, "the program needs glibc {newest:?}, newer than {GLIBC}");
    let size = program.metadata()?.len();
    println!("{size} bytes, needs glibc {}.{} and later", newest.0, newest.1);
    if size > LARGEST {
        println!("missed: it is to have at most {LARGEST} bytes");
    }
    Ok(())
}

/// The newest version of glibc of which a program needs a symbol, by what readelf prints.
fn newest_glibc(versions: &str) -> Option<(u32, u32)> {
    versions.split_whitespace().filter_map(|it| parts(it.strip_prefix("GLIBC_")?)).max()
}

fn parts(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_found_by_its_numbers() {
        let versions = "  0x0010:   Name: GLIBC_2.9  Flags: none  Version: 4\n  Name: GLIBC_2.17  Flags\n  Name: GCC_3.0\n";
        assert_eq!(newest_glibc(versions), Some((2, 17)));
        assert_eq!(newest_glibc("Name: GCC_3.0"), None);
    }
}
