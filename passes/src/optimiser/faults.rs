//! Comparisons that NVIDIA's assembler fails at, written in another way.
//!
//! ptxas 12.9 and 13.5 end in a segmentation fault, at every level of optimisation but `-O0` and for every GPU from sm_75
//! to sm_120 that was tried, on a `lop3` whose result is compared with zero by `setp.eq` where the predicate is a guard:
//!
//! ```text
//! lop3.b32 %x, %a, %b, %c, 0xfe;
//! setp.eq.u32 %p, %x, 0;
//! @%p bra done;
//! ```
//!
//! 11.8 takes it. So do all of them take `and`, `or` and `xor` in the place of `lop3`, and `setp.ne`. Compilers do not
//! write it; here it comes about where what computes a word that is tested becomes a `lop3`. The comparison becomes
//! `setp.lt.u32 %p, %x, 1`, which is the same for all words; the prover is asked that for each. This is done last, since
//! later rewrites could bring it about again, and only in functions that changed.

use super::record::{How, Kind, Record};
use super::splice;
use crate::graph::{Graph, Origin, ValueId};
use crate::rules::FAULTS;
use crate::select::underlying;
use hashbrown::HashSet;
use ptxopt_grammar::constant;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::meaning::term::{Op, Terms};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::{Module, NodeId, StmtId, StmtKind};
use ptxopt_prover::{Proof, Query, Verdict, prove};

/// Through how many copies a word is followed.
const MOST_COPIES: usize = 16;

/// A test whether a word is zero.
struct Test {
    stmt: StmtId,
    predicate: NodeId,
    word: NodeId,
}

/// Writes such comparisons of a function in another way, with a record of each.
pub(super) fn mend(
    module: &Module<'_>,
    function: &Function,
    semantics: Semantics,
    edits: &mut Edits,
) -> Vec<Record> {
    let stmts = || {
        let all = function.body.clone().filter_map(StmtId::new);
        all.filter(|&stmt| module.kind(stmt) == StmtKind::Instruction)
    };
    let guards: HashSet<&[u8]> =
        stmts().filter_map(|stmt| Some(module.node_text(module.guard(stmt)?.0))).collect();
    // A comparison may have two results, with a bar in between.
    let names = |node: NodeId| module.node_text(node).split(|&byte| byte == b'|').map(<[u8]>::trim_ascii);
    let guards_something = |test: &Test| names(test.predicate).any(|name| guards.contains(name));
    let tests: Vec<Test> =
        stmts().filter_map(|stmt| Test::of(module, stmt)).filter(guards_something).collect();
    let is_lop3 = |stmt| module.row(stmt).is_some_and(|row| row.is(op::LOP3));
    if tests.is_empty() || !stmts().any(is_lop3) {
        return Vec::new();
    }
    let Ok(graph) = Graph::new(module, function.clone(), semantics) else { return Vec::new() };
    let of_lop3 = |test: &Test| {
        let mut accesses = graph.accesses(test.stmt);
        let word = accesses.find(|(access, _)| access.node == Some(test.word));
        word.is_some_and(|(_, value)| is_made_by(&graph, value, is_lop3))
    };
    let mended = |test: Test| Some(test.written_otherwise(module, function, same()?, edits));
    tests.into_iter().filter(of_lop3).filter_map(mended).collect()
}

impl Test {
    /// A statement as such a test, if it is one.
    fn of(module: &Module<'_>, stmt: StmtId) -> Option<Self> {
        let instruction = module.instruction(stmt)?;
        let is_test =
            [op::B32, op::U32, op::S32].map(|ty| op::SETP.with(&[op::EQ, ty])).contains(&instruction);
        let [predicate, a, b] = module.operands(stmt)[..] else { return None };
        let is_zero = |node: NodeId| constant::value(module, node) == Some(0);
        let [word, zero] = if is_zero(a) { [b, a] } else { [a, b] };
        (is_test && is_zero(zero)).then_some(Self { stmt, predicate, word })
    }

    /// Writes it in another way, with the proof that this is the same.
    fn written_otherwise(
        self,
        module: &Module<'_>,
        function: &Function,
        proof: Proof,
        edits: &mut Edits,
    ) -> Record {
        let text = |node: NodeId| String::from_utf8_lossy(module.node_text(node));
        let opcode = op::SETP.with(&[op::LT, op::U32]);
        let lines = vec![format!("{opcode} {}, {}, 1;", text(self.predicate), text(self.word))];
        splice::replace(module, self.stmt, &lines, edits);
        let told = Record::about(module, &function.name, self.stmt, Kind::Passed(How::Proved(proof)));
        Record { rules: vec![FAULTS.name], after: lines, ..told }
    }
}

