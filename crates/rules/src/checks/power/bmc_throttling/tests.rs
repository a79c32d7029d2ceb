//! Verdicts on what controllers say.

use super::CHECK;
use crate::fixture::{XEON, findings, verdict};
use facts::redfish::{A_PROCESSOR, Cause, Limit, Odd, Processor, Redfish, Unknown};

fn host(told: &Redfish) -> String {
    format!("{XEON}//- redfish\n{}", told.to_text())
}

fn cpu(throttled: Option<bool>, causes: &[&str]) -> Processor {
    Processor {
        source: "/redfish/v1/Systems/1/Processors/CPU1".to_owned(),
        name: "CPU 1".to_owned(),
        throttled,
        causes: causes.iter().map(|it| Cause((*it).to_owned())).collect(),
        ..Processor::default()
    }
}

fn board(watts: f64, drawn: Option<f64>) -> Limit {
    Limit {
        source: "/redfish/v1/Chassis/1/EnvironmentMetrics PowerLimitWatts".to_owned(),
        watts: Some(watts),
        most: Some(1400.0),
        drawn,
        ..Limit::default()
    }
}

fn told(processors: &[Processor], limits: &[Limit]) -> Redfish {
    Redfish { processors: processors.to_vec(), limits: limits.to_vec(), ..Redfish::default() }
}

#[test]
fn a_throttled_processor_is_found_with_its_cause_and_its_cpus() {
    let host = host(&told(&[cpu(Some(true), &["PowerLimit"])], &[board(500.0, Some(490.0))]));
    assert_eq!(
        verdict(&CHECK, &host),
        "medium: the management controller calls processor CPU 1 throttled: PowerLimit (a power limit) [all 4 CPUs]\n\
         medium: the management controller holds the board to 500 W, and 490 W are drawn"
    );
    let finding = findings(&CHECK, &host).remove(0);
    let seen: Vec<String> =
        finding.evidence.iter().map(|it| format!("{} = {}", it.source, it.value)).collect();
    assert_eq!(
        seen,
        [
            "/redfish/v1/Systems/1/Processors/CPU1 Throttled = true",
            "/redfish/v1/Systems/1/Processors/CPU1 ThrottleCauses = PowerLimit",
            "/redfish/v1/Chassis/1/EnvironmentMetrics PowerLimitWatts = 500",
        ]
    );
    assert!(
        finding.fix.lasting.unwrap().ends_with(
            "over Redfish: PATCH /redfish/v1/Chassis/1/EnvironmentMetrics {\"PowerLimitWatts\": {\"SetPoint\": 1400}}"
        )
    );
}

#[test]
fn heat_is_nobodys_setting_and_a_cause_that_is_not_told_is_said_to_be_none() {
    let hot = findings(&CHECK, &host(&told(&[cpu(Some(true), &["ThermalLimit"])], &[]))).remove(0);
    assert_eq!(hot.held.by.unwrap().name(), "power and heat");
    assert!(hot.fix.lasting.unwrap().starts_with("fix the cooling"));
    let shown = verdict(&CHECK, &host(&told(&[cpu(Some(true), &[])], &[])));
    assert!(shown.contains("throttled: it does not say why"), "{shown}");
    // Two processors and one package: which CPUs they are is not told.
    let two = told(&[cpu(Some(true), &["OEM"]), cpu(Some(false), &[])], &[]);
    assert!(verdict(&CHECK, &host(&two)).ends_with("OEM (a cause of the maker's own)"));
}

#[test]
fn a_limit_is_as_severe_as_it_is_near() {
    let shown = |processor: Option<Processor>, limit| {
        verdict(&CHECK, &host(&told(processor.as_slice(), &[limit])))
    };
    assert!(shown(None, board(500.0, Some(480.0))).starts_with("medium: "));
    // It is reached, and the controller says that it throttles nothing.
    assert!(shown(Some(cpu(Some(false), &[])), board(500.0, Some(480.0))).starts_with("low: "));
    assert_eq!(
        shown(None, board(500.0, Some(200.0))),
        "info: the management controller holds the board to 500 W, which does not bind: 200 W are drawn"
    );
    assert!(shown(None, board(500.0, None)).ends_with("; what is drawn is unknown"));
    let peaked = Limit { peak: Some(499.0), ..board(500.0, Some(200.0)) };
    assert!(shown(None, peaked).starts_with("low: "));
    assert_eq!(shown(None, board(1400.0, Some(1400.0))), "clean", "the highest that can be set");
}

