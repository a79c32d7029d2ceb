//! Elements of HTML and SVG. What is not markup becomes it here alone, where it is escaped.

use crate::harmless::{harmless, harmless_lines};
use std::borrow::Cow;

/// Markup that is whole: every element in it is closed, every text escaped.
#[derive(Default)]
pub(crate) struct Markup(String);

/// The name of an attribute and its value.
pub(crate) type Attribute<'a> = (&'static str, &'a str);

impl Markup {
    /// Words. A number and its percent sign stay in one line.
    pub(crate) fn text(words: &str) -> Markup {
        Markup(escaped(&harmless(words)).replace(" %", "\u{a0}%"))
    }

    /// Words that somebody may copy into a shell or a file: every space and line end is one.
    pub(crate) fn verbatim(words: &str) -> Markup {
        Markup(escaped(&harmless_lines(words)).into_owned())
    }

    /// A style sheet of this program's own.
    pub(crate) fn style(sheet: &'static str) -> Markup {
        Markup(["<style>\n", sheet, "</style>"].concat())
    }

    /// One behind the other.
    pub(crate) fn all(parts: impl IntoIterator<Item = Markup>) -> Markup {
        Markup(parts.into_iter().fold(String::new(), |text, it| text + &it.0))
    }

    /// An element with what is in it.
    pub(crate) fn element(
        name: &'static str,
        attributes: &[Attribute<'_>],
        content: impl IntoIterator<Item = Markup>,
    ) -> Markup {
        let mut text = opened(name, attributes);
        text.push('>');
        for part in content {
            text.push_str(&part.0);
        }
        text.extend(["</", name, ">"]);
        if is_block(name) {
            text.push('\n');
        }
        Markup(text)
    }

    /// An element that holds nothing.
    pub(crate) fn empty(name: &'static str, attributes: &[Attribute<'_>]) -> Markup {
        let mut text = opened(name, attributes);
        text.push_str("/>");
        Markup(text)
    }

    /// The text of a file.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

fn opened(name: &str, attributes: &[Attribute<'_>]) -> String {
    let mut text = ["<", name].concat();
    for (name, value) in attributes {
        text.extend([" ", name, "=\"", &escaped(&harmless(value)), "\""]);
    }
    text
}

/// A line of its own for each, for whoever reads the source.
fn is_block(name: &str) -> bool {
    matches!(name, "div" | "section" | "p" | "li" | "tr" | "svg" | "figure" | "title" | "h1" | "h2")
}

/// As text and as the value of an attribute in double quotes (HTML, section 13.3).
fn escaped(words: &str) -> Cow<'_, str> {
    if !words.contains(['&', '<', '>', '"', '\'']) {
        return words.into();
    }
    let mut text = String::with_capacity(words.len() + 16);
    for letter in words.chars() {
        match letter {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            letter => text.push(letter),
        }
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_are_escaped_and_elements_closed() {
        assert_eq!(Markup::text("5 %").into_string(), "5\u{a0}%");
        assert_eq!(Markup::verbatim("5 %").into_string(), "5 %");
        let bold = Markup::element("b", &[("class", "\"><x")], [Markup::text("a < b & 'c'\u{1b}")]);
        assert_eq!(
            bold.into_string(),
            "<b class=\"&quot;&gt;&lt;x\">a &lt; b &amp; &#39;c&#39;\\u001b</b>"
        );
        assert_eq!(Markup::empty("line", &[("x1", "0")]).into_string(), "<line x1=\"0\"/>");
    }
}
