//! Choices are taken back without a trace, shared nodes are paid for once, and what pays only together is found.

use super::{Candidate, Gain, Near, Nodes, Place, Price, Search, Uses};
use crate::cost::Cost;
use crate::graph::{Graph, ValueId};
use crate::recipe::{Source, Step};
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Two emulated instructions of one pair of words, and a byte move that only the second reads.
const BODY: &str = "prmt.b32 %e, %a, 0, 0x4321; vmin4.u32.u32.u32 %f, %a, %b, %a; \
     vmax4.u32.u32.u32 %r0, %a, %e, %a; add.u32 %d, %f, %r0;";

const COST: u32 = 10;

struct Fixture<'m, 't> {
    graph: Graph<'m, 't>,
    nodes: Nodes,
    /// The two video instructions.
    stmts: [StmtId; 2],
    a: ValueId,
}

fn fixture<'m, 't>(module: &'m Module<'t>) -> Fixture<'m, 't> {
    let graph =
        Graph::new(module, functions(module).remove(0), Semantics::Undisputed).expect("it can be modelled");
    let is_video = |&stmt: &StmtId| module.row(stmt).is_some_and(|row| row.video.is_some());
    let stmts: Vec<StmtId> =
        module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction).filter(is_video).collect();
    let stmts: [StmtId; 2] = stmts.try_into().expect("there are two");
    let step = graph.step(stmts[0]).expect("it is one step");
    let Source::Value(a) = step.sources[0] else { panic!("it reads a register") };
    Fixture { graph, nodes: Nodes::default(), stmts, a }
}

impl Fixture<'_, '_> {
    /// A spelling whose first step costs `shared` and is the same for all that are given the same `mark`.
    fn candidate(&mut self, stmt: StmtId, number: usize, mark: u64, shared: u32, last: u32) -> Rc<Candidate> {
        let a = Source::Value(self.a);
        let first = Step::plain(op::AND_B32, &[a, Source::Constant(mark)]);
        let steps = [first, Step::plain(op::NOT_B32, &[Source::Step(0)])];
        let block = self.graph.flow().block(stmt);
        let nodes = self.nodes.of(block, steps.into_iter(), &[shared, last].map(Cost::exactly));
        Rc::new(Candidate {
            number,
            paid: nodes.clone(),
            nodes,
            last,
            least: last + shared,
            values: vec![self.a],
            reach: 0,
        })
    }

    fn price(&self) -> impl Fn(StmtId) -> Price + '_ {
        |stmt| {
            let own = match self.graph.module().row(stmt) {
                Some(row) if row.video.is_some() => COST,
                Some(_) | None => 1,
            };
            Price { own, parts: [None; 2] }
        }
    }
}

fn text() -> String {
    crate::rules::example_module(BODY)
}

fn searched(it: &Fixture<'_, '_>, uses: &mut Uses<'_, '_, '_>, places: &[Place]) {
    Search { nodes: &it.nodes, places, near: &OnceCell::new(), pays: &pays }.everywhere(uses);
}

fn pays(gain: &Gain<'_>) -> bool {
    gain.saved > 0
}

#[test]
fn a_choice_is_taken_back_without_a_trace() {
    let text = text();
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let mut it = fixture(&module);
    let (one, other) = (it.candidate(it.stmts[1], 0, 1, 2, 3), it.candidate(it.stmts[1], 1, 2, 1, 1));
    let price = it.price();
    let mut uses = Uses::of(&it.graph, &BTreeSet::new(), true, &price, it.stmts);
    assert_eq!(uses.total(), 0);
    uses.choose(&it.nodes, it.stmts[1], Some(Rc::clone(&one)));
    // The byte move that only the old text read goes with it.
    assert_eq!((uses.total(), uses.gone().len()), (5 - 10 - 1, 1));
    let gone = uses.gone()[0];
    assert!(!uses.is_present(gone));
    uses.choose(&it.nodes, it.stmts[1], Some(other));
    assert_eq!(uses.total(), 2 - 10 - 1);
    uses.choose(&it.nodes, it.stmts[1], None);
    assert_eq!(uses.total(), 0);
    assert!(uses.is_present(gone) && uses.refs(one.nodes[0]) == 0);
}

