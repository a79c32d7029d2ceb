//! The name in a sensor record, and the names of sensors that share one.
//!
//! Source: IPMI 2.0, section 43.15 (a byte with the encoding and the number of characters, then the characters),
//! and section 43.2, bytes 24 and 25 (sharing). Sensors that share a record have consecutive numbers, and each name
//! gets a suffix: with the name "Temp", a count of 3 and an offset of 5 they are Temp 5, Temp 6 and Temp 7; with
//! letters and an offset of 26 they are Temp AA, Temp AB and Temp AC.

/// The name, without anything after a NUL and without white space around it. A name that the end of the record cuts
/// off is shorter. Control characters become question marks.
pub(super) fn parse(type_and_length: u8, bytes: &[u8]) -> String {
    let count = usize::from(type_and_length & 0x1f);
    let text = match type_and_length >> 6 {
        0 => unicode(bytes, count),
        1 => packed(bytes, 4, count).map(|it| BCD_PLUS[usize::from(it)]).collect(),
        // Six-bit ASCII: space to underscore.
        2 => packed(bytes, 6, count).map(|it| char::from(it + b' ')).collect(),
        // Latin 1 is the first 256 characters of Unicode.
        _ => first(bytes, count).iter().copied().map(char::from).collect::<String>(),
    };
    let text = text.split('\0').next().unwrap_or_default();
    text.trim().chars().map(|it| if it.is_control() { '?' } else { it }).collect()
}

const BCD_PLUS: [char; 16] =
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ' ', '-', '.', ':', ',', '_'];

/// The first `count` bytes, or all of them.
fn first(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(..count).unwrap_or(bytes)
}

/// UTF-16, little-endian. Some manufacturers write encoding 0 and plain ASCII.
fn unicode(bytes: &[u8], count: usize) -> String {
    let single = first(bytes, count);
    if single.iter().all(|it| it.is_ascii_graphic() || *it == b' ') {
        return single.iter().copied().map(char::from).collect();
    }
    let units: Vec<u16> =
        bytes.as_chunks::<2>().0.iter().take(count).copied().map(u16::from_le_bytes).collect();
    String::from_utf16_lossy(&units)
}

/// Numbers of `bits` bits, packed from the lowest bit on.
fn packed(bytes: &[u8], bits: usize, count: usize) -> impl Iterator<Item = u8> {
    let count = count.min(bytes.len() * 8 / bits);
    (0..count).map(move |character| {
        let bit = |position: usize| {
            bytes.get(position / 8).is_some_and(|byte| byte & (1_u8 << (position % 8)) != 0)
        };
        let from = character * bits;
        (0..bits).fold(0, |number, it| number | u8::from(bit(from + it)) << it)
    })
}

/// How sensors share a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    /// How many; below 2 where none is shared.
    pub(super) count: u8,
    has_letters: bool,
    offset: u8,
    /// Whether each sensor has its own entity instance.
    pub(super) has_instances: bool,
}

impl Sharing {
    /// Parses the two bytes.
    pub(super) fn parse([first, second]: [u8; 2]) -> Sharing {
        Sharing {
            count: first & 0x0f,
            has_letters: first >> 4 & 0x03 == 1,
            offset: second & 0x7f,
            has_instances: second & 0x80 != 0,
        }
    }

    /// What tells a sensor of the record from the others, by how many come before it.
    pub(super) fn suffix(self, index: u8) -> String {
        let position = self.offset.saturating_add(index);
        if self.has_letters { letters(position) } else { position.to_string() }
    }
}

