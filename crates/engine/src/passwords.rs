//! Passwords and tokens in a command that results, reports, pages and the journal of changes would keep.

use anyhow::{Result, bail};
use facts::secrets;

/// Refuses the words of a command, given as this option, where they hold a secret. The error shows them without it, and says
/// where to give it instead.
pub fn refused(option: &str, words: &[String]) -> Result<()> {
    if !secrets::are_in(words) {
        return Ok(());
    }
    let shown = secrets::masked_words(words).join(" ");
    bail!(
        "{option} {shown}: it holds a password or token (***), which results, reports and the journal of changes would show; \
         leave it out, and give it in ~/.pgpass or the file that PGPASSFILE names, in an option file of MySQL or MariaDB \
         (~/.my.cnf, --defaults-extra-file), in an environment variable set before fullclock is started, or in a script that \
         only you can read"
    )
}

/// Refuses a command line in one text, as [`refused`] does.
pub fn refused_in(option: &str, text: &str) -> Result<()> {
    // A text with an open quote is no command: what runs it says so.
    let words = shlex::split(text).unwrap_or_else(|| vec![text.to_owned()]);
    refused(option, &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        refused_in("--prove", text).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_password_is_refused_wherever_it_stands_and_not_repeated() {
        for text in [
            "plsql-loop --dsn postgres://me:secret@db1/x",
            "plsql-loop --dsn=postgres://me:secret@db1/x",
            "plsql-loop --dsn 'host=db1 password=secret'",
            "plsql-loop --dsn mysql://me:secret@db1",
            "plsql-loop --dsn 'postgresql:///db?p%61ssword=secret'",
            "pgbench postgres://me:secret@db1/x",
            "command -- sh -c 'PGPASSWORD=secret pgbench'",
            "mysqlslap -uroot -psecret",
            "sysbench --mysql-password secret run",
            "pgbench 'postgres://me:secret@db1/x",
        ] {
            let error = refusal(text);
            assert!(
                error.starts_with("--prove ") && error.contains("PGPASSFILE"),
                "{text}: {error}"
            );
            assert!(!error.contains("secret"), "{error}");
        }
        assert_eq!(refusal("plsql-loop --dsn postgres://me@db1:5432/x --rows 3"), "");
        assert_eq!(refusal("./query --a=b"), "");
    }
}
