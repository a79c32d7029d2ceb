//! What is looked for on made-up hosts of several distributions, as root, as an ordinary user and in a container.

use super::{Examined, MEANS, Provision, State, examine};
use crate::audit::audit;
use crate::checks;
use crate::fixture::{XEON, captured, host_of};
use crate::{losses, metrics};
use facts::access::Access;
use facts::{Missing, Obstacle, Origin};
use host::Source;
use std::collections::BTreeSet;
use std::fmt::Write;

const ROOT: &str =
    "//- /proc/self/status\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-3\n";
const USER: &str = "//- /proc/self/status\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-3\n";
/// Docker's default capabilities.
const DOCKER: &str = "//- /proc/self/status\nUid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nCpus_allowed_list:\t0-1\n\
                      //- /.dockerenv\n//- /proc/2/stat\n!absent\n";
const FULL: &str = "//- /dev/cpu/0/\nmsr\n//- /sys/kernel/tracing/events/\nsched\n//- /sys/kernel/debug/\nsched\n\
                    //- /sys/fs/cgroup/cgroup.controllers\ncpu\n//- /proc/schedstat\nversion 17\n\
                    //- /sys/class/powercap/\nintel-rapl\n//- /run/systemd/system/\n//- /usr/bin/\nssh\n\
                    //- /proc/sys/kernel/osrelease\n6.1.0-18-amd64\n//- /sys/kernel/security/lockdown\n[none] integrity confidentiality\n";

/// As on the running machine: what is tried there answers as said.
fn looked_at(excerpt: &str, tried: Result<(), Missing>) -> Vec<Examined> {
    let source = captured(&format!("{}{excerpt}", without_registers(XEON)));
    let mut host = host::view(&source);
    host.origin = Origin::Live;
    let mut access = host::access(&source as &dyn Source);
    (access.perf, access.exits) = (tried.clone(), tried);
    access.terminal = Ok(());
    examine(&host, &access, &audit(&host))
}

/// A register that was read shows the device.
fn without_registers(text: &str) -> String {
    text.replace("//- /dev/cpu/0/msr 0xce\n0xa0080001800\n", "")
}

fn line(it: &Examined) -> String {
    let (id, state) = (it.means.id, it.state.name());
    match &it.state {
        State::Here(text) | State::NotNeeded(text) => format!("{id} {state}: {text}"),
        State::Unknown(missing) => format!("{id} {state}: {missing}"),
        State::Lacking { seen, by: Provision::Command { now, more } } => {
            let more = more.as_ref().map_or(String::new(), |it| format!(" ({it})"));
            format!("{id} {state}: {seen}: `{now}`{more}")
        }
        State::Lacking { seen, by: Provision::Nothing(why) } => {
            format!("{id} {state}: {seen}: {why}")
        }
    }
}

/// The lines of some, or of all that are missing.
fn shown(excerpt: &str, tried: Result<(), Missing>, ids: &[&str]) -> String {
    let examined = looked_at(excerpt, tried);
    let is_shown = |it: &&Examined| match ids {
        [] => matches!(it.state, State::Lacking { .. }),
        ids => ids.contains(&it.means.id),
    };
    let mut text = String::new();
    for it in examined.iter().filter(is_shown) {
        writeln!(text, "{}", line(it)).unwrap();
    }
    text
}

#[test]
fn every_id_that_something_is_good_for_exists_and_every_means_is_good_for_something() {
    for (index, means) in MEANS.iter().enumerate() {
        let adds = &means.adds;
        assert!(MEANS[..index].iter().all(|it| it.id != means.id), "{}", means.id);
        for id in adds.checks {
            assert!(checks::find(id).is_some(), "{}: {id}", means.id);
        }
        for id in adds.metrics {
            assert!(metrics::find(id).is_some(), "{}: {id}", means.id);
        }
        for id in adds.losses {
            assert!(losses::find(id).is_some(), "{}: {id}", means.id);
        }
        let n = adds.checks.len() + adds.metrics.len() + adds.losses.len() + adds.commands.len();
        assert!(n > 0 && !adds.text.is_empty() && !adds.text.ends_with('.'), "{}", means.id);
        assert!(!means.title.is_empty(), "{}", means.id);
    }
}

#[test]
fn a_whole_debian_as_root_lacks_only_programs_that_single_commands_start() {
    let debian = format!("{ROOT}{FULL}//- /etc/os-release\nID=debian\nVERSION_ID=\"12\"\n");
    assert_eq!(
        shown(&debian, Ok(()), &[]),
        "postgresql missing: no postgres in the system's folders of programs: `apt-get install postgresql`\n\
         mariadb missing: no mariadbd or mysqld in the system's folders of programs: `apt-get install mariadb-server`\n"
    );
}

