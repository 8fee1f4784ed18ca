//! A word taken apart and put together is the same word, only that is added, and only where it may be worth it.

use super::{Kept, Moves, Style, checked, chosen, frequencies, keeps};
use crate::cost::{Costs, Gpu};
use crate::graph::Graph;
use crate::optimiser::record::Kind;
use crate::optimiser::splice::Fresh;
use crate::optimiser::visible::declarations;
use crate::rules::example_module;
use hashbrown::HashMap;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::meaning::{Place, meaning};
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use ptxopt_prover::{Query, Verdict, prove};
use std::collections::BTreeMap;

/// A loop that adds and compares bytes, with `%h` carried around it.
const LOOP: &str = "mov.b32 %r0, 0; mov.b32 %r1, 0;\nstep: vadd4.u32.u32.u32.sat %r1, %r1, %a, %a;\n\
     vmax4.u32.u32.u32 %r1, %r1, %b, %b;\nadd.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, %c; @%p0 bra step;\n\
     mov.b32 %d, %r1;";

fn parsed(text: &str) -> Module<'_> {
    ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{text}\n{all:?}"))
}

fn graph<'m, 't>(module: &'m Module<'t>) -> Graph<'m, 't> {
    Graph::new(module, functions(module).remove(0), Semantics::Undisputed).expect("it can be modelled")
}

/// The names of the registers that are kept as halves on a GPU.
fn kept(body: &str, gpu: &str) -> Vec<String> {
    let text = example_module(body);
    let module = parsed(&text);
    let graph = graph(&module);
    let gpu = Gpu::named(gpu).expect("it is known");
    let kept = chosen(&graph, Costs::on(&[gpu]), &declarations(&module));
    kept.into_keys().filter_map(|register| graph.register_text(register)).collect()
}

/// What the check finds wrong if `%r1` is kept whatever it is, and what stands there then.
fn wrong(body: &str, style: Style) -> Option<(Kind, Vec<String>)> {
    let text = example_module(body);
    let module = parsed(&text);
    let graph = graph(&module);
    let stmts = graph.function().body.clone().filter_map(StmtId::new);
    let registers = stmts.flat_map(|stmt| graph.accesses(stmt)).map(|(access, _)| access.register);
    // The name may mean several: the first one that is written is the one outside.
    let mut named = registers.filter(|&it| graph.register_text(it).is_some_and(|name| name == "%r1"));
    let styles = BTreeMap::from([(named.next().expect("it is accessed"), style)]);
    let kept = Moves::of(&graph, &styles, &Fresh::new(text.as_bytes())).inserted();
    let (kept, bugs) = checked(&module, BTreeMap::from([(0, kept)]));
    assert_eq!(kept.len() + bugs.len(), 1, "it is kept or it is a bug");
    bugs.into_iter().next().map(|bug| (bug.kind, bug.after))
}

/// That it is right to keep `%r1`, in each style.
fn is_right(body: &str) {
    for style in [Style::Zeros, Style::Biased] {
        assert_eq!(wrong(body, style), None, "{style:?}: {body}");
    }
}

/// That the check finds that it is not, at a statement.
fn is_wrong(body: &str, stmt: &str, why: &str) {
    for style in [Style::Zeros, Style::Biased] {
        let (kind, at) = wrong(body, style).unwrap_or_else(|| panic!("{style:?}: nothing is wrong: {body}"));
        let Kind::Misplaced(reason) = &kind else { panic!("{kind:?}") };
        assert!(reason.contains(why) && at.join(" ").contains(stmt), "{reason}: {at:?}");
    }
}

#[test]
fn a_word_that_is_taken_apart_and_put_together_is_the_same() {
    for style in [Style::Zeros, Style::Biased] {
        let split = style.split("%a", "%r0", "%r1").join("\n");
        let join = style.join("%b", "%r0", "%r1").join("\n");
        let text = example_module(&format!("{split}\n{join}"));
        let module = parsed(&text);
        let mut terms = Terms::new();
        let word = terms.input(0, 32);
        let mut registers: HashMap<Vec<u8>, Term> = HashMap::from([(b"%a".to_vec(), word)]);
        let stmts = functions(&module).remove(0).body.filter_map(StmtId::new);
        let added = |&stmt: &StmtId| {
            let text = module.stmt_text(stmt);
            module.kind(stmt) == StmtKind::Instruction
                && (text.starts_with(b"prmt") || text.starts_with(b"xor"))
        };
        for stmt in stmts.filter(added) {
            let mut read = |_: &mut Terms, place: Place, _: u32| registers.get(place.text(&module)).copied();
            let writes = meaning(&module, stmt, &mut terms, &mut read).expect("it has a meaning");
            for write in writes {
                registers.insert(write.place.text(&module).to_vec(), write.value);
            }
        }
        let result = registers[b"%b".as_slice()];
        assert!(
            matches!(prove(&Query::new(&terms, vec![word], vec![result])), Verdict::Proved(_)),
            "{style:?}"
        );
    }
}