#[test]
fn what_becomes_unused_stays_if_nothing_is_deleted() {
    let text = text();
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let mut it = fixture(&module);
    let one = it.candidate(it.stmts[1], 0, 1, 2, 3);
    let price = it.price();
    let mut uses = Uses::of(&it.graph, &BTreeSet::new(), false, &price, it.stmts);
    uses.choose(&it.nodes, it.stmts[1], Some(one));
    assert_eq!((uses.total(), uses.gone().len()), (5 - 10, 0));
}

#[test]
fn a_shared_node_is_paid_for_once() {
    let text = text();
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let mut it = fixture(&module);
    let both = it.stmts.map(|stmt| it.candidate(stmt, 0, 1, 4, 1));
    let price = it.price();
    let mut uses = Uses::of(&it.graph, &BTreeSet::new(), false, &price, it.stmts);
    for (stmt, candidate) in it.stmts.into_iter().zip(both) {
        uses.choose(&it.nodes, stmt, Some(candidate));
    }
    assert_eq!(uses.total(), 4 + 1 + 1 - 20);
}

/// What is chosen where each of two statements has a spelling whose first step costs so much, the same one or not.
fn chosen(marks: [u64; 2], first: u32) -> [bool; 2] {
    let text = text();
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let mut it = fixture(&module);
    let stmts = it.stmts;
    let places = [0, 1].map(|at| Place {
        stmt: stmts[at],
        candidates: vec![it.candidate(stmts[at], 0, marks[at], first, 1)],
    });
    let price = it.price();
    let mut uses = Uses::of(&it.graph, &BTreeSet::new(), false, &price, stmts);
    searched(&it, &mut uses, &places);
    stmts.map(|stmt| uses.chosen(stmt).is_some())
}

/// The places near the first of the statements of a body.
fn near_the_first(body: &str) -> Vec<usize> {
    let text = crate::rules::example_module(body);
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let graph =
        Graph::new(&module, functions(&module).remove(0), Semantics::Undisputed).expect("it can be modelled");
    let stmts = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
    let of_body = stmts.filter(|&stmt| module.stmt_text(stmt).starts_with(b"not"));
    let places: Vec<Place> = of_body.map(|stmt| Place { stmt, candidates: Vec::new() }).collect();
    let price = |_| Price::default();
    let uses = Uses::of(&graph, &BTreeSet::new(), true, &price, []);
    Near::of(&uses, &Nodes::default(), &places).around([0])
}

#[test]
fn what_is_made_of_a_result_is_near_and_what_is_made_of_that() {
    let chain = "not.b32 %e, %a; not.b32 %f, %e; not.b32 %r0, %f; not.b32 %r1, %r0; not.b32 %d, %r1;";
    assert_eq!(near_the_first(chain), [0, 1, 2]);
}

#[test]
fn what_reads_the_same_is_near_unless_many_read_it() {
    let readers = |count: usize| near_the_first(&"not.b32 %r0, %a; ".repeat(count));
    assert_eq!(readers(32), (0..32).collect::<Vec<_>>());
    assert_eq!(readers(33), [0]);
}

#[test]
fn what_pays_alone_is_chosen() {
    assert_eq!(chosen([1, 2], COST - 2), [true, true]);
}

#[test]
fn what_pays_only_together_is_chosen_together() {
    assert_eq!(chosen([1, 1], 2 * COST - 3), [true, true]);
}

#[test]
fn of_spellings_that_may_cost_the_same_the_one_that_may_cost_less_is_chosen() {
    let text = text();
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let mut it = fixture(&module);
    let stmt = it.stmts[1];
    let [one, other] = [0, 1].map(|number| it.candidate(stmt, number, number as u64 + 1, 2, 3));
    let least = Rc::new(Candidate { least: 3, ..(*other).clone() });
    let price = it.price();
    let chosen = |candidates: [&Rc<Candidate>; 2]| {
        let mut uses = Uses::of(&it.graph, &BTreeSet::new(), true, &price, it.stmts);
        searched(&it, &mut uses, &[Place { stmt, candidates: candidates.map(Rc::clone).into() }]);
        uses.chosen(stmt).expect("it pays").number
    };
    assert_eq!((chosen([&one, &other]), chosen([&one, &least])), (0, 1));
}

#[test]
fn what_shares_nothing_and_does_not_pay_alone_stays() {
    assert_eq!(chosen([1, 2], 2 * COST - 3), [false, false]);
}

