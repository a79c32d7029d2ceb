//! What the program is made of: a bill of materials (CycloneDX), and the licences of all that is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::tools::Tools;
use super::{Release, TARGET, path, text_of};
use crate::cargo::{run, workspace};

/// Writes both into [`Release::made`].
pub(super) fn write(tools: &Tools, release: &Release) -> Result<()> {
    let made = release.made();
    fs::write(made.join("licences.txt"), licences(release)?)?;
    let arguments = ["cyclonedx", "--format", "json", "--spec-version", "1.5", "--target", TARGET];
    let place = ["--manifest-path", "crates/fullclock/Cargo.toml", "--quiet"];
    run(release.command(tools.path("cargo-cyclonedx"), &[&arguments[..], &place].concat()))?;
    let text = fs::read_to_string(release.source.join("crates/fullclock/fullclock.cdx.json"))?;
    let mut bill: Value = serde_json::from_str(&text)?;
    // A number drawn by chance would make two builds differ.
    if let Some(bill) = bill.as_object_mut() {
        bill.remove("serialNumber");
    }
    let text = serde_json::to_string_pretty(&bill)? + "\n";
    let text = text.replace(path(&release.source)?, "/fullclock");
    let here = workspace().canonicalize()?;
    ensure!(!text.contains(path(&here)?), "the bill of materials names {}", here.display());
    fs::write(made.join("fullclock.cdx.json"), text)?;
    Ok(())
}

/// A package of cargo's metadata.
struct Dependency<'a> {
    name: &'a str,
    version: &'a str,
    licence: &'a str,
    manifest: &'a Path,
}

/// The names, versions and licences of what is linked into the program, and the text of each licence once.
fn licences(release: &Release) -> Result<String> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET];
    let metadata: Value = serde_json::from_str(&text_of(release.command("cargo", &arguments))?)?;
    let linked = linked(&metadata).context("cargo's metadata has another shape")?;
    let mut text = String::from("fullclock contains these packages.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for it in &linked {
        let named = format!("{} {}", it.name, it.version);
        writeln!(text, "{named}: {}", it.licence)?;
        for licence in licence_files(it.manifest)? {
            texts.entry(licence).or_default().push(named.clone());
        }
    }
    for (licence, packages) in &texts {
        let line = "-".repeat(80);
        write!(text, "\n{line}\n{}\n\n{}\n", packages.join(", "), licence.trim_end())?;
    }
    Ok(text)
}

/// The packages that the program is linked with, by name; not what only builds or tests it.
fn linked(metadata: &Value) -> Option<Vec<Dependency<'_>>> {
    let nodes = metadata["resolve"]["nodes"].as_array()?;
    let packages = metadata["packages"].as_array()?;
    let package = |id: &str| packages.iter().find(|it| it["id"] == id);
    let root = packages.iter().find(|it| it["name"] == "fullclock")?["id"].as_str()?;
    let (mut seen, mut open) = (BTreeSet::from([root]), vec![root]);
    while let Some(id) = open.pop() {
        let node = nodes.iter().find(|it| it["id"] == id)?;
        for dependency in node["deps"].as_array()? {
            let kinds = dependency["dep_kinds"].as_array()?;
            let id = dependency["pkg"].as_str()?;
            if kinds.iter().any(|it| it["kind"].is_null()) && seen.insert(id) {
                open.push(id);
            }
        }
    }
    let mut linked = Vec::new();
    for it in seen.iter().map(|id| package(id)) {
        let it = it?;
        // Ours have no registry.
        if it["source"].is_null() {
            continue;
        }
        linked.push(Dependency {
            name: it["name"].as_str()?,
            version: it["version"].as_str()?,
            licence: it["license"].as_str().unwrap_or("see its licence file"),
            manifest: Path::new(it["manifest_path"].as_str()?),
        });
    }
    linked.sort_by_key(|it| (it.name, it.version));
    Some(linked)
}

/// The texts of the licences that lie beside a manifest.
fn licence_files(manifest: &Path) -> Result<Vec<String>> {
    let folder = manifest.parent().context("a manifest has a folder")?;
    let mut texts = Vec::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().to_uppercase();
        let is_licence = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|it| name.starts_with(it));
        if is_licence && file.file_type()?.is_file() {
            texts.push(String::from_utf8_lossy(&fs::read(file.path())?).into_owned());
        }
    }
    texts.sort();
    Ok(texts)
}
