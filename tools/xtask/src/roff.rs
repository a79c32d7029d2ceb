//! Markdown as the text of a manual page: what pages of `docs/` have, as groff's `man` macros show it.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The text behind the first heading, which stands above the page already.
pub(crate) fn page(markdown: &str) -> String {
    let mut page = Page::default();
    Parser::new_ext(markdown, Options::ENABLE_TABLES).for_each(|it| page.add(it));
    page.text
}

/// Text in which nothing is a request or an escape, and each minus is one.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

/// A page as far as it was read.
#[derive(Default)]
struct Page {
    text: String,
    /// The words of the block that is read.
    words: String,
    is_code: bool,
    /// The names of a table's columns.
    columns: Vec<String>,
    /// The cells of the row that is read.
    cells: Vec<String>,
}

impl Page {
    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.is_code => self.words.push_str(&escaped(&text)),
            // A hyphen may be broken at, a minus not.
            Event::Text(text) => self.words.push_str(&text.replace('\\', "\\e")),
            Event::Code(code) => self.words.extend(["\\fB", &escaped(&code), "\\fR"]),
            Event::SoftBreak | Event::HardBreak => self.words.push('\n'),
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::Rule => {}
        }
    }

    fn begin(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph => self.request(".PP"),
            Tag::Item => self.request(".IP \\(bu 2"),
            Tag::Emphasis => self.words.push_str("\\fI"),
            Tag::Strong => self.words.push_str("\\fB"),
            Tag::CodeBlock(_) => {
                self.is_code = true;
                self.request(".PP\n.RS 4\n.nf");
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(HeadingLevel::H1) => self.words.clear(),
            TagEnd::Heading(level) => {
                // Bold by itself.
                let title = std::mem::take(&mut self.words).replace("\\fB", "").replace("\\fR", "");
                match level {
                    HeadingLevel::H2 => self.request(&format!(".SH {}", title.to_uppercase())),
                    _ => self.request(&format!(".SS {title}")),
                }
            }
            TagEnd::Paragraph | TagEnd::Item => self.flush(),
            TagEnd::Emphasis | TagEnd::Strong => self.words.push_str("\\fR"),
            TagEnd::CodeBlock => {
                self.flush();
                self.is_code = false;
                self.request(".fi\n.RE");
            }
            TagEnd::TableCell => self.cells.push(std::mem::take(&mut self.words)),
            TagEnd::TableHead => self.columns = std::mem::take(&mut self.cells),
            TagEnd::TableRow => self.row(),
            _ => {}
        }
    }

    /// A line that groff obeys. A paragraph that begins a section or an item needs none.
    fn request(&mut self, request: &str) {
        let last = self.text.lines().last().unwrap_or_default();
        let begins =
            self.text.is_empty() || [".SH", ".SS", ".IP"].iter().any(|it| last.starts_with(it));
        if request == ".PP" && begins {
            return;
        }
        self.text.extend([request, "\n"]);
    }

    /// The words that were read, as lines that groff does not obey.
    fn flush(&mut self) {
        for line in std::mem::take(&mut self.words).lines() {
            if line.starts_with(['.', '\'']) {
                self.text.push_str("\\&");
            }
            self.text.extend([line, "\n"]);
        }
    }

    /// A row of a table: its first cell is a term, the second says what that is, and others have their column's name before them.
    fn row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let mut cells = cells.iter().zip(&self.columns);
        let Some((term, _)) = cells.next() else { return };
        let meaning: Vec<String> = cells
            .enumerate()
            .map(|(at, (cell, column))| match at {
                0 => cell.clone(),
                _ => format!("{column}: {cell}"),
            })
            .collect();
        self.request(&format!(".TP\n{term}"));
        self.words = meaning.join("; ");
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_page_is_what_groff_knows() {
        let markdown = "# Title\n\nRun `a --b` and\n.c.\n\n## Keys here\n\nText\\here.\n\n```toml\n.x = \"a-b\"\n```\n\n- *one*\n- two\n";
        let expected = "Run \\fBa \\-\\-b\\fR and\n\\&.c.\n.SH KEYS HERE\nText\\ehere.\n.PP\n.RS 4\n.nf\n\\&.x = \"a\\-b\"\n.fi\n.RE\n\
                        .IP \\(bu 2\n\\fIone\\fR\n.IP \\(bu 2\ntwo\n";
        assert_eq!(page(markdown), expected);
    }

    #[test]
    fn a_row_of_a_table_is_a_term_and_what_it_is() {
        let markdown = "| key | what | unit |\n|---|---|---|\n| `a-b` | a share | percent |\n";
        assert_eq!(page(markdown), ".TP\n\\fBa\\-b\\fR\na share; unit: percent\n");
    }
}
