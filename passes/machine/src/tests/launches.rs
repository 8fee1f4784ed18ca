//! What is checked before anything runs: shapes, and the number, size and type of arguments.
//!
//! Messages are compared word for word, since they are what a user has to correct a launch by.

use super::HEAD;
use crate::{Argument, End, Launch, Machine};
use ptxopt_grammar::names::Type;

/// Launches an entry with a head of parameters and directives; why it is refused, if it is.
fn refused(head: &str, arguments: &[Argument], launch: &Launch) -> Option<String> {
    let text = format!("{HEAD}.entry k{head}\n{{ ret; }}\n");
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("the kernel is legal");
    let machine = Machine::new(&module);
    let mut memory = machine.memory();
    let _first = memory.allocate(vec![0; 16]);
    match machine.launch(launch, arguments, &mut memory).end {
        End::BadLaunch(why) => Some(why),
        End::Finished => None,
        other => panic!("{other}"),
    }
}

#[test]
fn variables_have_a_gibibyte_at_most() {
    let refused = |bits: u32, variables: &str| {
        let text = format!(
            ".version 8.0\n.target sm_50\n.address_size {bits}\n{variables}\n.entry k() {{ ret; }}\n"
        );
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("the kernel is legal");
        let machine = Machine::new(&module);
        match machine.launch(&Launch::of("k"), &[], &mut machine.memory()).end {
            End::BadLaunch(why) => why,
            other => other.to_string(),
        }
    };
    let fine = End::Finished.to_string();
    let large = "the module's variables have more than 1 GiB with `h`, and no more can be run";
    assert_eq!(refused(64, ".global .b8 h[4000000000];"), large);
    assert_eq!(refused(64, ".global .b8 g[16]; .global .b32 h[268435456] = {1, g};"), large);
    assert_eq!(refused(64, ".global .b8 g[16]; .global .b8 h[1048576];"), fine);
    let wide = "`h` has 16777216 bytes, but with 32-bit addresses a variable has less than 16 MiB here";
    assert_eq!(refused(32, ".global .b8 h[16777216];"), wide);
    assert_eq!(refused(32, ".global .b8 h[16777215];"), fine);
}

fn blocks(grid: [u32; 3], block: [u32; 3]) -> Launch {
    Launch { grid, block, ..Launch::of("k") }
}

#[track_caller]
fn shape(head: &str, launch: &Launch, why: &str) {
    assert_eq!(refused(head, &[], launch).as_deref().unwrap_or("fine"), why);
}

#[test]
fn blocks_have_the_shape_that_the_entry_demands() {
    shape("() .reqntid 32, 2", &blocks([1; 3], [32, 2, 1]), "fine");
    shape(
        "() .reqntid 32, 2",
        &blocks([1; 3], [64, 1, 1]),
        "`k` demands blocks of (32, 2, 1) threads (`.reqntid`), but they have (64, 1, 1)",
    );
    shape("() .maxntid 32, 2", &blocks([1; 3], [64, 1, 1]), "fine");
    shape(
        "() .maxntid 32, 2 .minnctapersm 4",
        &blocks([1; 3], [65, 1, 1]),
        "`k` takes blocks of at most 64 threads (`.maxntid`), but they have 65",
    );
    shape("() .minnctapersm 4", &blocks([1; 3], [65, 1, 1]), "fine");
}

#[test]
fn grids_are_multiples_of_clusters() {
    shape("() .reqnctapercluster 2", &blocks([4, 3, 1], [1; 3]), "fine");
    shape(
        "() .reqnctapercluster 2",
        &blocks([3, 4, 1], [1; 3]),
        "`k` demands clusters of (2, 1, 1) blocks (`.reqnctapercluster`), but the grid has (3, 4, 1) blocks",
    );
}

#[test]
fn no_gpu_runs_larger_blocks_and_grids() {
    let block = |given| format!("a block has 1 to 1024 threads, at most 64 of them along z; given: {given}");
    shape("()", &blocks([1; 3], [1024, 1, 1]), "fine");
    shape("()", &blocks([1; 3], [32, 33, 1]), &block("(32, 33, 1)"));
    shape("()", &blocks([1; 3], [1, 0, 1]), &block("(1, 0, 1)"));
    shape("()", &blocks([1; 3], [1, 1, 65]), &block("(1, 1, 65)"));
    let grid = |given| {
        format!("a grid has at least one block and at most (2147483647, 65535, 65535); given: {given}")
    };
    shape("()", &blocks([1, 0, 1], [1; 3]), &grid("(1, 0, 1)"));
    shape("()", &blocks([1, 65536, 1], [1; 3]), &grid("(1, 65536, 1)"));
    let shared = Launch { dynamic_shared: u32::MAX, ..Launch::of("k") };
    let why = "a block has at most 232448 bytes of shared memory; `k` has 0 of its own, and 4294967295 dynamic ones were asked for";
    shape("()", &shared, why);
}

