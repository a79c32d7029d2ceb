//! Lines of fields between commas, below a heading.

/// A heading and its lines.
pub(super) struct Table<'a> {
    /// As it was found, without spaces about it.
    pub(super) heading: String,
    /// Its number, from 1.
    pub(super) heading_line: usize,
    /// At least one; each has as many fields as the heading.
    pub(super) lines: Vec<Line<'a>>,
}

/// A line that may be asked for its fields.
pub(super) struct Line<'a> {
    number: usize,
    fields: Vec<&'a str>,
}

impl<'a> Table<'a> {
    /// Of a text; empty lines and those that begin with `#` are left out.
    ///
    /// Errors: no heading, no line, a line with other fields than the heading.
    pub(super) fn of(text: &'a str) -> Result<Table<'a>, String> {
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let mut lines = (1..).zip(lines).filter(|it| !it.1.is_empty() && !it.1.starts_with('#'));
        let (heading_line, heading) =
            lines.next().ok_or("no heading, expected a line with the names of the columns")?;
        let n_fields = heading.split(',').count();
        let line = |(number, text): (usize, &'a str)| {
            let fields: Vec<&str> = text.split(',').map(str::trim).collect();
            match fields.len() {
                found if found == n_fields => Ok(Line { number, fields }),
                found => Err(format!(
                    "line {number}: {found} fields, expected {n_fields} as the heading has"
                )),
            }
        };
        let lines: Vec<Line<'a>> = lines.map(line).collect::<Result<_, _>>()?;
        if lines.is_empty() {
            return Err("no line below the heading, expected one for each setting".to_owned());
        }
        Ok(Table { heading: heading.to_owned(), heading_line, lines })
    }
}

impl Line<'_> {
    /// The first field.
    pub(super) fn setting(&self) -> Result<String, String> {
        match self.fields.first() {
            Some(name) if !name.is_empty() => Ok((*name).to_owned()),
            _ => Err(format!("line {}: the setting has no name", self.number)),
        }
    }

    /// A field as it is; `None` where it is empty.
    pub(super) fn text(&self, place: usize) -> Option<String> {
        self.fields.get(place).filter(|it| !it.is_empty()).map(|it| (*it).to_owned())
    }

    /// A number above 0.
    pub(super) fn positive(&self, (place, column): (usize, &str)) -> Result<f64, String> {
        self.number((place, column), |it| it > 0.0, "a number above 0")
    }

    /// A number above 0; `None` where the field is empty.
    pub(super) fn optional(&self, (place, column): (usize, &str)) -> Result<Option<f64>, String> {
        self.text(place).map(|_| self.positive((place, column))).transpose()
    }

    /// A number that is not negative.
    pub(super) fn not_negative(&self, (place, column): (usize, &str)) -> Result<f64, String> {
        self.number((place, column), |it| it >= 0.0, "a number from 0 on")
    }

    fn number(
        &self,
        (place, column): (usize, &str),
        is_fit: fn(f64) -> bool,
        expected: &str,
    ) -> Result<f64, String> {
        let found = self.fields.get(place).copied().unwrap_or_default();
        let number = found.parse().ok().filter(|it: &f64| it.is_finite() && is_fit(*it));
        number.ok_or_else(|| {
            format!("line {}: {column} is `{found}`, expected {expected}", self.number)
        })
    }
}
