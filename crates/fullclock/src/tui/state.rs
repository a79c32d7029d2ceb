//! What the screen shows, and how keys and readings change it.

use super::findings::Findings;
use super::history::History;
use super::layout::{page_lines, table_lines};
use super::message::{Effect, Feed, Message, Page};
use super::order::{Choice, Filter, Level, Order};
use super::pages::{self, Subject};
use super::theme::Theme;
use rules::watch::{
    Expanded, Machine, Part, Probing, Reading, Row, Shown, see_parts, shown_columns,
};
use std::sync::Arc;

/// Everything that the screen depends on.
pub(crate) struct State {
    /// What the terminal can show.
    pub(super) theme: Theme,
    /// Its columns and lines.
    pub(super) size: (u16, u16),
    /// The machine that is watched.
    pub(super) machine: Machine,
    /// Where readings come from, for the title.
    pub(super) feed: Feed,
    /// The reading on screen.
    pub(super) reading: Option<Arc<Reading>>,
    /// The latest reading, while the one on screen is frozen.
    pub(super) behind: Option<Behind>,
    pub(super) history: History,
    /// What the latest audit found; nothing before the first is made.
    pub(super) findings: Option<Arc<Findings>>,
    /// Which page is open.
    pub(super) page: Page,
    /// How far a page of text is scrolled, in lines.
    pub(super) scrolled: usize,
    /// How fine the rows are.
    pub(super) level: Level,
    /// The row the cursor is on.
    pub(super) row: Row,
    /// The column the cursor is on; the first one without.
    pub(super) column: Option<(&'static str, Part)>,
    /// What rows are sorted by, besides their numbers.
    pub(super) order: Option<Order>,
    /// Which rows and columns are shown.
    pub(super) filter: Filter,
    /// The filter being typed.
    pub(super) typed: Option<String>,
    /// Metrics whose parts stand side by side.
    pub(super) expanded: Expanded,
    /// Something that has to be said until the next key.
    pub(super) notice: Option<String>,
}

/// Readings that a frozen screen does not show.
pub(super) struct Behind {
    pub(super) n: usize,
    /// The last of them.
    pub(super) latest: Arc<Reading>,
}

impl State {
    /// A screen without a reading yet.
    pub(crate) fn new(machine: Machine, feed: Feed, theme: Theme, size: (u16, u16)) -> State {
        State {
            theme,
            size,
            machine,
            feed,
            reading: None,
            behind: None,
            history: History::default(),
            findings: None,
            page: Page::Table,
            scrolled: 0,
            level: Level::Cpus,
            row: Row::Host,
            column: None,
            order: None,
            filter: Filter::default(),
            typed: None,
            expanded: Expanded::new(),
            notice: None,
        }
    }

    /// Whether letters belong to a filter, and are no commands.
    pub(crate) fn is_typing(&self) -> bool {
        self.typed.is_some()
    }

    /// Changes what is shown, and says what the outside has to do.
    pub(crate) fn update(&mut self, message: Message) -> Effect {
        if message.is_of_a_key() {
            self.notice = None;
        }
        match message {
            Message::Reading(reading) => self.receive(reading),
            Message::Audited(findings) => self.findings = Some(findings),
            Message::Feed(feed) => self.feed = feed,
            Message::Notice(text) => self.notice = Some(text),
            Message::Resize(columns, lines) => self.size = (columns, lines),
            Message::Open(page) => {
                self.page = if self.page == page { Page::Table } else { page };
                self.scrolled = 0;
            }
            Message::Down(by) => self.down(by),
            Message::PageDown(by) => self.down(by.saturating_mul(self.n_lines())),
            Message::End(last) => self.down(if last { isize::MAX } else { isize::MIN }),
            Message::Right(by) => self.right(by),
            Message::Sort => self.sort(),
            Message::Level => self.coarser(),
            Message::Expand => self.expand(),
            Message::Freeze => return self.freeze(),
            Message::Filter => self.typed = Some(String::new()),
            Message::Typed(letter) => self.typed.iter_mut().for_each(|it| it.push(letter)),
            Message::Erase => self.erase(),
            Message::Enter => self.enter(),
            Message::Escape => self.escape(),
            Message::Probe => return self.probe(),
            Message::Step => return if self.is_replay() { Effect::Step } else { Effect::None },
            Message::Faster(faster) => return self.speed(faster),
            Message::Restart => return self.restart(),
            Message::Quit => return Effect::Quit,
        }
        Effect::None
    }

