//! The command lines that are really used, and what comes of them.

use crate::{Bench, run, said, silent};
use std::fs;
use std::process::Stdio;

#[test]
fn an_unchanged_module_gives_the_assemblers_own_cubin() {
    for version in ["11.8", "12.9"] {
        let Some(bench) = Bench::new(version) else { return };
        for line in
            ["-arch=sm_61 plain.ptx -o", "-m64 -O1 -lineinfo --gpu-name sm_61 plain.ptx --output-file"]
        {
            silent(&bench.real(&format!("{line} real.cubin")));
            silent(&run(&mut bench.front(&format!("{line} front.cubin"))));
            assert_eq!(bench.read("front.cubin"), bench.read("real.cubin"), "{line}");
        }
    }
}

#[test]
fn the_lines_of_clang_triton_and_nvcc_give_the_cubin_of_the_optimised_text() {
    let Some(bench) = Bench::new("13.5") else { return };
    for (gpu, line) in [
        ("sm_75", "-m64 -O3 --gpu-name sm_75 --output-file OUT IN"),
        ("sm_90", "-v --gpu-name=sm_90 IN -o OUT"),
        ("sm_90", "-lineinfo -v --gpu-name=sm_90 IN -o OUT"),
        ("sm_86", "-arch=sm_86 -m64 -maxrregcount 64 IN -o OUT"),
        ("sm_120", "-arch sm_120 -O3 -c -dlcm=cg IN -o OUT"),
    ] {
        let with = |input: &str, output: &str| line.replace("IN", input).replace("OUT", output);
        bench.optimised("blend.s", "optimised.s", gpu, &[]);
        let real = bench.real(&with("optimised.s", "real.cubin"));
        let front = run(&mut bench.front(&with("blend.s", "front.cubin")));
        assert_eq!(front.status.code(), Some(0), "{line}: {}", said(&front));
        // With `-lineinfo`, the text is in the cubin, not its name.
        assert_eq!(bench.read("front.cubin"), bench.read("real.cubin"), "{line}");
        let timeless = |said: String| -> Vec<String> {
            said.lines().filter(|line| !line.contains("Compile time")).map(str::to_owned).collect()
        };
        assert_eq!(timeless(said(&front)), timeless(said(&real)), "{line}");
    }
}

#[test]
fn the_command_and_a_link_named_as_the_assembler_do_the_same() {
    let Some(bench) = Bench::new("13.5") else { return };
    silent(&run(&mut bench.front("-arch=sm_75 blend.s -o front.cubin")));
    let ptxopt = std::path::Path::new(env!("CARGO_BIN_EXE_ptxopt"));
    let link = bench.path("ptxas");
    std::os::unix::fs::symlink(ptxopt, &link).expect("a link can be made");
    for (program, line) in [(ptxopt, "ptxas -- "), (link.as_path(), "")] {
        let mut command = bench.at(program, &format!("{line}-arch=sm_75 blend.s -o other.cubin"));
        silent(&run(command.env("PTXOPT_PTXAS", &bench.real)));
        assert_eq!(bench.read("other.cubin"), bench.read("front.cubin"), "{line}");
    }
}

#[test]
fn standard_input_and_files_of_options_are_read() {
    let Some(bench) = Bench::new("13.5") else { return };
    silent(&run(&mut bench.front("-arch=sm_75 blend.s -o front.cubin")));
    let text = fs::File::open(bench.path("blend.s")).expect("it is there");
    silent(&run(bench.front("-arch=sm_75 - -o stdin.cubin").stdin(Stdio::from(text))));
    assert_eq!(bench.read("stdin.cubin"), bench.read("front.cubin"));
    bench.write("options", "-arch=sm_75 \"blend.s\"");
    silent(&run(&mut bench.front("--options-file options -o options.cubin")));
    assert_eq!(bench.read("options.cubin"), bench.read("front.cubin"));
    // A pipe that nothing was done with is still read by the assembler.
    let text = fs::File::open(bench.path("blend.s")).expect("it is there");
    silent(&run(bench
        .front("-arch=sm_75 - -o stdin.cubin")
        .env("PTXOPT_DISABLE", "1")
        .stdin(Stdio::from(text))));
    silent(&bench.real("-arch=sm_75 blend.s -o real.cubin"));
    assert_eq!(bench.read("stdin.cubin"), bench.read("real.cubin"));
}

