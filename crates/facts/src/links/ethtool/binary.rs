//! The kernel's answers, as it writes them into memory.
//!
//! Source: include/uapi/linux/ethtool.h. Numbers of 32 bits stand with their lowest byte first, on whatever machine they
//! were written: whoever asked the kernel has turned them.

use super::{Duplex, Encodings, Fec, Pause, Port, Question, Settings, Speeds, modes};
use crate::links::network::speed_of;
use crate::parse::Expected;

const SETTINGS: Expected = Expected("a struct ethtool_link_settings");

/// Bytes of `struct ethtool_link_settings` before its bitmaps.
pub const HEADER: usize = 48;
/// Where single bytes stand in it, between the numbers: those must not be turned.
pub const SINGLE_BYTES: std::ops::Range<usize> = 8..20;
/// Where it has the length of a bitmap in words; below 0 where that is asked for (`link_mode_masks_nwords`).
pub const N_WORDS: usize = 15;

/// Parses `struct ethtool_link_settings`, with its three bitmaps.
pub fn settings(bytes: &[u8]) -> Result<Settings, Expected> {
    let words = words(bytes, Question::Settings).ok_or(SETTINGS)?;
    let byte = |at: usize| bytes.get(at).copied().ok_or(SETTINGS);
    // Below 0 it is a wish of the kernel, above 127 nothing that it says.
    let n_words = usize::from(byte(N_WORDS)?);
    if !(1..=127).contains(&n_words) {
        return Err(SETTINGS);
    }
    let speeds = |number: usize| -> Result<Speeds, Expected> {
        let first = HEADER / 4 + number * n_words;
        words.get(first..first + n_words).map(modes::of_bits).ok_or(SETTINGS)
    };
    Ok(Settings {
        // SPEED_UNKNOWN is -1.
        speed: speed_of(words.get(1).map_or(-1, |it| i64::from(*it)))?,
        duplex: match byte(8)? {
            0 => Some(Duplex::Half),
            1 => Some(Duplex::Full),
            _ => None,
        },
        port: match byte(9)? {
            0x00 => Some(Port::TwistedPair),
            0x03 => Some(Port::Fibre),
            0x05 => Some(Port::DirectAttach),
            _ => Some(Port::Other),
        },
        autonegotiation: match byte(11)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        },
        supported: speeds(0)?,
        advertised: speeds(1)?,
        partner: speeds(2)?,
        link: None,
    })
}

/// Parses `struct ethtool_fecparam`.
pub fn fec(bytes: &[u8]) -> Result<Fec, Expected> {
    match words(bytes, Question::Fec).as_deref() {
        Some([_, active, configured, _]) => Ok(Fec {
            configured: Encodings::of_bits(*configured),
            active: Encodings::of_bits(*active),
        }),
        _ => Err(Expected("a struct ethtool_fecparam")),
    }
}

/// Parses `struct ethtool_pauseparam`.
pub fn pause(bytes: &[u8]) -> Result<Pause, Expected> {
    match words(bytes, Question::Pause).as_deref() {
        Some([_, autonegotiate, rx, tx]) => {
            Ok(Pause { autonegotiate: *autonegotiate != 0, rx: *rx != 0, tx: *tx != 0 })
        }
        _ => Err(Expected("a struct ethtool_pauseparam")),
    }
}

/// The words of an answer, whose first is the number of the command.
fn words(bytes: &[u8], question: Question) -> Option<Vec<u32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|it| u32::from_le_bytes(*it)).collect();
    (rest.is_empty() && words.first() == Some(&question.command())).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Full duplex at `speed` over twisted pair, negotiated, with bitmaps of one word.
    fn answer(speed: u32, bitmaps: [u32; 3]) -> Vec<u8> {
        let mut words = vec![0x4c, speed, 0x0100_0001, 0x0100_0000];
        words.resize(HEADER / 4, 0);
        words.extend(bitmaps);
        words.iter().flat_map(|it: &u32| it.to_le_bytes()).collect()
    }

    #[test]
    fn an_answer_is_speed_duplex_and_what_each_end_can_do() {
        let settings = settings(&answer(1000, [0x102f, 0x002f, 0x000f])).unwrap();
        assert_eq!(settings.speed.unwrap().to_string(), "1 Gb/s");
        assert_eq!(settings.duplex, Some(Duplex::Full));
        assert_eq!(settings.port, Some(Port::TwistedPair));
        assert_eq!(settings.autonegotiation, Some(true));
        assert_eq!(settings.supported.to_string(), "0.01, 0.1, 1, 10 Gb/s");
        assert_eq!(settings.advertised.highest().unwrap().to_string(), "1 Gb/s");
        assert_eq!(settings.agreeable().unwrap().to_string(), "0.1 Gb/s");
    }

    #[test]
    fn a_driver_that_does_not_know_is_not_at_speed_zero() {
        for speed in [0, u32::MAX, 65_535] {
            assert_eq!(settings(&answer(speed, [0; 3])).unwrap().speed, None);
        }
        assert!(settings(&answer(0x7fff_ffff, [0; 3])).is_err());
    }

    #[test]
    fn an_answer_that_is_cut_or_of_another_question_is_refused() {
        let whole = answer(1000, [1; 3]);
        assert!(settings(&whole[..whole.len() - 4]).is_err());
        assert!(settings(&whole[..whole.len() - 1]).is_err());
        assert!(settings(&[]).is_err() && fec(&whole).is_err() && pause(&whole[..16]).is_err());
        let mut wish = whole;
        wish[N_WORDS] = 0xfc;
        assert!(settings(&wish).is_err());
    }

    #[test]
    fn correction_and_pause_are_bits_and_switches() {
        let bytes = |words: [u32; 4]| words.iter().flat_map(|it| it.to_le_bytes()).collect();
        let of = |words| -> Vec<u8> { bytes(words) };
        let fec = fec(&of([0x50, 8, 2, 0])).unwrap();
        assert_eq!(
            (fec.active.to_string(), fec.configured.to_string()),
            ("RS".into(), "Auto".into())
        );
        let pause = pause(&of([0x12, 1, 0, 1])).unwrap();
        assert_eq!((pause.autonegotiate, pause.rx, pause.tx), (true, false, true));
    }
}
