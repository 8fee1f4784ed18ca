//! Makes two parsers of one grammar: a fast one, and one with error recovery that runs only after an error.

use std::path::{Path, PathBuf};

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    generate(&out.join("fast"), &[]);
    generate(&out.join("recovering"), &["recovery".to_owned()]);
    println!("cargo::rerun-if-changed=src/ptx.lalrpop");
}

fn generate(out: &Path, features: &[String]) {
    lalrpop::Configuration::new()
        .set_features(features.iter().cloned())
        .set_out_dir(out)
        .emit_rerun_directives(false)
        .process_dir("src")
        .expect("the grammar is free of conflicts");
}
