//! Finds the wordings of the table in messages.
//!
//! A message is compared with a wording only where four bytes of it, its anchor, occur there: of a megabyte of ordinary log
//! hardly a line is compared with any.

use super::kinds::{Kind, kinds};
use std::sync::LazyLock;

/// A wording that was found in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: &'static Kind,
    /// The kernels of the wording.
    pub(super) kernels: &'static str,
    /// `{total}`, `{ns}` or `{gbps}`.
    pub(super) amount: Option<u64>,
}

/// The wording that `message` holds; of several the one with most letters. Runs of blanks have to be single ones.
pub(super) fn find(message: &str) -> Option<Found> {
    let index = &*INDEX;
    let mut best: Option<(usize, Found)> = None;
    let mut gram = 0;
    for byte in message.bytes() {
        gram = add(gram, byte);
        if !index.may_hold(gram) {
            continue;
        }
        for pattern in index.anchored_by(gram) {
            if best.is_none_or(|(length, _)| pattern.n_letters > length)
                && let Some(amount) = pattern.matched(message)
            {
                let (kind, kernels) = (pattern.kind, pattern.kernels);
                best = Some((pattern.n_letters, Found { kind, kernels, amount }));
            }
        }
    }
    best.map(|(_, found)| found)
}

/// Whether a line may hold a wording or one of the words of a log itself ([`OF_LOGS`]): `false` is certain.
pub(super) fn may_hold(line: &str) -> bool {
    let index = &*INDEX;
    // A loop: this is done for each byte of a log, and iterators take three times as long when compiled for size.
    let mut gram = 0;
    for byte in line.bytes() {
        gram = add(gram, byte);
        if index.may_hold(gram) {
            return true;
        }
    }
    false
}

/// In "Linux version", with which a boot begins, in "message repeated 3 times", and in "BERT: Error records from previous boot".
const OF_LOGS: [u32; 3] =
    [u32::from_be_bytes(*b"Linu"), u32::from_be_bytes(*b"repe"), u32::from_be_bytes(*b"BERT")];

/// Bytes of an anchor.
const GRAM: usize = 4;

/// The four bytes that end in `byte`, after those before it.
fn add(gram: u32, byte: u8) -> u32 {
    gram << 8 | u32::from(byte)
}

static INDEX: LazyLock<Index> = LazyLock::new(Index::new);

struct Index {
    patterns: Vec<Pattern>,
    /// One bit for each hash of an anchor: few enough are set that most lines of a log hit none.
    bits: Box<[u64; 1 << (HASH_BITS - 6)]>,
    /// Anchors, ascending, each with the place of a pattern that has it.
    anchored: Vec<(u32, usize)>,
}

const HASH_BITS: u32 = 19;

/// Of the hash, by which uses of an anchor are counted.
const COUNT_BITS: u32 = 16;

impl Index {
    fn new() -> Index {
        let wordings = kinds().flat_map(|kind| kind.wordings.iter().map(move |it| (kind, *it)));
        let patterns: Vec<Pattern> =
            wordings.map(|(kind, (kernels, text))| Pattern::new(kind, kernels, text)).collect();
        let mut grams = Vec::with_capacity(patterns.iter().map(|it| it.n_letters).sum());
        let mut anchors = Vec::with_capacity(patterns.len());
        for pattern in &patterns {
            let begin = grams.len();
            pattern.add_anchors(&mut grams);
            anchors.push(begin..grams.len());
        }
        // Few enough counts for the cache: each page that is touched costs as much as many wordings.
        let count_of = |gram: u32| hash(gram) >> (HASH_BITS - COUNT_BITS);
        let mut n_uses = vec![0_u16; 1 << COUNT_BITS];
        for gram in &grams {
            n_uses[count_of(*gram)] += 1;
        }
        let bits = Box::new([0; 1 << (HASH_BITS - 6)]);
        let mut index = Index { patterns, bits, anchored: Vec::with_capacity(anchors.len()) };
        OF_LOGS.iter().for_each(|it| index.set(*it));
        for (at, anchors) in anchors.into_iter().enumerate() {
            // The rarest of the table is rare in a log as well.
            if let Some(anchor) = grams[anchors].iter().min_by_key(|gram| n_uses[count_of(**gram)])
            {
                index.set(*anchor);
                index.anchored.push((*anchor, at));
            }
        }
        index.anchored.sort_unstable();
        index
    }

