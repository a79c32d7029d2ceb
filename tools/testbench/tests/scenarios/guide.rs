//! README and guide, word by word, where their commands need P-states and a management controller.

use crate::boots::{GUIDE, SOUND};

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn guide_works_as_it_is_written() {
    let output = SOUND.step(GUIDE).unwrap_or_else(|error| panic!("{error:#}"));
    let said = output.stdout.lines();
    let ends: Vec<&str> = said.filter(|it| it.starts_with("ended with ")).collect();
    assert!(ends.len() > 5, "{}", output.stdout);
    assert!(ends.iter().all(|it| *it == "ended with 0"), "{}", output.stdout);
}
