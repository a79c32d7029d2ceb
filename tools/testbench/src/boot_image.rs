//! The kernel inside of a boot image.
//!
//! Source: Documentation/arch/x86/boot.rst (setup_sects, payload_offset, payload_length).

use std::io::Read as _;

use anyhow::{Context as _, Result, ensure};
use liblzma::read::XzDecoder;

/// What a payload that was packed by xz begins with.
const XZ: &[u8] = b"\xfd7zXZ\0";

/// An ELF file.
const ELF: &[u8] = b"\x7fELF";

const SECTOR: usize = 512;

/// The kernel that a boot image would unpack, an ELF file. An emulated machine takes seconds to unpack it, this one half of
/// one, once.
///
/// Errors: the image is no boot image, or packed by something else than xz.
pub(crate) fn kernel(image: &[u8]) -> Result<Vec<u8>> {
    let field = |at: usize| -> Option<usize> {
        let bytes = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let payload = || {
        let n_sectors = usize::from(*image.get(0x1f1)?);
        let (offset, length) = (field(0x248)?, field(0x24c)?);
        let start = (n_sectors + 1) * SECTOR + offset;
        image.get(start..start.checked_add(length)?)
    };
    let payload = payload().context("the image is cut short")?;
    ensure!(payload.starts_with(XZ), "its kernel is not packed by xz");
    let mut kernel = Vec::new();
    // Behind the packed kernel is its length.
    XzDecoder::new(payload).read_to_end(&mut kernel).context("its kernel does not unpack")?;
    ensure!(kernel.starts_with(ELF), "its kernel is no ELF file");
    Ok(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use liblzma::write::XzEncoder;
    use std::io::Write as _;

    /// Two sectors of setup, and a payload 100 bytes behind them.
    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 3 * SECTOR + 100];
        image[0x1f1] = 2;
        image[0x248..0x24c].copy_from_slice(&100u32.to_le_bytes());
        let length = u32::try_from(payload.len()).unwrap();
        image[0x24c..0x250].copy_from_slice(&length.to_le_bytes());
        image.extend(payload);
        image
    }

    fn packed(kernel: &[u8]) -> Vec<u8> {
        let mut encoder = XzEncoder::new(Vec::new(), 1);
        encoder.write_all(kernel).unwrap();
        [encoder.finish().unwrap(), 4u32.to_le_bytes().to_vec()].concat()
    }

    #[test]
    fn the_kernel_is_what_was_packed() {
        let elf = [ELF, &[7; 1000]].concat();
        assert_eq!(kernel(&image(&packed(&elf))).unwrap(), elf);
    }

    #[test]
    fn what_is_no_such_image_is_refused_in_words() {
        let refusal = |image: &[u8]| format!("{:#}", kernel(image).unwrap_err());
        assert_eq!(refusal(&[0; 100]), "the image is cut short");
        assert_eq!(refusal(&image(b"\x1f\x8b")), "its kernel is not packed by xz");
        assert_eq!(refusal(&image(&packed(b"text"))), "its kernel is no ELF file");
        let whole = image(&packed(ELF));
        assert_eq!(refusal(&whole[..whole.len() - 1]), "the image is cut short");
        let mut damaged = image(&packed(&[ELF, &[7; 1000]].concat()));
        let at = damaged.len() - 30;
        damaged[at] ^= 0xff;
        assert!(refusal(&damaged).starts_with("its kernel does not unpack"));
    }
}
