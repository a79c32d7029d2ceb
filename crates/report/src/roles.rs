//! The page of all products and the roles of their tasks.

use facts::system::roles::{PRODUCTS, ProcessSign, Product, Role, Sign};

const OPENING: &str = "# Roles of database tasks

What tasks of database servers do, by the titles of their processes and the names of their threads, of which the kernel keeps 15 bytes.
Made from the roles themselves by `cargo xtask docs`. The first sign that fits decides, from top to bottom; the last role is what the
others leave.
";

/// The page: a table for each product, or for those that share their roles.
pub fn page() -> String {
    let shared = java_roles();
    let of_page = PRODUCTS.chunk_by(|one, next| one.roles().eq(next.roles()));
    of_page.fold(OPENING.to_owned(), |page, products| page + &section(products, &shared))
}

/// Roles of every Java program, which are in its own table only.
fn java_roles() -> Vec<&'static Role> {
    let is_java = |product: &&Product| product.processes.contains(&ProcessSign::Java);
    PRODUCTS.iter().filter(is_java).flat_map(Product::roles).collect()
}

fn section(products: &[Product], java: &[&Role]) -> String {
    let titles: Vec<&str> = products.iter().map(|it| it.title).collect();
    let processes: String = products.iter().map(processes).collect();
    let mut section = format!("\n## {}\n\n{processes}", titles.join(", "));
    let is_store = |product: &Product| {
        product.processes.iter().any(|it| matches!(it, ProcessSign::MainClass(_)))
    };
    let is_store = products.iter().any(is_store);
    if is_store {
        section.push_str("It also has the roles of a Java program.\n");
    }
    section.push_str("\n| role | title | what it does | sign |\n| --- | --- | --- | --- |\n");
    let roles = products.first().into_iter().flat_map(Product::roles);
    for role in roles.filter(|it| !is_store || !java.contains(it)) {
        section += &row(role);
    }
    section
}

fn processes(product: &Product) -> String {
    let signs: Vec<String> = product.processes.iter().map(process_sign).collect();
    format!("`{}`: processes {}.\n", product.id, signs.join("; "))
}

fn row(role: &Role) -> String {
    let signs: Vec<String> = role.signs.iter().map(sign).collect();
    let signs = if signs.is_empty() { "none of the others".to_owned() } else { signs.join("; ") };
    format!("| `{}` | {} | {} | {signs} |\n", role.id, role.title, role.help)
}

fn process_sign(sign: &ProcessSign) -> String {
    match sign {
        ProcessSign::Comm(name) => format!("called `{name}`"),
        ProcessSign::Oracle(start) => format!("called `{start}NAME_SID`"),
        ProcessSign::OracleAlone(start) => {
            format!("called `{start}NAME_SID` without arguments")
        }
        ProcessSign::OracleSession(start) => format!("called `{start}PID_SID`"),
        ProcessSign::MainClass(class) => format!("`java` with main class `{class}`"),
        ProcessSign::Java => "called `java` that are no store above".to_owned(),
    }
}

fn sign(sign: &Sign) -> String {
    match sign {
        Sign::Title(start) => format!("title `{start}`"),
        Sign::Postgres(words) => format!("title `postgres: {words}`"),
        Sign::PostgresClient("") => "title with `[local]` or `host(port)`".to_owned(),
        Sign::PostgresClient(words) => {
            format!("title `postgres: {words}` with `[local]` or `host(port)`")
        }
        Sign::PostgresUntitled => "no title, but a command line".to_owned(),
        Sign::Oracle(pattern) => format!("process `ora_{pattern}_SID`"),
        Sign::Name(name) => format!("thread `{name}`"),
        Sign::Start(start) => format!("thread `{start}...`"),
        Sign::Java(start) => format!("Java thread `{start}...`, cut"),
        Sign::Numbered(start) => format!("thread `{start}N`"),
        Sign::Unnamed => "thread with the name of its process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_and_every_role_is_on_the_page_once_for_each_list() {
        let page = page();
        let n_rows = |role: &Role| page.matches(&row(role)).count();
        for product in PRODUCTS {
            assert!(page.contains(&format!("`{}`: processes ", product.id)), "{}", product.id);
            for role in product.roles() {
                assert!(n_rows(role) > 0, "{} {}", product.id, role.id);
            }
        }
        for role in java_roles() {
            assert_eq!(n_rows(role), 1, "{}", role.id);
        }
    }

    #[test]
    fn products_that_share_their_roles_share_a_table() {
        assert!(page().contains("\n## MySQL, MariaDB\n"));
        assert!(page().contains("\n## Redis, Valkey\n"));
    }
}
