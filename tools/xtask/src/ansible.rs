//! The Ansible role, as Ansible runs it: against this machine, which is only read, and a captured host.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};

use crate::cargo::{self, cargo, program, target, workspace};
use crate::venv;

/// Another version may read the role in another way.
const ANSIBLE: &str = "ansible-core==2.19.14";

const PLAYBOOK: &str = "contrib/ansible/test.yml";

/// A host with findings that settings fix.
const CAPTURE: &str = "crates/fullclock/tests/fixtures/two-governors.host";

/// `cargo xtask ansible`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask ansible' takes no arguments");
    cargo::run(cargo(&["build", "--package", "fullclock"]))?;
    follow_role()?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the role, and runs it in check mode and for real; the program was built.
pub(crate) fn follow_role() -> Result<()> {
    let ansible = venv::program(ANSIBLE, "ansible-playbook")?;
    let folder = tempfile::tempdir().context("cannot make a folder for Ansible")?;
    let playbook = |options: &[&str]| -> Command {
        let mut command = program(&ansible, options);
        let variable = |name: &str, path: std::path::PathBuf| format!("{name}={}", path.display());
        command
            .args(["-e", &variable("program", target().join("debug/fullclock"))])
            .args(["-e", &variable("capture", workspace().join(CAPTURE))])
            .arg(PLAYBOOK)
            .env("ANSIBLE_ROLES_PATH", workspace().join("contrib/ansible"))
            .env("ANSIBLE_HOME", folder.path())
            .env("ANSIBLE_LOCALHOST_WARNING", "false")
            .env("ANSIBLE_INVENTORY_UNPARSED_WARNING", "false");
        command
    };
    cargo::run(playbook(&["--syntax-check"]))?;
    cargo::run(playbook(&["--check"]))?;
    cargo::run(playbook(&[]))
}
