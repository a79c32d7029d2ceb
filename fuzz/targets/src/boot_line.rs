//! The kernel's boot line: every parameter that it lists can be asked for by its name.

use facts::system::boot_line::BootLine;
use facts::system::isolation;

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    let line = BootLine::new(text);
    for (name, value) in line.parameters() {
        assert!(line.has(name), "{name:?}");
        if let Some(value) = value {
            assert!(line.values(name).any(|it| it == value), "{name:?}");
        }
    }
    let _ = isolation::asked(&line, 1023);
}
