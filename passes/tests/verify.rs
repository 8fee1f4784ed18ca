//! What must not be proved though both texts compute the same: text that relies on undemanded bits.
//!
//! Another edit of the same round may change those bits, so each of the two edits alone would be right, and both
//! wrong.

use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::{Module, StmtId};
use ptxopt_passes::graph::Graph;
use ptxopt_passes::recipe::{Recipe, Source, Step};
use ptxopt_passes::site::Knowledge;
use ptxopt_passes::verify::{Check, Judgement, Rewrite, Verifier};

fn text(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 p)\n{{\n\
         .reg .b32 %a, %b, %x, %y, %u;\n.reg .b64 %in;\nld.param.u64 %in, [p];\nld.global.b32 %a, [%in];\n\
         ld.global.b32 %b, [%in+4];\n{body}\nret;\n}}\n"
    )
}

/// What verification finds of a recipe over the sources of the only statement that begins with `opcode`.
fn verify(body: &str, opcode: &str, recipe: impl Fn(&[Source]) -> Recipe) -> Judgement {
    let text = text(body);
    let module: Module<'_> = ptxopt_grammar::parse(text.as_bytes()).expect("the body is legal");
    let function = functions(&module).remove(0);
    let mut stmts = function.body.clone().filter_map(StmtId::new);
    let stmt = stmts.find(|&stmt| module.stmt_text(stmt).starts_with(opcode.as_bytes()));
    let stmt = stmt.expect("the statement is there");
    let graph = Graph::new(&module, function, Semantics::Undisputed).expect("the body can be modelled");
    let knowledge = Knowledge::of(&graph);
    let sources = graph.step(stmt).expect("it is one step").sources;
    let recipe = recipe(&sources);
    let value = graph.results(stmt).next().expect("it has a result");
    let to = graph.register_of(value).and_then(|register| graph.register_text(register));
    let text = recipe.text(&graph, &to.expect("a result has a register"), &|step| format!("%new{step}"));
    let text = text.expect("it can be written");
    Verifier::new(Check::Proved).verify(
        &graph,
        &knowledge,
        &Rewrite { stmt, value, recipe: &recipe, text: &text, guessed: false },
    )
}

fn is_proved(judgement: &Judgement) -> bool {
    matches!(judgement, Judgement::Proved(_))
}

/// The upper bits of `%x` are zero, so the mask does nothing; but because of the mask these zeros are undemanded, so
/// another edit may drop them.
#[test]
fn a_mask_is_needed_by_the_bits_that_it_hides() {
    let mask = "bfe.u32 %x, %a, 8, 8;\nand.b32 %y, %x, 255;\nst.global.b32 [%in], %y;";
    let copy = |sources: &[Source]| Recipe::copy(sources[0], 32);
    assert_eq!(verify(mask, "and", copy), Judgement::Unfounded);
    // Where another use demands all bits, the zeros stay.
    let other = format!("{mask}\nst.global.b32 [%in+4], %x;");
    assert!(is_proved(&verify(&other, "and", copy)));
}

/// Either mask makes the other unnecessary.
#[test]
fn two_operands_do_not_excuse_each_other() {
    let masks = "bfe.u32 %x, %a, 8, 8;\nbfe.u32 %y, %b, 8, 8;\nlop3.b32 %u, %x, %y, 255, 0x80;\n\
                 st.global.b32 [%in], %u;";
    let plain = |sources: &[Source]| Recipe::one(Step::plain(op::AND_B32, &[sources[0], sources[1]]));
    assert_eq!(verify(masks, "lop3", plain), Judgement::Unfounded);
    // One operand that keeps its zeros is enough.
    let other = format!("{masks}\nst.global.b32 [%in+4], %y;");
    assert!(is_proved(&verify(&other, "lop3", plain)));
}

#[test]
fn an_undefined_register_is_read_once() {
    let twice = |sources: &[Source]| Recipe::one(Step::plain(op::ADD_U32, &[sources[0], sources[0]]));
    let undefined = "shl.b32 %x, %u, 1;\nst.global.b32 [%in], %x;";
    assert_eq!(verify(undefined, "shl", twice), Judgement::Unfounded);
    let defined = "shl.b32 %x, %a, 1;\nst.global.b32 [%in], %x;";
    assert!(is_proved(&verify(defined, "shl", twice)));
}
