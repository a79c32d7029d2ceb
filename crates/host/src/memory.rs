//! Memory that this process has no use for any more.
#![expect(unsafe_code, reason = "nobody has given malloc_trim(3) a safe name")]

/// Gives free memory back to the host, where the C library keeps some for later: after work that takes much and is done once.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes no pointer, and locks what it looks at (malloc_trim(3): MT-Safe).
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_in_use_stays_as_it_is() {
        let used: Vec<String> = (0..1000_u32).map(|it| it.to_string()).collect();
        drop((0..100_000_u32).map(|it| it.to_string()).collect::<Vec<_>>());
        super::give_back();
        assert!((0..1000_u32).zip(&used).all(|(number, it)| *it == number.to_string()));
    }
}
