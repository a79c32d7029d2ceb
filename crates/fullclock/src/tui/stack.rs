//! The ledgers of the last intervals side by side, each a column from nothing to all of the time.

use super::axis::Axis;
use super::slices::{Slice, mixes};
use super::state::State;
use super::text::{counted, rule};
use super::theme::{ASIDE, BLOCKS_UP};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Draws a rule and, below it, a column for each interval, the latest last. One without a ledger is a gap.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let axis = Axis::new(vec!["100 %".to_owned(), "0 %".to_owned()], state.theme);
    let plot = axis.plot(area, 1);
    let frames: Vec<Option<&[Slice]>> =
        state.history.slices((plot.width.into(), state.n_behind())).collect();
    let title = format!("where the time went, last {}", counted(frames.len(), "interval"));
    let title = Line::styled(rule(&[title], area.width, state.theme), ASIDE);
    buffer.set_line(area.x, area.y, &title, area.width);
    axis.draw(plot, buffer);
    for (slices, x) in frames.into_iter().zip(plot.left()..plot.right()) {
        let Some(slices) = slices else { continue };
        let sizes = slices.iter().map(|it| it.percent.unwrap_or(0.0));
        let column = mixes(sizes, plot.height.into());
        for (mix, y) in column.into_iter().zip((plot.top()..plot.bottom()).rev()) {
            let (glyph, style) = mix.cell(slices, BLOCKS_UP, state.theme);
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_char(glyph).set_style(style);
            }
        }
    }
}
