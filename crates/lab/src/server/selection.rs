//! What `--server` may say: a product, a connection string, a process or a control group.

use crate::database::{is_dsn, without_password};
use facts::system::roles::{PRODUCTS, Product};
use std::fmt;
use std::str::FromStr;

/// Where control groups of either version are.
const GROUPS: &str = "/sys/fs/cgroup/";

/// A server that runs, as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerSelection {
    /// Every process of a product.
    Product(&'static Product),
    /// The server that answers at this connection string, which may hold a password.
    Dsn(String),
    /// A process and its descendants.
    Process(u32),
    /// The processes of a control group and of those below it, by its folder.
    Group(String),
}

/// What it may be, for messages.
const EXPECTED: &str = "expected a product (postgresql, mariadb, mysql, oracle, redis...), a connection string \
                        (postgresql:///shop, 'host=/run/postgresql dbname=shop', mysql://root@localhost, the path of a \
                        MariaDB socket), the number of the server's main process, or a folder in /sys/fs/cgroup";

impl FromStr for ServerSelection {
    type Err = String;

    /// Reads one. The error repeats nothing of what may hold a password.
    fn from_str(text: &str) -> Result<ServerSelection, String> {
        if text.starts_with(|it: char| it.is_ascii_digit()) {
            return match text.parse() {
                Ok(pid) if pid > 0 => Ok(ServerSelection::Process(pid)),
                _ => Err(format!("{text:?} is not the number of a process; {EXPECTED}")),
            };
        }
        if let Some(product) = Product::of_id(text) {
            return Ok(ServerSelection::Product(product));
        }
        if let Some(group) = text.strip_prefix(GROUPS) {
            return group_folder(group);
        }
        if text.contains("://") || text.contains('=') || text.starts_with('/') {
            return is_dsn(text)
                .map(|()| ServerSelection::Dsn(text.to_owned()))
                .map_err(|why| format!("it is not a connection string that can be read: {why}"));
        }
        Err(match meant(text) {
            Some(product) => {
                format!("there is no product {text:?}; {} is {}", product.title, product.id)
            }
            None => EXPECTED.to_owned(),
        })
    }
}

/// A control group by its folder below [`GROUPS`].
fn group_folder(group: &str) -> Result<ServerSelection, String> {
    let group = group.trim_end_matches('/');
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    if !group.split('/').all(is_part) {
        return Err(format!(
            "a control group is a folder in /sys/fs/cgroup, such as {GROUPS}system.slice/postgresql.service; / is \
             the whole machine"
        ));
    }
    Ok(ServerSelection::Group(format!("{GROUPS}{group}")))
}

/// The product that somebody may mean who writes its name in another way.
fn meant(text: &str) -> Option<&'static Product> {
    let text = text.to_ascii_lowercase();
    let is_like = |it: &&Product| {
        text.len() > 2
            && (it.title.to_ascii_lowercase().starts_with(&text) || text.starts_with(it.id))
    };
    PRODUCTS.iter().find(is_like)
}

/// What may be shown and kept: without a password.
impl fmt::Display for ServerSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerSelection::Product(product) => f.write_str(product.id),
            ServerSelection::Dsn(text) => f.write_str(&without_password(text)),
            ServerSelection::Process(pid) => write!(f, "{pid}"),
            ServerSelection::Group(folder) => f.write_str(folder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match ServerSelection::from_str(text) {
            Ok(it) => {
                let kind = match it {
                    ServerSelection::Product(_) => "product",
                    ServerSelection::Dsn(_) => "dsn",
                    ServerSelection::Process(_) => "process",
                    ServerSelection::Group(_) => "group",
                };
                format!("{kind} {it}")
            }
            Err(why) => why,
        }
    }

    #[test]
    fn each_kind_is_known_by_its_shape() {
        for (text, expected) in [
            ("postgresql", "product postgresql"),
            ("mariadb", "product mariadb"),
            ("4711", "process 4711"),
            (
                "/sys/fs/cgroup/system.slice/postgresql.service/",
                "group /sys/fs/cgroup/system.slice/postgresql.service",
            ),
            ("postgresql://me:secret@/shop", "dsn postgresql://me@/shop"),
            ("host=/run/postgresql dbname=shop", "dsn host='/run/postgresql' dbname='shop'"),
            ("/run/mysqld/mysqld.sock", "dsn /run/mysqld/mysqld.sock"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_none_of_them_says_what_is() {
        assert_eq!(shown("postgres"), "there is no product \"postgres\"; PostgreSQL is postgresql");
        assert_eq!(shown("Redis"), "there is no product \"Redis\"; Redis is redis");
        assert!(shown("db1").starts_with("expected a product"), "{}", shown("db1"));
        assert!(shown("").starts_with("expected a product"));
        for text in ["0", "4711x", "4294967296"] {
            assert!(shown(text).contains("is not the number of a process"), "{text}");
        }
        for text in ["/sys/fs/cgroup/", "/sys/fs/cgroup/a/../b"] {
            assert!(shown(text).starts_with("a control group is a folder in"), "{text}");
        }
    }

    #[test]
    fn a_connection_string_that_cannot_be_read_is_not_repeated() {
        for text in ["host=h password='secret", "postgresql://a:secret@b@c/d", "secret://x"] {
            assert!(
                !shown(text).contains("secret") && shown(text).contains("connection string"),
                "{}",
                shown(text)
            );
        }
    }
}
