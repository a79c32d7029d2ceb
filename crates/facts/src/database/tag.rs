//! The first words of a statement, as far as they are SQL's own: `COPY`, `CREATE INDEX`. Nothing that a user named is among them.

/// Commands that are named by their first word.
const COMMANDS: &[&str] = &[
    "ANALYZE",
    "BEGIN",
    "CALL",
    "CHECKPOINT",
    "CLUSTER",
    "COMMENT",
    "COMMIT",
    "COPY",
    "DECLARE",
    "DELETE",
    "DO",
    "END",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "FLUSH",
    "GRANT",
    "INSERT",
    "KILL",
    "LISTEN",
    "LOCK",
    "MERGE",
    "NOTIFY",
    "OPTIMIZE",
    "PREPARE",
    "REINDEX",
    "REPAIR",
    "REPLACE",
    "RESET",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SELECT",
    "SET",
    "SHOW",
    "TRUNCATE",
    "UPDATE",
    "VACUUM",
    "VALUES",
    "WITH",
];

/// Commands whose kind of object belongs to their name.
const WITH_OBJECT: &[&str] = &["ALTER", "CREATE", "DROP", "LOAD", "REFRESH", "START"];

/// Kinds of objects.
const OBJECTS: &[&str] = &[
    "DATA",
    "DATABASE",
    "EXTENSION",
    "FUNCTION",
    "INDEX",
    "MATERIALIZED",
    "PROCEDURE",
    "PUBLICATION",
    "ROLE",
    "SCHEMA",
    "SEQUENCE",
    "SUBSCRIPTION",
    "SYSTEM",
    "TABLE",
    "TABLESPACE",
    "TRANSACTION",
    "TRIGGER",
    "TYPE",
    "USER",
    "VIEW",
];

/// Words that may stand between a command and its object: CREATE UNIQUE INDEX, CREATE OR REPLACE FUNCTION.
const BETWEEN: &[&str] = &[
    "FOREIGN",
    "FULLTEXT",
    "GLOBAL",
    "LOCAL",
    "OR",
    "RECURSIVE",
    "REPLACE",
    "SPATIAL",
    "TEMP",
    "TEMPORARY",
    "UNIQUE",
    "UNLOGGED",
];

/// What a statement of neither list is called.
const OTHER: &str = "other";

/// The command of a statement; empty where there is none.
pub fn tag(statement: &str) -> String {
    let mut words = words(statement);
    let Some(first) = words.next() else { return String::new() };
    if first == "AUTOVACUUM" {
        return "autovacuum".to_owned();
    }
    if COMMANDS.contains(&&*first) {
        return first;
    }
    if !WITH_OBJECT.contains(&&*first) {
        return OTHER.to_owned();
    }
    let object = words.find(|it| !BETWEEN.contains(&&**it));
    match object.filter(|it| OBJECTS.contains(&&**it)) {
        Some(object) if object == "MATERIALIZED" => format!("{first} MATERIALIZED VIEW"),
        Some(object) => format!("{first} {object}"),
        None => first,
    }
}

/// Commands that work through whole tables: each is a phase of its own. The others are the statements of an application.
pub fn is_bulk(tag: &str) -> bool {
    const BULK: &[&str] = &[
        "ALTER TABLE",
        "ANALYZE",
        "CLUSTER",
        "COPY",
        "CREATE INDEX",
        "CREATE MATERIALIZED VIEW",
        "CREATE TABLE",
        "LOAD DATA",
        "OPTIMIZE",
        "REFRESH MATERIALIZED VIEW",
        "REINDEX",
        "REPAIR",
        "VACUUM",
    ];
    BULK.contains(&tag)
}

/// The words of a statement in capitals, without its comments, up to the first character that belongs to none.
fn words(statement: &str) -> impl Iterator<Item = String> {
    let mut rest = statement;
    std::iter::from_fn(move || {
        rest = without_comments(rest);
        let end = rest.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end)?;
        rest = after;
        (!word.is_empty()).then(|| word.to_ascii_uppercase())
    })
}

/// From the next word on: without white space, brackets and comments before it.
fn without_comments(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|it: char| it.is_whitespace() || it == '(' || it == ';');
        let after = if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/")
        } else if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n')
        } else {
            return rest;
        };
        // A comment that does not end is all that there is.
        rest = after.map_or("", |(_, after)| after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_called_by_its_command() {
        for (statement, expected) in [
            ("copy orders from stdin", "COPY"),
            ("CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)", "CREATE INDEX"),
            ("create or replace function f() returns int", "CREATE FUNCTION"),
            ("REFRESH MATERIALIZED VIEW v", "REFRESH MATERIALIZED VIEW"),
            ("/* app:web */ -- and more\n (select 1)", "SELECT"),
            ("autovacuum: VACUUM ANALYZE public.t", "autovacuum"),
            ("ALTER TABLE t ADD PRIMARY KEY (a)", "ALTER TABLE"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", "LOAD DATA"),
            ("vacuum(analyze) t", "VACUUM"),
            ("", ""),
            ("/* only", ""),
        ] {
            assert_eq!(tag(statement), expected, "{statement}");
        }
    }

    #[test]
    fn nothing_that_a_user_wrote_is_part_of_it() {
        for statement in
            ["secret", "ALTER secret", "CREATE secret INDEX", "<insufficient privilege>"]
        {
            let tag = tag(statement);
            assert!(!tag.to_lowercase().contains("secret"), "{statement}: {tag}");
        }
        assert_eq!(tag("ALTER USER me PASSWORD 'secret'"), "ALTER USER");
    }
}
