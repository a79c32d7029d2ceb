//! Spellings that hold a secret, spellings that only look like it, and any text at all.

use super::*;
use proptest::prelude::*;

const SECRET: &str = "s3kr1t";

/// Commands in which `@` stands for a secret.
const SPELLINGS: &[&str] = &[
    "pgbench postgres://me:@@db1/x",
    "pgbench postgresql://me:@@[::1]:5432/x?sslmode=require",
    "psql 'host=db1 password=@ dbname=x'",
    "psql 'host=db1 password = @ dbname=x'",
    "psql postgresql:///x?host=/run&password=@&connect_timeout=3",
    "psql postgresql:///db?p%61ssword=@",
    "env PGPASSWORD=@ pgbench -T 10",
    "sh -c 'PGPASSWORD=@ pgbench -T 10'",
    "sh -c \"PGPASSWORD='@' pgbench -T 10\"",
    "bash -lc 'export PGPASSWORD=@; pgbench'",
    "env MYSQL_PWD=@ mysqlslap",
    "mysqlslap --password=@ --concurrency 8",
    "mysqlslap --password @ --concurrency 8",
    "/usr/bin/mysql -uroot -p@ -e 'select 1'",
    "sh -c 'mysql -p@ test < x.sql'",
    "sh -c \"su - mysql -c 'mysql -p@ test'\"",
    "sh -c \"sh -c \\\"mysql -p@ -e 'select 1'\\\"\"",
    "mariadb-slap -p@",
    "sysbench --mysql-password=@ --pgsql-password=@ run",
    "sysbench --pgsql-password @ run",
    "mongosh mongodb://root:@@db1,db2/admin",
    "mongosh -u root -p @ db",
    "env MONGO_INITDB_ROOT_PASSWORD=@ mongod",
    "redis-benchmark -a @ -n 10",
    "env REDISCLI_AUTH=@ redis-cli ping",
    "redis-cli -u redis://:@@db1:6379",
    "sqlplus scott/@@orcl",
    "sqlplus -s scott/@ @x.sql",
    "sqlldr userid=scott/@@orcl control=x",
    "sqlcmd -S db1 -U sa -P @",
    "curl -u me:@ http://db1/x",
    "curl --user me:@ http://db1/x",
    "curl -H 'Authorization: Bearer @' http://db1/x",
    "curl -H 'X-Api-Key: @' http://db1/x",
    "curl -d '{\"user\": \"me\", \"password\": \"@\"}' http://db1",
    "curl http://me:@@db1/x",
    "curl http://db1/x?token=@",
    "wget --http-password=@ http://db1",
    "ipmitool -I lanplus -P @ sdr",
    "sshpass -p @ ssh db1",
    "sshpass -p@ ssh db1",
    "go-tpc 'root:@@tcp(db1:3306)/test'",
    "isql 'Driver=x;Uid=me;Pwd=@;Database=y'",
    "java -jar x.jar 'jdbc:mysql://db1/x?user=me&password=@&useSSL=true'",
    "openssl enc -pass pass:@",
    "psql -c \"alter user me password '@'\"",
    "mysql -e \"create user me identified by '@'\"",
    "mysql -e \"create user me identified\nby\n'@'\"",
    "psql -c \"alter user me password\n'@'\"",
    "tool --api-token @",
    "env API_SECRET=@ ./run",
    "env DBPASS=@ ./run",
    "sqlcmd -S db1 -U sa -P@",
    "ipmitool -I lanplus -P@ sdr",
    "ldapsearch -x -w@ -b x",
    "ldapsearch -LLLxw @ -b x",
    "mongosh -u root -p@ db",
    "mongodump -u root -p @",
    "hdbsql -u me -p @ x",
    "vsql -U me -w @",
    "curl -sSu me:@ http://db1/x",
    "curl -sSume:@ http://db1/x",
    "curl -U me:@ http://db1/x",
    "curl --proxy-user me:@ http://db1/x",
    "curl --oauth2-bearer @ http://db1/x",
    "ab -P me:@ http://db1/x",
    "hey -a me:@ http://db1/x",
    "mysqlsh root:@@db1",
    "mysqlsh --uri=root:@@db1:33060/x",
    "rman target / catalog rman/@@cat",
    "sqlldr control=data/x.ctl userid=scott/@@orcl",
    "tool --pw=@",
    "env DB_PW=@ ./run",
    "env AZURE_STORAGE_KEY=@ ./run",
    "sh -c 'PW=$A;password=@ ./run'",
    "sh -c 'true;mysql -p@ x'",
    "sh -c 'ls | mysql -p@ x; mysql -p@ y'",
    "sh -c 'x=$(mysql -p@ x)'",
    "sh -c 'mysql x 2>/dev/null -p@'",
    "mysql --execute='select 1;' -p@",
    "sudo -E /usr/bin/mysql -p@",
    "sshpass -f /root/pw ssh db1 mysql -p@",
    "sh -c 'true\nDBPASS=@ ./run'",
    "sh -c 'true\nredis-cli\t-a\t@'",
    "sh -c 'redis-cli -a \\\n @'",
];

