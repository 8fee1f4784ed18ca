//! What is recognised: the intrinsics of CUDA in the spellings of NVIDIA's compilers, and nothing that is nearly one.

use super::RULES;
use crate::graph::{Graph, Origin, ValueId};
use crate::recipe::{Code, Recipe, Source};
use crate::rules::example_module;
use crate::site::{Knowledge, Site};
use crate::verify::{Check, Judgement, Rewrite, Verifier};
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use ptxopt_grammar::video::Form;
use std::cell::RefCell;

/// The 82 functions as a compiler spells them.
struct Producer {
    name: &'static str,
    text: &'static str,
    /// How many are one instruction on words, packed or video, so that there is nothing to recognise.
    native: usize,
}

static PRODUCERS: [Producer; 4] = [
    Producer {
        name: "NVRTC 11.8, compute_61",
        text: include_str!("../../../../tests/intrinsics/nvrtc-11.8-compute_61.ptx"),
        native: 2,
    },
    Producer {
        name: "NVRTC 12.9, compute_61",
        text: include_str!("../../../../tests/intrinsics/nvrtc-12.9-compute_61.ptx"),
        native: 5,
    },
    Producer {
        name: "NVRTC 13.5, compute_90",
        text: include_str!("../../../../tests/intrinsics/nvrtc-13.5-compute_90.ptx"),
        native: 10,
    },
    Producer {
        name: "NVRTC 13.5, compute_120f",
        text: include_str!("../../../../tests/intrinsics/nvrtc-13.5-compute_120f.ptx"),
        native: 10,
    },
];

/// A function, and what is said of the word that it stores.
struct Seen<'g, 'm, 't> {
    graph: &'g Graph<'m, 't>,
    knowledge: Knowledge,
    /// The statements that compute the word: the last one, and moves of its result.
    roots: Vec<StmtId>,
}

impl<'g, 'm, 't> Seen<'g, 'm, 't> {
    fn of(graph: &'g Graph<'m, 't>) -> Self {
        let module = graph.module();
        let stmts = graph.function().body.clone().filter_map(StmtId::new);
        let instructions = stmts.filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
        let store = instructions.clone().find(|&stmt| module.row(stmt).is_some_and(|row| row.is(op::ST)));
        let store = store.expect("the functions store a word");
        let word =
            graph.accesses(store).map(|(_, value)| value).find(|&value| graph.value(value).width == 32);
        let mut roots = Vec::new();
        let mut next = word;
        while let Some(value) = next.take() {
            let Origin::Result(stmt) = graph.value(value).origin else { break };
            roots.push(stmt);
            if let Some(Some(Source::Value(from))) = graph.step(stmt).map(|step| step.copied()) {
                next = Some(from);
            }
        }
        Self { graph, knowledge: Knowledge::of(graph), roots }
    }

    /// Whether a value is a word from memory.
    fn is_loaded(&self, value: ValueId) -> bool {
        let module = self.graph.module();
        let Origin::Result(stmt) = self.graph.value(value).origin else { return false };
        match self.graph.step(stmt).and_then(|step| step.copied()) {
            Some(Source::Value(from)) => self.is_loaded(from),
            _ => module.row(stmt).is_some_and(|row| row.is(op::LD)),
        }
    }

    /// Whether the word is one instruction on words from memory and numbers.
    fn is_native(&self) -> bool {
        let last = self.roots.last().and_then(|&stmt| self.graph.step(stmt));
        last.is_some_and(|step| {
            // What is a video instruction already may be one of inverted words.
            matches!(step.code, Code::Video(_))
                || step.sources.iter().all(|&source| match source {
                    Source::Value(value) => {
                        self.is_loaded(value) || self.knowledge.constant(source).is_some()
                    }
                    Source::Constant(_) | Source::Step(_) => true,
                })
        })
    }

    /// What is proposed for the word.
    fn proposals(&self) -> Vec<(StmtId, ValueId, Recipe)> {
        let mut all = Vec::new();
        for &stmt in &self.roots {
            let (Some(step), Some(value)) = (self.graph.step(stmt), self.graph.results(stmt).next()) else {
                continue;
            };
            let result = self.knowledge.core_fact(self.graph, value);
            let demanded = self.knowledge.demanded[value.index()];
            let asked = RefCell::default();
            let site = Site {
                graph: self.graph,
                knowledge: &self.knowledge,
                value,
                step: &step,
                demanded,
                result: &result,
                asked: &asked,
            };
            let mut made = Vec::new();
            (RULES[0].propose)(&site, &mut made);
            all.extend(made.into_iter().map(|recipe| (stmt, value, recipe)));
        }
        all
    }

    /// Whether the word is proved to be one SIMD instruction of words from memory.
    fn is_recognised(&self, verifier: &mut Verifier) -> bool {
        self.proposals().iter().any(|(stmt, value, recipe)| {
            let simd = |code: &Code| matches!(code, Code::Video(Form::Simd(_)));
            let one = recipe.steps.iter().filter(|step| simd(&step.code)).count() == 1;
            one && recipe.values().all(|value| self.is_loaded(value))
                && is_proved(self, verifier, (*stmt, *value), recipe)
        })
    }
}

/// Whether a recipe is proved; numbers get registers, since SIMD instructions have no numbers in their text.
fn is_proved(
    seen: &Seen<'_, '_, '_>,
    verifier: &mut Verifier,
    (stmt, value): (StmtId, ValueId),
    recipe: &Recipe,
) -> bool {
    let recipe = with_registers(recipe);
    let register = seen.graph.register_of(value).and_then(|register| seen.graph.register_text(register));
    let to = register.expect("a result has a register");
    let text = recipe.text(seen.graph, &to, &|step| format!("%new{step}")).expect("it can be written");
    let rewrite = Rewrite { stmt, value, recipe: &recipe, text: &text, meant: None, guessed: false };
    matches!(verifier.verify(seen.graph, &seen.knowledge, &rewrite), Judgement::Proved(_))
}

