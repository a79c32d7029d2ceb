//! Real tasks of each product, and the role that each has.

use super::samples::{JAVA, SAMPLES};
use super::*;
use std::collections::BTreeSet;

fn product(comm: &str, cmdline: &[u8]) -> Option<&'static str> {
    product_of(&Words { comm, cmdline }).map(|it| it.id)
}

/// The role of the only thread of a process.
fn role(comm: &str, cmdline: &[u8]) -> Option<&'static str> {
    let words = Words { comm, cmdline };
    product_of(&words).map(|it| it.role_of(&words, comm).id)
}

#[test]
fn real_tasks_have_the_product_and_role_that_they_have() {
    for (product, role, comm, cmdline, thread) in SAMPLES {
        let words = Words { comm, cmdline };
        let text = String::from_utf8_lossy(cmdline);
        assert!(comm.len() <= 15 && thread.len() <= 15, "{comm}, {thread}: no name is as long");
        let found = product_of(&words).map(|it| (it.id, it.role_of(&words, thread).id));
        assert_eq!(found, Some((*product, *role)), "{comm}: {thread}: {text}");
    }
}

#[test]
fn a_process_without_a_command_line_any_more_is_of_no_named_role() {
    assert_eq!(role("postgres", b"/usr/bin/postgres\0"), Some("postmaster"));
    assert_eq!(role("postgres", b""), Some("other"));
}

#[test]
fn every_role_has_a_sample() {
    let sampled: BTreeSet<(&str, &str)> = SAMPLES.iter().map(|it| (it.0, it.1)).collect();
    // Products that share a list share its samples.
    let is_sampled = |role: &Role| {
        PRODUCTS.iter().any(|product| {
            sampled.contains(&(product.id, role.id)) && product.roles().any(|it| it == role)
        })
    };
    for product in PRODUCTS {
        assert!(sampled.iter().any(|it| it.0 == product.id), "{}", product.id);
        for role in product.roles() {
            assert!(is_sampled(role), "{} {}", product.id, role.id);
        }
    }
}

#[test]
fn clients_and_tools_are_no_servers() {
    let none: &[(&str, &[u8])] = &[
        ("psql", b"psql\0-h\0db1\0"),
        ("pgbench", b"pgbench\0-T\0-h\0"),
        ("pg_receivewal", b"pg_receivewal\0"),
        ("postgres_export", b"/usr/bin/postgres_exporter\0"),
        ("pgbouncer", b"pgbouncer\0"),
        ("mysql", b"mysql\0-uroot\0"),
        ("mysqld_safe", b"/bin/sh\0/usr/bin/mysqld_safe\0"),
        ("mysqldump", b"mysqldump\0"),
        ("mysqld_exporter", b"mysqld_exporter\0"),
        ("mariadb", b"mariadb\0"),
        ("sqlplus", b"sqlplus\0/ as sysdba\0"),
        ("oracle_exporter", b"oracle_exporter\0"),
        ("ora_", b"ora_\0"),
        ("ora_lgwr", b"ora_lgwr\0"),
        ("db_test_runner", b"db_test_runner\0--all\0"),
        ("db_load_data", b"python3\0/usr/bin/db_load_data\0"),
        ("sqlcmd", b"sqlcmd\0"),
        ("redis-cli", b"redis-cli\0"),
        ("redis-benchmark", b"redis-benchmark\0"),
        ("mongosh", b"mongosh\0"),
        ("mongodump", b"mongodump\0"),
        ("bash", b"bash\0-c\0postgres: checkpointer \0"),
        ("java2", JAVA),
        ("", b""),
    ];
    for (comm, cmdline) in none {
        assert_eq!(product(comm, cmdline), None, "{comm}");
    }
}

#[test]
fn a_client_of_a_java_store_is_a_java_program() {
    let of = |cmdline| product("java", cmdline);
    assert_eq!(of(b"java\0-cp\0kafka.Kafka\0kafka.tools.ConsoleConsumer\0"), Some("jvm"));
    assert_eq!(of(b"java\0-cp\0x.jar\0Tool\0kafka.Kafka\0"), Some("jvm"));
    assert_eq!(of(b"java\0-jar\0kafka.Kafka\0"), Some("jvm"));
    assert_eq!(of(b"java\0@options\0-Da=b\0-p\0lib\0-m\0m/kafka.Kafka\0"), Some("kafka"));
    assert_eq!(of(b"java\0-m\0"), Some("jvm"));
    assert_eq!(of(b"java\0-cp\0"), Some("jvm"));
    assert_eq!(of(b"java\0\0\0"), Some("jvm"));
    assert_eq!(of(b""), Some("jvm"));
}