#[test]
fn an_ordinary_user_is_told_of_root_once_for_each_right() {
    let user = format!(
        "{USER}{}//- /etc/os-release\nID=debian\n",
        FULL.replace("events/\nsched", "events/\n!denied")
    );
    let tried = Err(Missing::denied("perf event x"));
    let text = shown(&user, tried, &["root", "msr-access", "perf-events", "taskstats", "tracefs"]);
    assert_eq!(
        text,
        "msr-access missing: this program has no CAP_SYS_RAWIO: `sudo fullclock`\n\
         root missing: this program runs as user 1000: `sudo fullclock`\n\
         perf-events missing: perf event x may not be read: `sudo fullclock`\n\
         tracefs missing: /sys/kernel/tracing/events may not be read: `sudo fullclock`\n\
         taskstats missing: perf event x may not be read: `sudo fullclock`\n"
    );
}

#[test]
fn a_container_says_what_to_start_it_with_and_what_no_command_in_it_can_do() {
    let ids = ["whole-host", "perf-events", "msr-module", "msr-access", "all-cpus", "systemd"];
    let text = shown(
        &format!("{DOCKER}//- /etc/os-release\nID=debian\n"),
        Err(Missing::denied("x")),
        &ids,
    );
    assert_eq!(
        text,
        "msr-access missing: this program has no CAP_SYS_RAWIO: `docker run --cap-add SYS_RAWIO` (when the container is started)\n\
         whole-host missing: this is a docker container: `docker run --privileged --pid=host --net=host -v /sys:/sys -v /dev:/dev` (or run fullclock on the host itself)\n\
         perf-events missing: x may not be read: `docker run --cap-add PERFMON` (when the container is started)\n\
         all-cpus missing: this program may not run on CPUs 2-3: `taskset -c 0-3 fullclock` (where a cpuset refuses that, it belongs to the container, service or job that started this program)\n\
         msr-module missing: /dev/cpu/0/msr does not exist: a module is loaded on the machine, not in a docker container\n\
         systemd not-needed: a change lasts where the host itself makes it\n"
    );
}

#[test]
fn each_distribution_has_its_own_words_for_a_module_and_for_what_lasts() {
    let of = |os_release: &str| {
        shown(
            &format!("{ROOT}//- /etc/os-release\n{os_release}\n"),
            Ok(()),
            &["msr-module", "systemd", "ssh"],
        )
    };
    assert_eq!(
        of("ID=rhel\nVERSION_ID=9"),
        "msr-module missing: /dev/cpu/0/msr does not exist: `modprobe msr` (at each boot: msr in /etc/modules-load.d/fullclock.conf)\n\
         ssh missing: no ssh in the system's folders of programs: `dnf install openssh-clients`\n\
         systemd missing: no systemd manages this host: whatever starts this host has to run `fullclock apply` at each boot\n"
    );
    let alpine = of("ID=alpine\nVERSION_ID=3.19.1");
    assert!(alpine.contains("`modprobe msr` (at each boot: msr in /etc/modules)"), "{alpine}");
    assert!(
        alpine.contains("`apk add openssh-client`") && alpine.contains("/etc/local.d/"),
        "{alpine}"
    );
    let talos = of("ID=talos\nVERSION_ID=v1.8.0");
    assert!(talos.contains("machine.kernel.modules: [{name: msr}]"), "{talos}");
    assert!(
        talos.contains(
            "ssh missing: no ssh in the system's folders of programs: this distribution installs no"
        ),
        "{talos}"
    );
    assert!(of("ID=nixos").contains("boot.kernelModules = [ \"msr\" ]"));
    assert!(
        of("ID=bottlerocket").contains("apiclient set settings.kernel.modules.msr.allowed=true")
    );
    assert!(of("ID=\"centos\"\nVERSION_ID=\"7\"").contains("`yum install openssh-clients`"));
    let unknown = shown(ROOT, Ok(()), &["ssh"]);
    assert!(unknown.contains("the distribution is unknown"), "{unknown}");
}

