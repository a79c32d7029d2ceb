//! `fullclock net client`: measures the wire to a server, one message size after the other.

mod link;

use crate::cli::{Arguments, ClientArguments};
use crate::interrupt::Interrupt;
use crate::output::{self, Progress, Style};
use crate::render;
use crate::render::net::{Ends, Figure, Point, Run};
use crate::secret;
use anyhow::{Context, Result, anyhow, bail};
use facts::{Bytes, CpuSet};
use lab::known::Known;
use lab::wire::protocol::{Amount, Clocks, Part, Report, Task, Test};
use lab::wire::{Broken, Crew, Found, Side, Trips, Work};
use link::Link;
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn run(arguments: &Arguments, options: &ClientArguments) -> Result<ExitCode> {
    if options.csv && arguments.output.json {
        bail!("--csv and --json are two forms of the same: give one of them");
    }
    let path = secret::path(options.token_file.as_deref(), super::TOKEN)?;
    let token = secret::read(&path)
        .context("the server made a token; copy its file here, and --token-file names the copy")?;
    let interrupt = Interrupt::listen()?;
    let mut link = Link::connect(&options.server, token)?;
    let task = Task {
        transport: options.transport.into(),
        test: options.test.into(),
        streams: options.streams,
    };
    let streams = link.prepare(task)?;
    let mut points = Vec::new();
    let client = Client { arguments, options, test: task.test, streams: &streams };
    let ended = client.measure_all(&mut link, &interrupt, &mut points);
    if points.is_empty() {
        ended?;
        bail!("interrupted before the first message size was over");
    }
    let clocks = clocks(&mut link, &points);
    let run = Run { server: link.at, task, points, clocks };
    let text = if arguments.output.json {
        render::net::run_json(&run)?
    } else if options.csv {
        render::net::run_csv(&run)
    } else {
        render::net::run_text(&run, Style::of_stdout(&arguments.output))
    };
    output::print(&text)?;
    ended?;
    Ok(ExitCode::SUCCESS)
}

/// What stays the same for all message sizes.
struct Client<'a> {
    arguments: &'a Arguments,
    options: &'a ClientArguments,
    test: Test,
    streams: &'a [TcpStream],
}

impl Client<'_> {
    /// Measures one size after the other, until the user wants to stop.
    fn measure_all(
        &self,
        link: &mut Link,
        interrupt: &Interrupt,
        points: &mut Vec<Point>,
    ) -> Result<()> {
        let sizes = &self.options.sizes.0;
        let each = self.options.iterations.is_none().then_some(self.options.duration);
        let n_sizes = u32::try_from(sizes.len()).unwrap_or(u32::MAX);
        let whole = each.map(|it| it.saturating_mul(n_sizes));
        let mut progress = Progress::new(&self.arguments.output, false, whole);
        for (number, &message) in (0..).zip(sizes) {
            progress.show(each.unwrap_or_default().saturating_mul(number));
            match self.point(link, interrupt, message) {
                Ok(Some(point)) => points.push(point),
                Ok(None) => break,
                Err(why) => {
                    let which = format!("messages of {message} were not measured");
                    return Err(why.context(which));
                }
            }
        }
        Ok(())
    }

    /// One message size; `None` where the user wants to stop.
    fn point(
        &self,
        link: &mut Link,
        interrupt: &Interrupt,
        message: Bytes,
    ) -> Result<Option<Point>> {
        let amount = match self.options.iterations {
            Some(count) => Amount::Iterations(count),
            None => Amount::Time(nanoseconds(self.options.duration)),
        };
        let part = Part { bytes: message.0, amount };
        if interrupt.wait(Duration::ZERO) {
            return Ok(None);
        }
        link.measure(part)?;
        let cpus = self.options.cpus.as_ref();
        let stop = interrupt.flag();
        let crew = Crew { side: Side::Client, streams: self.streams, cpus, stop };
        let outcome = match crew.measure(self.test, &part) {
            Ok(outcome) => outcome,
            Err(Broken::Stopped) => return Ok(None),
            // Where its own end did not fail, the server may have said why it closed the streams.
            Err(why) => {
                let words = matches!(why, Broken::Closed).then(|| link.last_words()).flatten();
                return Err(words.map_or(why.into(), |it| anyhow!("the server says: {it}")));
            }
        };
        let Report { moved, work: server } = link.report()?;
        let figure = match outcome.found {
            Found::Moved(moved) => Some(Figure::Moved(moved)),
            Found::Trips(halves_ns) => Trips::of(halves_ns).map(Figure::Trips),
            Found::Nothing => moved.map(Figure::Moved),
        };
        let figure = figure.context("the server did not tell what arrived")?;
        Ok(Some(Point { message, figure, work: Ends { client: outcome.work, server } }))
    }
}

/// What slows the CPUs of both ends. A server that was lost meanwhile cannot tell.
fn clocks(link: &mut Link, points: &[Point]) -> Ends<Clocks> {
    let cpus = |work: fn(&Point) -> &[Work]| -> CpuSet {
        points.iter().flat_map(work).map(|it| it.cpu).collect()
    };
    let server = link.judge(cpus(|it| &it.work.server).to_string());
    let lost = |why: anyhow::Error| Clocks {
        nominal_hz: Known::Missing { missing: format!("{why:#}") },
        slowing: Vec::new(),
    };
    let client = super::guard::clocks(&cpus(|it| &it.work.client));
    Ends { client, server: server.unwrap_or_else(lost) }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