#[test]
fn what_does_not_pay_even_together_stays() {
    assert_eq!(chosen([1, 1], 2 * COST - 2), [false, false]);
}

/// What is chosen where a word is computed once and read twice, and each reader can do without it, which costs so much
/// in place of one instruction.
fn doing_without(read_once_more: bool, instead: u32) -> [bool; 2] {
    const DEAR: &str = "vmax4.u32.u32.u32 %r0, %a, %b, %c; add.u32 %e, %r0, %a; sub.u32 %f, %r0, %a;\n\
         vmin4.u32.u32.u32 %d, %e, %f, %c;";
    let more = if read_once_more { "st.global.b32 [%in], %r0;" } else { "" };
    let text = crate::rules::example_module(&format!("{DEAR} {more}"));
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let mut it = fixture(&module);
    let named = |start: &str| {
        let stmts = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
        let mut found = stmts.filter(|&stmt| module.stmt_text(stmt).starts_with(start.as_bytes()));
        found.next().expect("it is there")
    };
    let readers = ["add", "sub"].map(named);
    // A spelling of the word itself keeps it among the places.
    let mut places =
        vec![Place { stmt: it.stmts[0], candidates: vec![it.candidate(it.stmts[0], 0, 9, 99, 99)] }];
    for (at, stmt) in readers.into_iter().enumerate() {
        let mark = if at == 0 { 1 } else { 2 };
        places.push(Place { stmt, candidates: vec![it.candidate(stmt, 0, mark, instead - 1, 1)] });
    }
    places.sort_by_key(|place| place.stmt);
    let price = it.price();
    let mut uses = Uses::of(&it.graph, &BTreeSet::new(), true, &price, it.stmts);
    searched(&it, &mut uses, &places);
    readers.map(|stmt| uses.chosen(stmt).is_some())
}

#[test]
fn a_word_goes_when_all_that_read_it_can_do_without() {
    // Two instructions become twelve, and one of ten goes.
    assert_eq!(doing_without(false, COST / 2), [true, true]);
}

#[test]
fn a_word_that_is_read_elsewhere_too_stays_and_is_read() {
    assert_eq!(doing_without(true, COST / 2), [false, false]);
}

#[test]
fn a_word_that_costs_less_than_doing_without_stays() {
    assert_eq!(doing_without(false, COST / 2 + 1), [false, false]);
}

/// Whether two words, the second made of the first, go where both readers of the second can be made of the first, or, for
/// so much, of neither.
fn going_further_back(from_first: u32, from_neither: u32) -> bool {
    const DEAR: &str = "vmax4.u32.u32.u32 %r0, %a, %b, %c; vmin4.u32.u32.u32 %r1, %r0, %b, %c;\n\
         add.u32 %e, %r1, %a; sub.u32 %f, %r1, %a; xor.b32 %d, %e, %f;";
    let text = crate::rules::example_module(DEAR);
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let mut it = fixture(&module);
    let [first, second] = it.stmts;
    let word = it.graph.results(first).next().expect("it has a result");
    // A spelling of the second word itself keeps it among the places.
    let mut places = vec![Place { stmt: second, candidates: vec![it.candidate(second, 0, 9, 99, 99)] }];
    let stmts = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
    let readers: Vec<StmtId> = stmts.filter(|&stmt| stmt > second).take(2).collect();
    for (&stmt, mark) in readers.iter().zip([1, 3]) {
        let of_first = it.candidate(stmt, 0, mark, from_first - 1, 1);
        let of_first = Rc::new(Candidate { values: vec![word], ..Candidate::clone(&of_first) });
        let of_neither = it.candidate(stmt, 1, mark + 1, from_neither - 1, 1);
        places.push(Place { stmt, candidates: vec![of_first, of_neither] });
    }
    let price = it.price();
    let mut uses = Uses::of(&it.graph, &BTreeSet::new(), true, &price, it.stmts);
    searched(&it, &mut uses, &places);
    !uses.is_present(first) && !uses.is_present(second)
}

#[test]
fn dearer_spellings_that_go_further_back_take_all_between_away() {
    assert!(going_further_back(COST / 2 + 2, COST - 1));
}

#[test]
fn spellings_that_go_further_back_and_cost_more_than_what_goes_are_not_chosen() {
    assert!(!going_further_back(COST / 2 + 2, COST + 2));
}
