//! What `README.md` shows of the examples is what is in them, and so what the other tests have tried.

use crate::root;
use std::fs;

/// The sections, and where the lines of their blocks come from, block by block.
const SECTIONS: [(&str, &[&str]); 4] = [
    ("Cargo", &["cargo/Cargo.toml", "cargo/build.rs", "cargo/src/lib.rs"]),
    ("CMake", &["cmake/files/CMakeLists.txt", "cmake/cuda/CMakeLists.txt"]),
    ("Python", &["python/kernels.py", "python/library.py"]),
    ("Kernels in a repository", &["refactoring/tests/kernels.rs"; 3]),
];

/// The blocks below a heading.
fn shown(readme: &str, heading: &str) -> Vec<String> {
    let (_, section) = readme.split_once(&format!("\n### {heading}\n")).expect("the section is there");
    let section = section.split("\n### ").next().expect("it is not empty");
    // Text and blocks take turns; the first line of a block names its language.
    let blocks = section.split("\n```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').expect("it has lines").1.to_owned()).collect()
}

/// Lines without the blanks before them: what is in a function stands further to the right.
fn bare(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_owned() + "\n").collect()
}

#[test]
fn what_the_readme_shows_is_in_the_examples() {
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    for (heading, sources) in SECTIONS {
        let blocks = shown(&readme, heading);
        assert_eq!(blocks.len(), sources.len(), "{heading}: {blocks:#?}");
        for (block, source) in blocks.iter().zip(sources) {
            let example = root().join("tests/integrations").join(source);
            let text = fs::read_to_string(&example).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert!(!block.is_empty() && bare(&text).contains(&bare(block)), "not in {source}:\n{block}");
        }
    }
}