#[test]
fn a_lockdown_a_quiet_kernel_and_a_controller_are_seen() {
    let locked =
        format!("{ROOT}//- /sys/kernel/security/lockdown\nnone [integrity] confidentiality\n");
    let text = shown(&locked, Ok(()), &["no-lockdown"]);
    assert!(text.contains("= none [integrity] confidentiality: no command lifts it"), "{text}");
    let old = format!(
        "{ROOT}//- /proc/sys/kernel/osrelease\n5.10.0-28-amd64\n//- /proc/cmdline\nquiet nodelayacct\n//- /etc/os-release\nID=debian\n"
    );
    let text = shown(&old, Ok(()), &["delay-accounting"]);
    assert!(text.contains("take nodelayacct off the boot line"), "{text}");
    let described = format!("{ROOT}//- /sys/firmware/dmi/entries/\n0-0\n38-0\n");
    let text = shown(&described, Ok(()), &["ipmi-device"]);
    assert!(text.contains("`modprobe -a ipmi_si ipmi_devintf`"), "{text}");
    let driven = format!("{ROOT}//- /sys/bus/platform/drivers/ipmi_si/IPI0001:00/type\nkcs\n");
    let text = shown(&driven, Ok(()), &["ipmi-device"]);
    assert!(text.contains("`modprobe ipmi_devintf`"), "{text}");
    assert!(shown(ROOT, Ok(()), &["ipmi-device"]).contains("not-needed"));
    let text = shown(ROOT, Err(Missing::absent("x")), &["schedstat", "taskstats", "perf-events"]);
    assert!(
        text.contains("CONFIG_SCHEDSTATS")
            && text.contains("CONFIG_TASKSTATS")
            && text.contains("seccomp"),
        "{text}"
    );
}

#[test]
fn a_granite_rapids_is_told_of_the_module_that_shows_its_log() {
    let of = |excerpt: &str| {
        let text = without_registers(XEON).replace(": 85", ": 173") + ROOT + excerpt;
        let source = captured(&text);
        let host = host::view(&source);
        let examined = examine(&host, &host::access(&source), &audit(&host));
        line(examined.iter().find(|it| it.means.id == "plr-module").unwrap())
    };
    let device = "//- /sys/kernel/debug/tpmi-0000:00:03.1";
    let module = "`modprobe intel_plr_tpmi` (at each boot: intel_plr_tpmi in /etc/modules-load.d/fullclock.conf; Linux 6.11 and later have it)";
    let unmounted = of("//- /sys/kernel/debug/\n");
    assert!(unmounted.contains("`mount -t debugfs debugfs /sys/kernel/debug`"), "{unmounted}");
    let locked = "//- /sys/kernel/security/lockdown\nnone [integrity] confidentiality\n";
    assert!(of(locked).ends_with("see no-lockdown"), "{}", of(locked));
    let without = of("//- /sys/kernel/debug/\nsched\n");
    assert!(without.starts_with("plr-module missing: /sys/kernel/debug/tpmi-*/plr does not"));
    assert!(without.ends_with(module), "{without}");
    let words = "00000001 00000000 00000000 00000000 00000000 00000000 00000001 00000000";
    let dump =
        format!("{device}/tpmi-id-0c/mem_dump\nTPMI Instance:0 offset:0x0\n 00000000: {words}\n");
    assert!(of(&dump).contains("which tells of dies and not of CPUs"), "{}", of(&dump));
    let driver = format!("{device}/plr/domain0/status\ncpus none\ncpu0 none\n");
    assert_eq!(of(&driver), "plr-module here: the files of its driver");
    let denied = of("//- /sys/kernel/debug/\n!denied\n");
    assert!(
        denied.starts_with("plr-module missing: /sys/kernel/debug may not be read"),
        "{denied}"
    );
    assert!(shown(ROOT, Ok(()), &["plr-module"]).contains("not-needed"));
}

#[test]
fn the_driver_of_speed_select_is_named_by_what_the_processor_has() {
    let of = |model: u32, device: &str| {
        let cpu = "//- /sys/devices/system/cpu";
        let text = format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\n\
             {cpu}/online\n0\n{cpu}/cpu0/topology/package_cpus_list\n0\n{cpu}/cpu0/topology/physical_package_id\n0\n{device}"
        );
        let source = captured(&text);
        let host = host::view(&source);
        let examined = examine(&host, &host::access(&source), &audit(&host));
        line(examined.iter().find(|it| it.means.id == "isst-module").unwrap())
    };
    assert!(of(106, "").contains("`modprobe isst_if_mbox_pci`"), "{}", of(106, ""));
    assert!(of(173, "").contains("`modprobe isst_tpmi`"), "{}", of(173, ""));
    assert!(of(85, "").contains("not-needed"), "{}", of(85, ""));
    assert!(of(151, "").contains("not-needed"), "{}", of(151, ""));
    let denied = "//- /dev/isst_interface mailbox cpu0 0x7f 0x0 0x0\n!denied\n";
    assert!(of(106, denied).contains("may not be read"), "{}", of(106, denied));
    let answer = "//- /dev/isst_interface mailbox cpu0 0x7f 0x0 0x0\n!bytes 04040001\n";
    assert!(of(106, answer).starts_with("isst-module here"), "{}", of(106, answer));
}

