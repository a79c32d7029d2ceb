//! What the settings of one file share: the write that gives it a value.

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
