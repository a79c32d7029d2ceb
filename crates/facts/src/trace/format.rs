//! What a tracepoint's records hold, by the text of its `format` file.
//!
//! Source: Documentation/trace/events.rst. Offsets count from the record's first byte, `common_type`.

use crate::Expected;

/// The layout of one tracepoint's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The number of the tracepoint: the `common_type` of its records.
    pub id: u16,
    fields: Vec<(String, Field)>,
}

/// Where a field stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
    signed: bool,
}

/// No tracepoint has more fields; a file that does is none.
const MOST_FIELDS: usize = 1000;

impl Format {
    /// Parses the file `format` of a tracepoint.
    pub fn parse(text: &str) -> Result<Format, Expected> {
        const FORMAT: Expected = Expected("the format of a tracepoint, with `ID:` and fields");
        let id = text.lines().find_map(|line| line.strip_prefix("ID:")).ok_or(FORMAT)?;
        let id = id.trim().parse().map_err(|_| FORMAT)?;
        let fields = text.lines().filter(|line| line.trim_start().starts_with("field:"));
        let fields: Option<Vec<_>> = fields.take(MOST_FIELDS).map(named_field).collect();
        Ok(Format { id, fields: fields.ok_or(FORMAT)? })
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.iter().find(|(it, _)| it == name).map(|&(_, field)| field)
    }

    /// The whole number with this name: 1, 2, 4 or 8 bytes.
    pub fn number(&self, name: &str) -> Option<Field> {
        self.field(name).filter(|field| matches!(field.size, 1 | 2 | 4 | 8))
    }
}

impl Field {
    /// The field's bytes; `None` where the record ends before it does.
    pub fn bytes(self, record: &[u8]) -> Option<&[u8]> {
        record.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// The number that the field holds, in this machine's byte order; `None` where the record ends before it.
    pub fn value(self, record: &[u8]) -> Option<i64> {
        let bytes = self.bytes(record)?;
        let wide = match *bytes {
            [a] => i64::from(a),
            [a, b] => i64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => i64::from(u32::from_ne_bytes([a, b, c, d])),
            _ => i64::from_ne_bytes(bytes.try_into().ok()?),
        };
        let n_unused = u64::BITS.saturating_sub(8 * bytes.len() as u32);
        // Shifting up and back repeats the sign.
        Some(if self.signed { (wide << n_unused) >> n_unused } else { wide })
    }
}

/// `field:char prev_comm[16]; offset:8; size:16; signed:0;`, with tabs in between.
fn named_field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declaration = parts.next()?.strip_prefix("field:")?;
    let name = declaration.rsplit([' ', '*']).next()?;
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse::<u16>().ok();
    let offset = number("offset:")?.into();
    let size = number("size:")?.into();
    // Kernels before 2.6.32 do not say; none of their events matters here.
    let signed = number("signed:")? == 1;
    Some((name.to_owned(), Field { offset, size, signed }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFTIRQ: &str = "name: softirq_entry
ID: 223
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:unsigned int vec;	offset:8;	size:4;	signed:0;
	field:char comm[16];	offset:12;	size:16;	signed:0;
	field:__data_loc char[] name;	offset:28;	size:4;	signed:0;

print fmt: \"vec=%u\", REC->vec
";

    #[test]
    fn fields_are_found_by_the_last_word_of_their_declaration() {
        let format = Format::parse(SOFTIRQ).unwrap();
        assert_eq!(format.id, 223);
        assert_eq!(format.number("vec"), Some(Field { offset: 8, size: 4, signed: false }));
        assert!(format.field("comm").is_some() && format.field("name").is_some());
        assert!(format.number("comm").is_none() && format.field("prio").is_none());
    }

    #[test]
    fn a_number_is_read_by_its_size_and_sign() {
        let record = (-2i64).to_ne_bytes();
        let number = |size, signed| Field { offset: 0, size, signed }.value(&record);
        assert_eq!((number(4, true), number(4, false)), (Some(-2), Some(0xffff_fffe)));
        assert_eq!((number(8, true), number(8, false)), (Some(-2), Some(-2)));
        assert_eq!(number(16, false), None);
        assert_eq!(Field { offset: usize::MAX, size: 4, signed: true }.value(&record), None);
    }

    #[test]
    fn text_that_is_no_format_is_refused() {
        let huge = SOFTIRQ.replace("offset:8", "offset:65536");
        for text in ["", "ID: x\n", "ID: 1\nfield:int a;\n", &huge] {
            assert!(Format::parse(text).is_err(), "{text:?}");
        }
    }
}
