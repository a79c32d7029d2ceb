//! SQL Server on Linux: two processes called sqlservr, one that watches and its child, the server with all its threads. What its
//! threads are called is not documented.

use super::{ProcessSign, Product, Role};

pub(super) const SQL_SERVER: Product = Product {
    id: "sql-server",
    title: "SQL Server",
    processes: &[ProcessSign::Comm("sqlservr")],
    roles: &[],
    other: &Role {
        id: "thread",
        title: "thread",
        help: "Any thread of the server: names of threads do not tell what they do.",
        signs: &[],
    },
};
