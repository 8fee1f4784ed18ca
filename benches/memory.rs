//! How much memory a tree and the text written from it take, and all passes: `cargo bench --bench memory`.
//!
//! The column `max alloc` is to be divided by the size of the input in the name; the input itself comes on top.

#[path = "../tests/support/large.rs"]
mod large;
#[path = "../tests/support/modules.rs"]
mod modules;

use divan::AllocProfiler;
use ptxopt_grammar::edit::Edits;
use ptxopt_passes::optimiser::{Options, optimise};
use std::sync::LazyLock;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| large::large_module(50_000_000));

fn main() {
    LazyLock::force(&TEXT);
    divan::main();
}

#[divan::bench(sample_count = 1, sample_size = 1)]
fn parse_and_write_50_mb(bencher: divan::Bencher<'_, '_>) {
    bencher.bench_local(|| {
        let tree = ptxopt_grammar::parse(&TEXT).expect("the module is legal");
        let edited = Edits::new().apply(tree.text()).expect("there are no edits");
        (edited.to_vec(), tree)
    });
}

/// The functions of this module that have video instructions or byte moves are analysed and rewritten.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn all_passes_50_mb(bencher: divan::Bencher<'_, '_>) {
    let options = Options { explain: false, ..Options::default() };
    bencher.bench_local(|| {
        let tree = ptxopt_grammar::parse(&TEXT).expect("the module is legal");
        optimise(&tree, &options, &|| Duration::ZERO)
    });
}
