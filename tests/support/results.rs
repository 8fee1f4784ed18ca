//! The table of the first page: what optimising each kind of code saves, counted by NVIDIA's assembler, and how long it
//! takes beside the assembler.
//!
//! Modules are optimised as `ptxopt --gpu sm_90` does, one after the other and on one core. Whole functions are counted,
//! those that nothing was done to included.

use crate::assemblers::Assemblers;
use crate::modules::{TestModule, below};
use ptxopt::measure::{Comparison, architecture};
use ptxopt_passes::cost::Gpu;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// The GPU of the table, and how people call it.
const GPU: &str = "sm_90";
const GPU_NAME: &str = "H100 and H200";

/// The lines around the table in the page.
const BEGIN: &str = "<!-- results: written by `cargo run --release --example gains -- --write` -->\n";
const END: &str = "<!-- end of results -->\n";

/// A kind of code.
pub(crate) struct Kind {
    pub(crate) title: &'static str,
    /// Parts of the paths of its modules below `tests`.
    of: &'static [&'static str],
    /// Parts of the paths of modules that are of another kind.
    but: &'static [&'static str],
    /// How the names of its functions begin.
    functions: &'static str,
    /// Whether it is counted in moments, so that a test can compare.
    #[allow(dead_code, reason = "the command that writes the table counts all kinds")]
    pub(crate) is_quick: bool,
}

const VIDEO: &[&str] = &["/modules/by-hand/", "/video_asm.", "/smith_waterman.", "/median_stereo."];

/// All kinds, in the order of the table.
pub(crate) const KINDS: [Kind; 9] = [
    Kind {
        title: "video instructions, inline in CUDA or by hand",
        of: VIDEO,
        but: &[],
        functions: "",
        is_quick: false,
    },
    Kind {
        title: "SIMD intrinsics of CUDA, compiled by CUDA 11.8 for sm_35",
        of: &["/intrinsics/nvrtc-11.8-compute_35"],
        but: &[],
        functions: "",
        is_quick: true,
    },
    Kind {
        title: "these intrinsics, by CUDA 13.5 for sm_90",
        of: &["/intrinsics/nvrtc-13.5-compute_90"],
        but: &[],
        functions: "",
        is_quick: true,
    },
    Kind {
        title: "kernels on `uchar4` and the like, by hand",
        of: &["/idioms/by-hand/idioms"],
        but: &[],
        functions: "",
        is_quick: true,
    },
    Kind {
        title: "such kernels in CUDA C++, by CUDA 13.5 for sm_90",
        of: &["/idioms/nvrtc-13.5/"],
        but: &["/real.", "/near.", ".sm_120f."],
        functions: "",
        is_quick: false,
    },
    Kind {
        title: "the same, by clang 19",
        of: &["/idioms/clang-19/"],
        but: &["/real.", "/near."],
        functions: "",
        is_quick: false,
    },
    Kind {
        title: "the same, by Triton",
        of: &["/idioms/triton-3.9.0/"],
        but: &[],
        functions: "",
        is_quick: true,
    },
    Kind {
        title: "products of quantised weights as in llama.cpp, by CUDA 13.5",
        of: &["/idioms/nvrtc-13.5/real.sm_90"],
        but: &[],
        functions: "q",
        is_quick: true,
    },
    Kind {
        title: "everything else: floating point, matrices, hashes, textures, …",
        of: &["/corpus/modules/"],
        but: &[VIDEO[0], VIDEO[1], VIDEO[2], VIDEO[3], "/simd_intrinsics."],
        functions: "",
        is_quick: false,
    },
];

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) functions: u64,
    pub(crate) shorter: u64,
    pub(crate) longer: u64,
    /// Machine instructions.
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) optimising: Duration,
    pub(crate) assembling: Duration,
    /// Modules that this assembler does not take for this GPU as they come.
    pub(crate) refused: Vec<String>,
}

impl Kind {
    fn has(&self, path: &str) -> bool {
        let any = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
        any(self.of) && !any(self.but)
    }
}

/// Counts.
pub(crate) fn measure(assemblers: &Assemblers, kind: &Kind) -> Row {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let all = ["corpus", "intrinsics"].iter().flat_map(|folder| below(&tests.join(folder)));
    let mut row = Row::default();
    all.filter(|module| kind.has(&module.name)).for_each(|module| row.add(assemblers, kind, &module));
    assert!(row.functions > 0, "{} are missing", kind.title);
    row
}

impl Row {
    fn add(&mut self, assemblers: &Assemblers, kind: &Kind, test: &TestModule) {
        let gpu = Gpu::parse(GPU).expect("it is one");
        let own = ptxopt_grammar::parse(&test.text).ok().and_then(|module| Gpu::of(&module));
        let own = own.expect("the modules are legal and name their target");
        if !gpu.runs(own) {
            return;
        }
        let options = ptxopt::Options::new().gpu(GPU).expect("it is one");
        let began = Instant::now();
        let outcome = ptxopt::optimize(&test.text, &options).expect("the module is legal");
        let optimising = began.elapsed();
        let target = architecture(own, Some(gpu));
        let began = Instant::now();
        let Ok(before) = assemblers.measure(&test.text, &target) else {
            return self.refused.push(test.name.clone());
        };
        self.assembling += began.elapsed();
        self.optimising += optimising;
        let after = outcome.text.map(|text| assemblers.measure(&text, &target));
        let after = after.transpose().unwrap_or_else(|error| panic!("{}: {error}", test.name));
        let pairs = Comparison::new(&before, after.as_ref().unwrap_or(&before)).functions;
        for (_, (before, after)) in pairs.into_iter().filter(|(name, _)| name.starts_with(kind.functions)) {
            let (before, after) = (before.instructions(), after.instructions());
            self.functions += 1;
            self.shorter += u64::from(after < before);
            self.longer += u64::from(after > before);
            self.before += u64::from(before);
            self.after += u64::from(after);
        }
    }

    #[allow(dead_code, reason = "the test only compares")]
    fn line(&self, kind: &Kind) -> String {
        let Self { functions, shorter, longer, before, after, .. } = self;
        let less = 100 - (100 * after + before / 2) / before;
        let time = self.optimising.as_secs_f64() / self.assembling.as_secs_f64();
        let decimals = if time < 1.0 { 2 } else { 1 };
        let title = kind.title;
        format!(
            "| {title} | {functions} | {shorter} | {longer} | {before} → {after} | {less} % | {time:.decimals$} × |"
        )
    }
}

/// The page with the table in its place.
#[allow(dead_code, reason = "the test only compares")]
pub(crate) fn inserted(page: &str, rows: &[(&Kind, Row)]) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (_, after) = rest.split_once(END).expect("the place ends");
    let (release, _) = crate::assemblers::VERSIONS[0];
    let mut table = format!(
        "Machine instructions for {GPU} ({GPU_NAME}), counted by `ptxas` of CUDA {release} over whole functions, before \
         and after\n`ptxopt --gpu {GPU}`:\n\n\
         | | functions | shorter | longer | instructions | less | time |\n| --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for (kind, row) in rows {
        writeln!(table, "{}", row.line(kind)).expect("a string can be written to");
    }
    table += "\n*Time* is what optimising the modules took, on one core, beside assembling them once in the same run. The \
              modules\nare those of [`tests`](tests/corpus/README.md), written for this project, many of them after \
              published kernels.\nFunctions count as longer whose loops the assembler unrolls once their bodies are short. \
              `--keep-better` and\n`ptxopt-ptxas` leave as it was what would get longer with loops as they are written.\n";
    format!("{before}{BEGIN}\n{table}\n{END}{after}")
}
