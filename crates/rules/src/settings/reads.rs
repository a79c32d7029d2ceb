//! What settings read, put together of lists that several share.

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
