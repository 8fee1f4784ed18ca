//! Every PTX module of the repository that is legal: compiled ones, compressed, and hand-written cases.

use ptxopt_grammar::gpu::Gpu;
use ptxopt_grammar::tree::Module;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A legal module.
pub(crate) struct TestModule {
    /// Its path below `tests/`.
    pub(crate) name: String,
    pub(crate) text: Vec<u8>,
}

/// All of them, sorted by name.
pub(crate) fn modules() -> Vec<TestModule> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files = files_below(&tests.join("corpus/modules"));
    files.extend(files_below(&tests.join("cases/syntax")));
    files.sort();
    let modules: Vec<_> =
        files.iter().map(|path| TestModule { name: name(&tests, path), text: read(path) }).collect();
    assert!(modules.len() >= 150, "the modules are missing: found {}", modules.len());
    modules
}

/// The compiled and hand-written modules that are no cases.
#[allow(dead_code, reason = "not every test that shares this file asks for them alone")]
pub(crate) fn corpus() -> Vec<TestModule> {
    modules().into_iter().filter(|module| module.name.starts_with("corpus/")).collect()
}

/// A file, or all modules in a folder.
#[allow(dead_code, reason = "the tests need those of the repository alone")]
pub(crate) fn below(path: &Path) -> Vec<TestModule> {
    let mut files = if path.is_dir() { files_below(path) } else { vec![path.to_owned()] };
    files.retain(|path| is_module(path));
    files.sort();
    files.iter().map(|path| TestModule { name: path.display().to_string(), text: read(path) }).collect()
}

/// Whether tests that optimise take all that there is, as before a release: all modules, for all of their GPUs.
#[allow(dead_code, reason = "not every test that shares this file optimises")]
fn takes_all() -> bool {
    std::env::var("PTXOPT_MODULES").is_ok_and(|which| which == "all")
}

/// The legal modules to optimise: all of them, and the kernels, idioms and cases that are there for the optimiser. What
/// several compilers made of a source, or one for several targets, is much alike: of those modules every other is taken,
/// of the idioms every third.
#[allow(dead_code, reason = "not every test that shares this file optimises")]
pub(crate) fn modules_to_optimise() -> Vec<TestModule> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files = files_below(&tests.join("kernels"));
    let mut idioms = files_below(&tests.join("corpus/idioms"));
    idioms.sort();
    files.extend(idioms.into_iter().step_by(if takes_all() { 1 } else { 3 }));
    let cases = tests.join("cases/optimise");
    if cases.is_dir() {
        files.extend(files_below(&cases));
    }
    files.retain(|path| is_module(path));
    files.sort();
    let more = files.iter().map(|path| TestModule { name: name(&tests, path), text: read(path) });
    let legal = more.filter(|module| !module.text.starts_with(b"//@ fails"));
    let mut compiled = modules();
    if !takes_all() {
        every_other_of_a_source(&mut compiled);
    }
    compiled.into_iter().chain(legal).collect()
}

/// Keeps the first, third, … of the modules that were compiled from the same source.
#[allow(dead_code, reason = "not every test that shares this file optimises")]
fn every_other_of_a_source(modules: &mut Vec<TestModule>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    modules.retain(|module| {
        // `corpus/modules/COMPILER/SOURCE.TARGET.ptx.gz`
        let parts: Vec<&str> = module.name.split('/').collect();
        let ["corpus", "modules", _, file] = parts[..] else { return true };
        let source = file.split('.').next().unwrap_or(file);
        let before = seen.entry(source.to_owned()).or_default();
        *before += 1;
        *before % 2 == 1
    });
}

/// Half of what modules are optimised for, GPUs or lists of them: another half for other modules.
#[allow(dead_code, reason = "not every test that shares this file optimises")]
pub(crate) fn half_of<T: Copy>(all: &[T], test: &TestModule) -> Vec<T> {
    if takes_all() {
        return all.to_vec();
    }
    let first = numbered(test) % all.len();
    all.iter().copied().cycle().skip(first).take(all.len().div_ceil(2)).collect()
}

/// Whether a module is one of every third, or of all if all are taken.
#[allow(dead_code, reason = "not every test that shares this file optimises")]
pub(crate) fn is_in_a_third(test: &TestModule) -> bool {
    takes_all() || numbered(test).is_multiple_of(3)
}

/// A number that a module has by its name, so that no other module changes it.
#[allow(dead_code, reason = "not every test that shares this file optimises")]
fn numbered(test: &TestModule) -> usize {
    test.name.bytes().map(usize::from).sum()
}

/// The GPUs that a module is optimised for: its own, which is none, and half of some others, without its own.
#[allow(dead_code, reason = "not every test that shares this file optimises")]
pub(crate) fn its_own_and(
    others: &[&'static str],
    test: &TestModule,
    module: &Module<'_>,
) -> Vec<Option<&'static str>> {
    let own = Gpu::of(module).map(|gpu| gpu.to_string());
    let others = half_of(others, test).into_iter().filter(|&other| own.as_deref() != Some(other));
    std::iter::once(None).chain(others.map(Some)).collect()
}

#[allow(dead_code, reason = "the modules of the corpus are all there is in their folder")]
fn is_module(path: &Path) -> bool {
    [".ptx", ".ptx.gz"].iter().any(|end| path.to_string_lossy().ends_with(end))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}

fn name(tests: &Path, path: &Path) -> String {
    path.strip_prefix(tests).expect("all files lie below it").to_string_lossy().into_owned()
}

fn read(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).expect("the file is part of the repository");
    if path.extension().is_none_or(|extension| extension != "gz") {
        return bytes;
    }
    let mut text = Vec::new();
    std::io::copy(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text).expect("the file is gzip");
    text
}
