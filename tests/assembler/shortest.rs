//! SIMD forms are written as short as anybody knows how: 956 forms for one GPU of those most used and one of the newest,
//! compared with the table of the best sequences known. `cargo run --release --example quality` does so for all GPUs.

use crate::best;
use crate::ptxas::Assemblers;
use crate::samples::{Sample, SampleAssembler};
use crate::simd_forms::simd_forms;
use ptxopt_passes::cost::Gpu;
use ptxopt_passes::optimiser::{Options, optimise};
use std::time::Duration;

/// The forms for which more than the fewest machine instructions are needed on a GPU: which, why, and by how many.
struct Longer {
    gpu: &'static str,
    version: &'static str,
    is_known: fn(&str) -> bool,
}

const GPUS: [Longer; 2] = [
    // Two numbers in registers: each is an instruction where the form stands alone, and none where another needs it too.
    Longer {
        gpu: "sm_90",
        version: "13.5",
        is_known: |form| form.starts_with("vsub4.") && form.contains("32.add d, "),
    },
    Longer { gpu: "sm_120f", version: "13.5", is_known: |_| false },
];

/// The text of a module, optimised for a GPU.
fn optimised(text: &[u8], gpu: &str) -> Result<Vec<u8>, String> {
    let module = ptxopt_grammar::parse(text).map_err(|errors| format!("{errors:?}"))?;
    let gpus = Gpu::parse(gpu).into_iter().collect();
    let outcome = optimise(&module, &Options { gpus, ..Options::default() }, &|| Duration::ZERO);
    Ok(outcome.text.expect("each module has forms that the assembler takes apart"))
}

#[test]
fn no_form_is_longer_than_the_best_sequence_known() {
    let Some(_) = Assemblers::find() else { return };
    for Longer { gpu, version, is_known } in GPUS {
        let names = simd_forms();
        let text = |form: &ptxopt_grammar::video::Form, [d, a, b, c]: [&str; 4]| {
            form.encode(d, a, b, Some(c)).expect("every form takes registers")
        };
        let sample = |form| Sample { text: text(form, ["%r0", "%r1", "%r2", "%r3"]), result: 'r' };
        let samples: Vec<Sample> = names.iter().map(sample).collect();
        let counts = SampleAssembler::new(version, gpu)
            .with_waits()
            .costs_after(&samples, &|text| optimised(&text, gpu));
        let counts = counts.expect("what is written is legal");
        let (mut ours, mut fewest) = (0, 0);
        for (form, count) in names.iter().zip(counts) {
            let name = text(form, ["d", "a", "b", "c"]);
            let best = best::count(&name, gpu).expect("the table has all of them");
            (ours, fewest) = (ours + count, fewest + best);
            let allowed = best + u32::from(is_known(&name));
            assert!(count <= allowed, "{gpu}: {name}: {count} machine instructions, best known {best}");
        }
        println!("{gpu}: {} forms, {ours} machine instructions, best known {fewest}", names.len());
        assert!(100 * ours <= 92 * fewest, "{gpu}: {ours} machine instructions, best known {fewest}");
    }
}
