//! A journal that the disk has no room for: nothing is written without its old value on disk.

use crate::tree::Tree;
use crate::{Test, plans};
use facts::change::ChangeState;
use host::change::{Access, Force};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::process::{ExitCode, Stdio};

pub(crate) const TESTS: &[Test] =
    &[("a_journal_that_is_full_after_any_byte_leaves_everything_as_it_was", full_after_any_byte)];

/// As `apply`, where no file can grow beyond `limit` bytes.
#[expect(unsafe_code, reason = "neither std nor rustix sets how a signal is handled")]
pub(crate) fn apply(plan: &str, limit: u64) -> ExitCode {
    // SAFETY: no handler is installed, and no thread relies on the signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    setrlimit(Resource::Fsize, Rlimit { current: Some(limit), maximum: Some(limit) }).unwrap();
    crate::apply(plan, None)
}

fn full_after_any_byte() {
    let plan = plans::named("clocks");
    let whole = Tree::of(&plan.files);
    assert!(whole.run(&["apply", "clocks", "-"], None).success());
    let length = std::fs::metadata(whole.journal_path()).unwrap().len();
    let mut n_limits = 0;
    // Settings are short, and the lock's file, too: only the journal meets the limit.
    for limit in (64..length).step_by(13) {
        let tree = Tree::of(&plan.files);
        let before = tree.all();
        let mut command =
            tree.command(&["apply-short-of-disk", "clocks", &limit.to_string()], None);
        let output = command.stdout(Stdio::piped()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.status.success(), "{limit}");
        assert_eq!(tree.all(), before, "{limit}: {told}");
        // Without room for its beginning the process says so otherwise.
        assert!(told.is_empty() || told.contains("make room there"), "{limit}: {told}");
        tree.changer(Access::Write).recover(Force::No).unwrap();
        assert!(matches!(tree.state(), None | Some(ChangeState::Reverted)), "{:?}", tree.state());
        assert!(tree.run(&["apply", "clocks", "-"], None).success(), "{limit}");
        n_limits += 1;
    }
    println!("full after {n_limits} lengths of {length}");
    assert!(n_limits > 100);
}
