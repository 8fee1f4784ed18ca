//! Every candidate of every form is right for all inputs.
//!
//! Candidates are written as text, and the text is parsed and given its meaning by the table of instructions; the
//! prover decides whether it is that of the form. The core matrix, all operations with all types, all lanes and their
//! own places, is proved in full; masks, selectors and constant operands are drawn by a fixed generator.

use super::{Answer, Available, Layout, masks, spellings, spellings_between};
use crate::graph::{Graph, ValueId};
use crate::recipe::{Code, Recipe, Source, Step};
use crate::rules::example_module;
use crate::rules::matrix::Dice;
use hashbrown::HashMap;
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::meaning::video::result;
use ptxopt_grammar::meaning::{Place, meaning};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::{StmtId, StmtKind};
use ptxopt_grammar::video::{Compare, Form, Lanes, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};
use ptxopt_prover::{Prover, Query, Verdict};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

const WITH: Available = Available { lop3: true };

/// All operations, with all types.
fn operations() -> Vec<(SimdOp, Sign, Sign)> {
    use SimdArithmetic::{AbsDiff, Add, Average, Max, Min, Sub};
    let mut all = Vec::new();
    for (atype, btype) in Sign::ALL.into_iter().flat_map(|a| Sign::ALL.map(|b| (a, b))) {
        for op in [Add, Sub, Average, AbsDiff, Min, Max] {
            for dtype in Sign::ALL {
                for then in [SimdThen::Store, SimdThen::Saturate, SimdThen::Add] {
                    all.push((SimdOp::Arithmetic { op, dtype, then }, atype, btype));
                }
            }
        }
        for compare in Compare::ALL {
            for accumulate in [false, true] {
                all.push((SimdOp::Set { compare, accumulate }, atype, btype));
            }
        }
    }
    all
}

/// The forms that compute all lanes, each from its own place.
fn core() -> Vec<Simd> {
    let of = |lanes| {
        operations().into_iter().map(move |(op, atype, btype)| Simd {
            op,
            atype,
            btype,
            routing: Routing::plain(lanes),
        })
    };
    of(Lanes::Four).chain(of(Lanes::Two)).collect()
}

/// Masks and selectors.
fn routing(dice: &mut Dice, lanes: Lanes) -> Routing {
    let count = lanes.count();
    let full = usize::from(lanes.full_mask());
    let plain = Routing::plain(lanes);
    let mask = u8::try_from(1 + dice.below(full)).expect("it is at most the full mask");
    let any = |dice: &mut Dice, below: u8| -> Vec<u8> {
        (0..count).map(|_| u8::try_from(dice.below(below.into())).expect("it is small")).collect()
    };
    let own = |first: u8| (first..first + count).collect::<Vec<u8>>();
    let (a, b) = match dice.below(6) {
        0 | 1 => (own(0), own(count)),
        2 => (own(0), any(dice, 2 * count)),
        3 => (any(dice, count), own(count)),
        4 => {
            // Each pair from the same lane: nothing need be moved before.
            let picks = any(dice, count);
            let second = picks.iter().map(|pick| pick + count).collect();
            (picks, second)
        }
        _ => (any(dice, 2 * count), any(dice, 2 * count)),
    };
    let mask = if dice.below(3) == 0 { lanes.full_mask() } else { mask };
    let routing = plain.masked(mask).expect("at least one lane");
    routing.selected(&a, &b).expect("picks are in range")
}

/// The module around statements, and its values `a`, `b` and `c`.
fn with_values<T>(work: impl FnOnce(&Graph<'_, '_>, [Source; 3]) -> T) -> T {
    let text = example_module("");
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is written here");
    let function = functions(&module).remove(0);
    let body = function.body.clone();
    let graph = Graph::new(&module, function, Semantics::Undisputed).expect("it can be modelled");
    let named = |name: &str| {
        let values = body.clone().filter_map(StmtId::new).flat_map(|stmt| graph.results(stmt));
        let of = |value: &ValueId| {
            let register = graph.register_of(*value).and_then(|register| graph.register_text(register));
            register.as_deref() == Some(name)
        };
        Source::Value(values.into_iter().find(of).expect("it is loaded"))
    };
    let values = ["%a", "%b", "%c"].map(named);
    work(&graph, values)
}

