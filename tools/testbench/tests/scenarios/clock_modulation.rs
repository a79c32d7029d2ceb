//! A register that lets only every fourth clock through.

use crate::audit::Audit;
use crate::boots::THROTTLED;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn modulated_clock_is_found_with_its_share_and_register_and_gone_when_cleared() {
    let audit = Audit::of(&THROTTLED, "as booted");
    let finding = audit.expect("clock-modulation");
    let message = finding["message"].as_str().unwrap_or_default();
    assert!(message.contains("25 %"), "the message does not name the share: {finding:#}");
    let evidence = finding["evidence"].to_string();
    assert!(
        evidence.contains("/msr 0x19a"),
        "the evidence does not name the register: {finding:#}"
    );
    assert!(evidence.contains("0x14"), "the evidence does not name its value: {finding:#}");

    let chain = audit.expect_one_chain(&["clock-modulation"]);
    assert_eq!(chain["mechanism"], "clock modulation (duty cycle 25 %)", "{chain:#}");
    assert_eq!((&chain["loss"]["share"], &chain["seen"]), (&0.75.into(), &"now".into()));

    Audit::of(&THROTTLED, "fixed").expect_clean("clock-modulation");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn modulated_clock_is_cured_and_not_brought_back_unless_forced() {
    let output = THROTTLED.step("cured").unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(
        output.stdout,
        "register: 0x14\napply: 0\nregister: 0x4\n\
         revert: 3\nwhich is a fault\nregister: 0x4\n\
         forced: 0\nregister: 0x14\n\
         ignored: 3\ndid not stick\nNothing is applied.\n",
        "{}",
        output.stderr
    );
}