fn with_registers(recipe: &Recipe) -> Recipe {
    use crate::recipe::Step;
    let mut steps: Vec<Step> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for step in &recipe.steps {
        let simd = matches!(step.code, Code::Video(Form::Simd(_)));
        let mut step = step.over(|source| match *source {
            Source::Step(at) => Source::Step(places[at]),
            Source::Value(_) | Source::Constant(_) => *source,
        });
        for source in step.sources.iter_mut().filter(|_| simd) {
            if matches!(source, Source::Constant(_)) {
                steps.push(Step::copy(*source, 32));
                *source = Source::Step(steps.len() - 1);
            }
        }
        steps.push(step);
        places.push(steps.len() - 1);
    }
    Recipe::of(steps)
}

fn with_graphs(text: &str, mut each: impl FnMut(&str, &Graph<'_, '_>)) {
    let module: Module<'_> = ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{all:?}"));
    for function in functions(&module) {
        let name = function.name.clone();
        let graph = Graph::new(&module, function, Semantics::Undisputed).expect("it can be modelled");
        each(&name, &graph);
    }
}

#[test]
fn all_intrinsics_of_cuda_are_recognised_in_the_spellings_of_its_compilers() {
    for producer in &PRODUCERS {
        let mut verifier = Verifier::new(Check::Proved);
        let (mut count, mut native, mut unrecognised) = (0, 0, Vec::new());
        with_graphs(producer.text, |name, graph| {
            let seen = Seen::of(graph);
            count += 1;
            verifier.begin(name);
            if seen.is_native() {
                native += 1;
            } else if !seen.is_recognised(&mut verifier) {
                unrecognised.push(name.to_owned());
            }
        });
        assert_eq!(count, 82, "{}", producer.name);
        assert_eq!((native, unrecognised), (producer.native, Vec::<String>::new()), "{}", producer.name);
    }
}

fn is_recognised(body: &str) -> bool {
    let mut recognised = None;
    with_graphs(&example_module(body), |_, graph| {
        recognised = Some(Seen::of(graph).is_recognised(&mut Verifier::new(Check::Proved)));
    });
    recognised.expect("there is a function")
}

/// Whether nothing is proposed at all.
fn is_left_alone(body: &str) -> bool {
    let mut left = None;
    with_graphs(&example_module(body), |_, graph| left = Some(Seen::of(graph).proposals().is_empty()));
    left.expect("there is a function")
}

const SUM: &str = "and.b32 %e, %a, 0x7f7f7f7f; and.b32 %f, %b, 0x7f7f7f7f; add.s32 %e, %e, %f; \
                   xor.b32 %f, %a, %b; and.b32 %f, %f, 0x80808080; xor.b32 %d, %e, %f;";

#[test]
fn a_sum_of_bytes_is_recognised_and_nothing_that_is_nearly_one() {
    assert!(is_recognised(SUM));
    for (was, is) in [
        ("%b, 0x7f7f7f7f", "%b, 0x7f7f7f7e"),
        ("0x80808080", "0x80808000"),
        ("xor.b32 %f, %a, %b", "or.b32 %f, %a, %b"),
        ("add.s32", "sub.s32"),
        ("xor.b32 %d", "or.b32 %d"),
    ] {
        assert!(SUM.contains(was));
        assert!(is_left_alone(&SUM.replacen(was, is, 1)), "{is}");
    }
}

#[test]
fn a_mean_is_recognised_with_either_rounding_and_not_by_another_shift() {
    let up = "or.b32 %e, %a, %b; xor.b32 %f, %a, %b; and.b32 %f, %f, 0xfefefefe; shr.u32 %f, %f, 1; sub.s32 %d, %e, %f;";
    let down = "and.b32 %e, %a, %b; xor.b32 %f, %a, %b; shr.u32 %f, %f, 1; and.b32 %f, %f, 0x7f7f7f7f; add.s32 %d, %e, %f;";
    assert!(is_recognised(up) && is_recognised(down));
    for near in [
        up.replace("%f, 1;", "%f, 2;"),
        up.replace("0xfefefefe", "0xfefefeff"),
        down.replace("0x7f7f7f7f", "0x7f7fff7f"),
    ] {
        assert!(is_left_alone(&near), "{near}");
    }
}

#[test]
fn a_word_whose_register_is_overwritten_is_still_a_leaf() {
    let body = SUM.replace("and.b32 %e, %a,", "mov.b32 %r0, %a; and.b32 %e, %r0,");
    let body = body.replace("xor.b32 %f, %a, %b;", "xor.b32 %f, %r0, %b; mov.b32 %r0, 0;");
    assert!(is_recognised(&body));
}

#[test]
fn what_a_guard_may_leave_as_it_was_is_not_looked_through() {
    let body =
        format!("setp.ne.s32 %p0, %c, 0; mov.b32 %e, 0; {SUM}").replace("and.b32 %e", "@%p0 and.b32 %e");
    assert!(is_left_alone(&body));
}

#[test]
fn code_without_a_mask_of_lanes_is_left_alone() {
    assert!(is_left_alone("add.s32 %e, %a, %b; and.b32 %d, %e, 255;"));
    // A sum of bytes without carries, since only one is there.
    assert!(is_left_alone("and.b32 %e, %a, 255; and.b32 %f, %b, 255; add.s32 %d, %e, %f;"));
}
