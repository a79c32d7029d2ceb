//! A plan as other tools take it: what each can do is in it, and what it cannot is a comment.

use super::*;
use facts::Missing;
use rules::plan::Plan;
use rules::setting::Change;
use std::path::Path;
use std::process::Command;

const CPU: &str = "/sys/devices/system/cpu";

fn step(request: &str, writes: Vec<Write>) -> Step {
    Step { request: Request::parse(request).unwrap(), change: Change::of(writes) }
}

fn write(path: &str, from: &str, to: &str) -> Write {
    Write::of(Target::control(path), from, to)
}

fn of_cpus(cpus: &[u32], before: &str, after: &str, from: &str, to: &str) -> Vec<Write> {
    cpus.iter().map(|it| write(&format!("{CPU}/{before}{it}/{after}"), from, to)).collect()
}

/// A write of every kind.
fn everything() -> Plan {
    let steps = of_the_clock().into_iter().chain(of_other_places()).collect();
    let why = "policy0 has no governor \"fast\"".to_owned();
    let refused = vec![(Request::parse("governor=fast").unwrap(), Refusal::Value(why))];
    Plan { steps, refused, left_out: Vec::new() }
}

fn of_the_clock() -> Vec<Step> {
    let service = Target::Service { name: "tuned.service".into() };
    let mut tuner = step("tuner=stopped", vec![Write::of(service, "running", "stopped")]);
    tuner.change.notes.push("two\nlines".to_owned());
    let tunable = Target::control(format!("{CPU}/cpufreq/ondemand/up_threshold"));
    let mut governors = vec![Write::forgotten(tunable, "95")];
    let governor = ("scaling_governor", "powersave", "performance");
    governors.extend(of_cpus(&[0, 2, 4], "cpufreq/policy", governor.0, governor.1, governor.2));
    let idle = [1, 2].into_iter().flat_map(|state| {
        of_cpus(&[0, 1], "cpu", &format!("cpuidle/state{state}/disable"), "0", "1")
    });
    let limit = of_cpus(&[2], "cpufreq/policy", "scaling_max_freq", "2000000", "3000000");
    let bias = of_cpus(&[0, 1, 3], "cpu", "power/energy_perf_bias", "6", "15");
    vec![
        tuner,
        step("governor=performance", governors),
        step("scaling-max=3000000@2", limit),
        step("energy-perf-bias=15", bias),
        step("idle-state=C6:off", idle.collect()),
        step("turbo=on", vec![write(&format!("{CPU}/cpufreq/boost"), "0", "1")]),
    ]
}

fn of_other_places() -> Vec<Step> {
    let register = Target::Register { cpu: 3, address: 0x1fc, mask: 0b10 };
    let register = Write::of(register, "0x2904005f", "0x2904005d");
    let task = Target::Affinity { tid: 7, started: 42, name: "kipmi0".to_owned() };
    let task = Write::of(task, "0-3", "0-1").if_taken();
    let interrupt = write("/proc/irq/7/smp_affinity_list", "0-3", "0-1").if_taken();
    let mask = write("/sys/devices/virtual/workqueue/cpumask", "f", "3");
    let new = Target::file("/etc/default/grub.d/90-fullclock.cfg");
    let new = Write { from: None, ..Write::of(new, "", "A=\" nohz_full=3\"\n") };
    let mut boot = step("nohz-full=3", vec![new]);
    boot.change.activate = Some("update-grub".to_owned());
    vec![
        step("bd-prochot=off", vec![register]),
        step("cpu-dma-latency=20us", vec![Write::of(Target::LatencyRequest, "none", "20")]),
        step("irq-affinity=7:0-1", vec![interrupt]),
        step("workqueue-cpumask=0-1", vec![mask]),
        step("kernel-thread-affinity=kipmi0:0-1", vec![task]),
        step("stat-interval=10", vec![write("/proc/sys/vm/stat_interval", "1", "10")]),
        boot,
        step("nmi-watchdog=off", Vec::new()),
    ]
}

fn text(tool: &str, plan: &Plan, profiles: &[&str]) -> String {
    let unfixed = [("stolen-time", "ask who runs the host".to_owned())];
    let planned = Planned { name: "db7", plan, unfixed: &unfixed, unfound: &[], files: &[] };
    let profiles = Ok(profiles.iter().map(|it| (*it).to_owned()).collect());
    told(tool, &planned, &profiles)
}

