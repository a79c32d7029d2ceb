//! The scale at the left of a chart.

use super::text::width;
use super::theme::{ASIDE, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The labels of a chart, from its top to its bottom, and the line that it stands on.
pub(super) struct Axis {
    labels: Vec<String>,
    theme: Theme,
}

impl Axis {
    /// The label of the top and that of the bottom.
    pub(super) fn new(labels: Vec<String>, theme: Theme) -> Axis {
        Axis { labels, theme }
    }

    /// What is left of `area` for the chart, below `above` lines of other things.
    pub(super) fn plot(&self, area: Rect, above: u16) -> Rect {
        let labels = self.labels.iter().map(|it| width(it)).max().unwrap_or(0) + 1;
        let labels = u16::try_from(labels).unwrap_or(area.width).min(area.width);
        let above = above.min(area.height);
        Rect {
            x: area.x + labels,
            y: area.y + above,
            width: area.width - labels,
            height: area.height - above,
        }
    }

    /// Draws the labels to the left of the chart.
    pub(super) fn draw(&self, plot: Rect, buffer: &mut Buffer) {
        let mut label = |text: &str, y: u16| {
            let columns = u16::try_from(width(text) + 1).unwrap_or(plot.x).min(plot.x);
            let text = format!("{text}{}", self.theme.border());
            buffer.set_stringn(plot.x - columns, y, text, usize::from(columns), ASIDE);
        };
        for y in plot.top()..plot.bottom() {
            let is_last = y + 1 == plot.bottom();
            let text = match (y == plot.top(), is_last) {
                (true, _) => self.labels.first(),
                (false, true) => self.labels.last(),
                (false, false) => None,
            };
            label(text.map_or("", |it| it), y);
        }
    }
}
