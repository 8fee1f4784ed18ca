//! What must not be proved though both texts compute the same: text that relies on undemanded bits. And what is proved in
//! two steps.
//!
//! Another edit of the same round may change undemanded bits, so each of the two edits alone would be right, and both
//! wrong.

use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::{Module, StmtId};
use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};
use ptxopt_passes::graph::{Graph, ValueId};
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
    verify_with(body, opcode, |_, sources| (recipe(sources), None))
}

/// The same of a recipe over any values, given by the names of their registers, and what it is said to spell.
fn verify_with(
    body: &str,
    opcode: &str,
    recipes: impl Fn(&dyn Fn(&str) -> Source, &[Source]) -> (Recipe, Option<Recipe>),
) -> Judgement {
    let text = text(body);
    let module: Module<'_> = ptxopt_grammar::parse(text.as_bytes()).expect("the body is legal");
    let function = functions(&module).remove(0);
    let mut stmts = function.body.clone().filter_map(StmtId::new);
    let stmt = stmts.find(|&stmt| module.stmt_text(stmt).starts_with(opcode.as_bytes()));
    let stmt = stmt.expect("the statement is there");
    let graph = Graph::new(&module, function, Semantics::Undisputed).expect("the body can be modelled");
    let knowledge = Knowledge::of(&graph);
    let sources = graph.step(stmt).expect("it is one step").sources;
    let of_register = |name: &str| {
        let is_it = |&value: &ValueId| {
            graph.register_of(value).and_then(|of| graph.register_text(of)).as_deref() == Some(name)
        };
        Source::Value(graph.values().find(is_it).expect("a value is in the register"))
    };
    let (recipe, meant) = recipes(&of_register, &sources);
    let value = graph.results(stmt).next().expect("it has a result");
    let to = graph.register_of(value).and_then(|register| graph.register_text(register));
    let to = to.expect("a result has a register");
    let text =
        |recipe: &Recipe| recipe.text(&graph, &to, &|step| format!("%new{step}")).expect("it can be written");
    let (text, of_meant) = (text(&recipe), meant.as_ref().map(text));
    let meant = meant.as_ref().zip(of_meant.as_ref());
    Verifier::new(Check::Proved).verify(
        &graph,
        &knowledge,
        &Rewrite { stmt, value, recipe: &recipe, text: &text, meant, guessed: meant.is_some() },
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

/// The greatest of sixteen bytes, one after the other: `%x` of `%a`, `%b`, `%c` and `%d`.
fn greatest_of_sixteen() -> String {
    let mut body = String::from(
        ".reg .b32 %c, %d, %m<16>;\nld.global.b32 %c, [%in+8];\nld.global.b32 %d, [%in+12];\nmov.b32 %y, 0;\n",
    );
    for at in 0..16 {
        let (word, low) = (["%a", "%b", "%c", "%d"][at / 4], at % 4 * 8);
        body.push_str(&format!("bfe.u32 %m{at}, {word}, {low}, 8;\n"));
    }
    for at in 1..15 {
        body.push_str(&format!("max.u32 %m0, %m0, %m{at};\n"));
    }
    body.push_str("max.u32 %x, %m0, %m15;\nst.global.b32 [%in], %x;");
    body
}

type Greater = fn(&mut Vec<Step>, Source, Source) -> Source;

fn push(steps: &mut Vec<Step>, step: Step) -> Source {
    steps.push(step);
    Source::Step(steps.len() - 1)
}

/// The greater bytes of two words, as an instruction.
fn by_instruction(steps: &mut Vec<Step>, a: Source, b: Source) -> Source {
    let unsigned = Sign::Unsigned;
    let op = SimdOp::Arithmetic { op: SimdArithmetic::Max, dtype: unsigned, then: SimdThen::Store };
    let form = Simd { op, atype: unsigned, btype: unsigned, routing: Routing::plain(Lanes::Four) };
    push(steps, Step::video(Form::Simd(form), &[a, b]))
}

/// The same spelled by others, with a table by which the greater ones are taken.
fn spelled_by(table: u64, steps: &mut Vec<Step>, a: Source, b: Source) -> Source {
    let number = Source::Constant;
    let shared = push(steps, Step::plain(op::LOP3_B32, &[a, b, number(0xfefe_fefe), number(0x82)]));
    let above = push(steps, Step::plain(op::LOP3_B32, &[a, b, a, number(0x30)]));
    let half = push(steps, Step::plain(op::SHR_U32, &[shared, number(1)]));
    let sum = push(steps, Step::plain(op::ADD_U32, &[above, half]));
    let mask = push(steps, Step::plain(op::PRMT_B32, &[sum, number(0), number(0xba98)]));
    push(steps, Step::plain(op::LOP3_B32, &[a, b, mask, number(table)]))
}

fn spelled(steps: &mut Vec<Step>, a: Source, b: Source) -> Source {
    spelled_by(0xe4, steps, a, b)
}

/// The same, but the lesser bytes.
fn other_way_round(steps: &mut Vec<Step>, a: Source, b: Source) -> Source {
    spelled_by(0xd8, steps, a, b)
}

/// The greatest byte of four words, of which the greater ones are made lane by lane.
fn by_words(greater: Greater, words: [Source; 4]) -> Recipe {
    let mut steps = Vec::new();
    let [a, b, c, d] = words;
    let [left, right] = [[a, b], [c, d]].map(|[a, b]| greater(&mut steps, a, b));
    let all = greater(&mut steps, left, right);
    let lane = |steps: &mut Vec<Step>, at: u64| {
        let selector = Source::Constant(0x4440 + at);
        push(steps, Step::plain(op::PRMT_B32, &[all, Source::Constant(0), selector]))
    };
    let mut greatest = lane(&mut steps, 0);
    for at in 1..4 {
        let next = lane(&mut steps, at);
        greatest = push(&mut steps, Step::plain(op::MAX_S32, &[greatest, next]));
    }
    Recipe::of(steps)
}

/// What is found of a text that is made in one way and is said to spell what is made in another one.
fn greatest(text: Greater, meant: Option<Greater>) -> Judgement {
    verify_with(&greatest_of_sixteen(), "max.u32 %x", |of_register, _| {
        let words = ["%a", "%b", "%c", "%d"].map(of_register);
        (by_words(text, words), meant.map(|meant| by_words(meant, words)))
    })
}

#[test]
fn what_spells_instructions_is_proved_in_two_steps() {
    let [at_once, in_two_steps] =
        [None, Some(by_instruction as Greater)].map(|meant| greatest(spelled, meant));
    assert!(is_proved(&greatest(by_instruction, None)));
    assert!(is_proved(&in_two_steps));
    assert_ne!(in_two_steps, at_once, "it is another proof");
}

#[test]
fn what_does_not_spell_what_it_is_said_to_is_not_proved() {
    assert!(!is_proved(&greatest(other_way_round, Some(by_instruction))));
}

#[test]
fn what_spells_something_else_than_is_computed_is_not_proved() {
    assert_eq!(greatest(other_way_round, Some(other_way_round)), Judgement::Unfounded);
}

/// The text reads the register twice, each time it may be another number; what it is said to spell reads it once.
#[test]
fn what_reads_undefined_registers_is_not_proved_by_what_it_spells() {
    let sum = |of: Source| Step::plain(op::ADD_U32, &[of, of]);
    let shift = |of: Source| Step::plain(op::SHL_B32, &[of, Source::Constant(1)]);
    let both = |_: &dyn Fn(&str) -> Source, sources: &[Source]| {
        (Recipe::one(sum(sources[0])), Some(Recipe::one(shift(sources[0]))))
    };
    let undefined = "shl.b32 %x, %u, 1;\nst.global.b32 [%in], %x;";
    assert_eq!(verify_with(undefined, "shl", both), Judgement::Unfounded);
    let defined = "shl.b32 %x, %a, 1;\nst.global.b32 [%in], %x;";
    assert!(is_proved(&verify_with(defined, "shl", both)));
}
