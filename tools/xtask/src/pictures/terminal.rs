//! Terminals: what a program printed, as the screen that a user would see.

use std::num::NonZeroU16;

use anyhow::{Context as _, Result};
use vt100::{Parser, Screen};

/// Leaves the alternate screen (xterm's private mode 1049): a full-screen program has ended.
const LEFT: &str = "\u{1b}[?1049l";

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) rows: u16,
}

/// A command at a shell's prompt and what it printed below, on a terminal that is as high as that.
pub(super) fn after_prompt(command: &str, printed: &str, columns: u16) -> Result<Screen> {
    let text = format!("\u{1b}[2m$\u{1b}[0m {command}\n\n{}", printed.trim_end());
    let rows = u16::try_from(text.lines().count()).context("the output is too long")?;
    screen(&text.replace('\n', "\r\n"), Size { columns, rows })
}

/// The last screen of a full-screen program: `sent` is everything that it sent to its terminal.
pub(super) fn last_screen(sent: &str, size: Size) -> Result<Screen> {
    let (shown, _) = sent.rsplit_once(LEFT).context("the program did not leave its screen")?;
    screen(shown, size)
}

fn screen(sent: &str, Size { columns, rows }: Size) -> Result<Screen> {
    let rows = NonZeroU16::new(rows).context("a terminal without rows")?;
    let columns = NonZeroU16::new(columns).context("a terminal without columns")?;
    let mut parser = Parser::new(rows, columns, 0);
    parser.process(sent.as_bytes());
    Ok(parser.screen().clone())
}

/// Runs a full-screen program in a guest until it has shown `seconds` of the machine, and prints what it sent to its terminal.
pub(super) fn script(command: &str, Size { columns, rows }: Size, seconds: u32) -> String {
    format!(
        "mkdir -p /dev/pts; mount -t devpts devpts /dev/pts
        (sleep {seconds}; printf q) | TERM=xterm-256color LANG=C.UTF-8 SHELL=/bin/sh \
            script -q -c 'stty rows {rows} cols {columns}; exec {command}' /dev/null"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_as_high_as_the_output_and_lines_start_at_its_left() {
        let screen = after_prompt("fullclock audit", "one\ntwo\n\n", 20).unwrap();
        assert_eq!(screen.contents(), "$ fullclock audit\n\none\ntwo");
        assert_eq!(screen.size().0.get(), 4);
    }

    #[test]
    fn what_a_program_leaves_behind_is_not_its_last_screen() {
        let size = Size { columns: 20, rows: 3 };
        let sent = "\u{1b}[?1049h\u{1b}[Hfirst\u{1b}[Hlast\u{1b}[K\u{1b}[?1049lcode 0";
        assert_eq!(last_screen(sent, size).unwrap().contents(), "last");
        assert!(last_screen("died", size).is_err());
    }
}