/// A to Z, AA to AZ, BA and so on.
fn letters(position: u8) -> String {
    let (before, last) = (position / 26, position % 26);
    let letter = |it: u8| char::from(b'A' + it);
    let first = before.checked_sub(1).map(letter);
    first.into_iter().chain([letter(last)]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::SensorRecord;
    use super::super::samples::QEMU_WATCHDOG;
    use super::*;
    use crate::Expected;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn eight_bits_are_ascii_and_latin_1() {
        assert_eq!(parse(0xc5, b"Fan1A"), "Fan1A");
        assert_eq!(parse(0xc4, b"25\xb0C"), "25\u{b0}C");
    }

    #[test]
    fn six_bits_are_packed_from_the_lowest_bit_on() {
        // The specification's example of "IPMI" (FRU Information Storage Definition 1.0, section 13.3).
        assert_eq!(parse(0x84, &[0x29, 0xdc, 0xa6]), "IPMI");
        assert_eq!(parse(0x83, &[0x29, 0xdc, 0xa6]), "IPM");
    }

    #[test]
    fn bcd_plus_has_two_characters_a_byte_the_lower_one_first() {
        assert_eq!(parse(0x47, &[0x21, 0xc3, 0x4b, 0x05]), "123.-45");
        assert_eq!(parse(0x44, &[0xed, 0xaf]), ":,_");
    }

    #[test]
    fn two_bytes_are_unicode_unless_they_read_as_text() {
        assert_eq!(parse(0x02, &[0xa9, 0x03, 0x31, 0x00]), "\u{3a9}1");
        assert_eq!(parse(0x05, b"Fan1A"), "Fan1A");
        assert_eq!(parse(0x01, &[0x00, 0xd8]), "\u{fffd}");
    }

    #[test]
    fn a_name_is_as_long_as_it_says_and_not_longer_than_its_record() {
        assert_eq!(parse(0xc3, b"Fan1A"), "Fan");
        assert_eq!(parse(0xd0, b"Fan1A"), "Fan1A");
        assert_eq!(parse(0x90, &[0x29]), "I");
        for empty in [0x00, 0x40, 0x80, 0xc0] {
            assert_eq!(parse(empty, b"Fan1A"), "");
        }
    }

    #[test]
    fn what_fills_a_name_up_is_no_part_of_it() {
        assert_eq!(parse(0xd0, b"CPU Temp\0\0\0\0\0\0\0\0"), "CPU Temp");
        assert_eq!(parse(0xca, b"AMD       "), "AMD");
    }

    #[test]
    fn nothing_in_a_name_moves_the_cursor() {
        assert_eq!(parse(0xc6, b"a\x1b[2Jb"), "a?[2Jb");
        assert_eq!(parse(0xc3, b"a\x9bb"), "a?b");
    }

    proptest! {
        #[test]
        fn every_name_is_short_and_without_control_characters(
            code in any::<u8>(), bytes in vec(any::<u8>(), 0..40),
        ) {
            let name = parse(code, &bytes);
            prop_assert!(name.chars().count() <= 31 && !name.contains(char::is_control));
        }
    }

    /// Numbers, instances and names of the watchdog's record with these two bytes and another number.
    fn shared(first: u8, second: u8, number: u8) -> Result<Vec<(u8, u8, String)>, Expected> {
        let mut record = QEMU_WATCHDOG.to_vec();
        (record[7], record[23], record[24]) = (number, first, second);
        let sensors = SensorRecord::parse(&record)?.into_sensors();
        Ok(sensors.into_iter().map(|it| (it.number, it.entity.instance, it.name)).collect())
    }

    fn names(first: u8, second: u8) -> Vec<String> {
        shared(first, second, 10).unwrap().into_iter().map(|it| it.2).collect()
    }

    #[test]
    fn numbers_follow_each_other_and_stand_behind_the_name() {
        let expected = [(10, "Watchdog 5"), (11, "Watchdog 6"), (12, "Watchdog 7")];
        let sensors = shared(0x03, 0x05, 10).unwrap();
        assert_eq!(sensors.len(), 3);
        for (sensor, (number, name)) in sensors.iter().zip(expected) {
            assert_eq!(*sensor, (number, 1, name.to_owned()));
        }
    }

    #[test]
    fn letters_go_from_z_on_to_two_of_them() {
        assert_eq!(names(0x12, 0x00), ["Watchdog A", "Watchdog B"]);
        assert_eq!(names(0x13, 25), ["Watchdog Z", "Watchdog AA", "Watchdog AB"]);
        assert_eq!(letters(51), "AZ");
        assert_eq!(letters(52), "BA");
        assert_eq!(letters(142), "EM");
    }

    #[test]
    fn each_has_an_instance_of_its_own_where_the_record_says_so() {
        let instances: Vec<u8> =
            shared(0x03, 0x80, 10).unwrap().into_iter().map(|it| it.1).collect();
        assert_eq!(instances, [1, 2, 3]);
    }

    #[test]
    fn one_that_shares_with_nobody_keeps_its_name() {
        assert_eq!(names(0x00, 0x85), ["Watchdog"]);
        assert_eq!(names(0x11, 0x85), ["Watchdog"]);
    }

    #[test]
    fn numbers_that_do_not_exist_are_not_made_up() {
        assert_eq!(shared(0x02, 0x00, 254).unwrap().len(), 2);
        assert!(shared(0x03, 0x00, 254).is_err());
    }
}
