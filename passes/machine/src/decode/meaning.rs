//! Instructions that have a meaning and no operation of their own: they run the terms of their meaning.
//!
//! Right by construction, since these are the terms that the prover reasons about.

use super::Decoder;
use crate::code::{Class, Op, Slot};
use crate::meant::Meant;
use ptxopt_grammar::meaning::{self, Place};
use ptxopt_grammar::tree::StmtId;

impl Decoder<'_, '_> {
    /// Runs what the instruction means, term by term.
    pub(super) fn meaning(&mut self, stmt: StmtId) -> Option<()> {
        let mut terms = meaning::term::Terms::new();
        let mut inputs = Vec::new();
        let module = self.module;
        let writes = meaning::meaning(module, stmt, &mut terms, &mut |terms, place, width| {
            let slot = match place {
                Place::Register(node) => self.slot(node)?,
                Place::Carry => self.carry(),
                Place::Special(node) | Place::Address(node) => {
                    let (class, index) = match width {
                        32 => (Class::Word, self.word(node, 32)?),
                        64 => (Class::Long, self.long(node)?),
                        _ => return None,
                    };
                    Slot { class, index, bits: width }
                }
            };
            inputs.push(slot);
            Some(terms.input(u32::try_from(inputs.len() - 1).ok()?, width))
        })?;
        let mut outputs = Vec::new();
        for write in &writes {
            outputs.push(match write.place {
                Place::Register(node) => self.slot(node)?,
                Place::Carry => self.carry(),
                Place::Special(_) | Place::Address(_) => return None,
            });
        }
        let values: Vec<_> = writes.iter().map(|write| write.value).collect();
        let number = u32::try_from(self.code.meanings.len()).ok()?;
        self.code.meanings.push(Meant::new(&terms, &values, inputs, outputs)?);
        self.emit(Op::Meant, [0, 0, 0, 0, number]);
        Some(())
    }

    /// The carry flag of the function.
    fn carry(&mut self) -> Slot {
        let index = match self.carry {
            Some(index) => index,
            None => self.temporary(Class::Predicate, 1).index,
        };
        self.carry = Some(index);
        Slot { class: Class::Predicate, index, bits: 1 }
    }
}
