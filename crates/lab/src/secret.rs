//! Passwords in connection strings: never kept, never printed.

/// What stands for a password.
const MARK: &str = "<password>";

/// `dsn` with its password replaced by a mark: in an address (`scheme://user:password@host`), in its parameters
/// (`?password=`) and in a list of keywords (`password=word`, `password='two words'`).
pub(crate) fn hidden(dsn: &str) -> String {
    let in_address = match dsn.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", hidden_in_authority(rest)),
        None => dsn.to_owned(),
    };
    hidden_in_keywords(&in_address)
}

/// `user:password@host/...`: the password is all between the first colon and the last at sign before the path.
fn hidden_in_authority(rest: &str) -> String {
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    // A password may hold a slash that should have been written as %2F; it is hidden all the same.
    let Some(at) = rest.rfind('@') else { return rest.to_owned() };
    let (authority, host) = rest.split_at(at);
    match authority.split_once(':') {
        Some((user, _)) if !user.contains(['/', '?']) || end > at => format!("{user}:{MARK}{host}"),
        _ => rest.to_owned(),
    }
}

/// Every `password=...`, whatever comes before it, up to a blank, an ampersand or the end of the quotes.
fn hidden_in_keywords(text: &str) -> String {
    const KEY: &str = "password";
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(found) = rest.to_ascii_lowercase().find(KEY) {
        let (before, key) = rest.split_at(found);
        let (key, after) = key.split_at(KEY.len());
        shown.push_str(before);
        shown.push_str(key);
        rest = after;
        let trimmed = after.trim_start();
        if let Some(value) = trimmed.strip_prefix('=') {
            shown.push('=');
            shown.push_str(MARK);
            rest = after_value(value.trim_start());
        }
    }
    shown.push_str(rest);
    shown
}

/// What comes behind a value, which may be in single quotes with backslashes (libpq, "Keyword/Value Connection
/// Strings").
fn after_value(value: &str) -> &str {
    let Some(quoted) = value.strip_prefix('\'') else {
        return value.find([' ', '\t', '\n', '&']).map_or("", |end| &value[end..]);
    };
    let mut is_escaped = false;
    for (place, letter) in quoted.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\'' => return &quoted[place + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_kept_wherever_it_stands() {
        for (dsn, shown) in [
            ("postgresql://bob:s3cret@db7/app", "postgresql://bob:<password>@db7/app"),
            ("postgresql://bob:s3/c@ret@db7/app", "postgresql://bob:<password>@db7/app"),
            (
                "postgresql://db7/app?user=bob&password=s3cret&x=1",
                "postgresql://db7/app?user=bob&password=<password>&x=1",
            ),
            ("host=db7 password=s3cret user=bob", "host=db7 password=<password> user=bob"),
            ("host=db7 PASSWORD = 's3 \\'cret' user=bob", "host=db7 PASSWORD=<password> user=bob"),
            ("mysql://bob:s3cret@localhost", "mysql://bob:<password>@localhost"),
        ] {
            assert_eq!(hidden(dsn), shown);
        }
    }

    #[test]
    fn what_holds_no_password_is_kept_as_it_is() {
        for dsn in ["postgresql://bob@db7/app", "host=/run/postgresql dbname=app", "service=x", ""]
        {
            assert_eq!(hidden(dsn), dsn);
        }
    }
}
