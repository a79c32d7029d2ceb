//! What a guest sent home: the output of every step, and the kernel's log.
//!
//! The format is written by `guest/run`, where it is described.

use anyhow::{Context as _, Result, bail, ensure};

/// What an error says of a guest that went off before it had sent everything.
pub(crate) const BREAKS_OFF: &str = "the transcript breaks off";

/// Everything one boot printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    steps: Vec<(String, StepOutput)>,
    /// The kernel's log, read after the last step.
    pub kernel_log: String,
}

/// What one step printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepOutput {
    /// Exit status of the step's shell.
    pub status: i32,
    /// Its standard output, byte for byte unless it is not UTF-8.
    pub stdout: String,
    /// Its standard error, likewise.
    pub stderr: String,
}

impl Transcript {
    /// The output of the step called `name`.
    pub fn step(&self, name: &str) -> Result<&StepOutput> {
        let step = self.steps.iter().find(|(known, _)| known == name);
        step.map(|(_, output)| output).with_context(|| format!("no step is called '{name}'"))
    }

    /// Reads what a guest that ran the steps `names` has sent.
    pub(crate) fn parse(sent: &[u8], names: &[&str]) -> Result<Self> {
        let mut rest = sent;
        let modules = record(&mut rest).context("in the insertion of the modules")?;
        ensure!(modules.status == 0, "a module does not go in: {}", modules.stderr.trim());
        let steps = names
            .iter()
            .map(|&name| {
                let output = record(&mut rest).with_context(|| format!("in step '{name}'"))?;
                Ok((name.to_owned(), output))
            })
            .collect::<Result<_>>()?;
        let kernel_log = record(&mut rest).context("in the kernel's log")?.stdout;
        ensure!(rest == b"end\n", "the guest did not end its transcript");
        Ok(Self { steps, kernel_log })
    }
}

/// Takes the next record off the front of `rest`.
fn record(rest: &mut &[u8]) -> Result<StepOutput> {
    let end = rest.iter().position(|&byte| byte == b'\n').context(BREAKS_OFF)?;
    let header = String::from_utf8_lossy(&rest[..end]).into_owned();
    *rest = &rest[end + 1..];
    let fields: Vec<&str> = header.split(' ').collect();
    let ["step", status, n_stdout, n_stderr] = fields[..] else {
        bail!("expected 'step STATUS BYTES BYTES', found '{header}'");
    };
    let number = |text: &str| text.parse::<usize>().with_context(|| format!("in '{header}'"));
    Ok(StepOutput {
        status: status.parse().with_context(|| format!("in '{header}'"))?,
        stdout: text(rest, number(n_stdout)?)?,
        stderr: text(rest, number(n_stderr)?)?,
    })
}

/// Takes `n_bytes` off the front of `rest`.
fn text(rest: &mut &[u8], n_bytes: usize) -> Result<String> {
    let (taken, left) = rest
        .split_at_checked(n_bytes)
        .with_context(|| format!("{BREAKS_OFF}: {} of {n_bytes} bytes", rest.len()))?;
    *rest = left;
    Ok(String::from_utf8_lossy(taken).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_looks_like_a_record_stays_output() {
        let sent = b"step 0 0 0\nstep 3 11 4\nstep 0 0 0\noopsstep 0 3 0\nlogend\n";
        let transcript = Transcript::parse(sent, &["one"]).unwrap();
        let one = transcript.step("one").unwrap();
        assert_eq!((one.status, &*one.stdout, &*one.stderr), (3, "step 0 0 0\n", "oops"));
        assert_eq!(transcript.kernel_log, "log");
    }

    #[test]
    fn a_guest_that_died_in_a_step_is_an_error_naming_it() {
        let error = Transcript::parse(b"step 0 0 0\nstep 0 9 0\nhal", &["one"]).unwrap_err();
        assert_eq!(format!("{error:#}"), "in step 'one': the transcript breaks off: 3 of 9 bytes");
    }

    #[test]
    fn a_module_that_fails_is_an_error() {
        let sent = b"step 1 0 12\nno such file";
        let error = Transcript::parse(sent, &[]).unwrap_err();
        assert_eq!(error.to_string(), "a module does not go in: no such file");
    }
}
