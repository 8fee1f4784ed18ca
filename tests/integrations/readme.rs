//! What `README.md` and `docs/build.md` show of the examples is what is in them, and so what the other tests have tried.

use crate::root;
use std::fs;

/// The pages and their sections, and where the lines of their blocks come from, block by block.
const SECTIONS: [(&str, &str, &[&str]); 7] = [
    ("README.md", "Cargo", &["cargo/Cargo.toml", "cargo/build.rs"]),
    ("README.md", "CMake", &["cmake/files/CMakeLists.txt"]),
    ("README.md", "Python", &["python/library.py"]),
    ("docs/build.md", "Triton", &["python/kernels.py"]),
    ("docs/build.md", "Cargo", &["cargo/src/lib.rs"]),
    ("docs/build.md", "CMake", &["cmake/cuda/CMakeLists.txt"]),
    ("docs/build.md", "Kernels in a repository", &["refactoring/tests/kernels.rs"; 3]),
];

/// The blocks below a heading.
fn shown(page: &str, heading: &str) -> Vec<String> {
    let (_, section) = page.split_once(&format!("# {heading}\n")).expect("the section is there");
    let section = section.split("\n#").next().expect("it is not empty");
    // Text and blocks take turns; the first line of a block names its language.
    let blocks = section.split("\n```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').expect("it has lines").1.to_owned()).collect()
}

/// Lines without the blanks before them: what is in a function stands further to the right.
fn bare(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_owned() + "\n").collect()
}

#[test]
fn what_the_pages_show_is_in_the_examples() {
    for (page, heading, sources) in SECTIONS {
        let text = fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        let blocks = shown(&text, heading);
        assert_eq!(blocks.len(), sources.len(), "{page}, {heading}: {blocks:#?}");
        for (block, source) in blocks.iter().zip(sources) {
            let example = root().join("tests/integrations").join(source);
            let text = fs::read_to_string(&example).unwrap_or_else(|error| panic!("{source}: {error}"));
            // To a reader, ptxopt is beside the project; to an example, it is around it.
            let text = text.replace("\"../../..\"", "\"../ptxopt\"");
            assert!(!block.is_empty() && bare(&text).contains(&bare(block)), "not in {source}:\n{block}");
        }
    }
}
