//! Outputs of other programs, each with a fault and without one.

use super::Pasted;
use facts::pasted::{self as outputs, Output};
use rules::config::Config;

mod outputs_of_hosts;

/// Without a configuration.
fn pasted(text: &str) -> Pasted {
    super::pasted(text, &Config::default(), "2026-11-27")
}

/// Each line that is said of a text, after the name of the output it belongs to.
fn said(text: &str) -> String {
    let explanations = pasted(text).explanations;
    let lines = explanations
        .iter()
        .flat_map(|it| it.meaning.iter().map(|line| format!("{}: {line}", it.what)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a line reports a fault at medium or above.
fn is_serious(line: &str) -> bool {
    ["Medium, ", "High, ", "Critical, "].iter().any(|it| line.starts_with(it))
}

/// Lines of `text` about `output` at medium or above.
fn serious(text: &str, output: &Output) -> Vec<String> {
    let explanations = pasted(text).explanations;
    let of = explanations.into_iter().filter(|it| it.what == output.what);
    of.flat_map(|it| it.meaning).filter(|it| is_serious(it)).collect()
}

#[test]
fn a_text_of_several_outputs_is_explained_in_its_order_each_once() {
    let text = format!(
        "$ lscpu\n{}\n$ cpupower frequency-info\n{}\nCPU12: Core power limit notification (total events = 14)\n$ vmstat 1 2\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0 0 1 1 1 0 0 1 1 1 1 10 1 89 0 0\n",
        outputs_of_hosts::LSCPU,
        outputs_of_hosts::FREQUENCY_INFO.replace("ondemand", "powersave"),
    );
    let explanations = pasted(&text).explanations;
    let whats: Vec<&str> = explanations.iter().map(|it| it.what).collect();
    assert_eq!(whats.len(), 4, "{whats:?}");
    assert!(whats[0].starts_with("lscpu") && whats[1].starts_with("cpupower"), "{whats:?}");
    assert!(whats[3].starts_with("vmstat"), "{whats:?}");
    assert!(said(&text).contains("High, slow-governor"), "{}", said(&text));
}

#[test]
fn colours_carriage_returns_prompts_and_lost_blanks_change_nothing() {
    for (output, faulty, _) in outputs_of_hosts::TEXTS {
        let plain: Vec<String> = serious(faulty, output);
        let colours =
            format!("\u{1b}[32mroot@db7\u{1b}[0m:~# command\r\n{}", faulty.replace('\n', "\r\n"));
        assert_eq!(serious(&colours, output), plain, "{}", output.what);
        if !["ethtool", "lscpu"].contains(&output.command()) {
            let lost: Vec<String> = faulty.lines().map(|it| it.replace('\t', " ")).collect();
            assert_eq!(serious(&lost.join("\n"), output), plain, "{}", output.what);
        }
    }
}

#[test]
fn a_text_that_was_cut_anywhere_says_nothing_else() {
    for (output, faulty, sound) in outputs_of_hosts::TEXTS {
        let all = serious(faulty, output);
        let checks = |lines: &[String]| -> Vec<String> {
            lines
                .iter()
                .filter_map(|it| it.split(": ").next())
                .map(|it| it.split(", ").nth(1).unwrap_or("").to_owned())
                .collect()
        };
        let known = checks(&all);
        for (end, _) in faulty.char_indices().step_by(7) {
            let found = checks(&serious(&faulty[..end], output));
            assert!(
                found.iter().all(|it| known.contains(it)),
                "{} up to {end}: {found:?}",
                output.what
            );
        }
        for (start, _) in sound.char_indices().step_by(7) {
            let found = serious(&sound[start..], output);
            assert!(found.is_empty(), "{} from {start}: {found:?}", output.what);
        }
    }
}

#[test]
fn rubbish_is_not_explained() {
    assert_eq!(pasted(&"x y: 1 | 0x2 %\t\n".repeat(60_000)).explanations, []);
    assert_eq!(pasted(&"\u{1b}[".repeat(500_000)).explanations, []);
    assert_eq!(pasted(&"cpu0: ".repeat(170_000)).explanations, []);
}

#[test]
fn every_output_is_recognised_or_has_a_rule() {
    let explained = |output: &Output| {
        let texts = outputs_of_hosts::TEXTS.iter().chain(outputs_of_hosts::OTHERS);
        texts.clone().any(|(of, _, _)| of.what == output.what)
    };
    let missing: Vec<&str> =
        outputs::OUTPUTS.iter().filter(|it| !explained(it)).map(|it| it.what).collect();
    assert!(missing.is_empty(), "without a text: {missing:?}");
}