/// Whether a statement of some kind computes a value, copied or not.
fn is_made_by(graph: &Graph<'_, '_>, value: ValueId, is_it: impl Fn(StmtId) -> bool) -> bool {
    let mut value = underlying(graph, value);
    for _ in 0..MOST_COPIES {
        let Origin::Result(stmt) = graph.value(value).origin else { return false };
        if is_it(stmt) {
            return true;
        }
        let Some(Op::Input(number)) = graph.value(value).def.map(|def| graph.terms().op(def)) else {
            return false;
        };
        value = underlying(graph, ValueId::of_input(number));
    }
    false
}

/// The proof that a word is zero where it is less than one.
fn same() -> Option<Proof> {
    let mut terms = Terms::new();
    let word = terms.input(0, 32);
    let [zero, one] = [0, 1].map(|number| terms.constant(number, 32));
    let (before, after) = (terms.equal(word, zero), terms.unsigned_less(word, one));
    match prove(&Query::new(&terms, vec![before], vec![after])) {
        Verdict::Proved(proof) => Some(proof),
        Verdict::Refuted(_) | Verdict::Unproved => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::function::functions;
    use ptxopt_grammar::parse;

    /// How the lines of a function's body are written in another way.
    fn mended(body: &str) -> Vec<String> {
        let text = format!(
            ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry f(.param .u32 a, .param .u64 out)\n{{\n\
             .reg .b32 %a, %x, %y;\n.reg .pred %p, %q;\n.reg .b64 %out;\nld.param.u32 %a, [a];\n\
             ld.param.u64 %out, [out];\n{body}\nst.global.u32 [%out], %a;\ndone:\nret;\n}}\n"
        );
        let module = parse(text.as_bytes()).expect("the text is legal");
        let function = &functions(&module)[0];
        let records = mend(&module, function, Semantics::default(), &mut Edits::new());
        records.into_iter().flat_map(|record| record.after).collect()
    }

    const LOP3: &str = "lop3.b32 %x, %a, 5, 0x01010101, 0xa8;";

    #[test]
    fn a_word_of_lop3_that_a_guard_depends_on_is_tested_by_less_than_one() {
        let less = ["setp.lt.u32 %p, %x, 1;"];
        assert_eq!(mended(&format!("{LOP3} setp.eq.b32 %p, %x, 0; @%p bra done;")), less);
        assert_eq!(mended(&format!("{LOP3} setp.eq.s32 %p, 0, %x; @!%p bra done;")), less);
        assert_eq!(mended(&format!("{LOP3} setp.eq.u32 %p, %x, 0; @%p st.global.u32 [%out+4], %a;")), less);
    }

    #[test]
    fn so_is_a_copy_of_it() {
        let copied = format!("{LOP3} mov.b32 %y, %x; setp.eq.u32 %p, %y, 0; @%p bra done;");
        assert_eq!(mended(&copied), ["setp.lt.u32 %p, %y, 1;"]);
    }

    #[test]
    fn a_guard_may_be_the_second_result() {
        let both = format!("{LOP3} setp.eq.u32 %p|%q, %x, 0; @%q bra done;");
        assert_eq!(mended(&both), ["setp.lt.u32 %p|%q, %x, 1;"]);
    }

    #[test]
    fn what_guards_nothing_stays() {
        assert!(mended(&format!("{LOP3} setp.eq.u32 %p, %x, 0; selp.u32 %a, 1, 0, %p;")).is_empty());
    }

    #[test]
    fn another_comparison_stays() {
        assert!(mended(&format!("{LOP3} setp.ne.u32 %p, %x, 0; @%p bra done;")).is_empty());
        assert!(mended(&format!("{LOP3} setp.eq.u32 %p, %x, 1; @%p bra done;")).is_empty());
    }

    #[test]
    fn a_word_of_another_instruction_stays() {
        let masked = "lop3.b32 %y, %a, 5, 7, 0xa8; and.b32 %x, %a, 3; setp.eq.u32 %p, %x, 0; @%p bra done;";
        assert!(mended(masked).is_empty());
    }
}
