//! What the settings of files share: the list of paths that they read, and the write that gives a file a value.

use crate::setting::{Change, Planned, Refusal, Scene};
use facts::change::{Control, Target, Write, is_same};

/// The change that gives one file a value; nothing to write where it has that.
///
/// Refuses where the kernel has no such file.
pub(super) fn set(scene: &Scene<'_>, path: &str, to: &str) -> Planned {
    let from = read(scene, path)?;
    Ok(Change::of((!is_same(from, to)).then(|| Write::of(Target::control(path), from, to))))
}

/// What a file holds that the setting cannot do without.
pub(super) fn read<'a>(scene: &Scene<'a>, path: &str) -> Result<&'a str, Refusal> {
    scene.controls.get(path).map_err(|missing| {
        if missing.is_absence() {
            Refusal::Host(format!("this kernel has no {path}"))
        } else {
            Refusal::Unknown(missing)
        }
    })
}

/// The write that gives a file a value; none where it has that.
pub(super) fn write(control: &Control<'_>, to: &str) -> Result<Option<Write>, Refusal> {
    let from = control.text.clone()?;
    Ok((!is_same(from, to)).then(|| Write::of(Target::control(control.path), from, to)))
}

/// All of `parts` in one list, of as many as `N` says: any other number does not compile.
pub(super) const fn joined<const N: usize>(parts: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut next = 0;
        while next < parts[part].len() {
            all[at] = parts[part][next];
            next += 1;
            at += 1;
        }
        part += 1;
    }
    assert!(at == N, "more places than paths");
    all
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn lists_follow_one_another() {
        assert_eq!(joined::<3>(&[&["a"], &[], &["b", "c"]]), ["a", "b", "c"]);
    }
}
