//! A package whose build script optimises its kernels, built by Cargo.

use crate::{cargo, change, copy_of, done, later, printed, root, run, skipped};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The example, where it may be changed. Both copies are built in the same folder, so one waits for the other.
fn example() -> (MutexGuard<'static, ()>, TempDir, PathBuf) {
    static BUILDS: Mutex<()> = Mutex::new(());
    // The other test may have failed.
    let builds = BUILDS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let package = copy_of("cargo", folder.path());
    change(&package.join("Cargo.toml"), "../../..", root().to_str().expect("the name is UTF-8"));
    (builds, folder, package)
}

#[test]
fn a_build_script_optimises_and_fails_the_build_only_where_that_is_asked_for() {
    let (_builds, _folder, package) = example();
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

/// The folder in which the build script of the package has written.
fn written_by(package: &Path, ptxas: &Path) -> PathBuf {
    let mut build = cargo(package, &["build", "--message-format", "json"]);
    let told = done(build.env("PTXOPT_PTXAS", ptxas));
    let ran =
        told.lines().find(|line| line.contains("\"build-script-executed\"") && line.contains("kernels"));
    let folder = ran.and_then(|line| line.split_once("\"out_dir\":\"")?.1.split('"').next());
    folder.map_or_else(|| panic!("no build script has run: {told}"), PathBuf::from)
}

#[test]
fn where_there_is_an_assembler_nothing_gets_longer_by_its_count() {
    let ptxas = root().join("target/nvidia/12.9/ptxas");
    if !ptxas.is_file() {
        return skipped("there is no assembler; `sh .ci/tools` installs it");
    }
    let (_builds, _folder, package) = example();
    // It gets longer on the GPU for which it was compiled.
    change(&package.join("build.rs"), ".gpu(\"sm_86\")", "");
    let (kernel, written) = (package.join("kernels/blend.ptx"), |ptxas: &Path| {
        fs::read_to_string(written_by(&package, ptxas).join("blend.ptx")).expect("it is written")
    });
    let shorter = fs::read_to_string(&kernel).expect("it is part of the example");
    assert_ne!(written(&ptxas), shorter, "it gets shorter, and is kept");
    later();
    fs::copy(root().join("tests/support/longer.ptx"), &kernel).expect("it can be copied");
    let longer = fs::read_to_string(&kernel).expect("it was written");
    assert_eq!(written(&ptxas), longer);
    assert_ne!(written(Path::new("/no/such/ptxas")), longer, "nobody counts");
}

/// What follows the heading that Cargo gives to standard error of a build script.
fn said_by_the_script(told: &str) -> String {
    let (_, said) = told.split_once("--- stderr\n").unwrap_or_else(|| panic!("nothing was said: {told}"));
    said.trim().to_owned()
}
