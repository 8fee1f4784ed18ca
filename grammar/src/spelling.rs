//! Opcodes interned by spelling: a large module has a million instructions and some sixty spellings.
//!
//! An opcode with its modifiers is one word of the text. Each distinct word is looked up in the instruction
//! table once; a statement holds only the number of its spelling.

use crate::table::instruction::Instruction;
use crate::table::{self, Row};
use crate::tree::{Span, SpellingId, index32};
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// The distinct spellings of a module's opcodes.
#[derive(Debug, Default)]
pub struct Spellings {
    list: Vec<Spelling>,
    by_text: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// For each hash of the length and some letters, the spelling that was found last: most lookups end here.
    recent: Recent,
}

/// One way of writing an opcode with its modifiers.
#[derive(Debug)]
struct Spelling {
    start: u32,
    length: u32,
    /// The words joined, where the text has blanks between them.
    joined: Option<Box<[u8]>>,
    row: Option<&'static Row>,
    instruction: Option<Instruction>,
}

#[derive(Debug)]
struct Recent([u32; 256]);

impl Default for Recent {
    fn default() -> Self {
        Self([u32::MAX; 256])
    }
}

impl Recent {
    fn slot(words: &[u8]) -> usize {
        let at = |index: usize| usize::from(words.get(index).copied().unwrap_or_default());
        (words.len() ^ at(0) << 3 ^ at(words.len() / 2) << 5 ^ at(words.len().wrapping_sub(2)) << 1) & 255
    }
}

impl Spelling {
    fn words<'a>(&'a self, text: &'a [u8]) -> &'a [u8] {
        self.joined.as_deref().unwrap_or(&text[self.span()])
    }

    fn span(&self) -> Span {
        self.start as usize..(self.start + self.length) as usize
    }
}

impl Spellings {
    pub(crate) fn intern(&mut self, text: &[u8], span: Span) -> SpellingId {
        let words = &text[span.clone()];
        let slot = Recent::slot(words);
        if let Some(spelling) = self.list.get(self.recent.0[slot] as usize)
            && spelling.words(text) == words
        {
            return SpellingId(self.recent.0[slot]);
        }
        let id = self.find_or_add(text, words, span, |_| None);
        self.recent.0[slot] = id.0;
        id
    }

    pub(crate) fn intern_split(&mut self, text: &[u8], words: &[u8], span: Span) -> SpellingId {
        self.find_or_add(text, words, span, |words| Some(words.into()))
    }

    fn find_or_add(
        &mut self,
        text: &[u8],
        words: &[u8],
        span: Span,
        keep: impl FnOnce(&[u8]) -> Option<Box<[u8]>>,
    ) -> SpellingId {
        let Self { list, by_text, hasher, .. } = self;
        let found = by_text.entry(
            hasher.hash_one(words),
            |&id| list[id as usize].words(text) == words,
            |&id| hasher.hash_one(list[id as usize].words(text)),
        );
        match found {
            Entry::Occupied(known) => SpellingId(*known.get()),
            Entry::Vacant(free) => {
                let id = index32(list.len());
                free.insert(id);
                list.push(Spelling {
                    start: index32(span.start),
                    length: index32(span.len()),
                    joined: keep(words),
                    row: table::lookup(words),
                    instruction: Instruction::parse(words),
                });
                SpellingId(id)
            }
        }
    }

    /// The opcode and its modifiers, without blanks; `text` is the module's.
    #[must_use]
    pub fn words<'a>(&'a self, spelling: SpellingId, text: &'a [u8]) -> &'a [u8] {
        self.list[spelling.index()].words(text)
    }

    /// How many distinct spellings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no spellings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The table's row for a spelling; `None` for an unknown opcode.
    #[must_use]
    pub fn row(&self, spelling: SpellingId) -> Option<&'static Row> {
        self.list[spelling.index()].row
    }

    /// The instruction that a spelling is; `None` for an unknown opcode or modifier.
    #[must_use]
    pub fn instruction(&self, spelling: SpellingId) -> Option<Instruction> {
        self.list[spelling.index()].instruction
    }

    /// The bytes where the spelling occurs first.
    #[must_use]
    pub fn span(&self, spelling: SpellingId) -> Span {
        self.list[spelling.index()].span()
    }

    /// All spellings, in the order of their first occurrence.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = SpellingId> + use<> {
        (0..index32(self.list.len())).map(SpellingId)
    }
}
