//! Manual pages of the files that people write (section 5), made of the pages of `docs/` that describe these files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cargo::workspace;
use crate::roff;

/// One page.
struct Manual {
    /// `config` of fullclock-config(5), and of `docs/config.md`.
    name: &'static str,
    /// What whatis(1) says of it.
    about: &'static str,
    /// Where the file is, or how it is named.
    synopsis: &'static [&'static str],
    /// Pages that readers of this one need, too.
    related: &'static [(&'static str, u8)],
}

const MANUALS: &[Manual] = &[
    Manual {
        name: "config",
        about: "configuration of fullclock",
        synopsis: &["/etc/fullclock/config.toml", "~/.config/fullclock/config.toml"],
        related: &[
            ("fullclock", 1),
            ("fullclock-advisories", 1),
            ("fullclock-doctor", 1),
            ("fullclock-profile", 5),
            ("fullclock-plan", 5),
        ],
    },
    Manual {
        name: "plan",
        about: "plan of an experiment",
        synopsis: &["fullclock experiment FILE.toml"],
        related: &[
            ("fullclock", 1),
            ("fullclock-experiment", 1),
            ("fullclock-config", 5),
            ("fullclock-profile", 5),
        ],
    },
    Manual {
        name: "profile",
        about: "settings that are applied together",
        synopsis: &["/etc/fullclock/NAME.toml"],
        related: &[
            ("fullclock", 1),
            ("fullclock-plan", 1),
            ("fullclock-apply", 1),
            ("fullclock-config", 5),
            ("fullclock-plan", 5),
        ],
    },
];

/// Every page with its text.
pub(crate) fn files() -> Result<Vec<(PathBuf, String)>> {
    MANUALS.iter().map(Manual::file).collect()
}

impl Manual {
    fn file(&self) -> Result<(PathBuf, String)> {
        let Manual { name, about, .. } = self;
        let source = format!("docs/{name}.md");
        let markdown = fs::read_to_string(workspace().join(&source)).context(source.clone())?;
        let synopsis: Vec<String> = self.synopsis.iter().map(|it| bold(it)).collect();
        let related: Vec<String> = self.related.iter().map(reference).collect();
        let title = roff::escaped(&format!("FULLCLOCK-{}", name.to_uppercase()));
        let text = format!(
            ".\\\" Made of {source} by `cargo xtask docs --pages`.\n\
             .TH {title} 5 \"\" fullclock \"fullclock manual\"\n\
             .SH NAME\nfullclock\\-{name} \\- {about}\n\
             .SH SYNOPSIS\n{}\n\
             .SH DESCRIPTION\n{}\
             .SH SEE ALSO\n{}\n",
            synopsis.join("\n.br\n"),
            roff::page(&markdown),
            related.join(",\n"),
        );
        Ok((Path::new("packaging/man").join(format!("fullclock-{name}.5")), text))
    }
}

/// A line of its own, in bold.
fn bold(line: &str) -> String {
    format!(".B {}", roff::escaped(line))
}

/// `.BR fullclock\-plan (1)`.
fn reference((page, section): &(&str, u8)) -> String {
    format!(".BR {} ({section})", roff::escaped(page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_folder_holds_these_pages_and_no_others() {
        let made: BTreeSet<PathBuf> = files().unwrap().into_iter().map(|(path, _)| path).collect();
        let folder = fs::read_dir(workspace().join("packaging/man")).unwrap();
        let there = folder.map(|it| Path::new("packaging/man").join(it.unwrap().file_name()));
        assert_eq!(there.collect::<BTreeSet<_>>(), made);
    }

    #[test]
    fn a_page_leads_to_pages_of_this_section_that_there_are() {
        let names: Vec<String> =
            MANUALS.iter().map(|it| format!("fullclock-{}", it.name)).collect();
        for (page, _) in MANUALS.iter().flat_map(|it| it.related).filter(|it| it.1 == 5) {
            assert!(names.iter().any(|it| it == page), "{page}");
        }
    }
}