    fn anchored_by(&self, gram: u32) -> impl Iterator<Item = &Pattern> {
        let first = self.anchored.partition_point(|it| it.0 < gram);
        let same = self.anchored[first..].iter().take_while(move |it| it.0 == gram);
        same.map(|it| &self.patterns[it.1])
    }

    fn set(&mut self, gram: u32) {
        let hash = hash(gram);
        self.bits[hash >> 6] |= 1 << (hash & 63);
    }

    fn may_hold(&self, gram: u32) -> bool {
        let hash = hash(gram);
        self.bits[hash >> 6] & (1 << (hash & 63)) != 0
    }
}

/// Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, section 6.4).
fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
}

/// A wording, cut at its holes.
struct Pattern {
    kind: &'static Kind,
    kernels: &'static str,
    pieces: Vec<Piece>,
    n_letters: usize,
}

enum Piece {
    Literal(&'static str),
    /// `{}`.
    Any,
    /// `{n}`: digits, also with a sign, a point or hexadecimal.
    Number,
    /// Digits with a name.
    Count(&'static str),
}

impl Pattern {
    fn new(kind: &'static Kind, kernels: &'static str, text: &'static str) -> Pattern {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            // A brace that opens no hole is a brace of the message.
            let Some((name, after)) = behind.split_once('}') else { break };
            if !before.is_empty() {
                pieces.push(Piece::Literal(before));
            }
            pieces.push(match name {
                "" => Piece::Any,
                "n" => Piece::Number,
                name => Piece::Count(name),
            });
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest));
        }
        if let Some(Piece::Any) = pieces.first() {
            pieces.remove(0);
        }
        let n_letters = pieces.iter().map(|it| it.literal().len()).sum();
        Pattern { kind, kernels, pieces, n_letters }
    }

    /// Adds the anchors of this wording: four bytes after each other that a message of it has to hold, those without a blank where there
    /// are some, because a log may have several blanks for one.
    fn add_anchors(&self, grams: &mut Vec<u32>) {
        let begin = grams.len();
        for is_whole in [true, false] {
            if grams.len() == begin {
                self.pieces.iter().for_each(|it| add_anchors_of(it.literal(), is_whole, grams));
            }
        }
    }

    /// The amount, `None` inside where the wording has none; `None` where `message` is not of this wording.
    fn matched(&self, message: &str) -> Option<Option<u64>> {
        let first = self.pieces.first()?.literal();
        if first.is_empty() {
            return self.matched_from(message);
        }
        let starts = message.match_indices(first).map(|(at, _)| at);
        let mut starts = starts.filter(|&at| begins_word(message, at, first));
        starts.find_map(|at| self.matched_from(message.get(at..)?))
    }

    fn matched_from(&self, message: &str) -> Option<Option<u64>> {
        let mut rest = message;
        let mut amount = None;
        let mut may_skip = false;
        for piece in &self.pieces {
            match piece {
                Piece::Any => may_skip = true,
                Piece::Literal(literal) if may_skip => {
                    rest = rest.split_once(literal)?.1;
                    may_skip = false;
                }
                Piece::Literal(literal) => rest = rest.strip_prefix(literal)?,
                Piece::Number => {
                    let is_part = |it: char| it.is_ascii_hexdigit() || "-.x".contains(it);
                    rest = skipped(rest, is_part)?.1;
                }
                Piece::Count(name) => {
                    let (digits, behind) = skipped(rest, |it| it.is_ascii_digit())?;
                    if matches!(*name, "total" | "ns" | "gbps") {
                        amount = digits.parse().ok();
                    }
                    rest = behind;
                }
            }
        }
        Some(amount)
    }
}

