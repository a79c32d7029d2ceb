//! The numbers of a client over one interval.

use facts::client::{ClientMetric, ClientSample};
use facts::{Fact, Missing};

/// What a client said of itself in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientValue {
    /// What its numbers are.
    pub metric: ClientMetric,
    /// The mean of the numbers that it printed in the interval, or that it printed none.
    pub value: Fact<f64>,
    /// How many those are.
    pub n: usize,
}

impl ClientValue {
    /// `None` where no numbers are listened to.
    pub(super) fn of(sample: &ClientSample) -> Option<ClientValue> {
        let metric = sample.metric.clone()?;
        let n = sample.heard.len();
        let sum: f64 = sample.heard.iter().map(|it| it.value / n as f64).sum();
        let none = || {
            let what = format!("number of the {}", described(&metric));
            Missing::not_here(what, "it printed none in this interval")
        };
        let value = if n == 0 { Err(none()) } else { Ok(sum) };
        Some(ClientValue { metric, value, n })
    }

    /// The heading of its column: `client tps`.
    pub fn heading(&self) -> String {
        match self.metric.unit.as_str() {
            "" => "client".to_owned(),
            unit => format!("client {unit}"),
        }
    }
}

fn described(metric: &ClientMetric) -> String {
    match metric.client.as_str() {
        "" => "client".to_owned(),
        name => format!("client {name}"),
    }
}

/// The marks of a client, as notes.
pub(super) fn marks(sample: &ClientSample) -> impl Iterator<Item = String> {
    sample.marks.iter().map(|it| format!("mark: {}", it.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::client::Heard;

    fn value(values: &[f64]) -> ClientValue {
        let metric = ClientMetric { client: "pgbench".to_owned(), unit: "tps".to_owned() };
        let heard = values.iter().map(|it| Heard { at: 1, value: *it }).collect();
        let sample = ClientSample { metric: Some(metric), heard, marks: Vec::new() };
        ClientValue::of(&sample).unwrap()
    }

    #[test]
    fn the_value_of_an_interval_is_the_mean_of_its_numbers() {
        let two = value(&[2600.0, 2700.0]);
        assert_eq!((two.value, two.n), (Ok(2650.0), 2));
        assert_eq!(value(&[f64::MAX, f64::MAX]).value, Ok(f64::MAX));
    }

    #[test]
    fn an_interval_without_a_number_says_so_and_is_not_zero() {
        let none = value(&[]);
        assert_eq!(
            none.value.unwrap_err().to_string(),
            "no number of the client pgbench here: it printed none in this interval"
        );
    }

    #[test]
    fn marks_alone_make_no_value() {
        assert_eq!(ClientValue::of(&ClientSample::default()), None);
    }
}
