//! One instruction over registers of the kinds that `forms.rs` names, with what it reads and writes.

use super::forms::Group;
use super::numbers::Numbers;
use ptxopt_grammar::meaning::term::{Term, Terms, ones};
use ptxopt_grammar::meaning::{Place, meaning};

/// The declarations of all registers that a form may name.
pub(crate) const REGISTERS: &str = ".reg .b8 %b<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; \
                                    .reg .b128 %q<8>; .reg .pred %p<8>;";

/// An instruction that has a meaning.
pub(crate) struct One {
    terms: Terms,
    /// What it reads, by name and width; the inputs of the terms in this order.
    pub(crate) reads: Vec<(String, u32)>,
    /// What it writes, by name and width.
    pub(crate) writes: Vec<(String, u32)>,
    outputs: Vec<Term>,
}

impl One {
    /// `None` if it has no meaning.
    ///
    /// # Panics
    ///
    /// If the text is not legal.
    pub(crate) fn new(group: &Group, instruction: &str) -> Option<Self> {
        let Group { version, target, .. } = group;
        let text =
            format!(".version {version}\n.target {target}\n.func f() {{ {REGISTERS} {instruction}; }}\n");
        let module =
            ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{instruction}: {error:?}"));
        let stmt =
            module.stmts().find(|&stmt| module.opcode(stmt).is_some()).expect("there is an instruction");
        let (mut terms, mut reads) = (Terms::new(), Vec::<(String, u32)>::new());
        let written = meaning(&module, stmt, &mut terms, &mut |terms, place, width| {
            let name = String::from_utf8_lossy(place.text(&module)).into_owned();
            let known = reads.iter().position(|(known, _)| *known == name);
            let number = known.unwrap_or_else(|| {
                reads.push((name, width));
                reads.len() - 1
            });
            Some(terms.input(u32::try_from(number).expect("operands are few"), width))
        })?;
        let name = |place: Place| String::from_utf8_lossy(place.text(&module)).into_owned();
        let writes = written.iter().map(|write| (name(write.place), terms.width(write.value))).collect();
        let outputs = written.iter().map(|write| write.value).collect();
        Some(Self { terms, reads, writes, outputs })
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    pub(crate) fn outputs(&self) -> Vec<Term> {
        self.outputs.clone()
    }

    /// A value for each place that is read: corners of its width, lengths of fields and words, sometimes the same
    /// as another.
    pub(crate) fn draw(&self, numbers: &mut Numbers) -> Vec<u128> {
        const SMALL: [u128; 14] = [0, 1, 2, 3, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64];
        let mut values: Vec<u128> = Vec::with_capacity(self.reads.len());
        for &(_, width) in &self.reads {
            let lowest = 1 << (width - 1);
            let value = match numbers.below(10) {
                0..=2 => SMALL[numbers.below(SMALL.len())],
                3 => [0xff, 0x80, 0x7f, 255 << 8 | 4, 0x0080_ff7f, 0x8000_7fff][numbers.below(6)],
                4 => [lowest, lowest - 1, ones(width), ones(width) - 1][numbers.below(4)],
                5 if !values.is_empty() => values[numbers.below(values.len())],
                _ => numbers.value(),
            };
            values.push(value & ones(width));
        }
        values
    }
}
