//! The names that are in force at one point of a module.
//!
//! Each name keeps a stack of its declarations, so that lookup does not walk the open scopes; leaving a scope undoes
//! what it declared. The innermost family of a name that has a given element is found by jump pointers along the chain
//! of ever larger families (Myers, "An applicative random-access stack", 1983), in time logarithmic in the depth of
//! nesting.

use crate::names::NameParts;
use crate::tree::{Span, index32};
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// All names that are in force, and what they mean.
pub(crate) struct Visible {
    pub(crate) names: Names,
    pub(crate) stack: Vec<Active>,
    /// Where in `undo` each open scope begins.
    opened: Vec<usize>,
    undo: Vec<(u32, Slot)>,
}

impl Visible {
    pub(crate) fn new() -> Self {
        Self { names: Names::default(), stack: Vec::new(), opened: vec![0], undo: Vec::new() }
    }

    pub(crate) fn open(&mut self) {
        self.opened.push(self.undo.len());
    }

    pub(crate) fn label(&self, text: &[u8], base: &[u8]) -> Option<u32> {
        let name = &self.names.list[self.names.find(text, base)? as usize];
        let own = self.stack.get(name.label as usize).filter(|active| active.depth == self.depth());
        let seen = self.stack.get(name.seen as usize);
        own.or(seen).or_else(|| self.stack.get(name.label as usize)).map(|active| active.decl)
    }

    /// The innermost declaration that has the name.
    pub(crate) fn lookup(&mut self, text: &[u8], parts: &NameParts<'_>) -> Option<u32> {
        let mut family = None;
        if let Some(index) = parts.index {
            if let Some(prefix) = self.names.find_often(text, parts.prefix) {
                let name = &self.names.list[prefix as usize];
                family = self.stack.get(self.element(name.family, index) as usize);
                if !name.has_numbered {
                    return family.map(|active| active.decl);
                }
            } else {
                return None;
            }
        }
        let single = self.names.find(text, parts.base);
        let single = single.and_then(|name| self.stack.get(self.names.list[name as usize].single as usize));
        match (single, family) {
            (Some(single), Some(family)) if family.depth >= single.depth => Some(family.decl),
            (Some(single), _) => Some(single.decl),
            (None, family) => family.map(|active| active.decl),
        }
    }

    /// Where on the stack the innermost family from `top` outward is that has an element `index`.
    pub(crate) fn element(&self, top: u32, index: u32) -> u32 {
        let mut at = top;
        while let Some(active) = self.stack.get(at as usize).filter(|active| active.size <= index) {
            at = match self.stack.get(active.jump as usize) {
                // The jump of the outermost family leads to itself.
                Some(jump) if jump.size <= index && active.larger != NONE => active.jump,
                Some(_) | None => active.larger,
            };
        }
        at
    }

    pub(crate) fn depth(&self) -> u32 {
        index32(self.opened.len())
    }

    pub(crate) fn family(&self, decl: u32, depth: u32, below: u32, size: u32) -> Active {
        let mut active = Active { decl, depth, size, ..Active::bottom(below) };
        // The next larger family outward is the innermost one that has the element `size`.
        let at = self.element(below, size);
        let Some(larger) = self.stack.get(at as usize) else {
            active.jump = index32(self.stack.len());
            return active;
        };
        let jump = self.stack[larger.jump as usize];
        let further = self.stack[jump.jump as usize];
        let balanced = larger.height - jump.height == jump.height - further.height;
        active.larger = at;
        active.height = larger.height + 1;
        active.jump = if balanced { jump.jump } else { at };
        active
    }

    pub(crate) fn push(&mut self, name: u32, slot: Slot, active: Active) {
        let top = index32(self.stack.len());
        self.stack.push(active);
        *self.top(name, slot) = top;
        self.undo.push((name, slot));
    }

    pub(crate) fn top(&mut self, name: u32, slot: Slot) -> &mut u32 {
        let name = &mut self.names.list[name as usize];
        match slot {
            Slot::Single => &mut name.single,
            Slot::Family => &mut name.family,
            Slot::Label => &mut name.label,
            Slot::Seen => &mut name.seen,
        }
    }

