//! How fast text becomes a tree and text again, next to what bounds it: `cargo bench --bench front`.
//!
//! `parse_and_write` is the whole of an identity run without files; `tokens` is the lexer alone and `lines` counts
//! newlines, so that a figure means something on a machine that is busy or slow.

#[path = "../tests/support/large.rs"]
mod large;
#[path = "../tests/support/modules.rs"]
mod modules;

use divan::counter::BytesCount;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::token::Tokens;
use std::sync::LazyLock;

const MB: usize = 1_000_000;

static TEXTS: LazyLock<[Vec<u8>; 4]> =
    LazyLock::new(|| SIZES.map(|megabytes| large::large_module(megabytes * MB)));

const SIZES: [usize; 4] = [1, 10, 50, 100];

fn text(megabytes: usize) -> &'static [u8] {
    let index = SIZES.iter().position(|&size| size == megabytes);
    &TEXTS[index.expect("the benchmarks use these sizes only")]
}

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn parse_and_write(bencher: divan::Bencher<'_, '_>, megabytes: usize) {
    let text = text(megabytes);
    let mut out = vec![1; text.len()];
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        let tree = ptxopt_grammar::parse(text).expect("the module is legal");
        let edited = Edits::new().apply(tree.text()).expect("there are no edits");
        out.clear();
        edited.slices().for_each(|slice| out.extend_from_slice(slice));
        tree.stmts().len()
    });
}

#[divan::bench(args = [50], sample_count = 5, sample_size = 1)]
fn tokens(bencher: divan::Bencher<'_, '_>, megabytes: usize) {
    let text = text(megabytes);
    bencher.counter(BytesCount::new(text.len())).bench_local(|| Tokens::new(text).len());
}

#[divan::bench(args = [50], sample_count = 5, sample_size = 1)]
fn lines(bencher: divan::Bencher<'_, '_>, megabytes: usize) {
    let text = text(megabytes);
    bencher.counter(BytesCount::new(text.len())).bench_local(|| memchr::memchr_iter(b'\n', text).count());
}