/// What recipes compute, read from their text; `inputs` are what `%a`, `%b` and `%c` hold.
fn computed(terms: &mut Terms, graph: &Graph<'_, '_>, recipes: &[Recipe], inputs: [Term; 3]) -> Vec<Term> {
    let (mut body, mut declared) = (String::new(), String::new());
    for (number, recipe) in recipes.iter().enumerate() {
        let fresh = |step: usize| format!("%t{number}_{step}");
        let text = recipe.text(graph, &format!("%result{number}"), &fresh).expect("it can be written");
        for (name, width) in text.fresh {
            let ty = if width == 1 { "pred".to_owned() } else { format!("b{width}") };
            writeln!(declared, ".reg .{ty} {name};").expect("a string grows");
        }
        writeln!(declared, ".reg .b32 %result{number};").expect("a string grows");
        body += &text.lines.join("\n");
        body.push('\n');
    }
    let text = example_module(&format!("{declared}{body}"));
    let module = ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{text}\n{all:?}"));
    let mut registers: HashMap<String, Term> = HashMap::new();
    for (name, term) in ["%a", "%b", "%c"].into_iter().zip(inputs) {
        registers.insert(name.to_owned(), term);
    }
    let body = functions(&module).remove(0).body;
    let name = |place: Place| String::from_utf8_lossy(place.text(&module)).into_owned();
    for stmt in body.filter_map(StmtId::new).filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
        let line = String::from_utf8_lossy(module.stmt_text(stmt)).into_owned();
        if ["ld.", "st.", "ret"].iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let mut read = |_: &mut Terms, place: Place, _: u32| registers.get(&name(place)).copied();
        let writes = meaning(&module, stmt, terms, &mut read).unwrap_or_else(|| panic!("no meaning: {line}"));
        for write in writes {
            registers.insert(name(write.place), write.value);
        }
    }
    (0..recipes.len()).map(|number| registers[&format!("%result{number}")]).collect()
}

/// What is wrong with the candidates of a form.
fn faults(
    prover: &mut Prover,
    form: Simd,
    constants: [Option<u32>; 3],
    with: Available,
) -> (usize, Vec<String>) {
    with_values(|graph, values| {
        let mut sources = values;
        let mut terms = Terms::new();
        let mut inputs = [0, 1, 2].map(|number| terms.input(number, 32));
        for (at, constant) in constants.into_iter().enumerate() {
            if let Some(constant) = constant {
                sources[at] = Source::Constant(constant.into());
                inputs[at] = terms.constant(constant.into(), 32);
            }
        }
        let before = result(&mut terms, Form::Simd(form), inputs);
        let recipes = spellings(&form, &sources, with);
        for step in recipes.iter().flat_map(|recipe| &recipe.steps) {
            if let Code::Video(form) = step.code {
                assert!(disputed(form).is_none(), "{form} means different things to different assemblers");
            }
        }
        let results = computed(&mut terms, graph, &recipes, inputs);
        let mut faults = Vec::new();
        for (recipe, after) in recipes.iter().zip(results) {
            let verdict = prover.decide(&Query::new(&terms, vec![before], vec![after]));
            if !matches!(verdict, Verdict::Proved(_)) {
                let text = recipe.text(graph, "%d", &|step| format!("%t{step}"));
                let text = text.expect("it can be written").lines.join(" ");
                let verdict =
                    if verdict == Verdict::Unproved { "unproved".to_owned() } else { format!("{verdict:?}") };
                let picks = (form.routing.mask(), form.routing.a(), form.routing.b());
                faults.push(format!("{verdict}: {} {picks:?} {constants:x?}: {text}", Form::Simd(form)));
            }
        }
        (recipes.len(), faults)
    })
}

/// Proves all candidates of forms, on all cores; how many there were.
fn prove(forms: &[(Simd, [Option<u32>; 3])], with: Available) -> usize {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let work = || {
        let mut prover = Prover::new();
        let (mut count, mut all) = (0, Vec::new());
        while let Some(&(form, constants)) = forms.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (own, faults) = faults(&mut prover, form, constants, with);
            count += own;
            all.extend(faults);
        }
        (count, all)
    };
    let (count, faults) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = threads.into_iter().map(|thread| thread.join().expect("proofs do not panic"));
        done.fold((0, Vec::new()), |(count, mut all), (own, faults)| {
            all.extend(faults);
            (count + own, all)
        })
    });
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
    count
}

#[test]
fn every_candidate_of_the_core_matrix_is_proved() {
    let forms: Vec<_> = core().into_iter().map(|form| (form, [None; 3])).collect();
    let count = prove(&forms, WITH);
    assert!(count > 10 * forms.len() / 3, "{count} candidates of {} forms", forms.len());
}

#[test]
fn candidates_without_lop3_are_proved() {
    let forms: Vec<_> = core().into_iter().map(|form| (form, [None; 3])).collect();
    prove(&forms, Available { lop3: false });
}

