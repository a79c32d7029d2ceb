//! The keys, and what the table and the bar show.

use super::super::order::Level;
use super::super::text::left;
use super::hanging;

pub(super) fn lines(levels: &[Level], columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let rows = row_key(levels);
    let rows: Vec<(&str, &str)> = rows.iter().map(|it| ("v", it.as_str())).collect();
    lines.push("Keys".to_owned());
    lines.extend(described(&[MOVING, &rows, REST].concat(), columns));
    lines.push("In a recording".to_owned());
    lines.extend(described(RECORDING, columns));
    lines.push(String::new());
    lines.push("What the screen shows".to_owned());
    lines.extend(described(SHOWN, columns));
    lines
}

/// What `v` does; nothing where there is nothing to choose.
fn row_key(levels: &[Level]) -> Option<String> {
    let names: Vec<&str> = levels.iter().map(|it| it.name()).collect();
    (names.len() > 1).then(|| format!("rows of {}", names.join(", of ")))
}

fn described(list: &[(&str, &str)], columns: usize) -> Vec<String> {
    const KEYS: usize = 19;
    let of = |(keys, text): &(&str, &str)| {
        hanging(&format!("  {}{text}", left(keys, KEYS)), KEYS + 2, columns)
    };
    list.iter().flat_map(of).collect()
}

type Described = &'static [(&'static str, &'static str)];

const MOVING: Described = &[
    ("q, Ctrl-C", "leave"),
    ("arrows, h j k l", "move the cursor; PgUp, PgDn, Home and End by screens"),
    ("Tab, Shift-Tab", "the next and the previous column"),
    ("s", "sort by the column under the cursor: down, up, by number"),
];

const REST: Described = &[
    ("Enter, e", "open a column that ends in + into its parts, or close it"),
    ("i", "what the column under the cursor is"),
    ("/", "show only some CPUs (0-7,16) or columns (part of a name)"),
    ("Esc", "show all again; leave a page"),
    ("space", "freeze the screen; in a recording: pause"),
    ("p", "measure the clock of busy CPUs, of all, of none"),
    ("f", "the findings of the audit, with evidence and fixes"),
    ("b", "the ledger: every line with its source"),
    ("m", "which metrics are unknown here, and what would show them"),
    ("?", "this page"),
];

const RECORDING: Described =
    &[(".", "one interval on"), ("+ -", "faster, slower"), ("r", "from the beginning")];

const SHOWN: Described = &[
    ("-", "unknown; the lines below the table say why"),
    ("*", "without something that is unknown"),
    ("(blank)", "a value of the package or of the machine, in their rows"),
    ("+", "a sum of parts"),
    ("an arrow", "sorted by this column, down or up"),
    ("amber, red", "beyond what is ordinary; i says from which value on"),
    (
        "the bar",
        "the time of all CPUs: useful work, then losses, then what no line of the ledger explains, then idle time. A loss of 5 % \
         or more is red. Without colour each line of the ledger has a letter.",
    ),
    ("charts", "begin at zero; shares reach to 100 %"),
];
