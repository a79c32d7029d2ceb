//! The page of all outputs of other programs that `fullclock explain` knows.

use facts::pasted::OUTPUTS;

const OPENING: &str = "# Outputs of other programs

What `fullclock explain` recognises in a pasted text. Made from the list itself by `cargo xtask docs`.

```sh
cpupower frequency-info | fullclock explain -
dmesg | fullclock explain -        # every message that it knows
fullclock explain -                # paste several, then Ctrl-D
```

Several outputs in one text are taken for those of one host, and each is explained once, in the order of the text. Where an
output shows what an audit reads (files, registers, answers of a controller), the same checks judge it. The others are judged by the
scales of the checks that are named. Prompts, colours and line ends of terminals are left out. English output is read; a command in another
language needs `LC_ALL=C`.

A text without a fault is said to be sound, with what it does not tell. That is more than it tells: an audit of the host sees the rest.

| output | shows | checks | does not tell |
| --- | --- | --- | --- |
";

const LOG: &str = "| kernel log (`dmesg`, `journalctl -k`) | messages about clocks, heat, power, timers and links | named with each message | what it printed no message for |\n";

/// The page: a row for each output.
pub fn page() -> String {
    let row = |it: &&facts::pasted::Output| {
        let checks: Vec<String> = it.checks.iter().map(|id| format!("`{id}`")).collect();
        format!("| `{}` | {} | {} | {} |\n", it.command(), it.shows(), checks.join(", "), it.untold)
    };
    OUTPUTS.iter().map(row).fold(OPENING.to_owned(), |page, row| page + &row) + LOG
}
