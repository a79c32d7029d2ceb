//! The screen: one thread draws, and is told by the others what has happened.

use super::feed::{self, News, Player};
use crate::cli::Arguments;
use crate::commands::watch::client::Listening;
use crate::commands::watch::{Live, WatchArguments};
use crate::output;
use crate::tui::{Colors, Effect, Feed, Message, Screen, State, Theme, message};
use anyhow::{Context, Result, anyhow};
use engine::interrupt::Interrupt;
use engine::measure::command::{Output, Workload, exit_code};
use engine::measure::hearing::Ear;
use engine::sampling::{Replay, Watched};
use ratatui::crossterm::event::{self, Event};
use rules::config::Config;
use rules::watch::Machine;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the drawing thread is told.
enum ScreenInput {
    /// By the terminal.
    Event(Event),
    /// By the thread that has the readings.
    News(News),
    /// That there will be no more keys.
    Failed(std::io::Error),
    /// That there will be no more news.
    Ended,
}

/// How late a signal or the end of a command may be noticed.
const LATE: Duration = Duration::from_millis(250);

/// Shows this machine until the user leaves.
pub(super) fn live(
    arguments: &Arguments,
    options: &WatchArguments,
    live: Live,
    config: Config,
) -> Result<ExitCode> {
    let Live { mut watched, listening, interrupt } = live;
    let ear = listening.as_ref().and_then(Listening::of_command);
    let (state, unseen) = match prepare(arguments, options, &mut watched, ear) {
        Ok(prepared) => prepared,
        Err(error) => {
            watched.finish()?;
            return Err(error);
        }
    };
    let (workload, mut printed) = unseen.unzip();
    let (tell, told) = mpsc::channel();
    let (effect, effects) = mpsc::channel();
    let (news, farewell) = (news_to(tell.clone()), Farewell(tell.clone()));
    let sampling = thread("samples", move || {
        let _farewell = farewell;
        feed::sample(watched, &effects, news)
    })?;
    let (stop_audits, audits_stop) = mpsc::channel();
    let news = news_to(tell.clone());
    // Nobody waits for its end: it only reads.
    thread("audits", move || {
        feed::audit(&audits_stop, &config, news);
        Ok(())
    })?;
    let session = Session { effect, interrupt, workload, announced: false };
    let (shown, mut workload) = session.run(state, tell, &told);
    drop(stop_audits);
    let sampled = sampling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    workload.iter_mut().for_each(Workload::hear_out);
    if let Some(file) = &mut printed {
        file.rewind()?;
        std::io::copy(file, &mut std::io::stdout())?;
        std::io::stdout().flush()?;
    }
    shown.and(sampled)?;
    let status = workload.as_mut().map(Workload::outcome).transpose()?;
    Ok(status.map_or(ExitCode::SUCCESS, exit_code))
}

/// A command behind the screen, and what it prints, which would go across it: that is kept, and printed when the screen
/// is left.
type Unseen = (Workload, File);

/// Everything that may fail before the screen is there.
fn prepare(
    arguments: &Arguments,
    options: &WatchArguments,
    watched: &mut Watched,
    ear: Option<&Ear>,
) -> Result<(State, Option<Unseen>)> {
    let feed = feed::of_machine(options.interval, watched.probing);
    let state = state(arguments, watched.machine(), feed)?;
    if options.command.is_empty() {
        return Ok((state, None));
    }
    let printed = tempfile::tempfile().context("cannot make a temporary file")?;
    let workload = Workload::start(&options.command, Output::Unseen(&printed), ear)?;
    watched.follow(workload.pid());
    Ok((state, Some((workload, printed))))
}

/// Shows a recording until the user leaves.
pub(super) fn replay(arguments: &Arguments, path: &Path, replay: Replay) -> Result<ExitCode> {
    let machine = replay.machine(path.display().to_string());
    let (tell, told) = mpsc::channel();
    let (effect, effects) = mpsc::channel();
    let (player, farewell) = (Player::new(replay, news_to(tell.clone())), Farewell(tell.clone()));
    let playing = thread("replay", move || {
        let _farewell = farewell;
        player.play(&effects);
        Ok(())
    })?;
    let interrupt = Interrupt::listen()?;
    let session = Session { effect, interrupt, workload: None, announced: false };
    let (shown, _) = session.run(state(arguments, machine, feed::OF_RECORDING)?, tell, &told);
    let played = playing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    shown.and(played)?;
    Ok(ExitCode::SUCCESS)
}

/// Tells the thread that draws when its owner has ended, be it by a panic: nothing would come any more.
struct Farewell(Sender<ScreenInput>);

impl Drop for Farewell {
    fn drop(&mut self) {
        // Nobody listens where the screen has been left first.
        self.0.send(ScreenInput::Ended).ok();
    }
}

