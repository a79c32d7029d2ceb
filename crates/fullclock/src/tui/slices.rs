//! The ledger as slices of the time, in the order of bars: useful work, losses, what is not explained, idle.

use super::theme::{BLOCKS_UP, IDLE, Theme, UNEXPLAINED};
use ratatui::style::{Color, Style};
use rules::loss::Kind;
use rules::watch::Shares;

/// One colour of a bar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    /// What stands for it where there is no colour; no two slices have the same.
    pub(super) letter: char,
    pub(super) id: &'static str,
    /// None for what no line accounts for.
    pub(super) kind: Option<Kind>,
    /// The how manieth it is of the losses.
    place: usize,
    /// None where it is unknown.
    pub(super) percent: Option<f64>,
    /// Whether some part of it is unknown.
    pub(super) partial: bool,
}

impl Slice {
    pub(super) fn style(&self, theme: Theme) -> Style {
        let percent = self.percent.unwrap_or(0.0);
        self.kind.map_or(theme.rest(), |kind| theme.share(kind, self.place, percent))
    }

    /// What fills a cell.
    pub(super) fn glyph(&self, theme: Theme) -> char {
        match self.kind {
            _ if !theme.has_blocks() => self.letter,
            Some(Kind::Idle) => IDLE,
            None => UNEXPLAINED,
            Some(Kind::Lost | Kind::Useful) => '█',
        }
    }
}

/// A slice for each line of the ledger, its parts together, and one for what they do not explain.
pub(super) fn slices(shares: &Shares) -> Vec<Slice> {
    let mut slices: Vec<Slice> = Vec::new();
    for line in &shares.lines {
        let percent = line.ns.as_ref().ok().map(|ns| shares.percent(*ns));
        match slices.iter_mut().find(|it| it.id == line.loss) {
            Some(slice) => {
                slice.partial |= slice.percent.is_none() != percent.is_none();
                slice.percent = match (slice.percent, percent) {
                    (Some(a), Some(b)) => Some(a + b),
                    (a, b) => a.or(b),
                };
            }
            None => {
                let letter = letter(line.loss, &slices);
                let place = slices.iter().filter(|it| it.kind == Some(Kind::Lost)).count();
                let kind = Some(line.kind);
                slices.push(Slice { letter, id: line.loss, kind, place, percent, partial: false });
            }
        }
    }
    let percent = Some(shares.percent(shares.unexplained_ns));
    let rest =
        Slice { letter: '?', id: "unexplained", kind: None, place: 0, percent, partial: false };
    slices.push(rest);
    slices.sort_by_key(|it| match it.kind {
        Some(Kind::Useful) => 0,
        Some(Kind::Lost) => 1,
        None => 2,
        Some(Kind::Idle) => 3,
    });
    slices
}

/// A letter that no other slice has: the first one of the line's words, else any of its own.
fn letter(id: &str, slices: &[Slice]) -> char {
    let is_free = |letter: &char| {
        letter.is_ascii_alphabetic() && slices.iter().all(|it| it.letter != *letter)
    };
    let first = id.chars().take(1);
    let of_words = id.split('-').skip(1).filter_map(|word| word.chars().next());
    first.chain(of_words).chain(id.chars()).chain('A'..='Z').find(is_free).unwrap_or('#')
}

/// What one cell of a bar shows: one slice, or the end of one and the beginning of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mix {
    /// Places in the list of slices.
    first: usize,
    second: usize,
    /// How much of the cell the first one has.
    eighths: usize,
}

const EIGHTHS: usize = 8;

/// `cells` cells that show slices of these sizes, of which negative ones have none. Ends are rounded to eighths of a cell, and of
/// more than two slices in one cell the largest two are shown.
pub(super) fn mixes(sizes: impl Iterator<Item = f64> + Clone, cells: usize) -> Vec<Mix> {
    let total: f64 = sizes.clone().map(|it| it.max(0.0)).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let steps = (cells * EIGHTHS) as f64;
    let ends = sizes.scan(0.0, |sum, size| {
        *sum += size.max(0.0);
        Some((*sum / total * steps).round() as usize)
    });
    // What each slice has of each cell, from the first slice to the last.
    let mut mixes: Vec<[(usize, usize); 2]> = vec![[(0, 0); 2]; cells];
    let mut start = 0;
    for (slice, end) in ends.enumerate() {
        for (cell, mix) in mixes.iter_mut().enumerate().skip(start / EIGHTHS) {
            let (from, to) = (start.max(cell * EIGHTHS), end.min((cell + 1) * EIGHTHS));
            if from >= to {
                break;
            }
            enter(mix, (slice, to - from));
        }
        start = end.max(start);
    }
    mixes.into_iter().map(mix).collect()
}

