//! A node by a fake agent that loses its connection, sends a wrong piece, and begins anew.

use super::*;
use lab::failure::Failure;
use lab::known::Known;
use lab::record::Fingerprint;
use lab::workload::Settings;
use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

/// One connection to an agent, by what the race orders and what the agent says.
struct Agent {
    from: BufReader<TcpStream>,
    to: TcpStream,
}

impl Agent {
    fn accept(listener: &TcpListener) -> Agent {
        let to = listener.accept().unwrap().0;
        let mut from = BufReader::new(to.try_clone().unwrap());
        let greeting = PROTOCOL.receive_greeting(&mut from).unwrap().unwrap();
        assert_eq!(greeting, Ok(PROTOCOL.hello("secret")));
        let mut agent = Agent { from, to };
        send(&mut agent.to, &PROTOCOL.welcome()).unwrap();
        agent
    }

    /// The next order that is no question for the time.
    fn order(&mut self) -> Order {
        loop {
            match PROTOCOL.receive(&mut self.from).unwrap().unwrap() {
                Order::Time => self.say(&News::Time { ns: 7 }),
                order => return order,
            }
        }
    }

    fn say(&mut self, news: &News) {
        send(&mut self.to, news).unwrap();
    }

    /// Gets ready for the order that comes first, and begins.
    fn begin(&mut self, first: &Order) {
        assert_eq!(&self.order(), first);
        self.say(&News::Ready(ready()));
        assert!(matches!(self.order(), Order::Begin { .. }));
    }

    fn interval(&mut self, number: u32) {
        let trial = Trial::failed(0, 0, Known::Value(0), &Failure::Stopped);
        self.say(&News::Interval(Box::new(Trial { number, ..trial })));
    }

    /// Two bytes of a recording.
    fn recorded(&mut self, at: u64) {
        self.say(&News::Recorded { at, bytes: BASE64_STANDARD.encode("ab") });
    }
}

fn ready() -> Ready {
    let machine = Fingerprint::default();
    Ready { machine, host: "boot".to_owned(), in_memory: None, about: Vec::new(), cpus: None }
}

fn task() -> Task {
    let interval = Duration::from_secs(1);
    Task { race: "r".to_owned(), settings: Settings::default(), interval, is_recorded: true }
}

fn link(listener: &TcpListener) -> Link {
    let place = Place::Agent(listener.local_addr().unwrap().to_string());
    let node = Node { name: "b".to_owned(), place, settings: Settings::default(), quota: None };
    Link::new(node, task(), "secret", Turn::default())
}

fn resume(after: u32, recorded: u64) -> Order {
    Order::Resume { race: "r".to_owned(), after, recorded }
}

#[test]
fn a_node_goes_on_where_it_was_and_one_that_began_anew_is_counted_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let link = link(&listener);
    let prepare = Order::Prepare(Box::new(task()));
    let agent = move || {
        let mut agent = Agent::accept(&listener);
        agent.begin(&prepare);
        (1..=2).for_each(|it| agent.interval(it));
        agent.recorded(0);
        drop(agent);
        let mut agent = Agent::accept(&listener);
        agent.begin(&resume(2, 2));
        agent.interval(3);
        // Not the next piece.
        agent.recorded(1);
        // Another one, which knows no such race.
        let mut agent = Agent::accept(&listener);
        assert_eq!(agent.order(), resume(3, 2));
        agent.say(&News::Refused { why: "unknown".to_owned() });
        agent.begin(&prepare);
        agent.recorded(0);
        agent.interval(1);
        assert_eq!(agent.order(), Order::Kept { up_to: 1 });
        assert_eq!(agent.order(), Order::End);
        agent.say(&News::Ended);
    };
    let (mut intervals, mut n_tapes, mut notes) = (Vec::new(), 0, Vec::new());
    std::thread::scope(|scope| {
        let agent = scope.spawn(agent);
        let (sender, events) = mpsc::channel();
        let own = &link;
        scope.spawn(move || own.follow(&|event| sender.send(event).is_ok()));
        for event in events {
            match event {
                NodeEvent::Ready(_) => link.begin(1),
                NodeEvent::Recorded(piece) => n_tapes += u32::from(piece.is_first),
                NodeEvent::Note(text) => notes.push(text),
                NodeEvent::Ended(ended) => ended.unwrap(),
                NodeEvent::Interval(trial) => {
                    if trial.number == 4 {
                        link.keep(4);
                        link.end();
                    }
                    intervals.push((trial.number, trial.marks.contains(&Mark::Restarted)));
                }
            }
        }
        agent.join().unwrap();
    });
    assert_eq!(intervals, [(1, false), (2, false), (3, false), (4, true)]);
    assert_eq!(n_tapes, 2);
    let again = "connected again";
    let lost = "the agent is gone; trying again for 60 s";
    let hole = "the agent's recording does not go on at byte 2; trying again for 60 s";
    assert_eq!(notes, [lost, again, hole, again]);
}

#[test]
fn a_node_that_is_lost_before_the_race_or_behind_its_end_is_not_tried_again() {
    for is_over in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let link = link(&listener);
        if is_over {
            link.end();
        }
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut agent = Agent::accept(&listener);
                agent.order();
                agent.say(&News::Ready(ready()));
                if is_over {
                    assert_eq!(agent.order(), Order::End);
                }
            });
            let (sender, events) = mpsc::channel();
            link.follow(&|event| sender.send(event).is_ok());
            let last = events.try_iter().last();
            let Some(NodeEvent::Ended(ended)) = last else { panic!("no end") };
            ended.unwrap_err().to_string()
        });
        assert_eq!(ended, "the agent is gone");
    }
}