    pub(crate) fn close(&mut self) {
        let keep = self.opened.pop().unwrap_or(0);
        while self.undo.len() > keep {
            let Some((name, slot)) = self.undo.pop() else { break };
            let Some(active) = self.stack.pop() else { break };
            *self.top(name, slot) = active.below;
        }
    }

    pub(crate) fn innermost_family(&self, text: &[u8], prefix: &[u8]) -> Option<&Active> {
        let name = self.names.find(text, prefix)?;
        self.stack.get(self.names.list[name as usize].family as usize)
    }
}

pub(crate) const NONE: u32 = u32::MAX;

/// What one name can mean at the moment, each the top of a stack in [`Visible::stack`].
#[derive(Clone, Copy)]
pub(crate) struct Name {
    pub(crate) start: u32,
    pub(crate) length: u32,
    pub(crate) single: u32,
    pub(crate) family: u32,
    /// Labels of the open scopes, including those further down in the text.
    pub(crate) label: u32,
    /// Labels of the open scopes that stand before the current statement.
    pub(crate) seen: u32,
    /// Whether some single name that consists of this one and digits was declared, in any scope.
    pub(crate) has_numbered: bool,
}

#[derive(Default)]
pub(crate) struct Names {
    pub(crate) list: Vec<Name>,
    by_text: HashTable<u32>,
    hasher: DefaultHashBuilder,
    recent: Recent,
}

/// Names of at most eight bytes that were looked up lately: nearly all lookups are of a handful of prefixes.
pub(crate) struct Recent {
    /// The bytes of a name, none of which is zero, and its number.
    slots: [(u64, u32); Recent::SIZE],
}

impl Default for Recent {
    fn default() -> Self {
        Self { slots: [(0, 0); Self::SIZE] }
    }
}

impl Recent {
    const SIZE: usize = 256;

    fn key(name: &[u8]) -> Option<u64> {
        let fits = name.len() <= 8 && !name.is_empty();
        fits.then(|| name.iter().fold(0, |key, &byte| key << 8 | u64::from(byte)))
    }

    fn slot(key: u64) -> usize {
        // The golden ratio spreads keys that differ in few bits.
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }
}

impl Name {
    fn span(&self) -> Span {
        self.start as usize..(self.start + self.length) as usize
    }
}

impl Names {
    /// As [`Self::find`], for names that are looked up over and over.
    pub(crate) fn find_often(&mut self, text: &[u8], name: &[u8]) -> Option<u32> {
        let Some(key) = Recent::key(name) else { return self.find(text, name) };
        let slot = Recent::slot(key);
        if self.recent.slots[slot].0 == key {
            return Some(self.recent.slots[slot].1);
        }
        let found = self.find(text, name)?;
        self.recent.slots[slot] = (key, found);
        Some(found)
    }

    pub(crate) fn find(&self, text: &[u8], name: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.by_text.find(hash, |&id| &text[self.list[id as usize].span()] == name).copied()
    }

    pub(crate) fn intern(&mut self, text: &[u8], span: Span) -> u32 {
        let Self { list, by_text, hasher, .. } = self;
        let name = &text[span.clone()];
        let found = by_text.entry(
            hasher.hash_one(name),
            |&id| &text[list[id as usize].span()] == name,
            |&id| hasher.hash_one(&text[list[id as usize].span()]),
        );
        match found {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                let id = index32(list.len());
                free.insert(id);
                let (start, length) = (index32(span.start), index32(span.len()));
                list.push(Name {
                    start,
                    length,
                    single: NONE,
                    family: NONE,
                    label: NONE,
                    seen: NONE,
                    has_numbered: false,
                });
                id
            }
        }
    }
}

/// A declaration that is in force, on the stack of its name.
#[derive(Clone, Copy)]
pub(crate) struct Active {
    pub(crate) decl: u32,
    pub(crate) depth: u32,
    pub(crate) below: u32,
    /// For families: the size, the next larger family outward, and a jump pointer along that chain.
    pub(crate) size: u32,
    pub(crate) larger: u32,
    pub(crate) jump: u32,
    pub(crate) height: u32,
}

#[derive(Clone, Copy)]
pub(crate) enum Slot {
    Single,
    Family,
    Label,
    Seen,
}

impl Active {
    pub(crate) fn bottom(below: u32) -> Self {
        Self { decl: NONE, depth: 0, below, size: 0, larger: NONE, jump: NONE, height: 1 }
    }
}
