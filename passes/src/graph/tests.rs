//! Graphs of small functions: which value each read sees, what is undefined, what cannot be modelled.
//!
//! The expected values follow from how the body executes, and are worked out by hand.

use super::{Graph, Join, Origin, ValueId};
use crate::site::Knowledge;
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};

const DECLARATIONS: &str = ".reg .b32 %r<20>, %x, %y;\n.reg .pred %p<4>;\n.reg .b64 %rd<4>;\n\
                            .reg .v4 .b32 V;\n.reg .b8 %q<4>;\n";

fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.entry f(.param .u64 p)\n{{\n{DECLARATIONS}{body}\n}}\n"
    )
}

/// The graph of a body, handed to a check with the module.
pub(super) fn with<T>(body: &str, check: impl FnOnce(&Module<'_>, &Graph<'_, '_>) -> T) -> T {
    let text = text(body);
    let module = ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{body}: {all:?}"));
    let function = functions(&module).remove(0);
    let graph = Graph::new(&module, function, Semantics::Undisputed).expect("it can be modelled");
    check(&module, &graph)
}

/// The statement that begins with these words.
pub(super) fn stmt(module: &Module<'_>, start: &str) -> StmtId {
    let found = module.stmts().find(|&stmt| {
        module.kind(stmt) == StmtKind::Instruction && module.stmt_text(stmt).starts_with(start.as_bytes())
    });
    found.unwrap_or_else(|| panic!("no statement begins with `{start}`"))
}

/// The origins of what a statement reads, its guard included.
fn reads(graph: &Graph<'_, '_>, stmt: StmtId) -> Vec<Origin> {
    let read = graph.accesses(stmt).filter(|(access, _)| !access.write);
    read.map(|(_, value)| graph.value(value).origin).collect()
}

pub(super) fn result(graph: &Graph<'_, '_>, stmt: StmtId) -> ValueId {
    graph.results(stmt).next().expect("it has a result")
}

#[test]
fn a_read_sees_the_last_write() {
    with(
        "mov.b32 %r1, 1; mov.b32 %r1, 2; add.u32 %r2, %r1, %r1; st.global.u32 [0], %r2; ret;",
        |module, graph| {
            let last = stmt(module, "mov.b32 %r1, 2");
            assert_eq!(reads(graph, stmt(module, "add")), [Origin::Result(last); 2]);
        },
    );
}

#[test]
fn two_spellings_of_an_element_are_one_register() {
    with("mov.b32 %r01, 1; add.u32 %r2, %r1, 1; ret;", |module, graph| {
        assert_eq!(reads(graph, stmt(module, "add")), [Origin::Result(stmt(module, "mov"))]);
    });
}

#[test]
fn a_component_has_two_names() {
    with("mov.b32 V.x, 1; add.u32 %r2, V.r, V.y; ret;", |module, graph| {
        let [x, y] = reads(graph, stmt(module, "add"))[..] else { panic!("two reads") };
        assert_eq!(x, Origin::Result(stmt(module, "mov")));
        assert!(matches!(y, Origin::Read(_)), "V.y was never written");
    });
}

#[test]
fn an_inner_scope_hides_a_register() {
    let body = "mov.b32 %x, 1; { .reg .b32 %x; mov.b32 %x, 2; } add.u32 %r2, %x, 0; ret;";
    with(body, |module, graph| {
        assert_eq!(reads(graph, stmt(module, "add")), [Origin::Result(stmt(module, "mov.b32 %x, 1"))]);
    });
}

#[test]
fn ways_join_in_a_phi() {
    let body = "ld.global.u32 %r0, [0]; setp.eq.u32 %p1, %r0, 0; mov.b32 %r1, 1; @%p1 bra L; mov.b32 %r1, 2;\n\
                L: add.u32 %r2, %r1, 0; ret;";
    with(body, |module, graph| {
        let [Origin::Phi(_)] = reads(graph, stmt(module, "add"))[..] else { panic!("a phi") };
        let phi = graph.accesses(stmt(module, "add")).next().expect("it reads").1;
        let mut incoming: Vec<Origin> =
            graph.operands(phi).map(|(value, _)| graph.value(value).origin).collect();
        incoming.sort_by_key(|origin| format!("{origin:?}"));
        let of = |start| Origin::Result(stmt(module, start));
        assert_eq!(incoming, [of("mov.b32 %r1, 1"), of("mov.b32 %r1, 2")]);
    });
}

#[test]
fn the_head_of_a_loop_has_a_phi() {
    let body = "mov.b32 %r1, 0;\nL: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; ret;";
    with(body, |module, graph| {
        let [Origin::Phi(block)] = reads(graph, stmt(module, "add"))[..] else { panic!("a phi") };
        assert!(graph.flow().is_loop_head(block));
    });
}

#[test]
fn a_guarded_write_keeps_the_old_value_where_the_guard_fails() {
    let body = "ld.global.u32 %r0, [0]; setp.eq.u32 %p1, %r0, 0; mov.b32 %r1, 1; @%p1 mov.b32 %r1, 2;\n\
                st.global.u32 [4], %r1; ret;";
    with(body, |module, graph| {
        let guarded = result(graph, stmt(module, "@%p1"));
        let knowledge = Knowledge::of(graph);
        let fact = &knowledge.facts.get(guarded.index());
        assert!(fact.contains(1) && fact.contains(2) && !fact.contains(4));
        assert_eq!(
            graph.kept(stmt(module, "@%p1")).collect::<Vec<_>>(),
            [result(graph, stmt(module, "mov.b32 %r1, 1"))]
        );
    });
}

#[test]
fn each_read_of_an_undefined_register_is_a_value_of_its_own() {
    with("xor.b32 %r1, %r0, %r0; st.global.u32 [0], %r1; ret;", |module, graph| {
        let read: Vec<ValueId> = graph
            .accesses(stmt(module, "xor"))
            .filter(|(access, _)| !access.write)
            .map(|(_, value)| value)
            .collect();
        assert_ne!(read[0], read[1]);
        let knowledge = Knowledge::of(graph);
        assert_eq!(knowledge.facts.get(result(graph, stmt(module, "xor")).index()).constant(), None);
    });
}

#[test]
fn a_register_written_on_one_way_only_may_be_undefined() {
    let body = "ld.global.u32 %r0, [0]; setp.eq.u32 %p1, %r0, 0; @%p1 bra L; mov.b32 %r1, 2;\n\
                L: and.b32 %r2, %r1, %r1; ret;";
    with(body, |module, graph| {
        let all = reads(graph, stmt(module, "and"));
        assert!(all.iter().all(|read| matches!(read, Origin::Read(_))), "{all:?}");
    });
}

#[test]
fn a_guarded_first_write_may_be_undefined() {
    let body =
        "ld.global.u32 %r0, [0]; setp.eq.u32 %p1, %r0, 0; @%p1 mov.b32 %r1, 2; and.b32 %r2, %r1, 1; ret;";
    with(body, |module, graph| {
        assert!(matches!(reads(graph, stmt(module, "and"))[..], [Origin::Read(_)]));
    });
}

#[test]
fn a_loaded_byte_is_at_most_255() {
    with(
        "ld.global.u8 %r1, [0]; ld.global.s8 %r2, [1]; add.u32 %r3, %r1, %r2; st.global.u32 [4], %r3; ret;",
        |module, graph| {
            let knowledge = Knowledge::of(graph);
            let fact = |start| knowledge.facts.get(result(graph, stmt(module, start)).index());
            assert_eq!(fact("ld.global.u8").unsigned(), (0, 255));
            assert_eq!(fact("ld.global.s8").signed(), (-128, 127));
            assert_eq!(fact("add").signed(), (-128, 382));
        },
    );
}

#[test]
fn a_loop_counter_is_bounded_by_its_mask() {
    let body = "mov.b32 %r1, 0;\nL: add.u32 %r1, %r1, 1; and.b32 %r1, %r1, 255; setp.lt.u32 %p1, %r1, 99;\n\
                st.global.u32 [0], %r1; @%p1 bra L; ret;";
    with(body, |module, graph| {
        let knowledge = Knowledge::of(graph);
        assert_eq!(knowledge.facts.get(result(graph, stmt(module, "and")).index()).unsigned(), (0, 255));
    });
}

#[test]
fn demand_goes_through_selects_phis_and_guards() {
    let body = "ld.global.u32 %r0, [0]; ld.global.u32 %r1, [4]; add.u32 %r2, %r0, %r1; mov.b32 %r3, %r1;\n\
                setp.eq.u32 %p1, %r0, 0; @%p1 mov.b32 %r3, %r2; @%p1 bra L; mov.b32 %r3, %r2;\n\
                L: and.b32 %r4, %r3, 0xff00; st.global.u32 [8], %r4; ret;";
    with(body, |module, graph| {
        let knowledge = Knowledge::of(graph);
        assert_eq!(knowledge.demanded[result(graph, stmt(module, "mov.b32 %r3, %r1")).index()], 0xff00);
        assert_eq!(knowledge.demanded[result(graph, stmt(module, "add")).index()], 0xff00);
    });
}

#[test]
fn the_address_of_a_load_that_nobody_reads_is_demanded() {
    with(
        "ld.param.u64 %rd1, [p]; add.u64 %rd2, %rd1, 4; ld.global.u32 %r1, [%rd2]; ret;",
        |module, graph| {
            let knowledge = Knowledge::of(graph);
            assert_eq!(knowledge.demanded[result(graph, stmt(module, "add")).index()], u128::from(u64::MAX));
        },
    );
}

#[test]
fn a_disputed_result_is_anything() {
    let body = "mov.b32 %r1, 0x80000001; vadd.u32.u32.u32.sat %r2, %r1, %r1; st.global.u32 [0], %r2; ret;";
    with(body, |module, graph| {
        let knowledge = Knowledge::of(graph);
        assert!(knowledge.facts.get(result(graph, stmt(module, "vadd")).index()).is_top());
    });
}

#[test]
fn a_disputed_place_matters_in_all_its_bits() {
    let body = "ld.global.u32 %r1, [0]; and.b32 %r2, %r1, 255; ld.global.u64 %rd1, [8]; \
                bfe.u64 %rd2, %rd1, %r2, 8; st.global.u64 [0], %rd2; ret;";
    with(body, |module, graph| {
        let knowledge = Knowledge::of(graph);
        assert_eq!(knowledge.demanded[result(graph, stmt(module, "and")).index()], u128::from(u32::MAX));
        assert!(graph.step(stmt(module, "bfe")).is_none());
    });
}

#[test]
fn all_bits_of_a_value_that_is_held_whole_are_demanded() {
    let body =
        "ld.global.u32 %r0, [0]; not.b32 %r1, %r0; and.b32 %r2, %r1, 255; st.global.u32 [4], %r2; ret;";
    with(body, |module, graph| {
        let not = result(graph, stmt(module, "not"));
        let demanded =
            |whole: bool| Knowledge::with_whole(graph, &|value| whole && value == not).demanded[not.index()];
        assert_eq!((demanded(false), demanded(true)), (255, u128::from(u32::MAX)));
    });
}

#[test]
fn the_zeros_above_a_number_are_demanded_together() {
    let demanded = |bits: u32, read: &str| {
        let body = format!(
            "ld.global.u32 %r0, [0]; bfe.u32 %r1, %r0, 8, {bits}; {read} st.global.u16 [4], %r2; ret;"
        );
        with(&body, |module, graph| Knowledge::of(graph).demanded[result(graph, stmt(module, "bfe")).index()])
    };
    let product = "mul.lo.u32 %r2, %r1, %r0;";
    assert_eq!(demanded(8, product), u128::from(u32::MAX));
    assert_eq!(demanded(15, product), u128::from(u32::MAX));
    // None of the zeros is read.
    assert_eq!(demanded(16, product), u128::from(u16::MAX));
    assert_eq!(demanded(8, "and.b32 %r2, %r1, 255;"), 0xff);
    // It has less than a byte, as a condition has.
    assert_eq!(demanded(7, product), u128::from(u16::MAX));
}

#[test]
fn an_indirect_branch_may_go_to_every_label() {
    let body = "ld.global.u32 %r0, [0]; mov.b32 %r1, 1; T: .branchtargets A, B; brx.idx %r0, T;\n\
                A: mov.b32 %r1, 2; B: add.u32 %r2, %r1, 0; ret;";
    with(body, |module, graph| {
        assert!(matches!(reads(graph, stmt(module, "add"))[..], [Origin::Phi(_)]));
    });
}

#[test]
fn the_carry_flag_goes_from_one_to_the_next() {
    let body =
        "ld.global.u32 %r0, [0]; add.cc.u32 %r1, %r0, %r0; addc.u32 %r2, 0, 0; st.global.u32 [0], %r2; ret;";
    with(body, |module, graph| {
        let knowledge = Knowledge::of(graph);
        assert_eq!(knowledge.facts.get(result(graph, stmt(module, "addc")).index()).unsigned(), (0, 1));
    });
}

#[test]
fn an_instruction_nobody_knows_has_no_flow() {
    let text = text("frobnicate.b32 %r1, %r2; ret;");
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("unknown opcodes are legal");
    let function = functions(&module).remove(0);
    assert!(Graph::new(&module, function, Semantics::Undisputed).is_err());
}

#[test]
fn a_long_chain_of_blocks_does_not_recurse() {
    let mut body = String::from("mov.b32 %r1, 0;\n");
    for at in 0..50_000 {
        body.push_str(&format!("L{at}: add.u32 %r1, %r1, 1; @%p1 bra L{at};\n"));
    }
    body.push_str("st.global.u32 [0], %r1; ret;");
    with(&body, |_, graph| {
        let knowledge = Knowledge::of(graph);
        assert!(knowledge.demanded.iter().any(|&bits| bits != 0));
    });
}

#[test]
fn a_narrow_store_demands_the_low_bits_of_what_it_stores() {
    let body = "ld.global.u32 %r1, [0]; add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; add.u32 %r4, %r1, 3;\n\
                st.global.u8 [4], %r2; st.global.v2.u16 [8], {%r3, %r4}; ret;";
    with(body, |module, graph| {
        let knowledge = Knowledge::of(graph);
        let demanded = |start| knowledge.demanded[result(graph, stmt(module, start)).index()];
        assert_eq!(demanded("add.u32 %r2"), 0xff);
        assert_eq!(demanded("add.u32 %r3"), 0xffff);
        assert_eq!(demanded("add.u32 %r4"), 0xffff);
    });
}

#[test]
fn one_name_in_two_scopes_is_two_addresses() {
    let body = "{ .shared .b32 s; mov.u64 %rd1, s; } { .shared .b32 s; mov.u64 %rd2, s; }\n\
                sub.u64 %rd3, %rd1, %rd2; st.global.u64 [0], %rd3; ret;";
    with(body, |module, graph| {
        let read: Vec<ValueId> = ["mov.u64 %rd1", "mov.u64 %rd2"]
            .iter()
            .map(|start| graph.operands(result(graph, stmt(module, start))).next().expect("it reads").0)
            .collect();
        assert_ne!(read[0], read[1]);
    });
}

#[test]
fn a_register_that_is_written_anew_before_it_is_read_needs_no_phi() {
    let body = "L: mov.b32 %r1, 1; add.u32 %r2, %r1, 1; st.global.u32 [0], %r2; @%p1 bra L; ret;";
    with(body, |_, graph| {
        assert!(graph.values().all(|value| !matches!(graph.value(value).origin, Origin::Phi(_))));
    });
}

#[test]
fn nested_loops_have_a_phi_for_each_counter_and_no_more() {
    let depth = 300;
    let mut body = format!(".reg .b32 %i<{depth}>;\n");
    for at in 0..depth {
        body.push_str(&format!("mov.b32 %i{at}, 0;\nL{at}:\n"));
    }
    for at in (0..depth).rev() {
        body.push_str(&format!("add.u32 %i{at}, %i{at}, 1; setp.lt.u32 %p1, %i{at}, 9; @%p1 bra L{at};\n"));
    }
    with(&(body + "ret;"), |_, graph| {
        let phis = graph.values().filter(|&value| matches!(graph.value(value).origin, Origin::Phi(_)));
        assert_eq!(phis.count(), depth);
    });
}

#[test]
fn a_phi_of_many_incoming_edges_knows_what_comes_from_each() {
    let count = 40;
    let branches: String = (1..count).map(|at| format!("@%p1 bra L{at};\n")).collect();
    let incoming: String = (0..count).map(|at| format!("L{at}: mov.b32 %r2, {}; bra E;\n", 2 * at)).collect();
    let end = "E: add.u32 %r3, %r2, 1; st.global.u32 [0], %r3; ret;";
    with(&(branches + &incoming + end), |module, graph| {
        let fact = Knowledge::of(graph).facts.get(result(graph, stmt(module, "add")).index());
        assert_eq!((fact.unsigned(), fact.ones()), ((1, 79), 1));
    });
}

const PARTS: [&str; 4] = [
    include_str!("../../../tests/cases/optimise/simplify/one-move.ptx"),
    include_str!("../../../tests/cases/optimise/dce/user_dead_code_goes.ptx"),
    include_str!("../../../tests/kernels/memcpyish.ptx"),
    include_str!("../../../tests/corpus/modules/by-hand/lanes.ptx"),
];

#[test]
fn a_part_of_a_graph_says_the_same_of_its_values() {
    let mut compared = 0;
    for text in PARTS {
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("the case is legal");
        let moves = |stmt| module.row(stmt).is_some_and(|row| row.name == "prmt");
        for function in functions(&module) {
            let whole =
                Graph::new(&module, function.clone(), Semantics::Undisputed).expect("it can be modelled");
            let part = Graph::about(&module, function, Semantics::Undisputed, Some(&moves));
            let part = part.expect("it can be modelled");
            let (all, some) = (Knowledge::of(&whole), Knowledge::of(&part));
            for (value, _) in part.values().map(|value| (value, part.value(value))) {
                // Values of registers are numbered before those of reads and effects.
                if part.value(value).register.is_none() {
                    break;
                }
                if part.is_known(value) {
                    assert_eq!(some.facts.get(value.index()), all.facts.get(value.index()));
                    assert_eq!(some.demanded[value.index()], all.demanded[value.index()]);
                    compared += 1;
                } else {
                    assert!(some.facts.get(value.index()).is_top());
                }
            }
        }
    }
    assert!(compared > 100, "too few: {compared}");
}

#[test]
fn what_lies_outside_a_part_is_demanded_whole() {
    let body = "ld.global.u32 %r1, [0]; and.b32 %r2, %r1, 255; prmt.b32 %r3, %r2, %r2, 0x4440;\n\
                st.global.u32 [0], %r3; ld.global.u32 %r4, [8]; and.b32 %r5, %r4, 1; st.global.u32 [4], %r5; ret;";
    let text = text(body);
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let moves = |stmt| module.row(stmt).is_some_and(|row| row.name == "prmt");
    let graph = Graph::about(&module, functions(&module).remove(0), Semantics::Undisputed, Some(&moves));
    let graph = graph.expect("it can be modelled");
    let knowledge = Knowledge::of(&graph);
    let demanded = |start| knowledge.demanded[result(&graph, stmt(&module, start)).index()];
    assert_eq!(demanded("ld.global.u32 %r1"), 0xff);
    assert_eq!(demanded("ld.global.u32 %r4"), u128::from(u32::MAX));
    assert!(graph.value(result(&graph, stmt(&module, "and.b32 %r5"))).def.is_none());
}

#[test]
fn what_a_dot_product_is_added_to_is_an_operand_of_the_sum() {
    let joined = |first: &str, last: &str| {
        with(&format!("{first}; {last}; st.global.u32 [0], %r2; ret;"), |module, graph| {
            graph.joined(result(graph, stmt(module, first)))
        })
    };
    assert_eq!(joined("add.u32 %r1, %x, %y", "dp4a.u32.u32 %r2, %x, %y, %r1"), Some(Join::Add));
    assert_eq!(joined("dp4a.u32.u32 %r1, %x, %y, 0", "mad.lo.u32 %r2, %x, %y, %r1"), Some(Join::Add));
    assert_eq!(joined("add.u32 %r1, %x, %y", "dp4a.u32.u32 %r2, %r1, %y, %x"), None);
    assert_eq!(joined("add.u32 %r1, %x, %y", "dp4a.u32.u32 %r2, %r1, %y, %r1"), None);
}

#[test]
fn bytes_that_a_register_selects_are_looked_up() {
    let is_looked_up = |before: &str, selects: &str| {
        with(&format!("{before} {selects}; st.global.u32 [0], %r2; ret;"), |module, graph| {
            graph.is_looked_up(result(graph, stmt(module, selects)))
        })
    };
    assert!(is_looked_up("", "prmt.b32 %r2, %x, %y, %x"));
    assert!(!is_looked_up("", "prmt.b32 %r2, %x, %y, 0x5410"));
    assert!(!is_looked_up("mov.b32 %r1, 0x5410;", "prmt.b32 %r2, %x, %y, %r1"));
    assert!(!is_looked_up("", "add.u32 %r2, %x, %y"));
}
