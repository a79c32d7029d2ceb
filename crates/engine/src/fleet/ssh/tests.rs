//! Hosts that answer, refuse, hang and greet, behind a script that stands for ssh and runs what it is given.
#![expect(clippy::disallowed_methods, reason = "lays out what stands for ssh and for hosts")]

use super::*;
use fleet::Kind;
use std::fs;

/// Stands for ssh: runs the command in a shell of this machine, after what the host's name says.
const SSH: &str = r#"
for word do case $word in --) break;; esac; shift; done
host=$2 command=$3
printf '%s\n' "$host|$command" >>"$LOG"
case $host in
    *unknown*) echo "Host key verification failed." >&2; exit 255;;
    *closed*) echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255;;
    *without*) exec sh -c "no-such-program-fullclock";;
    *hung*) exec sleep 30;;
    *lingering*) setsid sh -c 'echo $$ >"$0"; exec sleep 300' "$LOG.lingering" & ;;
    *greeting*) echo "Welcome to $host";;
    *noise*) echo "what?"; exit 0;;
esac
TMPDIR=$HOSTS exec sh -c "$command"
"#;

/// Stands for this program on a host.
const FULLCLOCK: &str = "\
#!/bin/sh
[ \"$1\" = capture ] || exit 2
[ -n \"$BREAKS\" ] && { echo 'error: cannot capture' >&2; exit 1; }
cat <<'END'
fullclock capture 1
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
model name : Model X
//- /sys/devices/system/cpu/online
0
END
";

struct Stage {
    folder: tempfile::TempDir,
    way: Way,
}

impl Stage {
    /// With a program that is on each host's PATH, or that is copied.
    fn new(copy: bool, breaks: bool) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("bin")).unwrap();
        fs::create_dir_all(at("hosts")).unwrap();
        fs::write(at("ssh"), SSH).unwrap();
        let sudo = "#!/bin/sh\n[ \"$1\" = -n ] && shift\nexec \"$@\"\n";
        for (name, text) in [("bin/sudo", sudo), ("bin/fullclock", FULLCLOCK)] {
            fs::write(at(name), text).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(at(name), mode).unwrap();
        }
        let path = std::env::var("PATH").unwrap();
        let path = if copy { path } else { format!("{}:{path}", at("bin").display()) };
        let variables = [
            format!("PATH={path}"),
            format!("LOG={}", at("log").display()),
            format!("HOSTS={}", at("hosts").display()),
            format!("BREAKS={}", if breaks { "yes" } else { "" }),
        ];
        let ssh = at("ssh").display().to_string();
        let before = ["env".to_owned()].into_iter().chain(variables).chain(["sh".to_owned(), ssh]);
        let way = Way {
            ssh: before.map(OsString::from).collect(),
            binary: copy.then(|| at("bin/fullclock")),
            script: script(false, copy.then_some(FULLCLOCK.len() as u64)),
            deadline: Duration::from_secs(20),
            rest: Duration::from_secs(1),
        };
        Stage { folder, way }
    }

    fn gathered(&self, hosts: &[&str]) -> Result<Gathered> {
        let hosts: Vec<String> = hosts.iter().map(|it| (*it).to_owned()).collect();
        self.way.gather(&hosts, &AtomicBool::new(false), &mut |_| {})
    }

    /// What is left on the hosts.
    fn left(&self) -> usize {
        fs::read_dir(self.folder.path().join("hosts")).unwrap().count()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

fn model_of(gathered: &Gathered, at: usize) -> (&str, &str) {
    let machine = &gathered.machines[at];
    let is_model = |it: &&fleet::Attribute| it.kind == Kind::Label && &*it.name == "cpu_model";
    let model = machine.attributes.iter().find(is_model);
    (&machine.name, model.map_or("", |it| &*it.value))
}

#[test]
fn hosts_are_captured_at_the_same_time_and_those_that_fail_say_why() {
    let stage = Stage::new(false, false);
    let hosts = ["db2", "root@db1", "unknown3", "closed4", "without5", "greeting6", "noise7"];
    let gathered = stage.gathered(&hosts).unwrap();
    assert_eq!(gathered.machines.len(), 3);
    assert_eq!(
        [0, 1, 2].map(|it| model_of(&gathered, it)),
        [("db2", "Model X"), ("greeting6", "Model X"), ("root@db1", "Model X")]
    );
    let why = |host: &str| &*gathered.skipped.iter().find(|it| it.name == host).unwrap().why;
    assert!(
        why("unknown3").contains("verification failed.; connect once by hand"),
        "{}",
        why("unknown3")
    );
    assert!(why("closed4").contains("Connection refused"), "{}", why("closed4"));
    assert!(why("without5").contains("or let --copy bring it"), "{}", why("without5"));
    assert_eq!(why("noise7"), "what it answers is no capture, but \"what?\"");
    assert!(stage.log().contains("root@db1|fullclock capture\n"));
}

#[test]
fn a_copied_program_is_removed_whether_it_works_or_not() {
    let stage = Stage::new(true, false);
    let gathered = stage.gathered(&["db1", "db2"]).unwrap();
    assert_eq!((gathered.machines.len(), stage.left()), (2, 0), "{:?}", gathered.skipped);
    let stage = Stage::new(true, true);
    let error = stage.gathered(&["db1"]).unwrap_err().to_string();
    assert_eq!(error, "no host could be captured; db1: exit code 1: error: cannot capture");
    assert_eq!(stage.left(), 0);
}

#[test]
fn sudo_is_used_only_where_it_is_requested_and_never_asks() {
    assert_eq!(script(true, None), "sudo -n fullclock capture");
    assert!(!script(false, Some(1)).contains("sudo"));
    let mut stage = Stage::new(false, false);
    stage.way.script = script(true, None);
    assert_eq!(stage.gathered(&["db1"]).unwrap().machines.len(), 1);
    let with_copy = script(true, Some(1));
    assert!(with_copy.contains("sudo -n \"$d/fullclock\" capture"), "{with_copy}");
}

#[test]
fn a_host_that_hangs_ends_with_its_deadline_and_the_others_answer() {
    let mut stage = Stage::new(false, false);
    stage.way.deadline = Duration::from_secs(3);
    let began = now();
    let gathered = stage.gathered(&["hung1", "db1"]).unwrap();
    assert!(began.elapsed() < Duration::from_secs(15));
    assert_eq!(gathered.machines.len(), 1);
    assert_eq!(gathered.skipped[0].why, "it did not answer within 3 s");
}

/// A process of ssh's own that outlives it, as a master connection does, keeps its output open.
#[test]
fn a_process_that_outlives_ssh_is_not_waited_for() {
    let stage = Stage::new(false, false);
    let gathered = stage.gathered(&["lingering1", "db1"]).unwrap();
    let pid = fs::read_to_string(stage.folder.path().join("log.lingering")).unwrap();
    let lingering = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    assert!(rustix::process::test_kill_process(lingering).is_ok(), "it has not ended");
    rustix::process::kill_process(lingering, Signal::KILL).unwrap();
    assert_eq!(model_of(&gathered, 0), ("db1", "Model X"));
    let why = &gathered.skipped[0].why;
    assert!(why.contains("keeps its output open") && why.contains("ControlPersist"), "{why}");
}

#[test]
fn who_stops_leaves_no_process_and_no_copy() {
    let stage = Stage::new(true, false);
    let is_over = AtomicBool::new(false);
    let hosts: Vec<String> = (0..40).map(|it| format!("hung{it}")).collect();
    let began = now();
    let stopped = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            is_over.store(true, Ordering::Relaxed);
        });
        stage.way.gather(&hosts, &is_over, &mut |_| {})
    });
    assert!(began.elapsed() < Duration::from_secs(15));
    let error = stopped.unwrap_err().to_string();
    assert!(error.contains("stopped before it"), "{error}");
    assert_eq!(stage.left(), 0);
}

