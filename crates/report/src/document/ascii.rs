//! Text for terminals whose locale has no UTF-8: what would arrive as three wrong characters is one that resembles it.

/// `text` with the characters that documents use beyond ASCII replaced. Names that somebody else gave stay as they are.
pub(super) fn ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for letter in text.chars() {
        match replacement(letter) {
            Some(instead) => ascii.push_str(instead),
            None => ascii.push(letter),
        }
    }
    ascii
}

fn replacement(letter: char) -> Option<&'static str> {
    Some(match letter {
        // Block elements: from the lower edge, from the left edge, shades.
        '▁' | '▂' => "_",
        '▃' | '▄' | '▅' => "=",
        '▆' | '▇' | '█' | '▉' | '▊' | '▋' => "#",
        '▌' | '▍' | '▎' | '▏' => "|",
        '░' => ".",
        '▒' | '▓' => ":",
        '─' => "-",
        '│' => "|",
        '…' => "...",
        '→' => "->",
        '±' => "+-",
        'µ' => "u",
        '\u{a0}' => " ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_signs_of_ascii_as_long_as_before() {
        assert_eq!(ascii("idle  ████▌ 42.3 %"), "idle  ####| 42.3 %");
        assert!(ascii("▁▂▃▄▅▆▇█▉▊▋▌▍▎▏░▒▓─│…→±µ\u{a0}").is_ascii());
    }

    #[test]
    fn the_name_of_a_task_stays_as_it_is() {
        assert_eq!(ascii("größe 温度"), "größe 温度");
    }
}
