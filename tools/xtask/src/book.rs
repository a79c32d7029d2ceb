//! A book of all pages, made by mdBook.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::cargo::{self, cargo, target, workspace};

/// The version of mdBook that the book is made with.
const MDBOOK: &str = "0.5.4";

/// What the book is made of, from the root of the tree.
const SOURCES: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benches/README.md",
    "SECURITY.md",
    "benches/injection.md",
    "benches/simulation.md",
    "docs",
    "schemas",
];

/// Makes the book and names its folder: its pages lie as they do in the tree, so that their links hold.
pub(crate) fn book() -> Result<PathBuf> {
    let folder = target().join("book");
    let source = folder.join("src");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    for name in SOURCES {
        copy(&workspace().join(name), &source.join(name))?;
    }
    let summary = fs::read_to_string(workspace().join("docs/SUMMARY.md"))?;
    fs::write(source.join("SUMMARY.md"), from_root(&summary))?;
    fs::remove_file(source.join("docs/SUMMARY.md"))?;
    fs::rename(source.join("docs/book.toml"), folder.join("book.toml"))?;
    let mut build = Command::new(mdbook()?);
    build.arg("build").arg(&folder);
    cargo::run(build)?;
    Ok(folder.join("html"))
}

/// The links of `docs/SUMMARY.md` as they are from the root of the tree.
fn from_root(summary: &str) -> String {
    summary.replace("](", "](docs/").replace("(docs/../", "(")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Ok(entries) = fs::read_dir(from) {
        for entry in entries {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// The program, which is installed under `target` once.
fn mdbook() -> Result<PathBuf> {
    let root = target().join(format!("mdbook-{MDBOOK}"));
    let program = root.join("bin/mdbook");
    if !program.exists() {
        let mut install = cargo(&["install", "mdbook", "--locked", "--version", MDBOOK]);
        install.args(["--no-default-features", "--features", "search", "--root"]).arg(&root);
        cargo::run(install)?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};
    use std::collections::BTreeSet;

    /// Every page that readers open, from the root of the tree.
    fn pages() -> Vec<String> {
        let root = workspace();
        let mut pages = Vec::new();
        for folder in ["", "docs", "docs/guide", "benches"] {
            for entry in fs::read_dir(root.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|it| it == "md") {
                    pages.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        pages.sort();
        pages
    }

    /// The targets of its links and pictures.
    fn links(text: &str) -> Vec<String> {
        let target = |event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.to_string())
            }
            _ => None,
        };
        Parser::new(text).filter_map(target).collect()
    }

    /// The anchors of its headings, as GitHub and mdBook make them.
    fn anchors(text: &str) -> BTreeSet<String> {
        let (mut anchors, mut heading) = (BTreeSet::new(), None::<String>);
        for event in Parser::new(text) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => anchors.extend(heading.take()),
                Event::Text(words) | Event::Code(words) => {
                    let Some(heading) = &mut heading else { continue };
                    let words = words.to_lowercase();
                    let kept =
                        words.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
                    heading.extend(kept.map(|it| if it == ' ' { '-' } else { it }));
                }
                _ => {}
            }
        }
        anchors
    }

    #[test]
    fn every_link_leads_somewhere() {
        let root = workspace();
        let mut broken = Vec::new();
        for page in pages() {
            let text = fs::read_to_string(root.join(&page)).unwrap();
            for link in links(&text).iter().filter(|it| !it.contains("://")) {
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                let file = if file.is_empty() {
                    root.join(&page)
                } else {
                    root.join(&page).parent().unwrap().join(file)
                };
                let is_there = file.exists()
                    && (anchor.is_empty()
                        || anchors(&fs::read_to_string(&file).unwrap()).contains(anchor));
                if !is_there {
                    broken.push(format!("{page}: {link}"));
                }
            }
        }
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }

    #[test]
    fn the_book_has_every_page() {
        let summary = fs::read_to_string(workspace().join("docs/SUMMARY.md")).unwrap();
        let listed: BTreeSet<String> = links(&from_root(&summary)).into_iter().collect();
        let pages = pages().into_iter().filter(|it| it != "docs/SUMMARY.md");
        assert_eq!(pages.collect::<BTreeSet<_>>(), listed);
    }

    #[test]
    fn the_readme_can_be_read_at_once() {
        let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
        assert!(readme.split_whitespace().count() <= 1500);
    }
}
