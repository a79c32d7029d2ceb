//! `kipmid-max-busy`: how long the thread that polls the BMC may wait for it without a pause.
//!
//! Sources: Documentation/driver-api/ipmi.rst; drivers/char/ipmi/ipmi_si_intf.c (`kipmid_max_busy_us`, an array of
//! four), kernel/params.c. A list that was never given is shown as nothing, and nothing cannot be written: it comes
//! back as 0, which means the same.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::{file, value};
use facts::change::{Target, Write};
use facts::system::ipmi::{Ipmi, numbers};
use facts::{Missing, Subject, Subjects};

const PATH: &str = "/sys/module/ipmi_si/parameters/kipmid_max_busy_us";

pub(super) const SETTING: Setting = Setting {
    id: "kipmid-max-busy",
    title: "how long the thread that polls the BMC may wait without a pause",
    doc: "\
## What it changes
`kipmid_max_busy_us` of ipmi_si, in microseconds and for every interface: how long kipmid asks again and again before
it sleeps for a tick. 0 is no limit.

## What it costs
Answers of the BMC take longer: reading all sensors, and a firmware update most of all.

## When to leave it alone
Where kipmid takes no CPU time worth mentioning, and while the BMC's firmware is being updated.
",
    references: &[Reference {
        title: "Linux: The Linux IPMI Driver, The SI Driver",
        url: "https://docs.kernel.org/driver-api/ipmi.html",
    }],
    takes: "microseconds from 0 (no limit) to 1000000",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "a limit saves up to one busy core",
    after: &["tuner"],
    fixes: &["kipmid-busy"],
    reads: &[PATH],
    looks_at: Subjects::of(&[Subject::Ipmi]),
    plan,
};

/// As many as the driver has room for (`SI_MAX_PARMS`).
const MOST_INTERFACES: usize = 4;

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let limit = value::number(&SETTING, wanted, 0..=1_000_000)?;
    let from = file::read(scene, PATH)?;
    let current = numbers(from).map_err(|it| Missing::malformed(PATH, from, it.0))?;
    let n_interfaces = n_interfaces(&scene.host.ipmi)?.max(current.len());
    let limit_of = |interface: usize| current.get(interface).copied().unwrap_or(0);
    if (0..n_interfaces).all(|interface| limit_of(interface) == limit) {
        return Ok(Change::default());
    }
    let list = |limit: u64| vec![limit.to_string(); n_interfaces].join(",");
    let write = |from: &str, to: String| Write::of(Target::control(PATH), from, to);
    Ok(if from.is_empty() {
        let zeros = list(0);
        Change::of([write(from, zeros.clone()).if_taken(), write(&zeros, list(limit))])
            .note("the list was never given: undone, it is 0, which means the same")
    } else {
        Change::of([write(from, list(limit))])
    })
}

/// How many interfaces have to have a limit of their own.
fn n_interfaces(ipmi: &Ipmi) -> Result<usize, Refusal> {
    let threads = ipmi.threads.as_ref()?.iter().map(|it| it.interface + 1).max().unwrap_or(0);
    let interfaces = ipmi.interfaces.as_ref().map_or(0, Vec::len);
    Ok(threads.max(interfaces).clamp(1, MOST_INTERFACES))
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(limits: &str, thread: &str) -> String {
        files(&format!(
            "/sys/module/ipmi_si/parameters/kipmid_max_busy_us {limits}
             /proc/1/stat 1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5
             /proc/77/stat 77 ({thread}) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 39 19 1 0 5"
        ))
    }

    const PATH: &str = "/sys/module/ipmi_si/parameters/kipmid_max_busy_us";

    #[test]
    fn every_interface_gets_the_limit() {
        assert_eq!(planned(&SETTING, "100", &host("0", "kipmi0")), format!("{PATH}: 0 -> 100"));
        assert_eq!(
            planned(&SETTING, "100", &host("500", "kipmi1")),
            format!("{PATH}: 500 -> 100,100")
        );
    }

    #[test]
    fn a_list_that_was_never_given_can_be_undone_to_what_means_the_same() {
        assert_eq!(
            planned(&SETTING, "100", &host("", "kipmi0")),
            format!(
                "{PATH}:  -> 0, if taken\n{PATH}: 0 -> 100\n\
                 note: the list was never given: undone, it is 0, which means the same"
            )
        );
        assert_eq!(planned(&SETTING, "0", &host("", "kipmi0")), "nothing");
    }
}
