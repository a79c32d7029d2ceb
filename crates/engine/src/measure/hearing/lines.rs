//! Bytes as lines. A progress display ends its lines by a carriage return, to write the next over the last.

/// The longest line that is searched, in bytes; of a longer one it is the beginning.
const LONGEST: usize = 64 << 10;

/// A line that has not ended yet.
#[derive(Default)]
pub(super) struct Lines {
    line: Vec<u8>,
}

impl Lines {
    /// Calls `each` with every line that ends in `bytes` and is not empty. What is not UTF-8 becomes U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for piece in bytes.split_inclusive(|it| is_end(*it)) {
            let ended = piece.strip_suffix(b"\n").or_else(|| piece.strip_suffix(b"\r"));
            let text = ended.unwrap_or(piece);
            let room = LONGEST.saturating_sub(self.line.len());
            self.line.extend_from_slice(text.get(..room).unwrap_or(text));
            if ended.is_some() {
                self.end(&mut each);
            }
        }
    }

    /// Calls `each` with the line that nothing ends, if there is one.
    pub(super) fn end(&mut self, mut each: impl FnMut(&str)) {
        if !self.line.is_empty() {
            each(&String::from_utf8_lossy(&self.line));
            self.line.clear();
        }
    }
}

fn is_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        pieces.iter().for_each(|it| lines.push(it, |line| found.push(line.to_owned())));
        lines.end(|line| found.push(line.to_owned()));
        found
    }

    #[test]
    fn lines_end_by_newlines_and_carriage_returns_wherever_they_are_cut() {
        let text = b"a\r\nb\rc\n\n\nd";
        assert_eq!(lines(&[text]), ["a", "b", "c", "d"]);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines(&bytes), ["a", "b", "c", "d"]);
        assert_eq!(lines(&[b"no end", b" yet\n"]), ["no end yet"]);
    }

    #[test]
    fn what_is_no_text_is_replaced_and_a_character_may_be_cut() {
        assert_eq!(lines(&[b"a\xffb\n"]), ["a\u{fffd}b"]);
        assert_eq!(lines(&[b"\xc3", b"\xa9\n"]), ["é"]);
    }

    #[test]
    fn of_a_long_line_the_beginning_is_kept_and_the_next_line_is_whole() {
        let long = vec![b'x'; 1 << 20];
        let found = lines(&[&long, &long, b"\nnext\n"]);
        assert_eq!((found[0].len(), found[1].as_str()), (LONGEST, "next"));
    }
}
