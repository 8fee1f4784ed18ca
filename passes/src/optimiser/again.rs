//! Texts that come again: a function that has one of its earlier texts, but for the names of registers, is left at that.
//!
//! Each round makes what it reckons is cheaper, and prices what statements share from where they stand. So rounds may come
//! back to a text that they had: each of them gained something, and nothing was gained. Every text was proved, so it does
//! not matter for what the function does where the rounds end.

use super::function::instructions;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::function::Function;
use ptxopt_grammar::names::is_of_name;
use ptxopt_grammar::tree::Module;

/// The first round whose texts are kept: nearly all functions are done before.
const FIRST: u32 = 8;

/// The texts that functions had, by their numbers.
#[derive(Default)]
pub(super) struct Earlier(HashMap<usize, HashSet<Vec<u8>>>);

impl Earlier {
    /// Whether a function had its text in an earlier round.
    pub(super) fn have(
        &mut self,
        round: u32,
        number: usize,
        module: &Module<'_>,
        function: &Function,
    ) -> bool {
        round >= FIRST && !self.0.entry(number).or_default().insert(without_names(module, function))
    }
}

/// The instructions of a function with numbers for the names of registers, in the order in which they come.
fn without_names(module: &Module<'_>, function: &Function) -> Vec<u8> {
    let mut numbers: HashMap<&[u8], usize> = HashMap::new();
    let mut text = Vec::new();
    for stmt in instructions(module, function) {
        for word in module.stmt_text(stmt).split_inclusive(|byte| !is_of_name(*byte)) {
            let (name, rest) = word.split_at(word.iter().take_while(|byte| is_of_name(**byte)).count());
            if name.first() == Some(&b'%') {
                let next = numbers.len();
                let number = *numbers.entry(name).or_insert(next);
                text.extend(format!("%{number}").into_bytes());
            } else {
                text.extend_from_slice(name);
            }
            text.extend_from_slice(rest);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::function::functions;

    const HEAD: &str =
        ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n{\n\t.reg .b32 %r<9>, %opt<9>;\n";

    /// Whether the second of two texts counts as one that the function had.
    fn comes_again(texts: [&str; 2]) -> bool {
        let mut earlier = Earlier::default();
        let had = texts.map(|body| {
            let text = format!("{HEAD}{body}}}\n");
            let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
            earlier.have(FIRST, 0, &module, &functions(&module)[0])
        });
        assert!(!had[0], "nothing came before the first");
        had[1]
    }

    #[test]
    fn other_names_are_the_same_text() {
        let texts = [
            "add.u32 %opt1, %r1, %r2;\nneg.s32 %r1, %opt1;\n",
            "add.u32 %opt7, %r1, %r2;\nneg.s32 %r1, %opt7;\n",
        ];
        assert!(comes_again(texts));
    }

    #[test]
    fn other_operands_are_another_text() {
        assert!(!comes_again(["add.u32 %r1, %r1, %r2;\n", "add.u32 %r1, %r2, %r2;\n"]));
    }

    #[test]
    fn other_instructions_are_another_text() {
        assert!(!comes_again(["add.u32 %r1, %r1, %r2;\n", "sub.u32 %r1, %r1, %r2;\n"]));
    }
}