    /// The columns on screen: known ones that the filter lets pass.
    pub(super) fn columns<'a>(&self, reading: &'a Reading) -> Vec<Shown<'a>> {
        let mut columns = shown_columns(reading, &self.expanded);
        columns.retain(|it| it.is_known() && self.filter.passes_column(it));
        columns
    }

    /// The place of the column under the cursor.
    pub(super) fn column_at(&self, columns: &[Shown]) -> usize {
        let Some((id, part)) = &self.column else { return 0 };
        let same_metric = columns.iter().position(|it| it.metric.id == *id);
        let same = columns.iter().position(|it| it.metric.id == *id && it.part == *part);
        same.or(same_metric).unwrap_or(0)
    }

    /// The rows on screen, in order.
    pub(super) fn rows(&self, reading: &Reading, columns: &[Shown]) -> Vec<Row> {
        let State { machine, level, order, filter, .. } = self;
        Choice { machine, level: *level, order: order.as_ref(), filter }.rows(reading, columns)
    }

    /// The place of the row under the cursor.
    pub(super) fn row_at(&self, rows: &[Row]) -> usize {
        rows.iter().position(|it| *it == self.row).unwrap_or(0)
    }

    /// How many intervals have passed since the one on screen.
    pub(super) fn n_behind(&self) -> usize {
        self.behind.as_ref().map_or(0, |it| it.n)
    }

    fn receive(&mut self, reading: Arc<Reading>) {
        self.history.push(&reading);
        see_parts(&mut self.expanded, &reading);
        match &mut self.behind {
            Some(behind) => *behind = Behind { n: behind.n + 1, latest: reading },
            None => self.reading = Some(reading),
        }
    }

    fn down(&mut self, by: isize) {
        if self.page != Page::Table {
            self.scrolled = self.scrolled.saturating_add_signed(by).min(self.last_line());
            return;
        }
        let Some(reading) = self.reading.clone() else { return };
        let rows = self.rows(&reading, &self.columns(&reading));
        let last = rows.len().saturating_sub(1);
        let at = self.row_at(&rows).saturating_add_signed(by).min(last);
        self.row = rows.get(at).copied().unwrap_or(Row::Host);
    }

    fn right(&mut self, by: isize) {
        let Some(reading) = self.reading.clone() else { return };
        let columns = self.columns(&reading);
        let last = columns.len().saturating_sub(1);
        let at = self.column_at(&columns).saturating_add_signed(by).min(last);
        self.column = columns.get(at).map(|it| (it.metric.id, it.part.clone()));
    }

    fn sort(&mut self) {
        let Some(reading) = self.reading.clone() else { return };
        let columns = self.columns(&reading);
        let Some(column) = columns.get(self.column_at(&columns)) else { return };
        self.order = Order::next(self.order.take(), (column.metric.id, column.part.clone()));
    }

    /// How fine rows can be here.
    pub(super) fn levels(&self) -> Vec<Level> {
        Level::of(&self.machine)
    }

    fn coarser(&mut self) {
        let levels = self.levels();
        if levels.len() > 1 {
            self.level = self.level.next(&levels);
        } else {
            let text = "no coarser rows: one package, and no two CPUs are known to share a core";
            self.notice = Some(text.to_owned());
        }
    }

    fn expand(&mut self) {
        let Some(reading) = self.reading.clone() else { return };
        let columns = self.columns(&reading);
        let Some(column) = columns.get(self.column_at(&columns)) else { return };
        let id = column.metric.id;
        if self.expanded.remove(id).is_some() {
            self.column = Some((id, Part::Whole));
        } else if column.has_parts() {
            self.expanded.insert(id, Vec::new());
            see_parts(&mut self.expanded, &reading);
        } else {
            self.notice = Some(format!("{id} has no parts to open"));
        }
    }

    fn freeze(&mut self) -> Effect {
        if self.is_replay() {
            return Effect::Pause;
        }
        match (self.behind.take(), &self.reading) {
            (Some(behind), _) => self.reading = Some(behind.latest),
            (None, Some(reading)) => {
                self.behind = Some(Behind { n: 0, latest: Arc::clone(reading) });
            }
            (None, None) => {}
        }
        Effect::None
    }

    fn enter(&mut self) {
        let Some(text) = self.typed.take() else { return self.expand() };
        self.filter = Filter::of(&text);
        let Some(reading) = self.reading.clone() else { return };
        if self.columns(&reading).is_empty() {
            self.filter = Filter::default();
            self.notice =
                Some(format!("{text:?} is neither a list of CPUs nor part of a column's name"));
        } else if self.filter.leaves_no_row(&reading) {
            self.filter = Filter::default();
            self.notice = Some(format!("none of the CPUs {text} is online"));
        }
    }

    fn erase(&mut self) {
        if let Some(typed) = &mut self.typed {
            typed.pop();
        }
    }

    fn escape(&mut self) {
        if self.typed.take().is_none() && self.page == Page::Table {
            self.filter = Filter::default();
        }
        self.page = Page::Table;
        self.scrolled = 0;
    }

    fn probe(&mut self) -> Effect {
        let Feed::Live { probing, .. } = &mut self.feed else { return Effect::None };
        *probing = match *probing {
            Probing::Busy => Probing::All,
            Probing::All => Probing::Off,
            Probing::Off | Probing::Needless => Probing::Busy,
        };
        Effect::Probe(*probing)
    }

    fn is_replay(&self) -> bool {
        matches!(self.feed, Feed::Replay { .. })
    }

    fn speed(&mut self, faster: bool) -> Effect {
        const SLOWEST: f64 = 0.125;
        const FASTEST: f64 = 1024.0;
        let Feed::Replay { speed, .. } = &mut self.feed else { return Effect::None };
        let wanted = if faster { *speed * 2.0 } else { *speed / 2.0 };
        *speed = wanted.clamp(SLOWEST, FASTEST);
        Effect::Speed(*speed)
    }

    fn restart(&mut self) -> Effect {
        if !self.is_replay() {
            return Effect::None;
        }
        self.history.clear();
        Effect::Restart
    }

    /// The lines that a table or a page has.
    fn n_lines(&self) -> isize {
        isize::try_from(table_lines(self.size)).unwrap_or(1).max(1)
    }

    /// What pages are about.
    pub(super) fn subject(&self) -> Subject<'_> {
        let metric = self.reading.as_ref().and_then(|reading| {
            let columns = self.columns(reading);
            columns.get(self.column_at(&columns)).map(|it| it.metric)
        });
        Subject {
            reading: self.reading.as_deref(),
            findings: self.findings.as_deref(),
            metric,
            levels: self.levels(),
        }
    }

    fn last_line(&self) -> usize {
        let columns = usize::from(self.size.0);
        let n_lines = pages::lines(self.page, &self.subject(), columns).len();
        n_lines.saturating_sub(page_lines(self.size))
    }
}
