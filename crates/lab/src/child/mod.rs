//! Programs that are run for the user, each in a process group that ends with this program.

mod group;
mod run;

pub(crate) use group::Group;
pub(crate) use run::Run;

/// The last lines of a text, no longer than an error message should be.
pub(crate) fn tail(text: &str) -> String {
    const LINES: usize = 5;
    const CHARACTERS: usize = 500;
    let lines: Vec<&str> = text.trim().lines().rev().take(LINES).collect();
    let text = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
    let n = text.chars().count();
    text.chars().skip(n.saturating_sub(CHARACTERS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_few() {
        assert_eq!(tail("1\n2\n3\n4\n5\n6\n"), "2\n3\n4\n5\n6");
        assert_eq!(tail(&"ä".repeat(2000)).chars().count(), 500);
    }
}
