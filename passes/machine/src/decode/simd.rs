//! SIMD video instructions, which have a loop of their own; the scalar ones run the terms of their meaning.
//!
//! The tests compare the loop with the meanings, for all operations and signs.

use super::Decoder;
use crate::code::{Class, Op};
use crate::video::Video;
use ptxopt_grammar::tree::StmtId;
use ptxopt_grammar::video::{self, Form, Instance, OperandSource};

impl Decoder<'_, '_> {
    pub(super) fn video(&mut self, stmt: StmtId) -> Option<()> {
        let Instance { form: Form::Simd(form), d, a, b, c } = video::decode(self.module, stmt)?.ok()? else {
            return None;
        };
        let d = self.slot(d).filter(|slot| slot.class == Class::Word && slot.bits == 32)?;
        let mut word = |source| match source {
            OperandSource::Register(node) | OperandSource::Constant(node) => self.word(node, 32),
        };
        let (a, b) = (word(a)?, word(b)?);
        let c = match c {
            Some(c) => word(c)?,
            None => self.constant_word(0),
        };
        let number = u32::try_from(self.code.videos.len()).ok()?;
        self.code.videos.push(Video::new(form));
        self.emit(Op::Video, [d.index, a, b, c, number]);
        Some(())
    }
}