#[test]
fn every_candidate_of_a_comparison_in_other_bits_is_proved() {
    let mut prover = Prover::new();
    let mut count = 0;
    let availables = [true, false].map(|lop3| Available { lop3 });
    let ways =
        availables.into_iter().flat_map(|with| [Answer::Ones, Answer::Highest].map(|answer| (with, answer)));
    for (form, (with, answer)) in core().into_iter().flat_map(|form| ways.clone().map(move |way| (form, way)))
    {
        let bits = form.routing.lanes().bits();
        let one = match answer {
            Answer::Ones => (1 << bits) - 1,
            Answer::Highest => 1 << (bits - 1),
        };
        with_values(|graph, values| {
            let mut terms = Terms::new();
            let inputs = [0, 1, 2].map(|number| terms.input(number, 32));
            let compared = result(&mut terms, Form::Simd(form), inputs);
            let factor = terms.constant(one, 32);
            let before = terms.mul(compared, factor);
            let recipes = masks(&[], &form, &values, (0, &[]), (with, answer));
            let is_comparison = matches!(form.op, SimdOp::Set { accumulate: false, .. });
            assert_eq!(recipes.is_empty(), !is_comparison, "{form:?}");
            for (recipe, after) in recipes.iter().zip(computed(&mut terms, graph, &recipes, inputs)) {
                let verdict = prover.decide(&Query::new(&terms, vec![before], vec![after]));
                assert!(matches!(verdict, Verdict::Proved(_)), "{}: {recipe:?}", Form::Simd(form));
            }
            count += recipes.len();
        });
    }
    assert!(count > 0);
}

#[test]
fn a_comparison_of_some_lanes_is_not_made_in_all_bits() {
    let op = SimdOp::Set { compare: Compare::Gt, accumulate: false };
    let routing = Routing::plain(Lanes::Four).masked(0b0111).expect("it is a mask");
    let form = Simd { op, atype: Sign::Unsigned, btype: Sign::Unsigned, routing };
    with_values(|_, values| assert!(masks(&[], &form, &values, (0, &[]), (WITH, Answer::Ones)).is_empty()));
}

#[test]
fn candidates_for_masks_selectors_and_constants_are_proved() {
    let mut dice = Dice(1);
    let mut forms = Vec::new();
    for lanes in [Lanes::Four, Lanes::Two] {
        for (op, atype, btype) in operations() {
            let form = Simd { op, atype, btype, routing: routing(&mut dice, lanes) };
            let mut constants = [None; 3];
            if dice.below(3) == 0 {
                let value = dice.pick(&[0, 0xffff_ffff, 0x0102_0304, 0xff80_7f01, 0x8000_0000, 0x7fff_8081]);
                constants[dice.below(3)] = Some(value);
            }
            forms.push((form, constants));
        }
    }
    prove(&forms, WITH);
}

#[test]
fn equal_choices_give_equal_steps() {
    // A minimum and a maximum of one pair share the mask of their comparison.
    with_values(|_, sources| {
        let [min, max] = [SimdArithmetic::Min, SimdArithmetic::Max].map(|op| {
            let op = SimdOp::Arithmetic { op, dtype: Sign::Unsigned, then: SimdThen::Store };
            let (atype, btype) = (Sign::Unsigned, Sign::Unsigned);
            spellings(&Simd { op, atype, btype, routing: Routing::plain(Lanes::Four) }, &sources[..2], WITH)
        });
        let shared = |min: &Recipe, max: &Recipe| {
            let steps = min.steps.len();
            steps == 6 && max.steps.len() == steps && min.steps[..steps - 1] == max.steps[..steps - 1]
        };
        assert!(min.iter().any(|min| max.iter().any(|max| shared(min, max))));
    });
}

/// A mean of bytes rounded down is one rounded up of inverted words, inverted.
#[test]
fn inversions_around_a_mean_are_folded_and_proved() {
    let op = SimdOp::Arithmetic { op: SimdArithmetic::Average, dtype: Sign::Unsigned, then: SimdThen::Store };
    let form =
        Simd { op, atype: Sign::Unsigned, btype: Sign::Unsigned, routing: Routing::plain(Lanes::Four) };
    with_values(|graph, [a, b, c]| {
        let inverted = |source| Step::plain(op::NOT_B32, &[source]);
        let sources = [Source::Step(0), Source::Step(1)];
        let behind = [inverted(Source::Step(2)), Step::plain(op::XOR_B32, &[Source::Step(3), c])];
        let spelled = |behind: &[Step]| {
            spellings_between(&[inverted(a), inverted(b)], &form, &sources, (2, behind), (WITH, Layout::Any))
        };
        let shortest = spelled(&behind[..1]).iter().map(|recipe| recipe.steps.len()).min();
        assert_eq!(shortest, Some(4), "two of logic, a shift, a sum");
        let mut terms = Terms::new();
        let inputs = [0, 1, 2].map(|number| terms.input(number, 32));
        let words = inputs.map(|input| terms.not(input));
        let mean = result(&mut terms, Form::Simd(form), words);
        let mean = terms.not(mean);
        let before = terms.xor(mean, inputs[2]);
        let recipes = spelled(&behind);
        for (recipe, after) in recipes.iter().zip(computed(&mut terms, graph, &recipes, inputs)) {
            let verdict = Prover::new().decide(&Query::new(&terms, vec![before], vec![after]));
            assert!(matches!(verdict, Verdict::Proved(_)), "{recipe:?}");
        }
    });
}
