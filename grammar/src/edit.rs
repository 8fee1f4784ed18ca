//! Edits: pieces of text spliced into the original, which is otherwise never reprinted.
//!
//! An edited text is a list of slices, untouched ones borrowed from the original, so that writing back an unedited
//! module copies nothing. The map between old and new offsets is exact outside the edits; a place inside an edit
//! maps to the whole text of that edit on the other side, because edits are not aligned byte by byte.

use crate::tree::Span;
use std::ops::Range;

/// Edits to one text, collected in any order.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    list: Vec<Edit>,
}

#[derive(Clone, Debug)]
struct Edit {
    span: Span,
    with: String,
}

/// Two edits that touch the same bytes, or one that reaches past the end of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The bytes of the edit that does not fit.
    pub span: Span,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the edit of bytes {}..{} does not fit the text", self.span.start, self.span.end)
    }
}

impl std::error::Error for Conflict {}

impl Edits {
    /// No edits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts `with` in the place of the bytes of `span`; an empty span inserts before that offset.
    ///
    /// Insertions at one offset come in the order in which they were asked for.
    pub fn replace(&mut self, span: Span, with: impl Into<String>) {
        self.list.push(Edit { span, with: with.into() });
    }

    /// Takes in other edits of the same text, as if they were asked for now.
    pub fn extend(&mut self, other: Self) {
        self.list.extend(other.list);
    }

    /// Whether there are no edits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Splices the edits into `text`.
    ///
    /// # Errors
    ///
    /// A [`Conflict`] where two edits overlap or one does not lie in the text.
    pub fn apply(mut self, text: &[u8]) -> Result<Edited<'_>, Conflict> {
        self.list.sort_by_key(|edit| (edit.span.start, edit.span.end));
        // Two deletions of the same bytes are one deletion, not a conflict.
        self.list.dedup_by(|a, b| a.span == b.span && a.with.is_empty() && b.with.is_empty());
        let mut pieces = Vec::with_capacity(2 * self.list.len() + 1);
        let (mut old, mut new) = (0, 0);
        for Edit { span, with } in self.list {
            if span.start < old || span.end < span.start || span.end > text.len() {
                return Err(Conflict { span });
            }
            if span.start > old {
                pieces.push(Piece { old: old..span.start, new, with: None });
                new += span.start - old;
            }
            old = span.end;
            let length = with.len();
            pieces.push(Piece { old: span, new, with: Some(with) });
            new += length;
        }
        if old < text.len() {
            pieces.push(Piece { old: old..text.len(), new, with: None });
        }
        Ok(Edited { text, pieces })
    }
}

/// A text with edits spliced in.
#[derive(Clone, Debug)]
pub struct Edited<'t> {
    text: &'t [u8],
    pieces: Vec<Piece>,
}

/// A run of untouched bytes, or an edit.
#[derive(Clone, Debug)]
struct Piece {
    old: Span,
    /// Where it begins in the new text.
    new: usize,
    with: Option<String>,
}

impl Piece {
    fn new_length(&self) -> usize {
        self.with.as_ref().map_or(self.old.len(), String::len)
    }

    fn new_span(&self) -> Span {
        self.new..self.new + self.new_length()
    }
}

/// Where an offset of one text lies in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// At exactly this offset.
    At(usize),
    /// In an edit: somewhere in these bytes, which replace it or which it replaced.
    Within(Range<usize>),
}

impl<'t> Edited<'t> {
    /// The new text, in slices.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| match &piece.with {
            Some(with) => with.as_bytes(),
            None => &self.text[piece.old.clone()],
        })
    }

    /// The new text as one vector.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.len());
        self.slices().for_each(|slice| text.extend_from_slice(slice));
        text
    }

    /// For each piece of the new text, where it begins, and where the text that it copies or replaces begins in the
    /// original.
    pub fn starts(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.pieces.iter().map(|piece| (piece.new, piece.old.start))
    }

    /// The length of the new text in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.last().map_or(0, |last| last.new_span().end)
    }

    /// Whether the new text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text before the edits.
    #[must_use]
    pub fn original(&self) -> &'t [u8] {
        self.text
    }

    /// Where `offset` of the original lies in the new text.
    #[must_use]
    pub fn to_new(&self, offset: usize) -> Place {
        let at = self.pieces.partition_point(|piece| piece.old.end <= offset);
        match self.pieces.get(at) {
            None => Place::At(self.len()),
            Some(piece) if piece.with.is_none() => Place::At(piece.new + (offset - piece.old.start)),
            Some(piece) => Place::Within(piece.new_span()),
        }
    }

    /// Where `offset` of the new text lies in the original.
    #[must_use]
    pub fn to_old(&self, offset: usize) -> Place {
        let at = self.pieces.partition_point(|piece| piece.new_span().end <= offset);
        match self.pieces.get(at) {
            None => Place::At(self.text.len()),
            Some(piece) if piece.with.is_none() => Place::At(piece.old.start + (offset - piece.new)),
            Some(piece) => Place::Within(piece.old.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(edits: &[(Span, &str)]) -> Edited<'static> {
        let mut list = Edits::new();
        edits.iter().for_each(|(span, with)| list.replace(span.clone(), *with));
        list.apply(b"add a, b; sub c, d;").expect("the edits of the tests do not overlap")
    }

    #[test]
    fn untouched_text_stays_and_edits_go_in_any_order() {
        let text = edited(&[(10..13, "mul"), (0..3, "max")]);
        assert_eq!(text.to_vec(), b"max a, b; mul c, d;");
    }

    #[test]
    fn insertions_at_one_place_keep_their_order() {
        assert_eq!(edited(&[(0..0, "1 "), (0..0, "2 ")]).to_vec(), b"1 2 add a, b; sub c, d;");
    }

    #[test]
    fn an_edit_goes_after_an_insertion_before_it() {
        assert_eq!(edited(&[(0..3, "max"), (0..0, "// ")]).to_vec(), b"// max a, b; sub c, d;");
    }

    #[test]
    fn overlapping_edits_are_refused() {
        let mut list = Edits::new();
        list.replace(0..5, "x");
        list.replace(4..6, "y");
        assert_eq!(list.apply(b"0123456789").err(), Some(Conflict { span: 4..6 }));
    }

    #[test]
    fn an_edit_past_the_end_is_refused() {
        let mut list = Edits::new();
        list.replace(3..5, "x");
        assert!(list.apply(b"0123").is_err());
    }

    #[test]
    fn offsets_map_both_ways() {
        let text = edited(&[(0..3, "vadd4"), (9..9, " nop;")]);
        assert_eq!(text.to_vec(), b"vadd4 a, b; nop; sub c, d;");
        assert_eq!(text.to_new(4), Place::At(6));
        assert_eq!(text.to_new(1), Place::Within(0..5));
        assert_eq!(text.to_old(6), Place::At(4));
        assert_eq!(text.to_old(4), Place::Within(0..3));
        assert_eq!(text.to_old(13), Place::Within(9..9));
        assert_eq!(text.to_old(17), Place::At(10));
        for old in (3..9).chain(9..19) {
            let Place::At(new) = text.to_new(old) else { panic!("offset {old} is untouched") };
            assert_eq!(text.to_old(new), Place::At(old));
        }
        assert_eq!(text.to_new(19), Place::At(text.len()));
    }
}