#[test]
fn names_of_users_and_databases_do_not_make_a_role() {
    let backend = |title: &[u8]| assert_eq!(role("postgres", title), Some("backend"));
    backend(b"postgres: checkpointer shop [local] idle\0");
    backend(b"postgres: walwriter shop 10.0.0.7(40112) SELECT\0");
    backend(b"postgres: 14/main: startup x: logger ::1(40112) idle\0");
    backend(b"postgres: checkpointers shop db1.example.org(5) idle\0");
    // The name of the cluster may hold a separator.
    assert_eq!(role("postgres", b"postgres: a: b: walwriter \0"), Some("walwriter"));
    assert_eq!(role("postgres", b"postgres: checkpointers \0"), Some("other"));
    assert_eq!(role("postgres", b"postgres: bob shop (12) x\0"), Some("other"));
    assert_eq!(role("postgres", b"postgres: bob shop host() x\0"), Some("other"));
}

#[test]
fn a_title_is_not_read_to_its_end() {
    let mut title = b"postgres: ".to_vec();
    title.extend(b": ".repeat(100_000));
    title.extend(b"walwriter ");
    assert_eq!(role("postgres", &title), Some("other"));
    let mut command = b"java\0".to_vec();
    command.extend(b"-x\0".repeat(100_000));
    command.extend(b"kafka.Kafka\0");
    assert_eq!(product("java", &command), Some("jvm"));
}

#[test]
fn any_bytes_have_a_role_without_a_panic() {
    let texts: &[&[u8]] = &[
        b"",
        b"\0",
        b"\xff\xfe\x80(",
        b"postgres:",
        b"postgres: ",
        b"postgres: \xff: \xff(1)",
        b"postgres: )",
        b"redis-rdb-bgsave\xff",
        b"java\0\xff\0",
        b"ora_\xc3\xa9",
    ];
    let threads =
        ["", "..", "...", "C2..", "..4", "conn", "conn\u{e9}", "ora_\u{e9}\u{e9}_", "ora_lgwr"];
    for (_, _, comm, _, _) in SAMPLES {
        for cmdline in texts {
            let words = Words { comm, cmdline };
            let Some(product) = product_of(&words) else { continue };
            for thread in threads {
                let role = product.role_of(&words, thread);
                assert!(product.roles().any(|it| it == role), "{thread}: {}", role.id);
            }
        }
    }
}

#[test]
fn a_name_that_only_begins_like_one_is_another() {
    let words = Words { comm: "mongod", cmdline: b"mongod\0" };
    let mongodb = product_of(&words).unwrap();
    assert_eq!(mongodb.role_of(&words, "conn1x").id, "other");
    assert_eq!(mongodb.role_of(&words, "conn").id, "other");
    let words = Words { comm: "java", cmdline: JAVA };
    let jvm = product_of(&words).unwrap();
    assert_eq!(jvm.role_of(&words, "C2 Com..worker4").id, "application");
    assert_eq!(jvm.role_of(&words, "..").id, "application");
}

#[test]
fn ids_are_unique_and_lead_back() {
    let products: BTreeSet<&str> = PRODUCTS.iter().map(|it| it.id).collect();
    assert_eq!(products.len(), PRODUCTS.len());
    for product in PRODUCTS {
        let ids: BTreeSet<&str> = product.roles().map(|it| it.id).collect();
        assert_eq!(ids.len(), product.roles().count(), "{}", product.id);
        for role in product.roles() {
            assert_eq!(by_id(product.id, role.id), Some((product, role)));
            let is_id = |it: char| it.is_ascii_lowercase() || it == '-';
            assert!(role.id.chars().all(is_id) && !role.title.ends_with('.'), "{}", role.id);
            assert!(role.help.ends_with('.') && !role.help.contains(['\n', '|']), "{}", role.id);
        }
    }
    assert_eq!(by_id("postgresql", "lgwr"), None);
    assert_eq!(by_id("", "backend"), None);
}

#[test]
fn a_launcher_and_its_children_are_roles_of_one_product() {
    for launcher in LAUNCHERS {
        assert!(by_id(launcher.product, launcher.role).is_some(), "{launcher:?}");
        assert!(by_id(launcher.product, launcher.child).is_some(), "{launcher:?}");
        assert_eq!(Launcher::of_role(launcher.product, launcher.role), Some(launcher));
        assert_eq!(Launcher::of_role(launcher.product, launcher.child), None);
    }
}

#[test]
fn a_launcher_started_no_more_than_it_ran_for() {
    let started = [0, 1, 3, 4, 9].map(|n_runs| LAUNCHERS[0].most_started(n_runs));
    assert_eq!(started, [0, 1, 1, 2, 3]);
}