#[test]
fn only_moves_between_a_word_and_its_halves_are_added() {
    let text = example_module(LOOP);
    let module = parsed(&text);
    let graph = graph(&module);
    let gpu = Gpu::named("sm_90").expect("it is known");
    let fresh = Fresh::new(text.as_bytes());
    let kept = Kept::of(&graph, Costs::on(&[gpu]), &declarations(&module), &fresh);
    let kept = kept.expect("a loop may be worth it");
    let mut edits = Edits::new();
    let records = kept.insert(&mut edits);
    let edited = edits.apply(text.as_bytes()).expect("edits do not overlap").to_vec();
    let edited = String::from_utf8(edited).expect("it is text");
    let instructions = |module: &Module<'_>| -> Vec<String> {
        let stmts = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
        stmts.map(|stmt| String::from_utf8_lossy(module.stmt_text(stmt)).into_owned()).collect()
    };
    let mut all = instructions(&parsed(&edited));
    let count = all.len();
    all.retain(|text| !text.contains("%opts"));
    assert_eq!(all, instructions(&module), "{edited}");
    let added: usize = records.iter().map(|record| record.after.len() - 1).sum();
    assert_eq!(count - all.len(), added, "all of them are told");
}

#[test]
fn a_word_that_a_loop_carries_is_kept() {
    assert_eq!(kept(LOOP, "sm_90"), ["%a", "%b", "%r1"]);
}

#[test]
fn without_packed_halves_of_one_instruction_no_word_is_kept() {
    assert!(kept(LOOP, "sm_75").is_empty());
}

#[test]
fn a_word_that_may_be_undefined_is_not_kept() {
    let body = LOOP.replace("mov.b32 %r1, 0;", "");
    assert!(!kept(&body, "sm_90").contains(&"%r1".to_owned()));
}

#[test]
fn a_word_that_threads_exchange_is_not_kept() {
    // It may be written by a statement that is still at work.
    let with = |more: &str| LOOP.replace("mov.b32 %r1, 0;", &format!("mov.b32 %r1, 0; {more}"));
    assert!(kept(&with("@%p1 ld.global.b32 %r1, [%in];"), "sm_90").contains(&"%r1".to_owned()));
    let shuffle = "shfl.sync.idx.b32 %r1, %a, 0, 31, -1;";
    assert!(!kept(&with(shuffle), "sm_90").contains(&"%r1".to_owned()));
}

#[test]
fn a_word_that_threads_read_together_until_later_is_not_kept() {
    let with = |more: &str| LOOP.replace("mov.b32 %d, %r1;", &format!("mov.b32 %d, %r1; {more}"));
    assert!(kept(&with("shfl.sync.idx.b32 %e, %r1, 0, 31, -1;"), "sm_90").contains(&"%r1".to_owned()));
    let store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%a], {%r1};";
    assert!(!kept(&with(store), "sm_100").contains(&"%r1".to_owned()));
}

#[test]
fn a_word_that_is_read_behind_a_pragma_is_not_kept() {
    let with = |more: &str| LOOP.replace("mov.b32 %d, %r1;", &format!("{more}\nmov.b32 %d, %r1;"));
    assert!(kept(&with(""), "sm_90").contains(&"%r1".to_owned()));
    assert!(!kept(&with(".pragma \"nounroll\";"), "sm_90").contains(&"%r1".to_owned()));
}

#[test]
fn a_word_that_is_written_together_with_its_guard_is_not_kept() {
    let with = |more: &str| LOOP.replace("add.u32 %r0, %r0, 1;", &format!("add.u32 %r0, %r0, 1; {more}"));
    let function = |to: &str| with(&format!("@%p1 lop3.and.b32 %r1|{to}, %r1, %a, 0, 0x0f, %p2;"));
    let body = |to: &str| format!("setp.eq.u32 %p1, %a, 0; setp.eq.u32 %p2, %a, 1;\n{}", function(to));
    assert!(kept(&body("%p3"), "sm_90").contains(&"%r1".to_owned()));
    assert!(!kept(&body("%p1"), "sm_90").contains(&"%r1".to_owned()));
}

#[test]
fn a_word_whose_name_means_another_register_is_not_kept() {
    let hidden = |name: &str| {
        let declared = format!("mov.b32 %r0, 0; {{ .reg .b32 {name}; mov.b32 {name}, 0;");
        LOOP.replace("mov.b32 %r0, 0;", &declared)
            .replace("%r1", "%r01")
            .replace("mov.b32 %d, %r01;", "mov.b32 %d, %r01; }")
    };
    assert!(kept(&hidden("%x"), "sm_90").contains(&"%r1".to_owned()));
    assert!(!kept(&hidden("%r1"), "sm_90").contains(&"%r1".to_owned()));
}

