//! Results and studies that were kept.
#![expect(clippy::disallowed_methods, reason = "reads results where the user keeps them")]

use super::Served;
use super::answer::{Json, Refusal, written};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse, Response};
use engine::earlier::{earlier_runs, folders_of};
use lab::comparison::{compared, sides};
use lab::record::Record;
use lab::store::{Entry, History, JOURNAL, RESULT, running};
use report::Style;
use report::document::Format;
use report::json::Head;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct Results {
    folder: PathBuf,
    /// What the arms of each result that was listed ran; a result that is kept does not change.
    described: Mutex<HashMap<String, Vec<String>>>,
    /// An index of them in memory, once somebody has asked.
    history: Mutex<Option<History>>,
}

/// A report brings its own style, and no script.
pub(super) const POLICY_OF_REPORTS: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// The folder of studies, among results.
const STUDIES: &str = "experiments";

impl Results {
    /// Those in this folder.
    pub(super) fn of(folder: PathBuf) -> Results {
        Results { folder, described: Mutex::default(), history: Mutex::default() }
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// The latest results, and why other files are none.
    fn kept(&self, limit: usize) -> Result<(Vec<Entry>, Vec<String>), Refusal> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match history.take() {
            Some(mut known) => known.catch_up_with_folder().map(|()| known),
            None => History::open_in_memory(&self.folder),
        };
        let known = history.insert(known.map_err(Refusal::failed)?);
        let kept = known.list(None, limit).map_err(Refusal::failed)?;
        Ok((kept, known.unreadable().iter().map(ToString::to_string).collect()))
    }

    /// What each arm of a result ran.
    fn described(&self, entry: &Entry) -> Vec<String> {
        let mut known = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(entry.id.clone()).or_insert_with(|| described(entry)).clone()
    }

    /// The file of a result, or of its journal.
    pub(super) fn file(&self, id: &str) -> Result<PathBuf, Refusal> {
        let files = [RESULT, JOURNAL].map(|it| self.folder.join(format!("{id}.{it}")));
        let found = files.into_iter().find(|it| it.is_file());
        found.ok_or_else(|| Refusal::absent(format!("there is no result {id}")))
    }
}

/// The id in a path.
pub(super) fn id_of(path: Result<Path<String>, PathRejection>) -> Result<String, Refusal> {
    plain_id(path.map_err(Refusal::senseless)?.0)
}

/// The id where it names a file of the folder, and nothing else.
fn plain_id(id: String) -> Result<String, Refusal> {
    if is_plain(&id) { Ok(id) } else { Err(Refusal::absent("no result has such a name")) }
}

fn is_plain(id: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    (1..=200).contains(&id.len()) && !id.starts_with('.') && id.chars().all(is_plain)
}

/// What each arm of a result ran, by its file.
fn described(entry: &Entry) -> Vec<String> {
    let arms = lab::store::read_arms(&entry.path).unwrap_or_default();
    arms.iter().map(report::bench::described).collect()
}

/// Which results are listed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    #[serde(default = "a_page")]
    limit: u16,
}

fn a_page() -> u16 {
    100
}

/// `/api/v1/results`: the newest first.
pub(super) async fn list(
    State(served): State<Arc<Served>>,
    asked: Result<Query<Listed>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(asked) = asked.map_err(Refusal::senseless)?;
    let own = Arc::clone(&served);
    let list = move || {
        // In this order: a run that ends in between is in one of them at least.
        let runs = running(own.results.folder());
        let (kept, unreadable) = own.results.kept(asked.limit.into())?;
        let is_live = |it: &Entry| runs.iter().any(|run| run.id == it.id);
        let kept = kept.iter().filter(|it| !is_live(it) && is_plain(&it.id));
        let runs = runs.iter().map(|it| entry(it, described(it), true));
        let kept = kept.map(|it| entry(it, own.results.described(it), false));
        let results: Vec<Value> = runs.chain(kept).collect();
        Ok(Json(json!({ "results": results, "unreadable": unreadable })))
    };
    served.work.when_there_is_room(list).await
}

/// An entry of the list; `whats` says what each of its arms ran.
fn entry(entry: &Entry, whats: Vec<String>, is_live: bool) -> Value {
    let mut value = json!(entry);
    if let Some(fields) = value.as_object_mut() {
        // Where it is on the disk is nobody's business who sees it in a browser.
        fields.remove("path");
        fields.insert("is_race".to_owned(), json!(entry.is_race()));
        fields.insert("is_live".to_owned(), json!(is_live));
        fields.insert("doubt_names".to_owned(), json!(report::history::doubts(entry)));
        if let Some(arms) = fields.get_mut("arms").and_then(Value::as_array_mut) {
            for (value, what) in arms.iter_mut().zip(whats) {
                value["what"] = what.into();
            }
        }
    }
    value
}