#[track_caller]
fn argument(parameter: &str, argument: Argument, why: &str) {
    let head = format!("(.param {parameter})");
    assert_eq!(refused(&head, &[argument], &Launch::of("k")).as_deref().unwrap_or("fine"), why);
}

fn typed(ty: Type, bits: u64) -> Argument {
    Argument::Typed(ty, bits)
}

#[test]
fn arguments_are_as_many_as_parameters() {
    let head = "(.param .u64 a, .param .align 4 .b8 s[12])";
    let why = refused(head, &[Argument::Number(1)], &Launch::of("k"));
    assert_eq!(why.as_deref(), Some("`k` takes 2 arguments (.u64 `a`, .b8[12] `s`), 1 was given"));
    let why = refused("()", &[Argument::Number(1), Argument::Number(2)], &Launch::of("k"));
    assert_eq!(why.as_deref(), Some("`k` takes 0 arguments, 2 were given"));
}

#[test]
fn numbers_have_the_size_and_the_kind_of_their_parameter() {
    let wrong = |declared: &str, given: &str| {
        format!("parameter 0 (`n`) is declared {declared}, but was given {given}")
    };
    argument(".u32 n", typed(Type::S32, 5), "fine");
    argument(".b32 n", typed(Type::F32, 5), "fine");
    argument(".f64 n", typed(Type::F64, 5), "fine");
    argument(".u32 n", typed(Type::F32, 5), &wrong(".u32", "f32"));
    argument(".f32 n", typed(Type::U32, 5), &wrong(".f32", "u32"));
    argument(".u32 n", typed(Type::U64, 5), &wrong(".u32", "u64"));
    argument(".u64 n", typed(Type::U32, 5), &wrong(".u64", "u32"));
    argument(".b8 n[4]", typed(Type::U32, 5), &wrong(".b8[4]", "u32"));
    argument(".u8 n", Argument::Number(255), "fine");
    argument(".u8 n", Argument::Number(1_u64.wrapping_neg()), "fine");
    argument(".u8 n", Argument::Number(256), &wrong(".u8", "256, which does not fit"));
}

#[test]
fn buffers_and_bytes_have_the_size_of_their_parameter() {
    let wrong = |declared: &str, given: &str| {
        format!("parameter 0 (`n`) is declared {declared}, but was given {given}")
    };
    let module = ptxopt_grammar::parse(HEAD.as_bytes()).expect("it is legal");
    let buffer = || Argument::Buffer(Machine::new(&module).memory().allocate(Vec::new()));
    argument(".u64 n", buffer(), "fine");
    argument(".u64 .ptr .global .align 4 n", buffer(), "fine");
    argument(".b8 n[8]", buffer(), "fine");
    argument(".u32 n", buffer(), &wrong(".u32", "a buffer, whose address has 64 bits"));
    argument(".f64 n", buffer(), &wrong(".f64", "a buffer, whose address has 64 bits"));
    argument(".b8 n[3]", Argument::Bytes(vec![1, 2, 3]), "fine");
    argument(".f32 n", Argument::Bytes(vec![1, 2, 3, 4]), "fine");
    argument(".b8 n[3]", Argument::Bytes(vec![1, 2]), &wrong(".b8[3]", "2 bytes"));
}

#[test]
fn an_entry_tells_which_blocks_it_takes() {
    let text = format!(
        "{HEAD}.entry a() .reqntid 8, 4 {{ ret; }}\n.entry b() .maxntid 16 {{ ret; }}\n.entry c() {{ ret; }}\n"
    );
    let module = ptxopt_grammar::parse(text.as_bytes()).expect("it is legal");
    let machine = Machine::new(&module);
    let shapes: Vec<_> = machine.entries().map(|entry| entry.block_of(64)).collect();
    assert_eq!(shapes, [[8, 4, 1], [16, 1, 1], [64, 1, 1]]);
}
