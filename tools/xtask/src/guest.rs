//! `cargo xtask guest`: a shell script in one of the test bench's machines, with the release builds of
//! fullclock and of the thief at hand, and any other program of this machine to compare with.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use testbench::machines::{MACHINES, Machine};
use testbench::{Bench, Step};

use crate::cargo::{binaries, build_binaries};

/// Boots the machine that the arguments name, runs their script in it, prints what it printed and
/// exits as it did.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let Some((machine, others, script)) = parse(arguments) else {
        bail!("{}", usage());
    };
    build_binaries()?;
    let programs: Vec<PathBuf> = binaries().into_iter().chain(others).collect();
    let bench = Bench::new(&programs.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let transcript = bench.run(&(machine.boot)(), &[Step::new("script", &script)])?;
    let output = transcript.step("script")?;
    print!("{}", output.stdout);
    eprint!("{}", output.stderr);
    Ok(u8::try_from(output.status).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// `--boot MACHINE [--with PROGRAM]... -- SCRIPT`, the script in one word or several.
fn parse(arguments: &[String]) -> Option<(&'static Machine, Vec<PathBuf>, String)> {
    let [option, name, rest @ ..] = arguments else {
        return None;
    };
    let separator = rest.iter().position(|word| word == "--")?;
    let (options, script) = (rest.get(..separator)?, rest.get(separator + 1..)?);
    if option != "--boot" || script.is_empty() {
        return None;
    }
    let with = |pair: &[String]| match pair {
        [option, program] if option == "--with" => Some(PathBuf::from(program)),
        _ => None,
    };
    let others = options.chunks(2).map(with).collect::<Option<Vec<_>>>()?;
    let machine = MACHINES.iter().find(|machine| machine.name == name)?;
    Some((machine, others, script.join(" ")))
}

fn usage() -> String {
    let machines: String = MACHINES
        .iter()
        .map(|machine| format!("\n  {:<15}{}", machine.name, machine.about))
        .collect();
    format!(
        "expected: cargo xtask guest --boot MACHINE [--with PROGRAM]... -- SCRIPT\n\n\
         A script can call the functions of tools/testbench/guest/faults.sh. \
         Machines:{machines}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn script_of_several_words_is_one_script() {
        let (machine, others, script) =
            parse(&words("--boot sound --with /bin/a --with /bin/b -- fullclock audit")).unwrap();
        assert_eq!(others, ["/bin/a", "/bin/b"].map(PathBuf::from));
        assert_eq!((machine.name, &*script), ("sound", "fullclock audit"));
    }

    #[test]
    fn machine_nobody_knows_is_refused() {
        assert!(parse(&words("--boot nonesuch -- true")).is_none());
    }
}
