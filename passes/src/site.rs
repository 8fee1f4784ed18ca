//! A site: one instruction as a rule sees it, with what is known around it.
//!
//! The instruction is that of a statement, or another spelling of its value that an earlier rule found. A rule only
//! proposes, so a mistake here makes no rewrite wrong: facts choose what is proposed, and every proposal is proved.

use crate::facts::{Fact, Facts, Masks};
use crate::fuse::{AllPieces, Signatures};
use crate::graph::{Graph, ValueId};
use crate::lanes::{Byte, Contents};
use crate::recipe::{Code, Source, Step};
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::video::Form;
use std::cell::RefCell;

/// What is known of the values of a function.
#[derive(Debug)]
pub struct Knowledge {
    /// By value: what it can be.
    pub facts: Facts,
    /// By value: its demanded bits.
    pub demanded: Masks,
    pub(crate) contents: RefCell<Contents>,
    pub(crate) signatures: RefCell<Signatures>,
    pub(crate) pieces: AllPieces,
}

/// One instruction and its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Site<'s, 'm, 't> {
    /// The function.
    pub graph: &'s Graph<'m, 't>,
    /// What is known of its values.
    pub knowledge: &'s Knowledge,
    /// The value that it spells.
    pub value: ValueId,
    /// The instruction.
    pub step: &'s Step,
    /// The demanded bits of its result.
    pub demanded: u128,
    /// What its result can be.
    pub result: &'s Fact,
    /// The values whose definitions were asked for.
    pub asked: &'s RefCell<Vec<ValueId>>,
}

impl Site<'_, '_, '_> {
    /// The form of a video instruction.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        match self.step.code {
            Code::Video(form) => Some(form),
            Code::Plain(_) | Code::Pack | Code::Half(_) => None,
        }
    }

    /// Any other instruction but a pack.
    #[must_use]
    pub fn instruction(&self) -> Option<Instruction> {
        self.step.instruction()
    }

    /// The sources of this instruction, if they are so many.
    #[must_use]
    pub fn plain<const N: usize>(&self, instruction: Instruction) -> Option<[Source; N]> {
        self.step.is(instruction).then(|| self.step.sources[..].try_into().ok())?
    }

    /// What the result can be.
    #[must_use]
    pub fn result_fact(&self) -> Fact {
        *self.result
    }

    /// What a source can be; a number has 64 bits.
    #[must_use]
    pub fn fact(&self, source: Source) -> Fact {
        match source {
            Source::Value(value) => self.knowledge.facts.get(value.index()),
            Source::Constant(value) => Fact::exact(u128::from(value), 64),
            Source::Step(_) => Fact::top(self.step.width),
        }
    }

    /// The number that a source is known to be.
    #[must_use]
    pub fn constant(&self, source: Source) -> Option<u64> {
        self.knowledge.constant(source)
    }

    /// The instruction that computes a source, moves looked through.
    #[must_use]
    pub fn definition(&self, source: Source) -> Option<Step> {
        match source {
            Source::Value(value) => {
                self.asked.borrow_mut().push(value);
                self.graph.definition(value)
            }
            Source::Constant(_) | Source::Step(_) => None,
        }
    }

    /// What is moved at this site, if branches decide it.
    pub(crate) fn moves_decided(&self) -> Option<ValueId> {
        let is_move = self.instruction()?.row().is(op::MOV);
        self.decided(*self.step.sources.first().filter(|_| is_move)?)
    }

    /// A source as a value that branches decide, if it is one.
    pub(crate) fn decided(&self, source: Source) -> Option<ValueId> {
        let Source::Value(value) = source else { return None };
        self.graph.is_decided(value).then_some(value)
    }

    /// The bytes of a source of 32 bits, the lowest first: which bytes of which values they are.
    #[must_use]
    pub(crate) fn bytes(&self, source: Source) -> Option<[Byte; 4]> {
        match source {
            Source::Constant(value) => {
                let bytes = value.to_le_bytes();
                Some([bytes[0], bytes[1], bytes[2], bytes[3]].map(Byte::Constant))
            }
            Source::Value(value) => self.contents(value).try_into().ok(),
            Source::Step(_) => None,
        }
    }

    /// The bytes of a value of any width, the lowest first.
    #[must_use]
    pub(crate) fn contents(&self, value: ValueId) -> Vec<Byte> {
        self.knowledge.contents.borrow_mut().of(self.graph, value)
    }

    /// The bytes of the result, the lowest first, a guard aside; `None` for those that are computed.
    #[must_use]
    pub(crate) fn result_bytes(&self) -> Vec<Option<Byte>> {
        self.knowledge.contents.borrow_mut().of_core(self.graph, self.value).unwrap_or_default()
    }

    /// The bits of the result that matter, as a mask of 32 bits.
    #[must_use]
    pub fn demanded_word(&self) -> u32 {
        u32::try_from(self.demanded & u128::from(u32::MAX)).expect("it was cut to 32 bits")
    }
}
