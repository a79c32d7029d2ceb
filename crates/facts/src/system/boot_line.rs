//! The kernel's boot line.
//!
//! Source: Documentation/admin-guide/kernel-parameters.rst: dashes and underscores are the same in a
//! parameter's name, double quotes protect spaces in values, and everything after `--` is init's.

/// The boot line, as /proc/cmdline shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootLine(String);

impl BootLine {
    /// Takes the text of /proc/cmdline.
    pub fn new(text: &str) -> BootLine {
        BootLine(crate::parse::trimmed(text).to_owned())
    }

    /// The whole line.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether the parameter is there, with or without a value.
    pub fn has(&self, name: &str) -> bool {
        self.parameters().any(|(key, _)| same(key, name))
    }

    /// The value of the last occurrence, which for most parameters is the one that counts.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values(name).last()
    }

    /// Every value given for the parameter, in order.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.parameters().filter(move |(key, _)| same(key, name)).filter_map(|(_, value)| value)
    }

    /// The parameters for the kernel, split at the first `=`. Quotes may stand around a value, or around name and
    /// value (lib/cmdline.c, `next_arg`).
    pub fn parameters(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let mut quoted = false;
        self.0
            .split(move |c: char| {
                quoted ^= c == '"';
                c.is_whitespace() && !quoted
            })
            .filter(|word| !word.is_empty())
            .take_while(|&word| word != "--")
            .map(|word| match word.split_once('=') {
                Some((key, value)) => (key.trim_matches('"'), Some(value.trim_matches('"'))),
                None => (word.trim_matches('"'), None),
            })
    }
}

fn same(key: &str, name: &str) -> bool {
    let plain = |c| if c == '-' { '_' } else { c };
    key.chars().map(plain).eq(name.chars().map(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ignore_dashes_and_the_last_value_wins() {
        let line = BootLine::new("quiet intel-idle.max_cstate=1 nohz_full=1 nohz_full=2-3\n");
        assert_eq!(line.value("intel_idle.max_cstate"), Some("1"));
        assert_eq!(line.value("nohz_full"), Some("2-3"));
        assert!(line.has("quiet") && !line.has("qui"));
    }

    #[test]
    fn quotes_protect_spaces_and_init_keeps_its_own() {
        let line = BootLine::new("dyndbg=\"file a.c +p\" nohz_full=1 -- idle=poll");
        assert_eq!(line.value("dyndbg"), Some("file a.c +p"));
        assert!(line.has("nohz_full") && !line.has("idle"));
    }

    #[test]
    fn quotes_around_a_whole_parameter_are_no_part_of_it() {
        let line = BootLine::new("\"isolcpus=1 2\" \"quiet\"");
        let parameters: Vec<_> = line.parameters().collect();
        assert_eq!(parameters, [("isolcpus", Some("1 2")), ("quiet", None)]);
    }
}