#[test]
fn a_connection_that_is_lost_leaves_no_copy() {
    let stage = Stage::new(true, false);
    // The upload never ends, until its writer is gone.
    let mut child = Command::new("sh")
        .args(["-c", &script(false, Some(1))])
        .env("TMPDIR", stage.folder.path().join("hosts"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = now();
    while stage.left() == 0 && began.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(BEAT);
    }
    assert_eq!(stage.left(), 1);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(stage.left(), 0);
}

fn hosts_of(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts");
    fs::write(&file, text).unwrap();
    match hosts(&file) {
        Ok(hosts) => hosts.join(" "),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_file_names_a_host_a_line() {
    let text = "# racks\ndb1\n\n  root@db2.example.com   # slow\ndb1\nfe80::1%eth0\n";
    assert_eq!(hosts_of(text), "db1 root@db2.example.com fe80::1%eth0");
    assert!(hosts_of("# none\n").contains("names no host"));
    assert!(hosts(Path::new("/no/such/file")).unwrap_err().to_string().contains("no such file"));
}

#[test]
fn what_ssh_or_a_shell_would_take_for_something_else_is_refused() {
    for line in [
        "-oProxyCommand=x",
        "root@-oA=b",
        "db1;reboot",
        "db1 db2",
        "$(x)",
        "a`b`",
        "@db1",
        "a@b@c",
        "db1/x",
        "dé",
    ] {
        assert!(hosts_of(line).contains("line 1: "), "{line}: {}", hosts_of(line));
    }
}
