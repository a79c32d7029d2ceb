//! Nodes that commit at the same time, and why one of them is slower.
//!
//! [`run`] connects to every node, lets all of them begin at one moment, and gathers their intervals in a record; with legs, again and
//! again.
//!
//! ```text
//!   run -> Leg      connects, begins, hears, ends: nodes that are started for it     leg
//!           |   Link: a thread for each node's connection                            link, connection, turns
//!           v
//!          Kept     trials, marks and recordings of all legs                          kept, noticed
//! ```

mod connection;
mod kept;
mod leg;
mod link;
pub mod nodes;
mod noticed;
mod plan;
mod turns;

pub use plan::{Event, Plan, Tell};

use crate::interrupt::Interrupt;
use anyhow::Result;
use facts::HostView;
use host::{Live, Recording};
use kept::Kept;
use lab::record::{Arm, Fingerprint, Legs, Record};
use lab::store::Journal;
use lab::workload::Settings;
use leg::Leg;
use link::Standing;
use nodes::{Node, exchanged_cpus};
use plan::{COMMIT, Race};
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// The result of a race.
pub struct Raced {
    /// The intervals of all nodes, with doubts about them.
    pub record: Record,
    /// Where it is kept.
    pub journal: Option<Journal>,
    /// The error that ended it early.
    pub ended: Result<()>,
}

/// Runs a race to its end, or until the user wants to stop: legs that ended until then are whole. Each line from `notes` marks
/// the next interval.
///
/// Errors: a node could not begin; the user stopped it before.
pub fn run(
    plan: &Plan,
    notes: &Receiver<String>,
    interrupt: &Interrupt,
    tell: Tell<'_>,
) -> Result<Raced> {
    let mut race = Race { plan, notes, interrupt, tell };
    let live = Live::this_machine();
    let recording = Recording::new(&live);
    let (mut leg, ready) = Leg::ready(&mut race, 0)?;
    let host = host::view(&recording);
    if plan.folder.is_some() {
        crate::advised::ask(&recording, &host);
    }
    let mut kept = match Kept::begin(plan, record(plan, ready, &host), &recording, &host) {
        Ok(kept) => kept,
        Err(failure) => {
            // Errors of nodes as they end are not why there is no race.
            leg.end(&mut race, None).ok();
            return Err(failure);
        }
    };
    let mut ended = leg.race(&mut race, &mut kept);
    for number in 1..plan.legs {
        if !matches!(ended, Ok(true)) {
            break;
        }
        ended = match Leg::ready(&mut race, number) {
            Ok((mut leg, ready)) => {
                kept.begin_leg(&ready);
                leg.race(&mut race, &mut kept)
            }
            // Legs that have ended are a result.
            Err(_) if interrupt.wait(Duration::ZERO) => Ok(false),
            Err(why) => Err(why),
        };
    }
    let (record, journal, [read, recorded]) = kept.finish(matches!(ended, Ok(true)));
    let told = recorded.or_else(|why| (race.tell)(Event::NotAllRecorded(&why)));
    Ok(Raced { record, journal, ended: ended.map(drop).and(read).and(told) })
}

/// A result without intervals.
fn record(plan: &Plan, ready: Vec<Standing>, host: &HostView) -> Record {
    let machine = Fingerprint::of(host);
    let is_exchanged = plan.legs > 1 && exchanged_cpus(&plan.nodes).is_some();
    let exchanged = || ("CPUs".to_owned(), "exchanged in every other leg".to_owned());
    let arm = |(node, it): (&Node, Standing)| Arm {
        settings: Settings::without_secrets(&node.settings),
        cpus: it.engine.cpus,
        machine: Some(it.engine.machine).filter(|it| *it != machine),
        host: Some(it.engine.host),
        about: [("place".to_owned(), node.place.to_string())]
            .into_iter()
            .chain(node.quota.map(|it| ("CPU quota".to_owned(), format!("{it} CPUs"))))
            .chain((is_exchanged && node.is_here()).then(exchanged))
            .chain(it.engine.about)
            .collect(),
        ..Arm::of(&node.name, COMMIT)
    };
    let arms = plan.nodes.iter().zip(ready).map(arm).collect();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let (id, began) = (plan.id.clone(), plan.began.clone());
    let legs = (plan.legs > 1).then_some(Legs { planned: plan.legs, ended: 0 });
    let held = Some(lab::held::of(host));
    Record { id, version, began, legs, held, machine: machine.clone(), ..Record::of(arms) }
}
