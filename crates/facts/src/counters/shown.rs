//! Tables as text, for tests.

use super::Table;
use crate::Fact;
use std::fmt::Write as _;

/// The table after `fill` has written `texts` into it, one after the other.
pub(super) fn after(texts: &[&str], fill: impl Fn(&[u8], u64, &mut Fact<Table>)) -> String {
    let mut table = Err(crate::Missing::not_collected("the table"));
    for (text, read_at) in texts.iter().zip(1..) {
        fill(text.as_bytes(), read_at, &mut table);
        let stamped = |it: &Table| (0..it.rows().len()).all(|row| it.read_at(row) == read_at);
        assert!(table.as_ref().map_or(true, stamped), "every row says when it was read");
    }
    table.map_or_else(|missing| missing.to_string(), |it| of(&it))
}

fn of(table: &Table) -> String {
    let names: Vec<&str> = table.columns().iter().map(|it| &**it).collect();
    let mut text = names.join(if names.iter().any(|it| it.contains(' ')) { ", " } else { " " });
    text.push('\n');
    for (index, row) in table.rows().iter().enumerate() {
        let cells: Vec<String> = table.row_cells(index).iter().map(u64::to_string).collect();
        writeln!(text, "{row}: {}", cells.join(" ")).unwrap();
    }
    for (column, why) in table.blank_columns() {
        writeln!(text, "{column}: {why}").unwrap();
    }
    text
}