/// Keeps the larger two of three, in their order.
fn enter([first, second]: &mut [(usize, usize); 2], new: (usize, usize)) {
    if first.1 == 0 {
        *first = new;
    } else if second.1 == 0 {
        *second = new;
    } else if new.1 > first.1.min(second.1) {
        if first.1 < second.1 {
            *first = *second;
        }
        *second = new;
    }
}

fn mix([first, second]: [(usize, usize); 2]) -> Mix {
    let shown = first.1 + second.1;
    // What is left out is shared between the two that are shown.
    let eighths = (first.1 * EIGHTHS + shown / 2).checked_div(shown).unwrap_or(EIGHTHS);
    let second_place = if second.1 == 0 { first.0 } else { second.0 };
    Mix { first: first.0, second: second_place, eighths }
}

impl Mix {
    /// The character of the cell and its colours; `blocks` are eighths of a cell from the edge where bars begin.
    pub(super) fn cell(self, slices: &[Slice], blocks: [char; 8], theme: Theme) -> (char, Style) {
        let [Some(first), Some(second)] = [self.first, self.second].map(|it| slices.get(it)) else {
            return (' ', Style::new());
        };
        if self.first == self.second || !theme.has_blocks() {
            let larger = if self.eighths * 2 >= EIGHTHS { first } else { second };
            return (larger.glyph(theme), larger.style(theme));
        }
        let part = blocks.get(self.eighths.saturating_sub(1)).copied().unwrap_or(BLOCKS_UP[7]);
        let behind = match second.kind {
            Some(Kind::Lost | Kind::Useful) => second.style(theme).fg,
            Some(Kind::Idle) | None => None,
        };
        (part, first.style(theme).bg(behind.unwrap_or(Color::Reset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::watch::fake;
    use std::collections::BTreeSet;

    #[test]
    fn every_slice_has_a_letter_of_its_own() {
        let letters: Vec<char> = slices(&fake::shares()).iter().map(|it| it.letter).collect();
        let unique: BTreeSet<char> = letters.iter().copied().collect();
        assert_eq!(unique.len(), letters.len(), "{letters:?}");
    }

    #[test]
    fn useful_work_comes_first_and_idle_time_last() {
        let ids: Vec<&str> = slices(&fake::shares()).iter().map(|it| it.id).collect();
        assert_eq!((ids.first(), ids.last()), (Some(&"useful"), Some(&"idle")));
        assert_eq!(ids.iter().rev().nth(1), Some(&"unexplained"));
    }

    /// `0 3/1` is a cell of slice 0, and one with three eighths of slice 0 and then slice 1.
    fn mixed(sizes: &[f64], cells: usize) -> String {
        let text = |it: Mix| match it {
            Mix { first, second, .. } if first == second => first.to_string(),
            Mix { first, second, eighths } => format!("{first}:{eighths}:{second}"),
        };
        let mixes = mixes(sizes.iter().copied(), cells);
        mixes.into_iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ends_are_eighths_of_a_cell() {
        assert_eq!(mixed(&[50.0, 50.0], 2), "0 1");
        assert_eq!(mixed(&[50.0, 50.0], 1), "0:4:1");
        assert_eq!(mixed(&[1.0, 0.0, 7.0], 1), "0:1:2");
        assert_eq!(mixed(&[30.0, -5.0, 70.0], 4), "0 0:2:2 2 2");
    }

    #[test]
    fn of_three_slices_in_a_cell_the_largest_two_share_it() {
        assert_eq!(mixed(&[3.0, 1.0, 4.0], 1), "0:3:2");
        assert_eq!(mixed(&[1.0, 3.0, 4.0], 1), "1:3:2");
        assert_eq!(mixed(&[4.0, 3.0, 1.0], 1), "0:5:1");
    }

    #[test]
    fn every_cell_is_filled_whatever_the_sizes() {
        let sizes: Vec<f64> = slices(&fake::shares()).iter().filter_map(|it| it.percent).collect();
        for cells in [1, 2, 7, 80, 131] {
            let mixes = mixes(sizes.iter().copied(), cells);
            assert_eq!(mixes.len(), cells);
            assert!(mixes.iter().all(|it| (1..=EIGHTHS).contains(&it.eighths)), "{mixes:?}");
        }
        assert_eq!(mixed(&[0.0, -1.0], 3), "");
    }
}