fn told(tool: &str, planned: &Planned<'_>, profiles: &Fact<Vec<String>>) -> String {
    let site = Site { began: "2026-11-20T16:00:01.000Z", tuned_profiles: profiles };
    TOOLS.iter().find(|it| it.name == tool).unwrap().text(planned, &site).text
}

/// What a tool lacks of some steps, and what it is given.
fn lacking(tool: &str, steps: Vec<Step>) -> (Option<String>, String) {
    let plan = Plan { steps, refused: Vec::new(), left_out: Vec::new() };
    let planned = Planned { name: "db7", plan: &plan, unfixed: &[], unfound: &[], files: &[] };
    let site = Site { began: "2026-11-20T16:00:01.000Z", tuned_profiles: &Ok(Vec::new()) };
    let tool = TOOLS.iter().find(|it| it.name == tool).unwrap();
    let Written { text, lacking } = tool.text(&planned, &site);
    (lacking, text)
}

#[test]
fn a_tool_that_can_do_nothing_of_a_plan_says_so() {
    let interval =
        || step("stat-interval=10", vec![write("/proc/sys/vm/stat_interval", "1", "10")]);
    let governor = of_cpus(&[0], "cpufreq/policy", "scaling_governor", "powersave", "performance");
    let (none, text) = lacking("cpupower", vec![interval()]);
    let none = none.unwrap();
    assert_eq!(
        none,
        "cpupower makes 0 of 1 write; lines `NOT BY` name the others: `--as shell` makes most of them, `fullclock apply` all"
    );
    assert!(text.ends_with(&format!("\n# {none}\n")), "{text}");
    let (some, text) =
        lacking("cpupower", vec![interval(), step("governor=performance", governor.clone())]);
    let some = some.unwrap();
    assert!(some.starts_with("cpupower makes 1 of 2 writes; "), "{some}");
    assert!(!text.contains(&some), "{text}");
    let steps = || vec![step("governor=performance", governor.clone())];
    for tool in TOOLS {
        assert_eq!(lacking(tool.name, steps()).0, None, "{}", tool.name);
        assert_eq!(lacking(tool.name, Vec::new()).0, None, "{}", tool.name);
    }
    let request = Write::of(Target::LatencyRequest, "none", "20");
    let (shell, _) = lacking("shell", vec![step("cpu-dma-latency=20us", vec![request])]);
    assert!(shell.unwrap().ends_with(": `fullclock apply` makes them"));
}

#[test]
fn a_profile_of_tuned_has_what_its_plugins_can_do() {
    insta::assert_snapshot!(text("tuned", &everything(), &["throughput-performance", "my-own"]));
    assert!(!text("tuned", &everything(), &[]).contains("\ninclude="));
    let own = text("tuned", &everything(), &["fullclock", "a b;\n[x]"]);
    assert!(!own.contains("\ninclude=") && !own.contains("\n[x]"), "{own}");
    let nothing = Plan { steps: Vec::new(), refused: Vec::new(), left_out: Vec::new() };
    let planned = Planned { name: "db7", plan: &nothing, unfixed: &[], unfound: &[], files: &[] };
    let unknown = told("tuned", &planned, &Err(Missing::denied("/etc/tuned/active_profile")));
    assert!(
        unknown.contains("which is unknown: /etc/tuned/active_profile may not be read\n"),
        "{unknown}"
    );
    let none = told("tuned", &planned, &Err(Missing::absent("/etc/tuned/active_profile")));
    assert!(none.contains("; none is active here\n"), "{none}");
}

#[test]
fn commands_of_cpupower_are_one_for_all_cpus_that_change_alike() {
    insta::assert_snapshot!(text("cpupower", &everything(), &[]));
}

#[test]
fn a_script_reads_back_what_it_writes() {
    insta::assert_snapshot!(text("shell", &everything(), &[]));
}