#[test]
fn a_guest_is_sent_to_its_machine_and_not_to_a_module() {
    let guest = XEON.replace("flags : ", "flags : hypervisor ")
        + "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";
    let host = host_of(&guest);
    let examined = examine(&host, &Access::unasked(), &audit(&host));
    let of = |id: &str| line(examined.iter().find(|it| it.means.id == id).unwrap());
    assert!(
        of("bare-metal").contains("audit the machine under it as well"),
        "{}",
        of("bare-metal")
    );
    assert!(of("msr-module").starts_with("msr-module not-needed"), "{}", of("msr-module"));
    assert!(of("rapl-module").starts_with("rapl-module not-needed"));
}

#[test]
fn of_a_copy_nobodys_rights_are_missing_and_what_it_does_not_hold_is_unknown() {
    let source = captured(
        "fullclock capture 1\n//- /etc/os-release\nID=rhel\nVERSION_ID=9\n//- /dev/cpu/0/\n!absent\n",
    );
    let host = host::view(&source);
    let examined = examine(&host, &host::access(&source), &audit(&host));
    let of = |id: &str| line(examined.iter().find(|it| it.means.id == id).unwrap());
    for id in ["root", "perf-events", "taskstats", "all-cpus", "terminal", "ssh"] {
        assert!(of(id).starts_with(&format!("{id} not-needed")), "{}", of(id));
    }
    assert!(of("cgroups").starts_with("cgroups unknown"), "{}", of("cgroups"));
}

#[test]
fn whatever_a_right_or_a_module_keeps_from_a_check_something_missing_names_the_check() {
    let refused = "//- /dev/cpu/0/\n//- /dev/cpu_dma_latency\n!denied\n//- /dev/kmsg\n!denied\n\
                   //- /sys/kernel/debug/sched/preempt\n!denied\n//- /sys/kernel/debug/\n!denied\n\
                   //- /sys/fs/cgroup/\n!denied\n";
    let amd =
        XEON.replace("GenuineIntel", "AuthenticAMD").replace("cpu family : 6", "cpu family : 25");
    for (processor, least) in [(XEON, 5), (&*amd, 2)] {
        let source = captured(&without_registers(&format!("{processor}{USER}{refused}")));
        let mut host = host::view(&source);
        let audit = audit(&host);
        host.origin = Origin::Live;
        let mut access = host::access(&source);
        (access.perf, access.exits) = (Err(Missing::denied("x")), Err(Missing::denied("x")));
        let examined = examine(&host, &access, &audit);
        let lacking = || examined.iter().filter(|it| matches!(it.state, State::Lacking { .. }));
        let mut n = 0;
        for (check, missing) in &audit.unknown {
            if matches!(missing.obstacle(), Obstacle::Privilege | Obstacle::Module) {
                n += 1;
                let named = lacking().any(|it| it.unknown.contains(&check.id));
                assert!(named, "{}: {missing}", check.id);
            }
        }
        assert!(n >= least, "{n}");
    }
}

#[test]
fn the_tools_of_every_command_are_on_the_page_of_packages() {
    const PAGE: &str = include_str!("../../../../docs/packages.md");
    let mut tools = BTreeSet::new();
    for os in [
        "debian",
        "rhel\nVERSION_ID=7",
        "rhel\nVERSION_ID=9",
        "sles",
        "sle-micro",
        "alpine",
        "arch",
        "bottlerocket",
        "nixos",
    ] {
        for rights in [ROOT, USER, DOCKER] {
            let host = format!("{rights}//- /etc/os-release\nID={os}\n//- /sys/kernel/tracing/\n");
            for it in looked_at(&host, Err(Missing::denied("x"))) {
                if let State::Lacking { by: Provision::Command { now, .. }, .. } = it.state {
                    tools.extend(now.split(' ').next().map(str::to_owned));
                }
            }
        }
    }
    assert!(tools.len() > 10, "{tools:?}");
    for tool in tools {
        assert!(PAGE.contains(&format!("`{tool}`")), "{tool}");
    }
}
