//! Passwords in the text of a workload, which names, results, reports and the journal of changes would keep.

use anyhow::{Result, bail};
use lab::database::holds_password;

/// Refuses the words of a workload, given as this option, where one of them holds a password. The error repeats the first word
/// alone.
pub(super) fn refused(option: &str, words: &[String]) -> Result<()> {
    let mut texts = words.iter().map(|it| it.strip_prefix("--dsn=").unwrap_or(it));
    if texts.any(holds_password) {
        bail!(
            "{option} {} ...: it holds a password, which results, reports and the journal of changes would show; leave it out, \
             and give it in ~/.pgpass or the file that PGPASSFILE names, or in MariaDB's option file, ~/.my.cnf",
            words.first().map_or("", String::as_str)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let words = shlex::split(text).unwrap();
        refused("--prove", &words).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_password_is_refused_wherever_it_stands_and_not_repeated() {
        for text in [
            "plsql-loop --dsn postgres://me:secret@db1/x",
            "plsql-loop --dsn=postgres://me:secret@db1/x",
            "plsql-loop --dsn 'host=db1 password=secret'",
            "plsql-loop --dsn mysql://me:secret@db1",
            "pgbench postgres://me:secret@db1/x",
        ] {
            let error = refusal(text);
            assert!(error.starts_with("--prove p") && error.contains("PGPASSFILE"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        assert_eq!(refusal("plsql-loop --dsn postgres://me@db1:5432/x --rows 3"), "");
        assert_eq!(refusal("./query --a=b"), "");
    }
}
