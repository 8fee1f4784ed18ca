//! A package whose build script optimises its kernels, built by Cargo.

use crate::{cargo, change, copy_of, done, printed, root, run};

#[test]
fn a_build_script_optimises_and_fails_the_build_only_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let package = copy_of("cargo", folder.path());
    let here = root();
    change(&package.join("Cargo.toml"), "../../..", here.to_str().expect("the name is UTF-8"));
    let kernel = package.join("kernels/blend.ptx");
    let told = done(&mut cargo(&package, &["test"]));
    assert!(told.contains("the_kernel_is_there_and_its_video_instructions_are_gone ... ok"), "{told}");
    let build = || run(&mut cargo(&package, &["build"]));
    let again = printed(&build());
    assert!(!again.contains("Compiling kernels"), "nothing has changed: {again}");

    change(&kernel, "ret;", "frobnicate.b32;\n\tret;");
    let unknown = build();
    assert!(unknown.status.success(), "{}", printed(&unknown));
    let told = printed(&unknown);
    assert!(told.contains("warning: kernels@0.1.0: kernels/blend.ptx:29:2: unknown"), "{told}");

    change(&kernel, "frobnicate.b32;", "vadd4.u32 %r1");
    let wrong = build();
    assert!(wrong.status.success(), "{}", printed(&wrong));
    let told = printed(&wrong);
    assert!(told.contains("warning: kernels@0.1.0: kernels/blend.ptx:29:15: missing `;`"), "{told}");
    assert!(told.contains("warning: kernels@0.1.0: kernels/blend.ptx: left as it is: "), "{told}");

    let strict = ".gpu(\"sm_86\").options(ptxopt::Options::new().strict(true))";
    change(&package.join("build.rs"), ".gpu(\"sm_86\")", strict);
    let wrong = build();
    assert!(!wrong.status.success());
    insta::assert_snapshot!(said_by_the_script(&printed(&wrong)));

    change(&kernel, "vadd4.u32 %r1", "");
    done(&mut cargo(&package, &["test"]));
}

/// What follows the heading that Cargo gives to standard error of a build script.
fn said_by_the_script(told: &str) -> String {
    let (_, said) = told.split_once("--- stderr\n").unwrap_or_else(|| panic!("nothing was said: {told}"));
    said.trim().to_owned()
}