/// What a shell begins a command after, here one that follows another command.
const BEGINNINGS: &[&str] = &[
    "\n",
    "\r\n",
    "\n\n\t",
    ";",
    " ; ",
    "&",
    " & ",
    "|",
    " | ",
    "|&",
    "&&",
    " &&\n",
    "||",
    "; (",
    "\n{ ",
    "; x=$(",
    " \"$(",
    " `",
    " <(",
    "; if true; then ",
    "\nfor i in 1 -2\ndo\n",
    "; while ! ",
    "\n! ",
    "; else ",
    "; case x in x) ",
    " # it's -x\n",
    " \\\n-x\n",
    " <<EOF\nit's -x\nEOF\n",
    " <<-'EOF' | ",
];

/// What may follow the last word of a command.
const ENDS: &[&str] = &["", "\nls", "\r\n", ";ls", "|ls", "&", "&&ls", "||ls", ")", "`"];

/// Commands without a secret.
const HARMLESS: &[&str] = &[
    "pgbench -T 10 -h db1 -p 5433 postgres://me@db1:5432/x",
    "pgbench postgres://db1:5432/x",
    "mysql -h db1 -P 3307 -u root --protocol=tcp",
    "mysqlslap --defaults-extra-file=/root/my.cnf -p",
    "env PGPASSFILE=/root/.pgpass PWD=/tmp pgbench",
    "sh -c 'PGPASSWORD=$(cat /run/pw) pgbench'",
    "sh -c 'mysql -p$MYSQL_PASSWORD test'",
    "sh -c \"PGPASSWORD=${PW} psql\"",
    "psql --no-password -c 'select 1'",
    "serve --token-file /root/token",
    "llama-bench --max-tokens 512 --n-token=8",
    "ssh://git@db1:path/x@y",
    "curl http://db1:8080/a@b http://[::1]:80/@x",
    "sqlplus / as sysdba",
    "sqlplus @/home/me/x.sql",
    "sh -c 'cd /tmp && ls /etc/x@y'",
    "redis-benchmark -n 10",
    "ffmpeg -pass 1 x",
    "./query --a=b key=value time=12:30",
    "mysql --password",
    "pgbench --password=***",
    "sh -c 'mysqldump x | pigz -p8'",
    "sh -c 'mysqldump x|pigz -p8'",
    "sh -c 'mysqldump x\npigz -p8'",
    "sh -c 'mysqldump x\r\npigz -p8'",
    "sh -c 'redis-cli -a\nls x'",
    "sh -c 'tool --password\nls x'",
    "sh -c 'ls -l \\\n /data/mysql -p8'",
    "sh -c 'mysql -e \"select 1\"; pigz -p8 x'",
    "sh -c 'mysqldump x > y && pigz -p8 y'",
    "sh -c 'redis-server & grep -a foo x'",
    "sh -c 'redis-cli ping & grep -a foo x'",
    "sshpass -f /root/pw ssh -p 2222 db1",
    "sshpass -e rsync -p x db1:y",
    "fio --directory=/var/lib/mysql -p8",
    "fio --directory /var/lib/mysql -p8",
    "fio --directory /data/mysql -p8",
    "duck sql data/x.sql",
    "sqlplus -s /nolog @x.sql out/put",
    "sqlplus scott @x.sql out/put",
    "sqlldr control=data/x.ctl",
    "rman target / log out/put",
    "mongod --dbpath /data/mongo -p 27017",
    "mongos -p 27017",
    "mongosh -u root -p --quiet",
    "curl --user-agent a:b -H x:y -sS http://db1",
    "docker run -e MYSQL_ALLOW_EMPTY_PASSWORD=yes mysql",
    "tool --password=no --token off",
    "curl -d '{\"password\": false}' http://db1",
];

