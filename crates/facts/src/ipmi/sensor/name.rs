//! The name in a sensor's record.
//!
//! Source: IPMI 2.0, section 43.15: a byte with an encoding and a number of characters, then the characters.

/// The name, up to a zero and without white space around it. Characters that the record's end cuts off are missing, and
/// those that no terminal should see are question marks.
pub(super) fn parse(type_and_length: u8, bytes: &[u8]) -> String {
    let count = usize::from(type_and_length & 0x1f);
    let text = match type_and_length >> 6 {
        0 => unicode(bytes, count),
        1 => packed(bytes, 4, count).map(|it| BCD_PLUS[usize::from(it)]).collect(),
        // The characters from space to underscore.
        2 => packed(bytes, 6, count).map(|it| char::from(it + b' ')).collect(),
        // The first 256 characters of Unicode are those of Latin 1.
        _ => first(bytes, count).iter().copied().map(char::from).collect::<String>(),
    };
    let text = text.split('\0').next().unwrap_or_default();
    text.trim().chars().map(|it| if it.is_control() { '?' } else { it }).collect()
}

const BCD_PLUS: [char; 16] =
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ' ', '-', '.', ':', ',', '_'];

/// So many, or as many as there are.
fn first(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(..count).unwrap_or(bytes)
}

/// Two bytes a character, the lower one first. Some makers leave the encoding 0 and write ASCII.
fn unicode(bytes: &[u8], count: usize) -> String {
    let single = first(bytes, count);
    if single.iter().all(|it| it.is_ascii_graphic() || *it == b' ') {
        return single.iter().copied().map(char::from).collect();
    }
    let units: Vec<u16> =
        bytes.as_chunks::<2>().0.iter().take(count).copied().map(u16::from_le_bytes).collect();
    String::from_utf16_lossy(&units)
}

/// Numbers of so many bits, each beginning at the lowest bit that the one before it has left.
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

#[cfg(test)]
mod tests {
    use super::*;
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
}
