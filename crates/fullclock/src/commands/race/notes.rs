//! Lines that the user types while nodes race.

use crate::output;
use crate::output::OutputArguments;
use std::io::{BufRead, IsTerminal, stdin};
use std::sync::mpsc::{self, Receiver};
use std::thread::Builder;

/// What has been typed, where there is somebody to type.
#[derive(Default)]
pub(super) struct Notes {
    lines: Option<Receiver<String>>,
}

impl Notes {
    /// Listens to the terminal, on a thread that nobody waits for.
    pub(super) fn listen(arguments: &OutputArguments) -> Notes {
        if !stdin().is_terminal() {
            return Notes { lines: None };
        }
        let (sender, lines) = mpsc::channel();
        let listen = move || {
            let typed = stdin().lock().lines().map_while(Result::ok);
            let written = typed.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
            written.map_while(|it| sender.send(it).ok()).for_each(drop);
        };
        // Without a thread there are no notes, and a race all the same.
        let listening = Builder::new().name("notes".to_owned()).spawn(listen).is_ok();
        if listening {
            output::note(arguments, "type a note and Enter to mark a moment; Ctrl-C ends the race");
        }
        Notes { lines: Some(lines) }
    }

    /// What has been typed since.
    pub(super) fn written(&self) -> impl Iterator<Item = String> + '_ {
        self.lines.iter().flat_map(Receiver::try_iter)
    }
}