#[test]
fn no_write_is_left_out_without_a_comment() {
    let plan = everything();
    let commands =
        |text: &str| text.lines().filter(|it| !it.starts_with('#') && !it.is_empty()).count();
    for tool in TOOLS {
        let all = text(tool.name, &plan, &[]);
        assert!(all.contains("# REFUSED: governor=fast: policy0 has no governor \"fast\"\n"));
        assert!(all.contains("# already set: nmi-watchdog=off\n"));
        assert!(all.contains("# no setting fixes stolen-time: ask who runs the host\n"));
        assert!(all.contains("# note: two\\nlines\n"), "{all}");
        let nothing = commands(&text(tool.name, &Plan { steps: Vec::new(), ..everything() }, &[]));
        for (request, write) in
            plan.steps.iter().flat_map(|it| made(it).map(move |write| (it.request.text(), write)))
        {
            let alone = Plan { steps: vec![step(&request, vec![write.clone()])], ..everything() };
            let text = text(tool.name, &alone, &[]);
            let is_said =
                text.contains(&format!(": {}: ", write.target)) && text.contains("# NOT BY ");
            assert!((commands(&text) > nothing) != is_said, "{}: {text}", tool.name);
        }
    }
}

#[test]
fn values_that_differ_by_cpu_are_not_one_option_for_all() {
    let mut writes = of_cpus(&[0], "cpu", "power/energy_perf_bias", "6", "0");
    writes.extend(of_cpus(&[1], "cpu", "power/energy_perf_bias", "6", "4"));
    let plan = Plan {
        steps: vec![step("energy-perf-bias=0", writes)],
        refused: Vec::new(),
        left_out: Vec::new(),
    };
    let tuned = text("tuned", &plan, &[]);
    assert!(tuned.contains("[sysfs]\n") && !tuned.contains("[cpu]"), "{tuned}");
    assert!(tuned.contains("/cpu1/power/energy_perf_bias=4\n"), "{tuned}");
    let cpupower = text("cpupower", &plan, &[]);
    assert!(
        cpupower.contains("cpupower -c 0 set -b 0  #") && cpupower.contains("-c 1 set -b 4"),
        "{cpupower}"
    );
    let some = Plan {
        steps: vec![step(
            "governor=performance@2",
            of_cpus(&[2], "cpufreq/policy", "scaling_governor", "powersave", "performance"),
        )],
        ..everything()
    };
    assert!(text("tuned", &some, &[]).contains("/policy2/scaling_governor=performance\n"));
}

/// Every shell of this machine that a script is for.
#[expect(clippy::disallowed_methods, reason = "asks which shells this machine has")]
fn shells() -> Vec<Vec<&'static str>> {
    let known = [vec!["sh"], vec!["dash"], vec!["busybox", "ash"], vec!["bash", "--posix"]];
    let runs = |it: &Vec<&str>| {
        Command::new(it[0]).args(&it[1..]).args(["-c", ":"]).status().is_ok_and(|it| it.success())
    };
    known.into_iter().filter(runs).collect()
}