/// Sends news to the thread that draws; false once it does not listen any more.
fn news_to(tell: Sender<ScreenInput>) -> impl FnMut(News) -> bool + Send {
    move |news| tell.send(ScreenInput::News(news)).is_ok()
}

fn state(arguments: &Arguments, machine: Machine, feed: Feed) -> Result<State> {
    let color = output::style(arguments.output.color).color;
    let colors = match (color, has_xterm_colors()) {
        (false, _) => Colors::None,
        (true, true) => Colors::Xterm,
        (true, false) => Colors::Ansi,
    };
    let theme = Theme { colors, unicode: output::speaks_utf8() };
    let size = ratatui::crossterm::terminal::size().context("the terminal has no size")?;
    Ok(State::new(machine, feed, theme, size))
}

/// Whether the terminal has at least the 256 colours of xterm, as far as the environment says.
fn has_xterm_colors() -> bool {
    let is_direct = output::variable("COLORTERM").is_some();
    is_direct || output::variable("TERM").is_some_and(|it| it.contains("256color"))
}

/// Starts a thread that waits for keys. It ends with the program.
fn listen(tell: Sender<ScreenInput>) -> Result<()> {
    thread("keys", move || {
        loop {
            let telling = match event::read() {
                Ok(event) => ScreenInput::Event(event),
                Err(error) => ScreenInput::Failed(error),
            };
            let is_last = matches!(telling, ScreenInput::Failed(_));
            if tell.send(telling).is_err() || is_last {
                return Ok(());
            }
        }
    })
    .map(drop)
}

fn thread(
    name: &str,
    work: impl FnOnce() -> Result<()> + Send + 'static,
) -> Result<JoinHandle<Result<()>>> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|error| anyhow!(host::process::thread_refusal(&error)))
}

/// A screen, and the command and threads that run while it is shown.
struct Session {
    effect: Sender<Effect>,
    interrupt: Interrupt,
    workload: Option<Workload>,
    /// Whether the end of the workload has been told.
    announced: bool,
}

impl Session {
    /// Shows the screen, and ends what runs behind it. The workload has ended, or could not be made to.
    fn run(
        mut self,
        state: State,
        tell: Sender<ScreenInput>,
        told: &Receiver<ScreenInput>,
    ) -> (Result<()>, Option<Workload>) {
        let shown = self.show(state, tell, told);
        let stopped = self.workload.as_mut().map_or(Ok(()), |it| it.stop(&self.interrupt));
        (shown.and(stopped), self.workload)
    }

    /// Draws whenever something has happened, until the end.
    fn show(
        &mut self,
        mut state: State,
        tell: Sender<ScreenInput>,
        told: &Receiver<ScreenInput>,
    ) -> Result<()> {
        let mut screen = Screen::open().context("cannot take the terminal over")?;
        listen(tell)?;
        screen.draw(&state).context("cannot draw")?;
        while !self.interrupt.wait(Duration::ZERO) {
            let first = match told.recv_timeout(LATE) {
                Ok(telling) => Some(telling),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let has_news = first.is_some();
            // Waiting messages are drawn once: repeated keys, readings queued by a slow terminal.
            for telling in first.into_iter().chain(told.try_iter()) {
                match Session::take(&mut state, telling)? {
                    Effect::None => {}
                    Effect::Quit => return Ok(()),
                    effect => self.effect.send(effect).context("the samples have ended")?,
                }
            }
            if self.tells_end(&mut state)? || has_news {
                screen.draw(&state).context("cannot draw")?;
            }
        }
        Ok(())
    }

    fn take(state: &mut State, telling: ScreenInput) -> Result<Effect> {
        let message = match telling {
            ScreenInput::Failed(error) => {
                return Err(error).context("cannot read from the terminal");
            }
            ScreenInput::News(News::Reading(reading)) => Some(Message::Reading(reading)),
            ScreenInput::News(News::Audited(findings)) => Some(Message::Audited(findings)),
            ScreenInput::News(News::Feed(feed)) => Some(Message::Feed(feed)),
            ScreenInput::News(News::Notice(text)) => Some(Message::Notice(text)),
            ScreenInput::Event(event) => message(&event, state.is_typing()),
            ScreenInput::Ended => Some(Message::Quit),
        };
        Ok(message.map_or(Effect::None, |it| state.update(it)))
    }

    /// Says once that the command has ended. The screen stays, for whoever wants to look.
    fn tells_end(&mut self, state: &mut State) -> Result<bool> {
        let Some(workload) = self.workload.as_ref().filter(|_| !self.announced) else {
            return Ok(false);
        };
        self.announced = workload.has_ended()?;
        if self.announced {
            state.update(Message::Notice(format!("{} has ended; q leaves", workload.name())));
        }
        Ok(self.announced)
    }
}
