//! Readings as CSV (RFC 4180, with lines that end as Unix has it), a line for each value.
//!
//! Long and not wide: which interrupts, threads and CPUs there are changes while one watches, and a file cannot
//! change its columns. `pandas.read_csv(..., parse_dates=["time"])` and a pivot by `metric`, `part` and `cpu` make a
//! wide one; `COPY ... CSV HEADER` takes it as it is. A value that is missing is empty, and says why behind it.

use crate::harmless::csv_field;
use facts::utc::timestamp;
use facts::{CpuSet, Fact, Missing, PerCpu};
use rules::metric::Values;
use rules::watch::{ClientValue, Column, Reading, text as text_of};

/// The first line, which names the columns.
pub const HEADER: &str = "time,metric,part,of,cpu,unit,value,missing\n";

/// The lines of one reading.
pub fn lines(reading: &Reading, is_wanted: impl Fn(&Column) -> bool) -> String {
    let mut text = String::new();
    let time = timestamp(reading.at.real_ns);
    for column in reading.columns.iter().filter(|it| is_wanted(it)) {
        put_column(&mut text, &time, column, &reading.cpus);
    }
    reading.client.iter().for_each(|it| put_client(&mut text, &time, it));
    text
}

/// A core and a package go by the CPU that was asked for them, which may be none of `cpus`.
fn put_column(text: &mut String, time: &str, column: &Column, cpus: &CpuSet) {
    let mut put = |of: &str, cpu: Option<u32>, value: Fact<f64>| {
        let (id, unit) = (column.metric.id, column.metric.unit.symbol());
        let value = value.and_then(|it| written(id, it));
        let cpu = cpu.map(|it| it.to_string()).unwrap_or_default();
        let missing = value.as_ref().err().map(text_of).unwrap_or_default();
        let value = value.unwrap_or_default();
        let (part, missing) = (csv_field(column.part()), csv_field(&missing));
        text.extend([time, ",", id, ",", &part, ",", of, ",", &cpu, ",", unit]);
        text.extend([",", &value, ",", &missing, "\n"]);
    };
    let mut put_rows = |of: &str, rows: &PerCpu<f64>, is_wanted: &dyn Fn(u32) -> bool| {
        for (cpu, fact) in rows.iter().filter(|(cpu, _)| is_wanted(*cpu)) {
            put(of, Some(cpu), fact.clone());
        }
    };
    match column.series.as_ref().map(|it| &it.values) {
        Err(missing) => put("", None, Err(missing.clone())),
        Ok(Values::Host(fact)) => put("host", None, fact.clone()),
        Ok(Values::Cpus(rows)) => put_rows("cpu", rows, &|cpu| cpus.contains(cpu)),
        Ok(Values::Cores(rows)) => put_rows("core", rows, &|_| true),
        Ok(Values::Packages(rows)) => put_rows("package", rows, &|_| true),
    }
}

/// The part is the client's name, which is empty where the user gave an expression.
fn put_client(text: &mut String, time: &str, client: &ClientValue) {
    let value = client.value.clone().and_then(|it| written("client", it));
    let missing = csv_field(&value.as_ref().err().map(text_of).unwrap_or_default()).into_owned();
    let [name, unit] = [&client.metric.client, &client.metric.unit].map(|it| csv_field(it));
    text.extend([time, ",client,", &name, ",host,,", &unit, ","]);
    text.extend([&value.unwrap_or_default(), ",", &missing, "\n"]);
}

/// Four digits behind the point: more would be of the arithmetic, not of the counters.
fn written(id: &str, value: f64) -> Fact<String> {
    let rounded = (value * 1e4).round() / 1e4;
    if rounded.is_finite() {
        Ok(rounded.to_string())
    } else {
        Err(Missing::malformed(id, &value.to_string(), "a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::metric::{Metric, Series};
    use rules::metrics::METRICS;

    fn shown(part: &str, values: Values) -> String {
        let metric: &'static Metric = METRICS.iter().find(|it| it.id == "busy").unwrap();
        let series = Ok(Series { part: part.to_owned(), values });
        let mut text = String::new();
        put_column(&mut text, "T", &Column { metric, series }, &[0, 1].into_iter().collect());
        text
    }

    #[test]
    fn each_cpu_that_was_asked_for_has_a_line_and_a_missing_value_is_empty() {
        let denied = Missing::denied("/dev/cpu/1/msr, 0x10");
        let values = [(0, Ok(12.345_678)), (1, Err(denied)), (2, Ok(1.0))].into_iter().collect();
        assert_eq!(
            shown("", Values::Cpus(values)),
            "T,busy,,cpu,0,%,12.3457,\nT,busy,,cpu,1,%,,\"/dev/cpu/1/msr, 0x10 may not be read\"\n"
        );
    }

    #[test]
    fn a_host_has_no_cpu_and_a_metric_without_any_value_says_why() {
        assert_eq!(shown("io.some", Values::Host(Ok(0.0))), "T,busy,io.some,host,,%,0,\n");
        let metric = METRICS.iter().find(|it| it.id == "busy").unwrap();
        let column = Column { metric, series: Err(Missing::absent("/proc/pressure")) };
        let mut text = String::new();
        put_column(&mut text, "T", &column, &CpuSet::default());
        assert_eq!(text, "T,busy,,,,%,,/proc/pressure does not exist\n");
    }

    #[test]
    fn a_client_has_a_line_of_its_own() {
        let mut text = String::new();
        put_client(&mut text, "T", &rules::watch::fake::client(Some(2616.5)));
        put_client(&mut text, "T", &rules::watch::fake::client(None));
        assert_eq!(
            text,
            "T,client,pgbench,host,,tps,2616.5,\n\
             T,client,pgbench,host,,tps,,no number of the client pgbench here: it printed none\n"
        );
    }

    #[test]
    fn what_names_itself_stays_in_its_field() {
        let line = shown("evil\",\n=cmd\u{1b}[2J", Values::Host(Ok(f64::NAN)));
        assert_eq!(
            line,
            "T,busy,\"evil\"\",\\n=cmd\\u001b[2J\",host,,%,,\"busy: found \"\"NaN\"\", expected a number\"\n"
        );
    }
}
