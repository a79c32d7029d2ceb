//! What outlives a boot, on a disk that does: settings that were made to last, and changes that the power went in.
#![expect(clippy::print_stdout, reason = "the number of cuts is to be read")]

use std::sync::LazyLock;

use testbench::{Bench, Disk, Step, Transcript, machines};

use crate::boots::{bench, change};

/// The four boots that follow each other, and what the three that ended said.
struct Boots {
    made: Transcript,
    next: Transcript,
    after_power_cut: Transcript,
}

static BOOTS: LazyLock<Boots> =
    LazyLock::new(|| boots(&bench(&[])).unwrap_or_else(|error| panic!("{error:?}")));

fn boots(bench: &Bench) -> anyhow::Result<Boots> {
    let disk = Disk::new()?;
    let boot = machines::lasting(&disk);
    Ok(Boots {
        made: bench.run(&boot, &[step("made to last", MADE)])?,
        next: bench.run(&boot, &[step("next boot", NEXT)])?,
        after_power_cut: {
            bench.run_to_power_cut(&boot, &[step("power cut", POWER_CUT)])?;
            bench.run(&boot, &[step("after the power cut", AFTER_POWER_CUT)])?
        },
    })
}

fn step(name: &str, script: &str) -> Step {
    change(name, &format!("{}\n{script}", include_str!("steps/disk.sh")))
}

const MADE: &str = "\
in_force
fullclock apply --persist governor=performance stat-interval=10 >&2
echo \"apply: $?\"
in_force
fullclock status | grep 'next boot'";

const NEXT: &str = "\
in_force
what_boot_does
in_force
fullclock status >&2
fullclock revert --all >&2
echo \"revert: $?\"
in_force";

/// The power goes between the first file that is to last and the last, in a boot that shows first that nothing is left.
const POWER_CUT: &str = "\
what_boot_does
in_force >/disk/booted
fullclock apply --persist governor=performance stat-interval=10 >&2 &
until [ -n \"$(find /etc -name '*.conf')\" ] || ! kill -0 $!; do usleep 1000; done
kill -STOP $!
find /etc -type f | wc -l >/disk/files
sync -d /disk/booted /disk/files
echo b >/proc/sysrq-trigger
sleep 1000";

const AFTER_POWER_CUT: &str = "\
cat /disk/booted
[ \"$(cat /disk/files)\" -gt 0 ] && echo 'cut in the middle'
fullclock status >&2
fullclock revert --all >&2
echo \"revert: $?\"
in_force
fullclock status";

const NOTHING: &str = "vm.stat_interval = 1\ngovernors: schedutil schedutil\nfiles: 0\n";

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn what_was_made_to_last_is_in_force_after_a_reboot_and_gone_after_revert_and_another() {
    let made = BOOTS.made.step("made to last").unwrap_or_else(|error| panic!("{error:#}"));
    let expected = format!(
        "{NOTHING}apply: 0\nvm.stat_interval = 10\ngovernors: performance performance\nfiles: 6\n\
         The next boot applies change 0001 again.\n"
    );
    assert_eq!(made.stdout, expected, "{}", made.stderr);
    let next = BOOTS.next.step("next boot").unwrap_or_else(|error| panic!("{error:#}"));
    // What sysctl did at boot stays until the next.
    let expected = "vm.stat_interval = 1\ngovernors: schedutil schedutil\nfiles: 6\nunit: 0\n\
                    vm.stat_interval = 10\ngovernors: performance performance\nfiles: 6\nrevert: 0\n\
                    vm.stat_interval = 10\ngovernors: schedutil schedutil\nfiles: 0\n";
    assert_eq!(next.stdout, expected, "{}", next.stderr);
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn change_that_the_power_went_in_leaves_a_journal_that_undoes_what_is_left_of_it() {
    let step = BOOTS.after_power_cut.step("after the power cut");
    let after = step.unwrap_or_else(|error| panic!("{error:#}"));
    let expected = format!("{NOTHING}cut in the middle\nrevert: 0\n{NOTHING}Nothing is applied.\n");
    assert_eq!(after.stdout, expected, "{}", after.stderr);
}

/// A boot for each point.
mod sweep {
    use super::*;

    /// Undoes what the boot before has left, and begins a change whose power goes right when it would be killed, behind all the
    /// points that were tried before; whoever comes to its end is not cut any more.
    const CUT_AT: &str = "\
    cut_at() {
        left=$(find /etc -type f | wc -l)
        fullclock revert --all >&2
        echo \"revert: $?, $(in_force | words), $(fullclock status)\" >>/disk/undone
        echo \"$left\" >>/disk/left
        sync
        FULLCLOCK_FAULT=$1 fullclock apply -q --persist governor=performance stat-interval=10 >&2
        [ $? = 137 ] && echo b >/proc/sysrq-trigger && sleep 1000
        cat /disk/undone
        echo \"with files: $(grep -cv '^0$' /disk/left) of $(wc -l </disk/left)\"
    }";

    /// Of about sixty points every fourth is tried.
    const STRIDE: usize = 4;
    /// More points than a change of two settings has.
    const MOST_POINTS: usize = 200;

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn change_that_the_power_goes_in_at_any_point_is_undone_in_the_next_boot() {
        let (bench, disk) = (bench(&[]), Disk::new().unwrap());
        let boot = machines::lasting(&disk);
        let mut cuts = 0;
        let transcript = (1..MOST_POINTS).step_by(STRIDE).find_map(|point| {
            let script = format!("{CUT_AT}\ncut_at {point}");
            let ended = bench.run_unless_cut(&boot, &[step("cut", &script)]);
            let ended = ended.unwrap_or_else(|error| panic!("point {point}: {error:?}"));
            cuts += usize::from(ended.is_none());
            ended
        });
        let transcript = transcript.unwrap_or_else(|| panic!("every point is cut"));
        let output = transcript.step("cut").unwrap_or_else(|error| panic!("{error:#}"));
        let (undone, with_files) = output.stdout.trim().rsplit_once('\n').unwrap_or_default();
        let nothing = NOTHING.trim().replace('\n', " ");
        let each = format!("revert: 0, {nothing}, Nothing is applied.");
        // The first boot follows no cut.
        assert_eq!(undone.lines().collect::<Vec<_>>(), vec![each; cuts + 1], "{}", output.stderr);
        println!("{cuts} cuts, {with_files}");
        assert!(cuts >= 32 / STRIDE, "{cuts}");
        assert_ne!(with_files, format!("with files: 0 of {}", cuts + 1));
    }
}
