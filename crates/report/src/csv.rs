//! A field of CSV (RFC 4180): the one way to write a text into a table for a spreadsheet.

use crate::harmless::harmless;
use std::borrow::Cow;

/// A text as one field of one line.
///
/// A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula (OWASP, CSV
/// Injection). Such a cell gets an apostrophe before it, unless it is a number.
pub(super) fn field(text: &str) -> Cow<'_, str> {
    let is_formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let safe = harmless(text);
    if is_formula {
        return format!("\"'{}\"", safe.replace('"', "\"\"")).into();
    }
    if safe.contains([',', '"']) {
        return format!("\"{}\"", safe.replace('"', "\"\"")).into();
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_would_be_a_formula_begins_with_an_apostrophe_and_a_number_does_not() {
        let cells = ["=1+1", "+x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-5", "+1.5e3", "a=b", "-"];
        assert_eq!(
            cells.map(field).join("|"),
            "\"'=1+1\"|\"'+x\"|\"'-2+3\"|\"'@SUM(A1)\"|\"' =1\"|\"'\\r=1\"|-5|+1.5e3|a=b|\"'-\""
        );
    }

    #[test]
    fn a_text_stays_in_its_field_and_its_line() {
        assert_eq!(field("a,\"b\"\nc\u{202e}"), "\"a,\"\"b\"\"\\nc\\u202e\"");
        assert_eq!(field("=HYPERLINK(\"http://x\")"), "\"'=HYPERLINK(\"\"http://x\"\")\"");
    }
}
