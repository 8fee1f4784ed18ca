//! A package that ships PTX, whose tests notice when a kernel is no longer what it was.

use crate::{cargo, change, copy_of, printed, ptxopt, run};
use std::path::Path;
use std::process::Output;

/// The tests of the example that passed, and those that failed.
fn tests(output: &Output) -> [Vec<String>; 2] {
    let said = String::from_utf8_lossy(&output.stdout);
    ["ok", "FAILED"].map(|end| {
        let of = |line: &str| {
            Some(line.strip_prefix("test ")?.strip_suffix(end)?.strip_suffix(" ... ")?.to_owned())
        };
        let mut names: Vec<String> = said.lines().filter_map(of).collect();
        names.sort();
        names
    })
}

fn test(package: &Path) -> Output {
    let mut command = cargo(package, &["test", "--test", "kernels"]);
    // Snapshots are compared, and not written.
    run(command.env("PTXOPT", ptxopt()).env("INSTA_UPDATE", "no").env("CI", "true"))
}

const PROVED: &str = "the_kernel_computes_what_the_reference_does";
const SHIPPED: &str = "what_is_shipped_is_what_ptxopt_makes_of_the_kernel";
const REVIEWED: &str = "what_ptxopt_says_of_the_kernel_was_reviewed";

#[test]
fn a_package_notices_when_its_kernels_are_no_longer_what_they_were() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let package = copy_of("refactoring", folder.path());
    let kernel = package.join("kernels/blend.ptx");
    let output = test(&package);
    assert_eq!(tests(&output), [vec![PROVED, SHIPPED, REVIEWED], vec![]], "{}", printed(&output));

    // Brighter by one in the last of four pixels.
    change(&kernel, "0x10101010", "0x10101011");
    let output = test(&package);
    assert_eq!(tests(&output), [vec![], vec![PROVED, SHIPPED, REVIEWED]], "{}", printed(&output));
    let said = printed(&output);
    for part in ["blend: refuted", "--- optimised/blend.ptx\n", "-old snapshot"] {
        assert!(said.contains(part), "{said}");
    }
    change(&kernel, "0x10101011", "0x10101010");

    // Equal, and spelled in another way.
    change(&kernel, "%r9, %r8, %r4, %r8;", "%r9, %r4, %r8, %r8;");
    let output = test(&package);
    assert!(tests(&output)[0].contains(&PROVED.to_owned()), "{}", printed(&output));
    change(&kernel, "%r9, %r4, %r8, %r8;", "%r9, %r8, %r4, %r8;");

    // What is shipped was edited by hand.
    change(&package.join("optimised/blend.ptx"), "ret;", "// The end.\n\tret;");
    let output = test(&package);
    assert_eq!(tests(&output), [vec![PROVED, REVIEWED], vec![SHIPPED]], "{}", printed(&output));
    assert!(printed(&output).contains("-\t// The end."), "{}", printed(&output));
}
