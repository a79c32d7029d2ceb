//! The account that a temporary server runs under: database servers refuse to run as root.

/// A user of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    /// Its number; never 0.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
}

/// The first of `names` that /etc/passwd (passwd(5)) has and that is not root.
pub(super) fn unprivileged(names: &[&str], passwd: &str) -> Option<Account> {
    names.iter().find_map(|name| {
        let account = passwd.lines().filter_map(|line| account_of(line, name)).next();
        account.filter(|it| it.uid != 0 && it.gid != 0)
    })
}

fn account_of(line: &str, name: &str) -> Option<Account> {
    let mut fields = line.split(':');
    if fields.next()? != name {
        return None;
    }
    let _password = fields.next()?;
    Some(Account { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/usr/sbin/nologin\n\
                          postgres:x:112:119::/var/lib/postgresql:/bin/bash\nmysql:x:0:0::/:/bin/sh\ncut:x\n";

    #[test]
    fn the_databases_own_account_comes_before_nobody() {
        let uid = |names: &[&str]| unprivileged(names, PASSWD).map(|it| it.uid);
        assert_eq!(uid(&["postgres", "nobody"]), Some(112));
        assert_eq!(uid(&["absent", "nobody"]), Some(65534));
    }

    #[test]
    fn root_by_another_name_and_cut_lines_are_nobody() {
        assert_eq!(unprivileged(&["root", "mysql", "cut", "absent"], PASSWD), None);
    }
}
