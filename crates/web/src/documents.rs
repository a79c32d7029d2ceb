//! What a result says, in parts for the page that shows it.

use super::Served;
use super::answer::{Json, Refusal};
use super::results::id_of;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use lab::record::{Fingerprint, Record};
use report::Style;
use report::bench::{Report, document};
use report::document::Format;
use serde_json::{Value, json};
use std::sync::Arc;

/// Trials that are compared for a page: that takes up to three seconds of a CPU.
const MOST_COMPARED: usize = 10_000;

/// `/api/v1/results/ID/document`.
pub(super) async fn show(
    State(served): State<Arc<Served>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Refusal> {
    let id = id_of(id)?;
    let own = Arc::clone(&served);
    let answer = move || {
        let record = lab::store::read(&own.results.file(&id)?).map_err(Refusal::absent)?;
        let is_live = lab::store::running(own.results.folder()).iter().any(|it| it.id == id);
        Ok(Json(json!({
            "id": id,
            "began": record.began,
            "fullclock": record.version,
            "n_trials": record.trials.len(),
            "is_complete": record.is_complete,
            "is_live": is_live,
            "is_race": record.is_race(),
            "machines": machines(&record),
            "document": of(&record).parts,
        })))
    };
    served.work.when_there_is_room(answer).await
}

/// What a result says, as text of the command line and in parts for a page.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) parts: Value,
}

/// What the result says; of one with too many trials only which command says it.
pub(super) fn of(record: &Record) -> Said {
    let n = record.trials.len();
    if n <= MOST_COMPARED {
        let document = document(&Report::of(record, None));
        let style = Style { color: false, width: 100 };
        return Said { text: document.render(Format::Text(style)), parts: document.parts() };
    }
    let text = format!(
        "{n} intervals take seconds to compare, which are left to the machine's other work; \
         `fullclock compare {}` does it.",
        record.id
    );
    Said { parts: json!({ "title": record.id, "verdict": text, "blocks": [] }), text }
}

/// The machines that the trials were taken on, each with the settings that were recorded; `of` is empty for that of all arms.
fn machines(record: &Record) -> Vec<Value> {
    let machine = |of: &str, it: &Fingerprint| json!({ "of": of, "settings": it.0 });
    let own = record.arms.iter().filter_map(|it| Some(machine(&it.name, it.machine.as_ref()?)));
    [machine("", &record.machine)].into_iter().chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::record::Arm;
    use lab::trial::Trial;

    fn with_trials(n: usize) -> Record {
        let trials = (0..n).map(|at| Trial::of_one_task(at % 2, 1, 1.0)).collect();
        let arms = vec![Arm::of("a", "commit"), Arm::of("b", "commit")];
        Record { id: "x".to_owned(), trials, ..Record::of(arms) }
    }

    #[test]
    fn a_result_that_takes_too_long_to_compare_names_the_command() {
        let verdict = |n| of(&with_trials(n)).parts["verdict"].as_str().unwrap().to_owned();
        assert!(verdict(MOST_COMPARED + 1).contains("`fullclock compare x`"));
        assert!(!verdict(4).contains("fullclock compare"), "{}", verdict(4));
    }

    #[test]
    fn an_arm_on_another_machine_has_the_settings_of_that_machine() {
        let mut record = with_trials(0);
        record.machine.0.insert("governor".to_owned(), "performance".to_owned());
        let other = Fingerprint([("governor".to_owned(), "powersave".to_owned())].into());
        record.arms[1].machine = Some(other);
        let found = machines(&record);
        let of = |at: usize| (&found[at]["of"], &found[at]["settings"]["governor"]);
        assert_eq!(of(0), (&json!(""), &json!("performance")));
        assert_eq!(of(1), (&json!("b"), &json!("powersave")));
        assert_eq!(found.len(), 2);
    }
}
