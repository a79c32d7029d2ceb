//! What a certificate says, and what it does not.

use super::cautions::cautions;
use super::fixture::{MADE, change, records, with};
use super::{json, page, text};
use crate::Style;
use crate::bench::fixture::QUIET;
use crate::json::Head;
use crate::schemas::checked;
use facts::change::ChangeState;
use lab::known::Known;
use lab::record::Record;
use std::path::Path;
use std::time::Duration;

fn shown(records: &[Record; 2]) -> String {
    let style = Style { color: false, width: 80 };
    with(records, Some(&change()), |it| text(it, Path::new("certificate.html"), style))
}

#[test]
fn the_text_is_the_verdict_of_compare_and_where_the_page_is() {
    insta::assert_snapshot!(shown(&records()));
}

#[test]
fn a_page_holds_everything_and_asks_for_nothing() {
    let page = with(&records(), Some(&change()), page);
    for part in [
        "<h1>After is 55.556\u{a0}% faster than before",
        "which explains the difference",
        "elapsed, median",
        "Every trial",
        "Where the time went",
        "policy{0-1}/scaling_governor (2 places)",
        "<td>powersave</td><td>performance</td><td>in force</td>",
        "firmware version",
        "2.12.1",
        "0x2006e05",
        "fullclock bench cpu-loop --cpus 2 -n 20",
        "fullclock apply governor=performance",
        "sha256sum -c &lt;&lt;&#39;END&#39;",
        "before.json",
        "head -n 42 /var/lib/fullclock/journal | grep -F &#39;&quot;change&quot;:&quot;0007&quot;&#39; | sha256sum",
        "The next boot ends all of it",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<circle class=\"trial").count(), 40);
    for part in ["<script", "<link", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn a_line_of_the_ledger_that_nobody_could_measure_says_why() {
    let mut records = records();
    for trial in &mut records[1].trials {
        let Known::Value(around) = &mut trial.surroundings else { continue };
        around.ledger.edit(|it| it[0].share = Known::missing("no counter of ticks"));
    }
    let page = with(&records, None, page);
    assert!(page.contains("<td>0.73\u{a0}%</td><td>unknown: no counter of ticks</td>"), "{page}");
}

#[test]
fn where_doubts_forbid_a_claim_neither_page_nor_text_makes_one() {
    let [before, mut after] = records();
    after.trials.truncate(4);
    after.doubts.clear();
    after.doubts.extend(lab::doubts::of(&after));
    let records = [before, after];
    let page = with(&records, Some(&change()), page);
    let sentence = "No claim about before and after: a doubt forbids it";
    assert!(page.contains(&format!("<h1>{sentence}</h1>")), "{page}");
    assert!(page.contains("Doubts that forbid a claim"));
    assert!(!page.contains("faster than"));
    assert!(shown(&records).starts_with(sentence));
}

#[test]
fn a_difference_that_is_none_is_not_claimed() {
    let [before, after] = records();
    let same = crate::bench::fixture::moment(QUIET);
    let of = |record: Record| Record { trials: same.trials.clone(), doubts: vec![], ..record };
    let text = shown(&[of(before), of(after)]);
    assert!(text.starts_with("No difference found between "), "{text}");
}

#[test]
fn a_change_that_does_not_lie_between_the_results_is_not_given_the_difference() {
    let shown_with = |when: Duration, state: ChangeState| {
        let mut change = change();
        change.shown.recorded.when = when;
        change.shown.recorded.state = state;
        with(&records(), Some(&change), cautions).remove(0)
    };
    let hour = Duration::from_secs(3600);
    let moments = "The trials were taken at two moments";
    assert!(shown_with(MADE, ChangeState::Kept).starts_with(moments));
    let early = shown_with(MADE - hour, ChangeState::Kept);
    assert!(early.contains("before the trials of before had ended"), "{early}");
    let late = shown_with(MADE + hour, ChangeState::Kept);
    assert!(late.contains("when the trials of after had begun"), "{late}");
    let reverted = shown_with(MADE, ChangeState::Reverted);
    assert!(reverted.starts_with("It was reverted, and the journal does not tell when"));
}

#[test]
fn names_of_users_are_words_and_not_markup() {
    const EVIL: &str = "</title></svg><script>alert(1)</script>\"'&";
    let mut records = records();
    records[0].machine.0.insert(EVIL.to_owned(), EVIL.to_owned());
    records[1].arms[0].settings.command = vec![EVIL.to_owned()];
    let mut change = change();
    change.shown.recorded.command = vec![EVIL.to_owned()];
    change.groups[0].group.value = EVIL.to_owned();
    let page = with(&records, Some(&change), page);
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn json_is_what_its_schema_says() {
    let change = change();
    for change in [None, Some(&change)] {
        let of = |head: &Head| with(&records(), change, |it| json(head, it, Path::new("c.html")));
        let value = checked("certificate", of);
        assert_eq!(value["data"][1]["size"], 12_345);
    }
}