/// Adds all anchors of a literal, or those without a blank alone.
fn add_anchors_of(literal: &str, is_whole: bool, grams: &mut Vec<u32>) {
    let mut gram = 0;
    let mut n_without_blank = 0;
    for (at, byte) in literal.bytes().enumerate() {
        gram = add(gram, byte);
        n_without_blank = if byte == b' ' { 0 } else { n_without_blank + 1 };
        if at + 1 >= GRAM && (n_without_blank >= GRAM || !is_whole) {
            grams.push(gram);
        }
    }
}

impl Piece {
    fn literal(&self) -> &'static str {
        match self {
            Piece::Literal(literal) => literal,
            Piece::Any | Piece::Number | Piece::Count(_) => "",
        }
    }
}

/// Whether no letter or digit runs into a literal that starts with one.
fn begins_word(message: &str, at: usize, literal: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    !is_word(literal.as_bytes().first()) || at == 0 || !is_word(message.as_bytes().get(at - 1))
}

/// The longest start of `text` made of such characters, at least one, and the rest.
fn skipped(text: &str, is_part: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|it| !is_part(it)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &str) -> &'static str {
        find(message).map_or("unknown", |it| it.kind.id)
    }

    /// A message of a wording: `7` for each number and `some thing` for the rest.
    fn example(wording: &str) -> String {
        let parts = wording.split('{').enumerate().map(|(at, part)| match part.split_once('}') {
            Some(("", rest)) if at > 0 => format!("some thing{rest}"),
            Some((_, rest)) if at > 0 => format!("7{rest}"),
            _ => part.to_owned(),
        });
        parts.collect()
    }

    #[test]
    fn every_wording_is_found_as_its_own_kind_behind_a_device_too() {
        let mut wrong = Vec::new();
        for kind in kinds() {
            for (_, wording) in kind.wordings {
                for before in ["", "mce: ", "mlx5_core 0000:3b:00.0: "] {
                    let message = format!("{before}{}", example(wording));
                    if id(&message) != kind.id {
                        wrong.push(format!("{message:?} of {}: {}", kind.id, id(&message)));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_wording_has_an_anchor() {
        let has_none = |it: &&Pattern| {
            let mut grams = Vec::new();
            it.add_anchors(&mut grams);
            grams.is_empty()
        };
        let bare = INDEX.patterns.iter().filter(has_none);
        assert_eq!(bare.map(|it| it.kind.id).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn an_amount_is_read_and_numbers_have_to_be_numbers() {
        let hot = "CPU12: Package temperature above threshold, cpu clock throttled (total events = 39112)";
        assert_eq!(find(hot).unwrap().amount, Some(39112));
        assert_eq!(find("hrtimer: interrupt took 6663395 ns").unwrap().amount, Some(6_663_395));
        assert_eq!(id("hrtimer: interrupt took a ns"), "unknown");
        assert_eq!(id("xhrtimer: interrupt took 7 ns"), "unknown");
    }

    #[test]
    fn the_wording_that_says_most_is_the_one() {
        assert_eq!(
            id("tsc: Marking TSC unstable due to running on Hyper-V"),
            "tsc-unstable-by-choice"
        );
        assert_eq!(id("clocksource: Switched to clocksource hpet"), "slow-clock-chosen");
        assert_eq!(id("clocksource: Switched to clocksource tsc"), "clock-chosen");
    }

    #[test]
    fn ordinary_lines_are_of_no_kind() {
        for line in [
            "EXT4-fs (sda1): mounted filesystem with ordered data mode",
            "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
            "audit: type=1400 audit(1700000000.123:4): avc: denied",
            "systemd[1]: Started Daily apt download activities.",
            "",
        ] {
            assert_eq!(id(line), "unknown");
        }
    }
}