/// `/api/v1/results/ID`: as it is kept, `schemas/result-2.json`.
pub(super) async fn show(
    State(served): State<Arc<Served>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let id = id_of(id)?;
    let own = Arc::clone(&served);
    let text = move || {
        let record = lab::store::read(&own.results.file(&id)?).map_err(Refusal::absent)?;
        serde_json::to_string(&record).map_err(Refusal::failed)
    };
    let text = served.work.when_there_is_room(text).await?;
    Ok(written(&text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compared {
    a: String,
    b: Option<String>,
}

/// `/api/v1/compare`: the words of `fullclock compare`, and its JSON.
pub(super) async fn compare(
    State(served): State<Arc<Served>>,
    asked: Result<Query<Compared>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(Compared { a, b }) = asked.map_err(Refusal::senseless)?;
    let own = Arc::clone(&served);
    let compare = move || {
        let ids = [Some(a), b].into_iter().flatten().map(plain_id);
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        let files = ids.iter().map(|it| own.results.file(it)).collect::<Result<Vec<_>, _>>()?;
        comparison(&own.machine.head(), own.results.folder(), &files, &ids).map(Json)
    };
    served.work.when_there_is_room(compare).await
}

/// What `fullclock compare` says of the results in these files: as text, as JSON, and in parts for a page.
///
/// Errors: a result cannot be read, or there is nothing to compare it with.
fn comparison(
    head: &Head,
    folder: &std::path::Path,
    files: &[PathBuf],
    ids: &[String],
) -> Result<Value, Refusal> {
    let records: Result<Vec<Record>, _> = files.iter().map(|it| lab::store::read(it)).collect();
    let records = records.map_err(Refusal::senseless)?;
    let sides = sides(&records, ids);
    let earlier = earlier_runs(&sides, &folders_of(&[], Some(folder)));
    let found = compared(&records, &sides, ids, &earlier, None).map_err(Refusal::senseless)?;
    let style = Style { color: false, width: 100 };
    let document = report::bench::comparisons(&found, &sides, ids);
    let text = document.render(Format::Text(style));
    let json = report::bench::comparisons_json(head, &found).map_err(Refusal::failed)?;
    let json: Value = serde_json::from_str(&json).map_err(Refusal::failed)?;
    Ok(json!({ "text": text, "comparisons": json, "document": document.parts() }))
}

/// As much of a report as a list shows.
#[derive(Deserialize)]
struct Brief {
    id: String,
    began: String,
    is_complete: bool,
    n_trials: usize,
    verdict: Value,
}

/// `/api/v1/studies`: those with a report, the newest first.
pub(super) async fn studies(State(served): State<Arc<Served>>) -> Result<Json<Value>, Refusal> {
    let own = Arc::clone(&served);
    let list = move || {
        let entries = std::fs::read_dir(own.results.folder().join(STUDIES));
        let folders = entries.into_iter().flatten().filter_map(Result::ok).map(|it| it.path());
        let brief = |folder: PathBuf| -> Option<Brief> {
            let bytes = std::fs::read(folder.join("report.json")).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        let mut found: Vec<(String, Brief)> = folders
            .filter_map(|it| {
                let name = plain_id(it.file_name()?.to_str()?.to_owned()).ok()?;
                Some((name, brief(it)?))
            })
            .collect();
        found.sort_by(|a, b| b.1.began.cmp(&a.1.began));
        let studies = found.iter().map(|(name, it)| {
            json!({
                "id": it.id,
                "began": it.began,
                "is_complete": it.is_complete,
                "n_trials": it.n_trials,
                "verdict": it.verdict,
                "report": format!("/api/v1/studies/{name}/report.html"),
            })
        });
        Ok(Json(json!({ "studies": studies.collect::<Vec<_>>() })))
    };
    served.work.when_there_is_room(list).await
}

/// `/api/v1/studies/ID/report.html`: as it is kept.
pub(super) async fn report(
    State(served): State<Arc<Served>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let id = id_of(id)?;
    let own = Arc::clone(&served);
    let page = move || {
        let file = own.results.folder().join(STUDIES).join(&id).join("report.html");
        std::fs::read(file).map_err(|_| Refusal::absent(format!("there is no report of {id}")))
    };
    let page = served.work.when_there_is_room(page).await?;
    Ok(([(CONTENT_SECURITY_POLICY, POLICY_OF_REPORTS)], Html(page)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_nothing_outside_of_the_folder() {
        for id in ["20261123T021533Z-commit", "a.b_c-2"] {
            assert_eq!(plain_id(id.to_owned()).ok().as_deref(), Some(id));
        }
        for id in ["", ".", "..", ".hidden", "a/b", "../x", "a\0", "a b", &"x".repeat(201)] {
            assert!(plain_id(id.to_owned()).is_err(), "{id:?}");
        }
    }
}
