//! A fact as a result file keeps it.

use facts::Fact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value, or the reason there is none: in JSON either the value, or `{"missing": "why"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Known<T> {
    /// The value is known.
    Value(T),
    /// Why there is none.
    Missing {
        /// In words that a user can act on.
        missing: String,
    },
}

impl<T> Known<T> {
    /// No value, for this reason.
    pub fn missing(why: impl Into<String>) -> Known<T> {
        Known::Missing { missing: why.into() }
    }

    /// The value, where there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Known::Value(value) => Some(value),
            Known::Missing { .. } => None,
        }
    }

    /// What `change` makes of the value, or why there is none.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Known::Value(value) => Known::Value(change(value)),
            Known::Missing { missing } => Known::Missing { missing },
        }
    }

    /// Why there is no value, where there is none.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Known::Value(_) => None,
            Known::Missing { missing } => Some(missing),
        }
    }
}

impl Known<u64> {
    /// The sum of all, or why one of them is missing.
    pub(crate) fn sum(parts: impl IntoIterator<Item = Known<u64>>) -> Known<u64> {
        parts.into_iter().fold(Known::Value(0), |sum, part| match (sum, part) {
            (Known::Value(sum), Known::Value(part)) => Known::Value(sum.saturating_add(part)),
            (missing @ Known::Missing { .. }, _) | (_, missing) => missing,
        })
    }
}

impl<T> From<Fact<T>> for Known<T> {
    fn from(fact: Fact<T>) -> Known<T> {
        match fact {
            Ok(value) => Known::Value(value),
            Err(why) => Known::missing(why.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Missing;

    #[test]
    fn a_sum_with_a_part_missing_is_missing() {
        let missing = || Known::missing("why");
        assert_eq!(Known::sum([Known::Value(1), Known::Value(2)]), Known::Value(3));
        assert_eq!(Known::sum([Known::Value(1), missing(), Known::Value(2)]), missing());
    }

    #[test]
    fn a_reason_survives_the_file_as_words_and_a_value_as_itself() {
        let read = |it: &Known<f64>| {
            let text = serde_json::to_string(it).unwrap();
            (serde_json::from_str::<Known<f64>>(&text).unwrap(), text)
        };
        let value = Known::Value(4.5);
        assert_eq!(read(&value), (value.clone(), "4.5".to_owned()));
        let why: Known<f64> = Err(Missing::absent("/proc/self/schedstat")).into();
        let text = r#"{"missing":"/proc/self/schedstat does not exist"}"#;
        assert_eq!(read(&why), (why.clone(), text.to_owned()));
    }
}