fn words(text: &str) -> Vec<String> {
    split(text).iter().map(|it| it.text.to_owned()).collect()
}

#[test]
fn every_spelling_of_a_secret_is_found_and_masked_as_words_and_as_text() {
    for spelling in SPELLINGS {
        // `@@` is a secret in front of the @ of a host.
        let n_secrets =
            spelling.matches("-password=@").count().max(spelling.matches("-p@").count());
        let text = spelling.replacen('@', SECRET, n_secrets.max(1));
        let words = words(&text);
        assert!(are_in(&words), "{text}");
        let masked = masked_words(&words).join(" ");
        assert!(!masked.contains(SECRET) && masked.contains(MASK), "{masked}");
        let masked = masked_command(&text).into_owned();
        assert!(!masked.contains(SECRET) && masked.contains(MASK), "{masked}");
        assert_eq!(masked_command(&masked), masked, "masked twice");
        for message in
            [format!("cannot run `{text}`: no such file"), format!("--prove {text:?}: no")]
        {
            let masked = super::masked(&message);
            assert!(!masked.contains(SECRET), "{masked}");
        }
    }
}

#[test]
fn a_command_begins_after_each_operator_and_keyword_of_a_shell_and_after_the_end_of_a_line() {
    let commands = [
        "/opt/db/mysql -ps3kr1t",
        "mysql \\\n x \\\n -ps3kr1t",
        "redis-cli -a s3kr1t",
        "sqlplus scott/s3kr1t",
        "curl -u me:s3kr1t",
        "sshpass -p s3kr1t",
        "PGPASSWORD=s3kr1t",
    ];
    let fronts = ["ls -l", "mysqldump x", "sshpass -e ssh x", "sqlplus / as"];
    for (begins, end) in BEGINNINGS.iter().flat_map(|it| ENDS.iter().map(move |end| (it, end))) {
        for (front, command) in fronts.iter().flat_map(|it| commands.map(|one| (it, one))) {
            let script = format!("{front}{begins}{command}{end}");
            let words = ["sh", "-c", &script];
            assert!(are_in(&words), "{script:?}");
            let in_words = masked_words(&words).join(" ");
            let in_message = masked(&format!("--prove {script:?}: no")).into_owned();
            let in_command = masked_command(&format!("sh -c {script:?}")).into_owned();
            for masked in [in_words, in_message, in_command] {
                assert!(!masked.contains(SECRET), "{script:?}: {masked}");
            }
        }
    }
}

#[test]
fn what_is_no_secret_is_left_as_it_is() {
    for text in HARMLESS {
        let words = words(text);
        assert_eq!(masked_words(&words), words, "{text}");
        assert_eq!(masked_command(text), *text);
    }
}

