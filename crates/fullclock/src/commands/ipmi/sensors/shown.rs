//! What is printed of rounds and events.

use super::exposed::Exposed;
use crate::output::{self, OutputArguments};
use anyhow::Result;
use engine::ipmi::sensors::News;
use lab::ipmi::sensors::{Board, Round};
use report::Style;
use report::ipmi::sensors::{changed, event, heading, json, metrics, table, untold};

/// Prints what is found, each time what has changed.
pub(super) struct Shown {
    style: Style,
    is_json: bool,
    /// One round follows another: each is a line.
    is_watch: bool,
    exposed: Exposed,
    before: Option<Round>,
}

impl Shown {
    pub(super) fn new(output: &OutputArguments, is_watch: bool, exposed: Exposed) -> Shown {
        let (style, is_json) = (output::style(output.color), output.json);
        Shown { style, is_json, is_watch, exposed, before: None }
    }

    pub(super) fn round(&mut self, board: Board<'_>, round: Round) -> Result<()> {
        self.exposed.write(&metrics(&round))?;
        if self.exposed.is_terminal() {
            return Ok(());
        }
        let text = match (self.is_json, self.is_watch) {
            (true, true) => format!("{}\n", json(board, &round)),
            (true, false) => format!("{:#}\n", json(board, &round)),
            (false, _) => self.text(board, &round),
        };
        self.before = Some(round);
        output::print(&text)
    }

    fn text(&self, board: Board<'_>, round: &Round) -> String {
        let mut text = match &self.before {
            None => {
                let n_sensors = round.found.as_ref().map_or(0, Vec::len);
                format!("{}\n{}", heading(board, n_sensors, self.style), table(round, self.style))
            }
            before => changed(before.as_ref(), round, self.style),
        };
        // The others were told when they came.
        for it in round.events.iter().filter(|it| !it.is_sent) {
            text += &event(round.at_ns, it, self.style);
        }
        text + &untold(round, self.style)
    }

    /// What came by itself between two rounds. Data have it with the next round.
    pub(super) fn news(&mut self, news: &News) -> Result<()> {
        if self.is_json || self.exposed.is_terminal() {
            return Ok(());
        }
        output::print(&event(news.at_ns, &news.event, self.style))
    }
}
