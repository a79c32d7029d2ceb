//! A vector as the HTTP API answers it, parsed as it comes: each series goes to who takes it, and none is kept here.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// Warnings that are kept; engines have one for each kind of trouble, and Thanos one for each store.
const MOST_WARNINGS: usize = 10;

/// One series.
#[derive(Debug, Deserialize)]
pub(super) struct Series {
    /// Its labels by name.
    pub(super) metric: BTreeMap<String, String>,
    /// Its value; `None` where it is a histogram.
    #[serde(default)]
    value: Option<Sample>,
}

impl Series {
    /// Its value where that is a number, and a finite one.
    pub(super) fn value(&self) -> Option<f64> {
        self.value.as_ref().map(|it| it.0).filter(|it| it.is_finite())
    }
}

/// `[1764273600, "0.98"]`: a time, and a number as Go prints it: `NaN`, `+Inf`.
#[derive(Debug)]
struct Sample(f64);

impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Sample, D::Error> {
        let (_, text): (IgnoredAny, String) = Deserialize::deserialize(from)?;
        let number =
            text.parse().map_err(|_| D::Error::custom(format_args!("{text:?} is no value")))?;
        Ok(Sample(number))
    }
}

/// Takes an answer, and gives each of its series to `each`, which tells whether it takes more.
pub(super) struct Vector<'a> {
    pub(super) each: &'a mut dyn FnMut(Series) -> bool,
}

/// All of an answer but its series.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Why there is no answer, where the status was a success nevertheless.
    pub(super) failure: Option<String>,
    /// What the engine warns of.
    warnings: Vec<String>,
    is_partial: bool,
}

impl Outcome {
    /// What users should know of the answer.
    pub(super) fn notes(self, shown: impl Fn(&str) -> String) -> Vec<String> {
        let warnings = self.warnings.iter().map(|it| format!("the engine warns: {}", shown(it)));
        let partial = "the engine says that its answer is partial: machines may be missing";
        warnings.chain(self.is_partial.then(|| partial.to_owned())).collect()
    }
}

/// Of an answer. `isPartial` is VictoriaMetrics': one of its stores did not answer.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Status,
    Data,
    Error,
    Warnings,
    Infos,
    IsPartial,
    #[serde(other)]
    Other,
}

impl<'de> DeserializeSeed<'de> for Vector<'_> {
    type Value = Outcome;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Outcome, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Vector<'_> {
    type Value = Outcome;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer of the HTTP API of Prometheus")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outcome, A::Error> {
        let mut outcome = Outcome::default();
        let (mut status, mut error) = (None::<String>, None::<String>);
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Status => status = Some(map.next_value()?),
                Key::Data => map.next_value_seed(Data(&mut *self.each))?,
                Key::Error => error = Some(map.next_value()?),
                Key::Warnings | Key::Infos => {
                    let told: Option<Vec<String>> = map.next_value()?;
                    let told = told.unwrap_or_default();
                    outcome.warnings.extend(told);
                    outcome.warnings.truncate(MOST_WARNINGS);
                }
                Key::IsPartial => outcome.is_partial = map.next_value()?,
                Key::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match status.as_deref() {
            Some("success") => {}
            Some(_) => outcome.failure = Some(error.unwrap_or_default()),
            None => return Err(A::Error::missing_field("status")),
        }
        Ok(outcome)
    }
}

/// `data` of an answer.
struct Data<'a>(&'a mut dyn FnMut(Series) -> bool);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum DataKey {
    ResultType,
    Result,
    #[serde(other)]
    Other,
}

impl<'de> DeserializeSeed<'de> for Data<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Data<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`data` with a vector")
    }

    /// An error has no data, or null.
    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<DataKey>()? {
            match key {
                DataKey::ResultType => {
                    let kind: String = map.next_value()?;
                    if kind != "vector" {
                        return Err(A::Error::custom(format_args!("a {kind} and not a vector")));
                    }
                }
                DataKey::Result => map.next_value_seed(List(&mut *self.0))?,
                DataKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// `result` of `data`.
struct List<'a>(&'a mut dyn FnMut(Series) -> bool);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of series")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(series) = seq.next_element()? {
            if !(self.0)(series) {
                return Err(A::Error::custom("no more series are taken"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::shortened;

    fn of(text: &str) -> Result<(Vec<String>, Outcome), String> {
        let mut found = Vec::new();
        let mut each = |it: Series| {
            let labels: Vec<&str> = it.metric.values().map(String::as_str).collect();
            found.push(format!("{} {:?}", labels.join(","), it.value()));
            found.len() < 3
        };
        let mut json = serde_json::Deserializer::from_str(text);
        let outcome = Vector { each: &mut each }.deserialize(&mut json);
        outcome.map(|it| (found, it)).map_err(|it| it.to_string())
    }

    #[test]
    fn every_series_has_its_labels_and_a_finite_value_or_none() {
        let (found, outcome) =
            of(r#"{"status":"success","isPartial":false,"data":{"resultType":"vector","result":[
            {"metric":{"__name__":"m","a":"b\"é"},"value":[1764273600.123,"0.5"]},
            {"metric":{},"value":[1,"+Inf"]}]},"stats":{"seriesFetched":"2"}}"#)
            .unwrap();
        assert_eq!(found, ["m,b\"é Some(0.5)", " None"]);
        assert!(outcome.failure.is_none() && outcome.notes(shortened).is_empty());
        let histogram = r#"{"data":{"result":[{"metric":{},"histogram":[1,{"count":"2"}]},
            {"metric":{},"value":[1,"NaN"]}],"resultType":"vector"},"status":"success"}"#;
        assert_eq!(of(histogram).unwrap().0, [" None", " None"]);
    }

    #[test]
    fn warnings_infos_and_partial_answers_are_notes() {
        let (_, outcome) =
            of(r#"{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[]},
            "warnings":["store a: deadline\nexceeded"],"infos":["x"]}"#)
            .unwrap();
        let notes = outcome.notes(shortened);
        assert_eq!(
            notes[..2],
            ["the engine warns: store a: deadline exceeded", "the engine warns: x"]
        );
        assert!(notes[2].contains("partial"));
    }

    #[test]
    fn an_error_with_the_status_of_a_success_is_a_failure() {
        let text = r#"{"status":"error","errorType":"execution","error":"too many samples"}"#;
        assert_eq!(of(text).unwrap().1.failure.as_deref(), Some("too many samples"));
        let text = r#"{"status":"error","data":null}"#;
        assert_eq!(of(text).unwrap().1.failure.as_deref(), Some(""));
    }

    #[test]
    fn what_is_no_vector_says_where() {
        for (text, why) in [
            ("[]", "invalid type: sequence"),
            ("{}", "missing field `status`"),
            (r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#, "a matrix and"),
            (
                r#"{"data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}"#,
                "\"x\" is no value",
            ),
            (
                r#"{"data":{"resultType":"vector","result":[{"metric":{},"value":[1,2]}]}}"#,
                "expected a string",
            ),
            (
                r#"{"data":{"resultType":"vector","result":[{"metric":{"a":1}}]}}"#,
                "expected a string",
            ),
            (
                r#"{"data":{"result":[{"metric":{}},{"metric":{}},{"metric":{}},{"metric":{}}]}}"#,
                "no more",
            ),
        ] {
            assert!(of(text).unwrap_err().contains(why), "{text}: {:?}", of(text));
        }
    }
}
