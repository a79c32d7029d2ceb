//! CSV with a header line: `bytes,iterations,bw_peak_mib_s,bw_average_mib_s`.

use super::{
    Bandwidth, Curve, CurveError, Figures, MessagesPerSecond, NEGATIVE, add, bytes, decimal,
    is_negative, rate,
};

/// The units at the end of a column's name, in bytes per second.
const UNITS: [(&str, u64); 4] =
    [("mib_s", 1 << 20), ("mb_s", 1_000_000), ("gb_s", 1_000_000_000), ("gbit_s", 125_000_000)];

const ROW: &str = "numbers for the columns that the first line names";

pub(super) fn parse(text: &str) -> Result<Curve, CurveError> {
    let is_data = |line: &&(usize, &str)| !line.1.trim().is_empty() && !line.1.starts_with('#');
    let numbered: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    let mut lines = numbered.iter().filter(is_data);
    let Some((number, header)) = lines.next() else {
        return Err(CurveError::new(1, text, "a line of names"));
    };
    let columns = Columns::of(header).ok_or(CurveError::new(
        *number,
        header,
        "names of columns: `bytes,bw_average_mib_s`, and `iterations`, `bw_peak_mib_s`, `msg_rate_mpps` where they \
         are known; or mb_s, gb_s, gbit_s",
    ))?;
    let mut points = Vec::new();
    for (number, line) in lines {
        let wrong = |expected| CurveError::new(*number, line, expected);
        let expected =
            if line.split(',').any(|it| is_negative(it.trim())) { NEGATIVE } else { ROW };
        let point = columns.point(line).ok_or_else(|| wrong(expected))?;
        add(&mut points, point, |it| it.message).map_err(wrong)?;
    }
    if points.is_empty() {
        return Err(CurveError::new(*number, header, "lines of figures below it"));
    }
    let figures = Figures::Bandwidth(points);
    Ok(Curve { test: None, mtu: None, figures, clocks: Vec::new() })
}

/// The index of each column, and its unit.
struct Columns {
    bytes: usize,
    iterations: Option<usize>,
    peak: Option<(usize, u64)>,
    average: (usize, u64),
    rate: Option<usize>,
}

impl Columns {
    fn of(header: &str) -> Option<Columns> {
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let at = |name: &str| names.iter().position(|it| *it == name);
        let rate_at = |prefix: &str| {
            let unit = |name: &str| {
                let unit = name.strip_prefix(prefix)?;
                UNITS.iter().find(|(word, _)| *word == unit).map(|(_, bytes)| *bytes)
            };
            names.iter().enumerate().find_map(|(at, name)| Some((at, unit(name)?)))
        };
        Some(Columns {
            bytes: at("bytes")?,
            iterations: at("iterations"),
            peak: rate_at("bw_peak_"),
            average: rate_at("bw_average_")?,
            rate: at("msg_rate_mpps"),
        })
    }

    fn point(&self, line: &str) -> Option<Bandwidth> {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let cell = |at: usize| cells.get(at).copied();
        // A cell of an optional column may be empty.
        let optional = |at: Option<usize>| at.and_then(cell).filter(|it| !it.is_empty());
        let peak = optional(self.peak.map(|(at, _)| at));
        let unit = self.peak.map_or(1, |(_, unit)| unit);
        Some(Bandwidth {
            message: bytes(cell(self.bytes)?)?,
            iterations: optional(self.iterations)
                .map_or(Some(None), |it| decimal(it, 1).map(Some))?,
            peak: peak.map_or(Some(None), |it| rate(it, unit).map(Some))?.filter(|it| it.0 > 0),
            average: rate(cell(self.average.0)?, self.average.1)?,
            rate: optional(self.rate)
                .map_or(Some(None), |it| decimal(it, 1_000_000).map(Some))?
                .map(MessagesPerSecond),
        })
    }
}
