//! The terminal that `fullclock watch` gives back: a pseudo-terminal by script(1) of util-linux.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Takes the alternate screen, and leaves it (xterm's private mode 1049).
const TAKEN: &str = "\u{1b}[?1049h";
const LEFT: &str = "\u{1b}[?1049l";
const CURSOR_SHOWN: &str = "\u{1b}[?25h";

/// The binary on a pseudo-terminal, behind a shell that says what state the terminal is in afterwards.
struct Terminal(Child);

impl Terminal {
    /// Nothing where there is no script(1).
    fn open(arguments: &str) -> Option<Terminal> {
        let binary = env!("CARGO_BIN_EXE_fullclock");
        let command =
            format!("stty rows 24 cols 80; {binary} watch {arguments}; echo code $?; stty -a");
        let child = Command::new("script")
            .args(["-q", "-f", "-c", &command, "/dev/null"])
            .env("TERM", "xterm")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        match child {
            Ok(child) => Some(Terminal(child)),
            Err(error) => {
                println!("skipped: script(1) of util-linux cannot be run: {error}");
                None
            }
        }
    }

    /// What it has printed until `text` was among it.
    fn until(&mut self, text: &str) -> String {
        let mut shown = Vec::new();
        let mut bytes = [0; 4096];
        let started = Instant::now();
        let output = self.0.stdout.as_mut().unwrap();
        while !String::from_utf8_lossy(&shown).contains(text) {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "{}",
                String::from_utf8_lossy(&shown)
            );
            match output.read(&mut bytes).unwrap() {
                0 => break,
                n => shown.extend_from_slice(&bytes[..n]),
            }
        }
        String::from_utf8_lossy(&shown).into_owned()
    }

    fn press(&mut self, keys: &str) {
        self.0.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Everything after the screen was taken, until the shell has told the terminal's state.
    fn rest(mut self) -> String {
        let rest = self.until("echoctl");
        self.0.kill().ok();
        self.0.wait().unwrap();
        rest
    }
}

/// The screen is left, the cursor shown, and the terminal's line discipline as it was.
fn assert_given_back(rest: &str, code: u8) {
    assert!(rest.contains(LEFT) && rest.contains(CURSOR_SHOWN), "{rest:?}");
    assert!(rest.contains(&format!("code {code}")), "{rest:?}");
    for mode in ["icanon", "echo", "isig", "opost"] {
        let on = |word: &str| word == mode;
        assert!(rest.split([' ', ';', '\r', '\n']).any(on), "{mode} is off: {rest:?}");
    }
}

#[test]
fn q_gives_the_terminal_back() {
    let Some(mut terminal) = Terminal::open("-i 100ms") else { return };
    let screen = terminal.until("Busy%");
    assert!(screen.contains(TAKEN), "{screen:?}");
    terminal.press("q");
    assert_given_back(&terminal.rest(), 0);
}

#[test]
fn ctrl_c_gives_the_terminal_back() {
    let Some(mut terminal) = Terminal::open("-i 100ms") else { return };
    terminal.until("Busy%");
    terminal.press("\u{3}");
    assert_given_back(&terminal.rest(), 0);
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().join("shown");
    // The command's parent is the watch.
    let command = format!(
        "sh -c 'until test -e {}; do sleep 0.1; done; kill -TERM $PPID; sleep 60'",
        shown.display()
    );
    let Some(mut terminal) = Terminal::open(&format!("-i 100ms -- {command}")) else { return };
    terminal.until("Busy%");
    std::fs::write(shown, "").unwrap();
    let rest = terminal.rest();
    assert!(
        rest.contains(LEFT) && rest.contains(CURSOR_SHOWN) && rest.contains(" icanon"),
        "{rest:?}"
    );
}

#[test]
fn what_a_command_prints_is_shown_when_the_screen_is_left() {
    let Some(mut terminal) = Terminal::open("-i 100ms -- sh -c 'echo from the command; exit 3'")
    else {
        return;
    };
    let screen = terminal.until("has ended");
    assert!(!screen.contains("from the command"), "{screen:?}");
    terminal.press("q");
    let rest = terminal.rest();
    let (_, behind) = rest.split_once(LEFT).unwrap();
    assert!(behind.contains("from the command"), "{rest:?}");
    assert_given_back(&rest, 3);
}