/// The exit code and standard error of a script in which `/sys` and `/proc` are below a folder.
#[expect(clippy::disallowed_methods, reason = "runs the script in the shells that it is for")]
fn run(shell: &[&str], script: &str, folder: &Path, check_only: bool) -> (Option<i32>, String) {
    let folder = folder.display();
    let script = script.replace("put /sys/", &format!("put {folder}/sys/"));
    let script = script.replace("put_mask /sys/", &format!("put_mask {folder}/sys/"));
    let script = script.replace("put /proc/", &format!("put {folder}/proc/"));
    let file = format!("{folder}/script");
    std::fs::write(&file, script).unwrap();
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(check_only.then_some("-n")).arg(file);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn every_shell_reads_the_scripts() {
    let shells = shells();
    assert!(!shells.is_empty());
    let folder = tempfile::tempdir().unwrap();
    for shell in &shells {
        for tool in ["shell", "cpupower"] {
            let (code, errors) = run(shell, &text(tool, &everything(), &[]), folder.path(), true);
            assert_eq!((code, &*errors), (Some(0), ""), "{shell:?} {tool}");
        }
    }
}

/// A plan of files only.
fn of_files() -> Plan {
    let mut plan = everything();
    plan.refused.clear();
    let is_file = |it: &Write| matches!(it.target, Target::Control { .. });
    plan.steps.retain(|it| !it.change.writes.is_empty() && it.change.writes.iter().all(is_file));
    plan
}

#[test]
#[expect(clippy::disallowed_methods, reason = "looks at the files that the script wrote")]
fn a_script_makes_the_writes_and_stops_at_the_first_that_does_not_stick() {
    let plan = of_files();
    let script = text("shell", &plan, &[]);
    for shell in shells() {
        let folder = tempfile::tempdir().unwrap();
        let place = |path: &str| folder.path().join(path.trim_start_matches('/'));
        let all = || plan.steps.iter().flat_map(made).filter_map(control);
        for (path, _) in all() {
            std::fs::create_dir_all(place(path).parent().unwrap()).unwrap();
            std::fs::write(place(path), "old\n").unwrap();
        }
        let (code, errors) = run(&shell, &script, folder.path(), false);
        assert_eq!((code, &*errors), (Some(0), ""), "{shell:?}");
        for (path, to) in all() {
            assert_eq!(std::fs::read_to_string(place(path)).unwrap().trim(), to, "{path}");
        }
        // What is optional may be refused, and the script goes on; the last write is to a file that keeps nothing.
        let irq = place("/proc/irq/7/smp_affinity_list");
        std::fs::remove_file(&irq).unwrap();
        std::fs::create_dir(&irq).unwrap();
        let interval = place("/proc/sys/vm/stat_interval");
        std::fs::remove_file(&interval).unwrap();
        std::os::unix::fs::symlink("/dev/null", &interval).unwrap();
        let governor = place("/sys/devices/system/cpu/cpufreq/policy4/scaling_governor");
        std::fs::write(&governor, "old\n").unwrap();
        let (code, errors) = run(&shell, &script, folder.path(), false);
        assert_eq!(code, Some(1), "{shell:?}: {errors}");
        assert!(errors.contains("not taken, which is allowed: /proc/irq/7/"), "{errors}");
        assert!(errors.contains("stat_interval"), "{errors}");
        assert_eq!(std::fs::read_to_string(&governor).unwrap(), "performance\n");
        // Nothing is written after a failure.
        std::fs::remove_file(&governor).unwrap();
        std::fs::create_dir(&governor).unwrap();
        let boost = place("/sys/devices/system/cpu/cpufreq/boost");
        std::fs::write(&boost, "old\n").unwrap();
        let (code, _) = run(&shell, &script, folder.path(), false);
        assert_eq!(code, Some(1), "{shell:?}");
        assert_eq!(std::fs::read_to_string(&boost).unwrap(), "old\n");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "looks at the file that the script wrote")]
fn a_mask_is_the_same_however_the_kernel_prints_it() {
    let folder = tempfile::tempdir().unwrap();
    for shell in shells() {
        let bare = FUNCTION_BARE.to_owned()
            + "bare 00000000,0000000F; bare f; bare 0x0; bare 00000001,00000000\n";
        let file = folder.path().join("bare");
        std::fs::write(&file, bare).unwrap();
        let output = Command::new(shell[0]).args(&shell[1..]).arg(&file).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "f\nf\n\n100000000\n", "{shell:?}");
    }
}

const FUNCTION_BARE: &str =
    "bare() { echo \"$1\" | tr -d , | tr A-F a-f | sed 's/^0x//; s/^0*//'; }\n";

#[test]
fn a_file_is_written_whole_and_what_it_held_is_a_comment() {
    let old = Write::of(Target::file("/etc/x y"), "old\n$(rm -rf /)\n", "END\nno end");
    let gone = Write { to: None, ..Write::of(Target::file("/etc/gone"), "x\n", "") };
    let plan = Plan {
        steps: vec![step("nohz-full=3", vec![old, gone])],
        refused: Vec::new(),
        left_out: Vec::new(),
    };
    let script = text("shell", &plan, &[]);
    let expected = "# /etc/x y was:\n#     old\n#     $(rm -rf /)\nmkdir -p \"$(dirname '/etc/x y')\" || fail '/etc/x y'\n\
                    cat > '/etc/x y' <<'END_' || fail '/etc/x y'\nEND\nno end\nEND_\n\
                    # /etc/gone was:\n#     x\nrm -f /etc/gone || fail /etc/gone\n";
    assert!(script.contains(expected), "{script}");
}
