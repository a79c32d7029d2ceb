//! A vector as the HTTP API answers it, parsed as it comes: each series goes to who takes it, and none is kept here.

use crate::http::pieces::{Pieces, first};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Error, Result};
use std::borrow::Cow;
use std::fmt;

/// Warnings that are kept; engines have one for each kind of trouble, and Thanos one for each store.
const MOST_WARNINGS: usize = 10;

/// One series, as it lies in the answer.
#[derive(Debug, Deserialize)]
pub(super) struct Series<'a> {
    #[serde(borrow)]
    metric: Labels<'a>,
    /// Its value; `None` where it is a histogram.
    #[serde(default)]
    value: Option<Sample>,
}

impl<'a> Series<'a> {
    /// Its value where that is a number, and a finite one.
    pub(super) fn value(&self) -> Option<f64> {
        self.value.as_ref().map(|it| it.0).filter(|it| it.is_finite())
    }

    /// The value of a label.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels().find(|it| it.0 == name).map(|it| it.1)
    }

    /// Its labels with their values.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &str)> + use<'_, 'a> {
        self.metric.0.iter().map(|(name, value)| (&*name.0, &*value.0))
    }
}

/// Labels with their values, each label once.
#[derive(Debug)]
struct Labels<'a>(Vec<(Text<'a>, Text<'a>)>);

/// More than `fullclock_host_info` has, with those of a scrape: so the list is not moved while it grows.
const USUAL_LABELS: usize = 24;

impl<'de: 'a, 'a> Deserialize<'de> for Labels<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Labels<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the labels of a series")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Labels<'de>, A::Error> {
                let mut labels = Vec::with_capacity(USUAL_LABELS);
                while let Some(label) = map.next_entry()? {
                    labels.push(label);
                }
                Ok(Labels(labels))
            }
        }
        from.deserialize_map(Map)
    }
}

/// A string that is borrowed where it has no escapes: serde borrows none within a list by itself.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// `[1764273600, "0.98"]`: a time, and a number as Go prints it: `NaN`, `+Inf`.
#[derive(Debug)]
struct Sample(f64);

impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Sample, D::Error> {
        let (_, text): (IgnoredAny, Text<'_>) = Deserialize::deserialize(from)?;
        let text = &*text.0;
        let number =
            text.parse().map_err(|_| D::Error::custom(format_args!("{text:?} is no value")))?;
        Ok(Sample(number))
    }
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

/// Takes an answer, and gives each of its series to `each`, which tells whether it takes more.
///
/// Errors: it is no vector, or no more are taken.
pub(super) fn vector(
    pieces: &mut Pieces<'_>,
    each: &mut dyn FnMut(&Series<'_>) -> bool,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let (mut status, mut error) = (None::<String>, None::<String>);
    pieces.object(&mut |pieces, name| {
        match name {
            "status" => status = Some(pieces.value()?),
            "data" => data(pieces, each)?,
            "error" => error = Some(pieces.value()?),
            "warnings" | "infos" => {
                let told: Option<Vec<String>> = pieces.value()?;
                outcome.warnings.extend(told.unwrap_or_default());
                outcome.warnings.truncate(MOST_WARNINGS);
            }
            // VictoriaMetrics': one of its stores did not answer.
            "isPartial" => outcome.is_partial = pieces.value()?,
            _ => pieces.skip()?,
        }
        Ok(())
    })?;
    match status.as_deref() {
        Some("success") => {}
        Some(_) => outcome.failure = Some(error.unwrap_or_default()),
        None => return Err(Error::missing_field("status")),
    }
    Ok(outcome)
}

/// `data` of an answer; an error has none, or null.
fn data(pieces: &mut Pieces<'_>, each: &mut dyn FnMut(&Series<'_>) -> bool) -> Result<()> {
    if pieces.takes_null()? {
        return Ok(());
    }
    pieces.object(&mut |pieces, name| match name {
        "resultType" => match pieces.value::<String>()?.as_str() {
            "vector" => Ok(()),
            kind => Err(Error::custom(format_args!("a {kind} and not a vector"))),
        },
        "result" => pieces.list(&mut |pieces| {
            let takes_more = pieces.next(|text| {
                let (series, length) = first::<Series<'_>>(text)?;
                Ok((each(&series), length))
            })?;
            if takes_more { Ok(()) } else { Err(Error::custom("no more series are taken")) }
        }),
        _ => pieces.skip(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::shortened;

    fn of(text: &str) -> std::result::Result<(Vec<String>, Outcome), String> {
        let mut found = Vec::new();
        let mut each = |it: &Series<'_>| {
            let labels: Vec<&str> = it.labels().map(|it| it.1).collect();
            found.push(format!("{} {:?}", labels.join(","), it.value()));
            found.len() < 3
        };
        let mut text = text.as_bytes();
        let outcome = vector(&mut Pieces::new(&mut text), &mut each);
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
