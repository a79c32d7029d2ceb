//! Pages of text instead of the table: every line of the ledger, what is not known here, the keys.

use super::layout::{left, right};
use super::message::Page;
use facts::Missing;
use rules::watch::{Column, Reading, Share, reason};

/// The lines of a page, no longer than `columns`.
pub(super) fn lines(page: Page, reading: Option<&Reading>, columns: usize) -> Vec<String> {
    let lines = match page {
        Page::Table => Vec::new(),
        Page::Help => HELP.lines().map(str::to_owned).collect(),
        Page::Missing => reading.map(missing).unwrap_or_default(),
        Page::Ledger => reading.map(ledger).unwrap_or_default(),
    };
    // A line of the books is a row of its own, which what is left of it must not look like.
    let hanging = if page == Page::Ledger { 4 } else { 0 };
    let wrap = |line: &String| -> Vec<String> {
        let indent = line.len() - line.trim_start().len() + hanging;
        let indent = " ".repeat(indent.min(columns / 2));
        let options = textwrap::Options::new(columns.max(1)).subsequent_indent(&indent);
        textwrap::wrap(line, options).into_iter().map(std::borrow::Cow::into_owned).collect()
    };
    lines.iter().flat_map(wrap).collect()
}

/// Metrics without a value, together where they have the same reason.
fn missing(reading: &Reading) -> Vec<String> {
    let mut reasons: Vec<(&Missing, Vec<String>)> = Vec::new();
    for column in &reading.columns {
        let Some(missing) = column.missing() else { continue };
        let name = name(column);
        match reasons.iter_mut().find(|(reason, _)| *reason == missing) {
            Some((_, names)) => names.push(name),
            None => reasons.push((missing, vec![name])),
        }
    }
    if reasons.is_empty() {
        return vec!["Every metric has a value here.".to_owned()];
    }
    let mut lines = vec!["Metrics without a value on this machine".to_owned(), String::new()];
    for (missing, names) in reasons {
        lines.push(names.join(", "));
        lines.push(format!("    {}", reason(missing)));
    }
    lines
}

fn name(column: &Column) -> String {
    format!("{} {}", column.metric.id, column.part()).trim_end().to_owned()
}

/// Every line of the ledger, with its source.
fn ledger(reading: &Reading) -> Vec<String> {
    let shares = match &reading.shares {
        Ok(shares) => shares,
        Err(missing) => return vec![format!("No ledger: {}", reason(missing))],
    };
    let mut text = vec!["Where the time of all CPUs went, in % of it".to_owned(), String::new()];
    let percent = |ns: i64| right(&format!("{:.2}", shares.percent(ns)), 7);
    // Parts come largest first; those that round to nothing are many.
    let is_shown = |it: &&Share| {
        it.part.is_empty() || it.ns.as_ref().is_ok_and(|ns| shares.percent(*ns).abs() >= 0.005)
    };
    let shown = shares.lines.iter().filter(is_shown);
    for Share { title, part, ns, uncertainty_ns, method, source, .. } in shown {
        let part = if part.is_empty() { String::new() } else { format!(": {part}") };
        let title = left(&format!("{title}{part}"), TITLE);
        let uncertainty = shares.percent(i64::try_from(*uncertainty_ns).unwrap_or(i64::MAX));
        text.push(match ns {
            Err(missing) => format!("{title} {}  {}", right("-", 7), reason(missing)),
            Ok(ns) if source.is_empty() => format!("{title} {}", percent(*ns)),
            Ok(ns) => {
                format!("{title} {} +-{uncertainty:.2}  {}: {source}", percent(*ns), method.name())
            }
        });
    }
    text.push(format!("{} {}", left("unexplained", TITLE), percent(shares.unexplained_ns)));
    text.push(String::new());
    let n_hidden = shares.lines.len() - shares.lines.iter().filter(is_shown).count();
    if n_hidden > 0 {
        text.push(format!("{n_hidden} parts of less than 0.005 % are left out"));
    }
    text.extend(shares.notes.iter().cloned());
    text
}

/// The longest title of a line, and room for a part.
const TITLE: usize = 36;

const HELP: &str = "\
Keys
  q, Ctrl-C          leave
  arrows, h j k l    move the cursor; PgUp, PgDn, Home and End by screens
  Tab, Shift-Tab     the next and the previous column
  s                  sort by the column under the cursor: down, up, by number
  v                  rows of CPUs, of cores, of packages
  Enter, e           open a column that ends in + into its parts, or close it
  /                  show only some CPUs (0-7,16) or columns (part of a name)
  Esc                show all again; leave a page
  space              freeze the screen; in a recording: pause
  p                  measure the clock of busy CPUs, of all, of none
  b                  the books: every line of the ledger with its source
  m                  what is missing here, and what would show it
  ?                  this page
In a recording
  .                  one interval on
  + -                faster, slower
  r                  from the beginning

What the table shows
  -                  unknown; the lines below the table say why
  *                  without something that is unknown
  (blank)            a value of the package or of the machine, in their rows
  +                  a sum of parts
  an arrow           sorted by this column, down or up
The bar has a letter for each line of the ledger, as long as its share of the
time of all CPUs. What no line accounts for is ?, and always shown.";
