//! The lines of a capture, and whether the last of them are there.

use super::{Answer, CaptureError, link_key};
use facts::Why;
use std::collections::BTreeMap;

/// The second line of a capture that has a last one.
pub(in super::super) const PROMISE: &str = "# its last line is `//- end`";
/// That line. Who adds answers by hand may do so behind it.
pub(in super::super) const END: &str = "//- end\n";
/// What it names.
const END_NAME: &str = "end";

/// The lines of a capture that count, and whether its last ones were lost. Its last answer may have been cut, too, so that it does not
/// count then.
pub(super) fn whole(body: &str) -> (&str, bool) {
    let is_promised = body.split_once('\n').map_or(body, |it| it.0) == PROMISE;
    let has_end =
        || body.rmatch_indices("\n//- end").any(|(at, _)| body.get(at + 1..).is_some_and(is_end));
    if !is_promised || has_end() {
        return (body, false);
    }
    let last = body.rfind("\n//- ").map_or(0, |it| it + 1);
    (body.get(..last).unwrap_or_default(), true)
}

/// Whether this begins with the last line; only its newline may be missing.
fn is_end(text: &str) -> bool {
    text.starts_with(END) || text == END.trim_end()
}

/// Parses everything below the first line; `first` is the number of the first line of `body`.
pub(super) fn answers(body: &str, first: usize) -> Result<BTreeMap<String, Answer>, CaptureError> {
    let mut answers = BTreeMap::new();
    let mut open: Option<(String, Vec<&str>)> = None;
    for (number, line) in (first..).zip(body.split_inclusive('\n')) {
        let wrong = |expected| CaptureError::Line { line: number, found: cut(line), expected };
        let content = line.strip_suffix('\n').unwrap_or(line);
        if let Some(name) = content.strip_prefix("//- ") {
            if let Some((name, lines)) = open.take() {
                answers.insert(name, answer(&lines).map_err(wrong)?);
            }
            match name.split_once(" -> ") {
                Some((path, target)) => {
                    answers.insert(link_key(path.trim()), Ok(target.as_bytes().to_vec()));
                }
                None => open = Some((name.trim().to_owned(), Vec::new())),
            }
        } else if let Some((_, lines)) = &mut open {
            lines.push(line);
        } else if !content.trim().is_empty() && !content.starts_with('#') {
            return Err(wrong("a line that starts with `//- `"));
        }
    }
    // It is no answer.
    if let Some((name, lines)) = open.filter(|(name, _)| name != END_NAME) {
        let line = first + body.lines().count().saturating_sub(1);
        let wrong = |expected| CaptureError::Line { line, found: cut(&name), expected };
        answers.insert(name.clone(), answer(&lines).map_err(wrong)?);
    }
    Ok(answers)
}

/// What the lines under one header mean.
fn answer(lines: &[&str]) -> Result<Answer, &'static str> {
    if let [only] = lines
        && let Some(mark) = only.trim_end_matches('\n').strip_prefix('!')
    {
        return match mark.split_once(' ').unwrap_or((mark, "")) {
            ("absent", _) => Ok(Err(Why::Absent)),
            ("denied", _) => Ok(Err(Why::Denied)),
            ("not-collected", _) => Ok(Err(Why::NotCollected)),
            ("failed", error) => Ok(Err(Why::Failed(error.to_owned()))),
            ("hidden", hypervisor) => Ok(Err(Why::Hidden(hypervisor.to_owned()))),
            ("not-here", because) => Ok(Err(Why::NotHere(because.to_owned()))),
            ("bytes", digits) => {
                bytes(digits).map(Ok).ok_or("an even number of hexadecimal digits")
            }
            _ => {
                Err("!absent, !denied, !not-collected, !not-here TEXT, !failed TEXT or !bytes HEX")
            }
        };
    }
    let mut text = String::new();
    for line in lines {
        if line.trim_end_matches('\n') == "\\" {
            // Only ever the last line: the one before it has no newline.
            text.truncate(text.trim_end_matches('\n').len());
        } else {
            text.push_str(line.strip_prefix('\\').unwrap_or(line));
        }
    }
    Ok(Ok(text.into_bytes()))
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| {
        let (high, low) = (char::from(*pair.first()?), char::from(*pair.get(1)?));
        u8::try_from(high.to_digit(16)? * 16 + low.to_digit(16)?).ok()
    };
    digits.trim().as_bytes().chunks(2).map(pair).collect()
}

pub(super) fn cut(line: &str) -> String {
    line.chars().take(60).collect()
}
