//! The checks' documentation as one page, for people who read before they install.

use crate::checks::CHECKS;

/// `docs/checks.md`: every check with what it looks at, why it matters and when to leave it alone.
pub fn page() -> String {
    let mut page = String::from(
        "# Checks\n\nMade from the checks themselves by `cargo xtask docs`; `fullclock explain ID` shows the same.\n",
    );
    for check in CHECKS {
        let doc = check.doc.trim().replace("\n## ", "\n### ");
        let doc = doc.strip_prefix("## ").map_or(doc.clone(), |rest| format!("### {rest}"));
        page.extend([
            "\n## ",
            check.id,
            "\n\n",
            check.title,
            "\n\n",
            &doc,
            "\n\n### References\n\n",
        ]);
        for reference in check.references {
            let line = match reference.url {
                "" => format!("- {}\n", reference.title),
                url => format!("- [{}]({url})\n", reference.title),
            };
            page.push_str(&line);
        }
    }
    page
}
