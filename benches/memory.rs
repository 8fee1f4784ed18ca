//! How much memory a tree and the text written from it take: `cargo bench --bench memory`.
//!
//! The column `max alloc` is to be divided by the size of the input in the name; the input itself comes on top.

#[path = "../tests/support/large.rs"]
mod large;
#[path = "../tests/support/modules.rs"]
mod modules;

use divan::AllocProfiler;
use ptxopt_grammar::edit::Edits;
use std::sync::LazyLock;

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
