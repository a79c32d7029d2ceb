//! Tables that others published, and what has to be said of them.
//!
//! Each is one run of a test under each setting, with what was read beside it. What was not written down cannot be known: how
//! much two runs of the same setting differ, so that no difference has an interval.

mod kipmid;
mod kipmid_loaded;
mod out_of_order;
mod polling_loop;
mod table;
mod turbo;

pub use kipmid::{KipmidRow, KipmidTable};
pub use kipmid_loaded::{AtOdds, LoadedRow, LoadedTable};
pub use out_of_order::OutOfOrder;
pub use polling_loop::{ModelledLoop, Predicted};
pub use turbo::{Limited, TurboRow, TurboTable};

use serde::{Deserialize, Serialize};
use table::Table;

/// A table that was recognised by its heading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "table", rename_all = "kebab-case")]
pub enum Published {
    /// A CPU test under settings of turbo, governor and idle states, with the columns of turbostat.
    Turbo(TurboTable),
    /// Reading a BMC under limits of the kernel's IPMI thread, with what that took of a CPU.
    Kipmid(KipmidTable),
    /// The same while every CPU is busy.
    KipmidLoaded(LoadedTable),
}

/// The table in this text: a heading, and a line for each setting. Lines that begin with `#` say where it is from.
///
/// Errors: in words, with the number of the line.
pub fn from_csv(text: &str) -> Result<Published, String> {
    let table = Table::of(text)?;
    if table.heading == turbo::HEADING {
        return Ok(Published::Turbo(turbo::of(&table)?));
    }
    if table.heading == kipmid::HEADING {
        return Ok(Published::Kipmid(kipmid::of(&table)?));
    }
    if table.heading == kipmid_loaded::HEADING {
        return Ok(Published::KipmidLoaded(kipmid_loaded::of(&table)?));
    }
    let (line, found) = (table.heading_line, &table.heading);
    let [turbo, kipmid, loaded] = [turbo::HEADING, kipmid::HEADING, kipmid_loaded::HEADING];
    Err(format!(
        "line {line}: the heading is `{found}`, expected `{turbo}`, `{kipmid}` or `{loaded}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        from_csv(text).unwrap_err()
    }

    #[test]
    fn a_line_that_cannot_be_read_is_told_by_its_number() {
        let turbo = |line: &str| refused(&format!("# from a page\n{}\n{line}\n", turbo::HEADING));
        assert_eq!(turbo("a,1.0,,"), "line 3: 4 fields, expected 6 as the heading has");
        assert_eq!(turbo("a,fast,,,,"), "line 3: elapsed_s is `fast`, expected a number above 0");
        assert_eq!(turbo("a,0,,,,"), "line 3: elapsed_s is `0`, expected a number above 0");
        assert_eq!(turbo("a,1.0,,NaN,,"), "line 3: busy_ghz is `NaN`, expected a number above 0");
        assert_eq!(turbo(",1.0,,,,"), "line 3: the setting has no name");
        let kipmid = |line: &str| refused(&format!("{}\n\n{line}\n", kipmid::HEADING));
        let expected = "line 3: kipmid_cpu_percent_ps is `-1`, expected a number from 0 on";
        assert_eq!(kipmid("default,1,1,-1,1"), expected);
    }

    #[test]
    fn another_table_and_an_empty_one_are_refused_with_what_is_expected() {
        let other = refused("a,b\n1,2\n");
        assert!(other.starts_with("line 1: the heading is `a,b`, expected `setting,"), "{other}");
        assert_eq!(
            refused("# only a comment\n"),
            "no heading, expected a line with the names of the columns"
        );
        let bare = format!("{}\n", turbo::HEADING);
        assert_eq!(refused(&bare), "no line below the heading, expected one for each setting");
    }
}