#[test]
fn what_is_inserted_is_proved_to_change_nothing() {
    is_right(LOOP);
    is_right(&LOOP.replace("mov.b32 %r1, 0;", "mov.b32 %r1, 0; @%p1 ld.global.b32 %r1, [%in];"));
    is_right(&LOOP.replace("@%p0 bra", "@%p1 bra other; mov.b32 %r1, 5;\nother: @%p0 bra"));
    is_right(&LOOP.replace("mov.b32 %d, %r1;", "mov.b32 %r2, %r1; mov.b32 %r1, %r2; mov.b32 %d, %r1;"));
}

/// What was once written: the halves were taken from the old word where the new guard failed.
#[test]
fn the_check_finds_a_split_under_a_guard_that_the_write_has_changed() {
    let body = |to: &str| {
        let function = format!("@%p1 lop3.and.b32 %r1|{to}, %r1, %a, 0, 0x0f, %p2;");
        LOOP.replace("add.u32 %r0, %r0, 1;", &format!("add.u32 %r0, %r0, 1; {function}"))
            .replace("mov.b32 %r0, 0;", "mov.b32 %r0, 0; setp.eq.u32 %p1, %a, 0; setp.eq.u32 %p2, %a, 1;")
    };
    is_right(&body("%p3"));
    is_wrong(&body("%p1"), "@%p1", "a guard that the statement before it writes");
}

/// What was once written: the moves in the inner scope were of its own register.
#[test]
fn the_check_finds_a_name_that_means_another_register() {
    let hidden = |name: &str| {
        let declared = format!("mov.b32 %r01, 0; {{ .reg .b32 {name}; mov.b32 {name}, 0;");
        let body = LOOP.replace("%r1", "%r01").replace("mov.b32 %d, %r01;", "mov.b32 %d, %r01; }");
        body.replace("mov.b32 %r01, 0;", &declared)
    };
    is_right(&hidden("%x"));
    is_wrong(&hidden("%r1"), "%r1", "a register of another word, or of none");
}

#[test]
fn the_check_finds_a_word_that_may_be_undefined() {
    is_wrong(&LOOP.replace("mov.b32 %r1, 0;", ""), "prmt.b32 %r1", "may not have been written");
}

#[test]
fn the_check_finds_a_word_that_is_written_or_read_until_later() {
    let with = |more: &str| LOOP.replace("mov.b32 %d, %r1;", &format!("mov.b32 %d, %r1; {more}"));
    is_right(&with("shfl.sync.idx.b32 %e, %r1, 0, 31, -1;"));
    is_wrong(&with("tcgen05.st.sync.aligned.32x32b.x1.b32 [%a], {%r1};"), "tcgen05.st", "until later");
    is_wrong(&with("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%a];"), "tcgen05.ld", "until later");
}

#[test]
fn the_check_finds_moves_behind_a_pragma() {
    let with = |more: &str| LOOP.replace("mov.b32 %d, %r1;", &format!("next: {more}\nmov.b32 %d, %r1;"));
    is_right(&with(""));
    is_wrong(&with(".pragma \"nounroll\";"), "prmt.b32 %r1", "a pragma");
}

#[test]
fn a_word_that_goes_by_other_instructions_is_not_kept() {
    let body = LOOP
        .replace("add.u32 %r0, %r0, 1;", "add.u32 %r0, %r0, 1; mul.lo.u32 %r1, %r1, %c; not.b32 %r1, %r1;");
    assert!(!kept(&body, "sm_90").contains(&"%r1".to_owned()));
}

#[test]
fn bytes_that_go_to_other_lanes_are_no_reason() {
    for other in ["vadd4.u32.u32.u32 %d, %a, %b, %c;", "vadd4.u32.u32.u32.sat %d, %a.b1234, %b, %c;"] {
        let text = example_module(other);
        let module = parsed(&text);
        assert!(!keeps(&module, &functions(&module).remove(0)), "{other}");
    }
    let text = example_module("vadd4.u32.u32.u32.sat %d, %a, %b, %c;");
    let module = parsed(&text);
    assert!(keeps(&module, &functions(&module).remove(0)));
}

#[test]
fn loops_in_loops_count_eightfold_up_to_three() {
    let (mut body, mut end) = (String::new(), String::new());
    for depth in 0..5 {
        body += &format!("l{depth}: add.u32 %r{depth}, %a, {depth};\n");
        end = format!("setp.lt.u32 %p0, %r{depth}, %b; @%p0 bra l{depth};\n{end}");
    }
    let text = example_module(&(body + &end + "mov.b32 %d, 0;"));
    let module = parsed(&text);
    let graph = graph(&module);
    let often = frequencies(graph.flow());
    let of = |start: &str| {
        let stmt = module.stmts().find(|&stmt| module.stmt_text(stmt).starts_with(start.as_bytes()));
        often[&graph.flow().block(stmt.expect("it is there"))]
    };
    let of = ["ld.param", "add.u32 %r0", "add.u32 %r1", "add.u32 %r2", "add.u32 %r4"].map(of);
    assert_eq!(of, [1, 8, 64, 512, 512]);
}
