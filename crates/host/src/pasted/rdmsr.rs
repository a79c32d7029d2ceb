//! `rdmsr` of msr-tools with its command line, and lines that name a register and its value.
//!
//! Source: intel/msr-tools, rdmsr.c: hexadecimal without `0x` unless `-c`, `-d` or `-u` are given; `-a` prints a line for each CPU.

use super::Facts;
use facts::msr::{amd, intel};

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let mut first = None;
    let mut asked: Option<Asked> = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(next) = Asked::parse(line) {
            asked = Some(next);
        } else if let Some((register, value)) = assigned(line) {
            first = first.or(tell(facts, 0, register, value).then_some(at));
        } else if line.is_empty() {
            // Some leave a line between a command and its output.
        } else if let Some(command) = &mut asked {
            match command.value(line) {
                Some((cpu, value)) => {
                    first = first.or(tell(facts, cpu, command.register, value).then_some(at));
                    if !command.is_for_all {
                        asked = None;
                    }
                }
                None => asked = None,
            }
        }
    }
    first
}

/// Notes a value; whether the register is one that checks read.
fn tell(facts: &mut Facts, cpu: u32, register: u32, value: u64) -> bool {
    let is_of =
        |registers: &[&facts::msr::Register]| registers.iter().any(|it| it.address == register);
    let is_read =
        if register < 0xc000_0000 { is_of(intel::REGISTERS) } else { is_of(amd::REGISTERS) };
    is_read && facts.register(cpu, register, value)
}

/// A command line whose output follows.
struct Asked {
    register: u32,
    radix: u32,
    is_for_all: bool,
    /// The CPU of the next line.
    next: u32,
}

impl Asked {
    /// `rdmsr -a 0x1b1`, with or without a prompt.
    fn parse(line: &str) -> Option<Asked> {
        let command = facts::pasted::command(line).unwrap_or(line);
        let command = command.strip_prefix("sudo ").unwrap_or(command);
        let mut words = command.strip_prefix("rdmsr ")?.split_whitespace();
        let mut asked = Asked { register: 0, radix: 16, is_for_all: false, next: 0 };
        let mut register = None;
        while let Some(word) = words.next() {
            match word {
                "-a" | "--all" => asked.is_for_all = true,
                "-p" | "--processor" => asked.next = words.next()?.parse().ok()?,
                "-d" | "-u" | "--decimal" | "--unsigned" => asked.radix = 10,
                "-c" | "-x" | "-X" | "-0" | "--hexadecimal" | "--capital-hex" | "--zero-pad"
                | "--c-language" => {}
                // Part of a register, and other bases.
                it if it.starts_with('-') => {
                    asked.next = it.strip_prefix("-p").and_then(|it| it.parse().ok())?;
                }
                it => register = Some(it),
            }
        }
        asked.register = hexadecimal(register?)?;
        Some(asked)
    }

    /// The value in the next line of the output, and its CPU.
    fn value(&mut self, line: &str) -> Option<(u32, u64)> {
        let digits = line.strip_prefix("0x").unwrap_or(line);
        let has_sign = digits.starts_with(['+', '-']);
        let value = u64::from_str_radix(digits, self.radix).ok().filter(|_| !has_sign)?;
        let cpu = self.next;
        self.next = cpu.saturating_add(1);
        Some((cpu, value))
    }
}

/// `0x1b1: 0x88340000`, `MSR 0x1b1 = 88340000`.
fn assigned(line: &str) -> Option<(u32, u64)> {
    let line = line.strip_prefix("MSR ").unwrap_or(line);
    let (register, value) = line.split_once([':', '='])?;
    let register = register.trim();
    let value = value.trim();
    let digits = value.strip_prefix("0x").unwrap_or(value);
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_hexdigit());
    let register = register.starts_with("0x").then(|| hexadecimal(register))??;
    Some((register, u64::from_str_radix(digits, 16).ok().filter(|_| is_number)?))
}

/// The number of a register as rdmsr takes it: hexadecimal with `0x`, else decimal.
fn hexadecimal(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