#[test]
fn the_rest_of_a_command_stays_readable() {
    for (text, expected) in [
        ("pgbench postgres://me:s3kr1t@db1/x -T 10", "pgbench postgres://me:***@db1/x -T 10"),
        ("sh -c 'PGPASSWORD=s3kr1t pgbench -T 10'", "sh -c 'PGPASSWORD=*** pgbench -T 10'"),
        ("mysql -uroot -ps3kr1t test", "mysql -uroot -p*** test"),
        ("psql x?password=ab&b=c", "psql x?password=***&b=c"),
        ("psql postgres://me:1/3kr1t@db1/x", "psql postgres://me:***@db1/x"),
        ("curl -u me:s3kr1t http://db1", "curl -u me:*** http://db1"),
    ] {
        assert_eq!(masked_command(text), expected);
    }
    // No shell reads the words of a command.
    let words = ["mysql", "-p$ecret", "--password", "$ecret", "password=$ecret"];
    assert_eq!(masked_words(&words), ["mysql", "-p***", "--password", "***", "password=***"]);
    let words = ["env", "PGPASSWORD=two words", "psql"];
    assert_eq!(masked_words(&words), ["env", "PGPASSWORD=***", "psql"]);
    let words = ["mysql", "--password=two words; three", "x"];
    assert_eq!(masked_words(&words), ["mysql", "--password=***", "x"]);
    let words = ["mysql", "-e", "commit;", "-psecret"];
    assert_eq!(masked_words(&words), ["mysql", "-e", "commit;", "-p***"]);
    for name in ["PGPASSWORD", "password"] {
        assert_eq!(masked_words(&[format!("{name}=yes")]), [format!("{name}=***")]);
    }
}

#[test]
fn sentences_are_left_alone() {
    for text in [
        "cannot read the token in /x/agent.token: No such file or directory",
        "--password and --token are no options of bench",
        "the database's password: give it in ~/.pgpass or the file that PGPASSFILE names",
        "it's the agent's token that is empty; remove it",
        "unexpected argument '--password' found",
        "http://127.0.0.1:7377/api/v1 answers",
        "--workload psql password=***: it holds a password",
        "open http://127.0.0.1:7077/#token=0123456789abcdef",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn a_long_text_takes_no_long_time() {
    let length = 1 << 17;
    for part in [
        "%",
        "'a b' ",
        "://",
        "\"'` ",
        "password ",
        "\\\"",
        "password=",
        "?password=",
        "a b password=$A",
        "password=$A",
        "password=***",
        "?token=abcd&",
        "x-token:",
        "\"token\":",
        "@tcp(",
        "mysqlsh a:@ ",
        "sqlplus a/ ",
        "--password x ",
        "--password\\n",
        "mysql\\n-p1;",
    ] {
        let text = part.repeat(length / part.len()) + "=";
        assert!(masked(&text).len() <= text.len());
        assert!(masked_command(&text).len() <= text.len());
    }
}

proptest! {
    // After `--password`, what begins with a dash is the next option.
    #[test]
    fn any_secret_in_any_spelling_is_masked(
        secret in "[A-Za-z0-9_+.%!][A-Za-z0-9_+.%!-][A-Za-z0-9]{6,12}",
        at in 0..SPELLINGS.len(),
        before in "[a-z ]{0,8}",
    ) {
        let spelling = SPELLINGS[at];
        let text = format!("{before} {}", spelling.replacen('@', &secret, 1));
        let masked = masked_words(&words(&text)).join(" ");
        prop_assert!(!masked.contains(&secret[2..]), "{} {}", text, masked);
    }

    #[test]
    fn any_text_is_masked_and_loses_nothing_but_what_is_masked(
        text in "(pass|pwd|--password|-p|mysql|=|:|//|@|\\?|&|;|'|\"|`|\\\\|\\\\n|\n|\\(|\\$| |ä|x|token|by|identified|sqlplus|/){0,24}",
    ) {
        for once in [masked(&text), masked_command(&text)] {
            // The parts around the masks are those of the text, in their order.
            let mut rest = &*text;
            for part in once.split(MASK) {
                let at = rest.find(part);
                prop_assert!(at.is_some(), "{:?} {:?}", text, once);
                rest = &rest[at.unwrap_or(0) + part.len()..];
            }
        }
        let words = words(&text);
        prop_assert_eq!(masked_words(&words).len(), words.len());
        prop_assert_eq!(are_in(&words), masked_words(&words) != words);
    }
}