#[test]
fn several_inputs_are_linked_each_optimised() {
    let Some(bench) = Bench::new("13.5") else { return };
    bench.write("other.ptx", &crate::BLEND.replace("blend", "other"));
    bench.write("plain75.ptx", &crate::PLAIN.replace("sm_61", "sm_75"));
    let names = |one: &str, other: &str| format!("-arch=sm_75 {one} plain75.ptx {other} -o");
    bench.optimised("blend.s", "one.s", "sm_75", &[]);
    bench.optimised("other.ptx", "two.s", "sm_75", &[]);
    silent(&run(&mut bench.front(&format!("{} front.cubin", names("blend.s", "other.ptx")))));
    silent(&bench.real(&format!("{} real.cubin", names("one.s", "two.s"))));
    assert_eq!(bench.read("front.cubin"), bench.read("real.cubin"));
}

#[test]
fn what_has_debug_information_or_is_not_compiled_is_not_touched() {
    let Some(bench) = Bench::new("13.5") else { return };
    for line in ["-g -arch=sm_75 blend.s", "--device-debug -arch=sm_75 blend.s", "-arch=compute_75 blend.s"] {
        // With `-g`, the command line is in the cubin, and so is the name of the output.
        let line = format!("{line} -o x.cubin");
        let real = (bench.real(&line), bench.read("x.cubin"));
        let front = (run(&mut bench.front(&line)), bench.read("x.cubin"));
        assert_eq!((front.0.status, said(&front.0)), (real.0.status, said(&real.0)), "{line}");
        assert_eq!(front.1, real.1, "{line}");
    }
    for line in ["--help", "", "--list-arch", "-arch=sm_75"] {
        let (real, front) = (bench.real(line), run(&mut bench.front(line)));
        assert_eq!(
            (front.status, front.stdout, front.stderr),
            (real.status, real.stdout, real.stderr),
            "{line}"
        );
    }
}

#[test]
fn the_version_names_ptxopt_unless_it_does_nothing() {
    let Some(bench) = Bench::new("13.5") else { return };
    let real = String::from_utf8(bench.real("--version").stdout).expect("it is text");
    let version = |keep: &str, disable: &str| {
        let mut command = bench.front("--version");
        let output = run(command.env("PTXOPT_KEEP", keep).env("PTXOPT_DISABLE", disable));
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("it is text")
    };
    let (better, always) = (version("", ""), version("always", ""));
    for text in [&better, &always] {
        assert!(
            text.starts_with(&real) && text.contains(concat!("ptxopt ", env!("CARGO_PKG_VERSION"))),
            "{text}"
        );
    }
    assert_ne!(better, always, "what was kept without being measured is something else");
    assert_eq!(version("", "1"), real);
}

/// Warnings about lines after one of which more lines are made.
const DOUBLE: &str = "\
.version 8.0
.target sm_75
.address_size 64
.visible .entry double(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	.reg .f64 %fd<2>;
	ld.param.u64 %rd1, [p];
	ld.global.f64 %fd1, [%rd1];
	ld.global.u32 %r1, [%rd1+8];
	ld.global.u32 %r2, [%rd1+12];
	vavrg4.u32.u32.u32 %r3, %r1, %r2, %r1;
	st.global.u32 [%rd1+8], %r3;
	add.f64 %fd1, %fd1, %fd1;
	st.global.f64 [%rd1], %fd1;
	ret;
}
";

#[test]
fn warnings_are_about_the_lines_of_what_came() {
    let Some(bench) = Bench::new("13.5") else { return };
    bench.write("double.ptx", DOUBLE);
    let line = "-arch=sm_75 -warn-double-usage double.ptx -o";
    let real = bench.real(&format!("{line} real.cubin"));
    assert!(said(&real).contains("double.ptx, line 15; warning"), "{}", said(&real));
    for keep in ["better", "always"] {
        let output = run(bench.front(&format!("{line} front.cubin")).env("PTXOPT_KEEP", keep));
        assert_eq!((output.status.code(), said(&output)), (Some(0), said(&real)), "{keep}");
        assert_ne!(bench.read("front.cubin"), bench.read("real.cubin"), "something changed");
        let mut command = bench.front("-arch=sm_75 -warn-double-usage - -o front.cubin");
        command.stdin(fs::File::open(bench.path("double.ptx")).expect("it is there"));
        let output = run(command.env("PTXOPT_KEEP", keep));
        assert_eq!(said(&output), said(&real).replace("double.ptx", "<stdin>"), "{keep}");
    }
}
