//! Suggestions for misspelt words: the known word with the smallest edit distance.

/// The known word nearest to `word`, if it is near: one letter in three may be wrong, missing, doubled or exchanged
/// with the next. Of several, the first of the same length, then the first.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    // No known word is this long, and comparing takes time proportional to the length.
    if word.len() > 40 {
        return None;
    }
    let most = (word.chars().count() / 3).max(1);
    let lower = word.to_ascii_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(&lower, &known.to_ascii_lowercase());
    let near = known.map(|known| (distance(known), known)).filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, known)| (*distance, known.len().abs_diff(word.len()))).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_is_near_and_another_word_is_not() {
        let known = || ["vmax4", "vmin4", "add", "b32", "b64"].into_iter();
        assert_eq!(nearest("vmxa4", known()), Some("vmax4"));
        assert_eq!(nearest("B32", known()), Some("b32"));
        assert_eq!(nearest("frobnicate", known()), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), known()), None);
    }
}