#[test]
fn the_request_names_the_item_of_the_list_that_it_changes() {
    let at = |source: &str| {
        let limit = Limit { source: source.to_owned(), most: None, ..board(500.0, Some(490.0)) };
        findings(&CHECK, &host(&told(&[], &[limit]))).remove(0).fix.lasting.unwrap()
    };
    let second = at("/redfish/v1/Chassis/1/Power PowerControl/1/PowerLimit");
    assert!(second.ends_with("PATCH /redfish/v1/Chassis/1/Power {\"PowerControl\": [{}, {\"PowerLimit\": {\"LimitInWatts\": null}}]}"), "{second}");
    assert!(at("/redfish/v1/Chassis/1/Controls/P").contains("`fullclock bmc` shows its limits"));
}

#[test]
fn a_limit_that_ipmi_shows_is_left_to_the_check_of_that() {
    let dcmi = "//- /dev/ipmi0 0x2c 0x01 dc 01\n00 dc 01 05 02 00 01 07\n\
                //- /dev/ipmi0 0x2c 0x03 dc 00 00\n00 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00\n";
    let shown = |watts| {
        verdict(&CHECK, &format!("{dcmi}{}", host(&told(&[], &[board(watts, Some(490.0))]))))
    };
    assert_eq!(shown(500.0), "clean");
    assert!(shown(480.0).starts_with("medium: "));
}

#[test]
fn a_limit_of_the_clock_is_medium_below_the_nominal_one() {
    let limited = |mhz| {
        let it = Processor {
            limit_mhz: Some(mhz),
            base_mhz: Some(2100.0),
            max_mhz: Some(3700.0),
            ..cpu(Some(false), &[])
        };
        verdict(&CHECK, &host(&told(&[it], &[])))
    };
    assert_eq!(
        limited(1200.0),
        "medium: the management controller limits the clock of processor CPU 1 to 1200 MHz of 3700 MHz [all 4 CPUs]"
    );
    assert!(limited(2800.0).starts_with("low: "));
    assert_eq!(limited(3700.0), "clean");
}

#[test]
fn what_was_counted_since_a_reset_is_a_note_and_no_present() {
    let it = Processor {
        power_limited_s: Some(93.0),
        heat_limited_s: Some(0.0),
        ..cpu(Some(false), &[])
    };
    let host = host(&told(&[it], &[]));
    assert_eq!(
        verdict(&CHECK, &host),
        "info: processors were throttled for 93 s by a power limit and 0 s by heat since the management controller reset its counts"
    );
    let finding = findings(&CHECK, &host).remove(0);
    assert_eq!(finding.held.moment, crate::finding::Moment::SinceBoot);
    assert_eq!(
        finding.evidence[0].value,
        "PowerLimitThrottleDuration 93 s, ThermalLimitThrottleDuration 0 s"
    );
}

#[test]
fn without_a_configuration_it_does_not_apply_and_without_an_answer_it_is_unknown() {
    assert!(verdict(&CHECK, XEON).starts_with("not applicable: no Redfish here: "));
    let failed = format!("{XEON}//- redfish\n!failed the certificate is not trusted\n");
    assert_eq!(
        verdict(&CHECK, &failed),
        "unknown: Redfish cannot be read: the certificate is not trusted"
    );
    assert!(
        verdict(&CHECK, &format!("{XEON}//- redfish\n[]\n")).starts_with("unknown: Redfish: found")
    );
    let mut silent = told(&[cpu(None, &[])], &[]);
    assert!(verdict(&CHECK, &host(&silent)).ends_with("the controller shows neither"));
    silent.unknown.push(Unknown {
        what: "the power limit".to_owned(),
        why: "the controller failed (503)".to_owned(),
    });
    assert_eq!(
        verdict(&CHECK, &host(&silent)),
        "unknown: Redfish: power limits and throttled processors cannot be read: the controller failed (503)"
    );
    assert_eq!(verdict(&CHECK, &host(&told(&[cpu(Some(false), &[])], &[]))), "clean");
}

#[test]
fn nothing_is_clean_where_a_processor_or_a_limit_was_not_read() {
    let whole = told(&[cpu(Some(false), &[])], &[]);
    assert_eq!(verdict(&CHECK, &host(&whole)), "clean");
    let unknown =
        vec![Unknown { what: A_PROCESSOR.to_owned(), why: "not sent: no request left".to_owned() }];
    let left_out = verdict(&CHECK, &host(&Redfish { unknown, ..whole.clone() }));
    assert!(
        left_out.starts_with("unknown: ") && left_out.contains("no request left"),
        "{left_out}"
    );
    // One that was not asked because the one before it told nothing of itself.
    let unread = verdict(&CHECK, &host(&Redfish { n_listed: 2, ..whole.clone() }));
    assert!(unread.starts_with("unknown: "), "{unread}");
    let odd = vec![Odd {
        source: "/redfish/v1/Chassis/1/EnvironmentMetrics PowerLimitWatts/SetPoint".to_owned(),
        found: "\"400\"".to_owned(),
        expected: "a number".to_owned(),
    }];
    let odd = verdict(&CHECK, &host(&Redfish { odd, ..whole }));
    assert!(odd.starts_with("unknown: "), "{odd}");
}
